"""The regressor: targets are learned, with intervals; targets that are not known, and bad ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from support.labelled import FOUR, N_WORDS, REGRESSION_LOSSES, Documents, quick_regressor, refuse, regressor
from support.variants import slow_but
from topoi import Corpus, MedLDARegressor, ParameterError
from topoi.chain.loop import Schedule, run
from topoi.chain.plan import Plan
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state
from topoi.predict.intervals import Noise, _some_of_each, _without, spaced


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_regression(loss, train, test):
    one = regressor(loss=loss).fit(train.X, train.number)
    assert one.predict(test.X).shape == (len(test.X),)
    assert one.score(test.X, test.number) > 0.8
    assert one.topic_weights_.shape == (1, 8)
    column = regressor(loss=loss).fit(train.X, train.number[:, None])
    assert column.predict(test.X).shape == (len(test.X), 1)
    assert column.predict(test.X)[:, 0].tobytes() == one.predict(test.X).tobytes()
    scaled = regressor(loss=loss).fit(train.X, 1000 * train.number - 5).predict(test.X)  # its units do not matter
    np.testing.assert_allclose(scaled, 1000 * one.predict(test.X) - 5, rtol=0.1)
    two = regressor(loss=loss).fit(train.X, train.numbers)
    predicted = two.predict(test.X)
    assert predicted.shape == (len(test.X), 2)
    assert two.topic_weights_.shape == two.topic_weights_std_.shape == (2, 8)
    for output in range(2):
        truth = test.numbers[:, output]
        assert 1 - ((truth - predicted[:, output]) ** 2).mean() / truth.var() > 0.8
    assert two.score(test.X, test.numbers) > 0.8


def test_constant_target(train, test):
    np.testing.assert_allclose(quick_regressor().fit(train.X, np.full(len(train.X), 7.0)).predict(test.X), 7, atol=0.2)


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_unknown_targets(loss, hidden, train, test):
    known = np.where(hidden, np.nan, train.number)
    model = regressor(loss=loss).fit(train.X, known)
    assert model.score(test.X, test.number) > 0.6
    assert np.isfinite(model.predict(test.X)).all()
    # An output may be known where the other is not.
    both = np.column_stack((known, np.where(hidden, train.numbers[:, 1], np.nan)))
    predicted = regressor(loss=loss).fit(train.X, both).predict(test.X)
    for output in range(2):
        truth = test.numbers[:, output]
        assert 1 - ((truth - predicted[:, output]) ** 2).mean() / truth.var() > 0.5


BAD_TARGETS = {
    "none": (None, "y is None"),
    "infinity": ([0, 1, 2, np.inf], "target 3 is infinite"),
    "minus infinity": ([[0, 1], [2, -np.inf], [1, 1], [0, 0]], "target 1 is infinite"),
    "too few": ([0, 1, 2], r"3.*4 documents"),
    "too many": (np.zeros((5, 2)), r"5.*4 documents"),
    "a number": (1.0, "4 documents"),
    "three dimensions": (np.zeros((4, 2, 2)), "4 documents"),
    "all unknown": ([np.nan] * 4, "without a single known"),
    "an output unknown": ([[0, np.nan], [1, np.nan], [2, np.nan], [3, np.nan]], "without a single known"),
    "text": (["a", "b", "c", "d"], "numbers"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
@pytest.mark.usefixtures("no_sampling")
def test_bad_targets(case):
    y, match = BAD_TARGETS[case]
    refuse("y", quick_regressor(), match, FOUR, y)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "0", None, [0.1]])
@pytest.mark.usefixtures("no_sampling")
def test_bad_epsilon(value):
    refuse("epsilon", quick_regressor(epsilon=value), "", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("value", ["hinge", "logistic", "", None, 3])
@pytest.mark.usefixtures("no_sampling")
def test_bad_loss_of_a_regression(value):
    refuse("loss", quick_regressor(loss=value), "epsilon_insensitive.*squared", FOUR, [0, 1, 0, 1])


def test_bad_targets_at_scoring(train, test):
    one, two = quick_regressor().fit(train.X, train.number), quick_regressor().fit(train.X, train.numbers)
    column = one.score(test.X, test.number[:, None])
    assert column == one.score(test.X, test.number)
    cases = [
        (one, np.where(np.arange(200) == 3, np.inf, test.number), "target 3 is infinite"),
        (one, np.where(np.arange(200) == 3, np.nan, test.number), "target 3 is NaN"),
        (one, test.number[1:], "199.*200 documents"),
        (one, test.numbers, r"\(200, 2\).*\(200,\)"),
        (two, test.number, r"\(200,\).*\(200, 2\)"),
        (one, ["a"] * 200, "numbers"),
        (one, None, "None"),
    ]
    for model, y, match in cases:
        with pytest.raises(ParameterError, match=rf"^y: .*{match}"):
            model.score(test.X, y)


# ---- Intervals ---------------------------------------------------------------------------------------------

NOISES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy": lambda rng, n: rng.laplace(size=n),
    "skew": lambda rng, n: rng.exponential(2.0, size=n),
}


def deviations(share, n_measured, n_test):
    """By how many standard errors a share that should be `share` may be off: errors measured, and documents tested."""
    return np.sqrt(share * (1 - share) * (1 / n_measured + 1 / n_test))


@pytest.mark.parametrize("loss", slow_but(["epsilon_insensitive"], REGRESSION_LOSSES))
@pytest.mark.parametrize("noise", slow_but(list(NOISES)[:1], NOISES))
def test_coverage(noise, loss):
    """So many targets are inside as the level says, and as many below as above, whatever the noise is like."""
    train, test = Documents(400, seed=11), Documents(1000, seed=12)
    rng = np.random.default_rng(13)
    y, truth = train.number + NOISES[noise](rng, 400), test.number + NOISES[noise](rng, 1000)
    model = regressor(loss=loss).fit(train.X, y)
    for level in (0.5, 0.8, 0.9, 0.95):
        low, high = model.predict_interval(test.X, level).T
        tail = (1 - level) / 2
        inside = ((low <= truth) & (truth <= high)).mean()
        assert abs(inside - level) < 4 * deviations(level, 400, 1000), (level, inside)
        for outside in ((truth < low).mean(), (truth > high).mean()):
            assert abs(outside - tail) < 4 * deviations(tail, 400, 1000) + 0.01, (level, outside)
    mean, std = model.predict(test.X, return_std=True)
    assert 0.85 < np.sqrt(((truth - mean) ** 2).mean() / (std**2).mean()) < 1.15


def test_coverage_with_documents_held_out():
    """Predictions are those of all documents; intervals are from the errors of those that a second fit has not seen."""
    train, test = Documents(400, seed=11), Documents(1000, seed=12)
    rng = np.random.default_rng(13)
    y, truth = train.number + rng.normal(size=400), test.number + rng.normal(size=1000)
    plain, model = regressor().fit(train.X, y), regressor(held_out=0.25, n_jobs=2).fit(train.X, y)
    assert model.predict(test.X).tobytes() == plain.predict(test.X).tobytes()
    assert model.noise_std_.tobytes() != plain.noise_std_.tobytes()
    for level in (0.5, 0.8, 0.9):
        low, high = model.predict_interval(test.X, level).T
        assert abs(((low <= truth) & (truth <= high)).mean() - level) < 4 * deviations(level, 100, 1000)


def test_held_out_documents_are_not_seen(train, test):
    """The second fit is one of the other documents."""
    n = len(train.X)
    known = np.where(np.arange(n) % 8 == 3, np.nan, train.number)  # of these none is held out
    labelled = np.flatnonzero(~np.isnan(known))
    out = spaced(labelled, round(len(labelled) / 4))
    changed = train.X.copy()
    changed[out] = changed[out][:, ::-1]
    heard = [[], []]
    for X, told in zip((train.X, changed), heard, strict=True):
        quick_regressor(held_out=0.25, n_sweeps=10, callbacks=[told.append]).fit(X, known)
    second = [[progress.log_joint for progress in told if progress.model == 1] for told in heard]
    first = [[progress.log_joint for progress in told if progress.model == 0] for told in heard]
    assert second[0] == second[1]
    assert first[0] != first[1]


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("value", [-0.1, 0.6, np.nan, "0.1", None, [0.1]])
def test_bad_share_to_hold_out(value):
    refuse("held_out", quick_regressor(held_out=value), "from 0 to 0.5", FOUR, [0, 1, 0, 1])


@pytest.mark.usefixtures("no_sampling")
def test_too_few_targets_to_hold_out():
    nan = np.nan
    for y in ([1.0, nan, nan, nan], [[0, nan], [1, nan], [2, nan], [3, 1]]):
        refuse("held_out", quick_regressor(held_out=0.25), "without a known target", FOUR, y)


def test_training_errors_would_not_do():
    """Labels that are noise alone can be learned by heart: intervals from such errors would be far too narrow."""
    train, test = Documents(100, seed=11), Documents(1000, seed=12)
    rng = np.random.default_rng(14)
    y, truth = rng.normal(size=100), rng.normal(size=1000)
    learned, covered = [], []
    for seed in range(10):  # of a single fit the coverage has a standard deviation of 0.06, which says little
        model = regressor(
            n_topics=20, n_chains=1, cost=16.0, infer_method="gibbs", infer_sweeps=30, random_state=seed
        ).fit(train.X, y)
        learned.append(np.quantile(np.abs(y - model.doc_topic_ @ model.topic_weights_[0]), 0.9))
        low, high = model.predict_interval(test.X, 0.9).T
        covered.append(((low <= truth) & (truth <= high)).mean())
    assert max(learned) < 0.8  # of 1.64
    assert np.mean(covered) > 0.8


def test_intervals_of_one_output_and_of_several(train, test):
    one, two = quick_regressor().fit(train.X, train.number), quick_regressor().fit(train.X, train.numbers)
    assert one.predict_interval(test.X).shape == (200, 2)
    assert two.predict_interval(test.X).shape == (200, 2, 2)
    assert one.noise_std_.shape == (1,)
    assert two.noise_std_.shape == (2,)
    for model in (one, two):
        mean, std = model.predict(test.X, return_std=True)
        assert mean.tobytes() == model.predict(test.X).tobytes()
        assert std.shape == mean.shape
        assert (std > 0).all()
        inner, outer = model.predict_interval(test.X, 0.5), model.predict_interval(test.X, 0.95)
        assert (outer[..., 0] <= inner[..., 0]).all()
        assert (inner[..., 0] <= inner[..., 1]).all()
        assert (inner[..., 1] <= outer[..., 1]).all()
        assert model.predict_interval(test.X).tobytes() == model.predict_interval(test.X, level=0.9).tobytes()
    column = quick_regressor().fit(train.X, train.number[:, None])
    assert column.predict_interval(test.X)[:, 0].tobytes() == one.predict_interval(test.X).tobytes()


def test_units_of_intervals(train, test):
    one = quick_regressor().fit(train.X, train.number)
    scaled = quick_regressor().fit(train.X, 8 * train.number)  # a power of two: the same numbers inside
    np.testing.assert_allclose(scaled.predict_interval(test.X), 8 * one.predict_interval(test.X), rtol=1e-6)
    np.testing.assert_allclose(scaled.noise_std_, 8 * one.noise_std_, rtol=1e-6)


def test_short_documents_have_wider_intervals(train, test):
    model = regressor().fit(train.X, train.number)
    rng = np.random.default_rng(0)
    short = np.array([rng.multinomial(3, row / row.sum()) for row in test.X])
    widths = [np.diff(model.predict_interval(X), axis=1).mean() for X in (test.X, short)]
    assert widths[1] > 1.3 * widths[0]


@pytest.mark.parametrize("loss", REGRESSION_LOSSES)
def test_intervals_are_a_function_of_the_document(loss, train, test):
    """Alone or in a batch, for any number of threads, and again."""
    fits = [quick_regressor(loss=loss, n_chains=2, n_jobs=n).fit(train.X, train.numbers) for n in (1, 2)]
    together = fits[0].predict_interval(test.X)
    assert fits[0].predict_interval(test.X).tobytes() == together.tobytes()
    assert fits[1].predict_interval(test.X).tobytes() == together.tobytes()
    assert pickle.loads(pickle.dumps(fits[0])).predict_interval(test.X).tobytes() == together.tobytes()
    for d in (0, 7, 199):
        np.testing.assert_allclose(fits[0].predict_interval(test.X[d : d + 1])[0], together[d], rtol=1e-9)


def test_intervals_of_odd_documents_and_targets(train, test):
    X = np.vstack([np.zeros((2, N_WORDS), int), test.X[:3]])
    bounds = quick_regressor().fit(train.X, train.number).predict_interval(X)
    assert np.isfinite(bounds).all()
    assert bounds[0].tolist() == bounds[1].tolist()
    for targets in (
        np.arange(5.0),
        np.full(5, 7.0),
        [1.0, np.nan, np.nan, np.nan, np.nan],
        [[0, 1.0]] + [[np.nan, 2]] * 4,
    ):
        fitted = quick_regressor().fit(X, targets)
        for level in (0.01, 0.5, 0.999999):
            bounds = fitted.predict_interval(X, level)
            assert np.isfinite(bounds).all()
            assert (bounds[..., 0] <= bounds[..., 1]).all()


def test_levels_that_few_errors_cannot_tell():
    """Between the errors their quantiles; beyond them at least the normal distribution's."""
    noise = Noise(np.ones(1), np.ones(1), [np.linspace(-1, 1, 9)])
    np.testing.assert_allclose(noise.bounds(0.8), [[-1, 1]])
    np.testing.assert_allclose(noise.bounds(0.4), [[-0.5, 0.5]])
    np.testing.assert_allclose(noise.bounds(0.95), [[-1.96, 1.96]], atol=1e-3)
    far = Noise(np.ones(1), np.ones(1), [np.linspace(-9, 9, 9)])
    np.testing.assert_allclose(far.bounds(0.95), [[-9, 9]])


def test_documents_of_every_output_are_measured():
    known = np.zeros((5000, 2), bool)
    known[:, 0] = True
    known[100:160, 1] = True
    chosen = _some_of_each(known)
    assert (np.diff(chosen) > 0).all()
    assert known[chosen].sum(0).tolist()[1] == 60
    assert 1000 <= len(chosen) <= 1060


def test_words_of_measured_documents_are_taken_out(train):
    """What is left are the counts of the other documents' tokens."""
    corpus = Corpus.from_counts(train.X)
    state = new_state(corpus, fixed_priors(np.full(4, 0.1), 0.01), 3)
    out = np.array([0, 7, 199])
    found = run(state, Plan("delayed", "delayed"), Schedule(2, 1))
    left = _without(found, corpus, out).counts.toarray()
    rest = np.setdiff1d(np.arange(200), out)
    tokens = np.isin(np.repeat(np.arange(200), corpus.doc_lengths), rest)
    expected = np.zeros((N_WORDS, 4))
    np.add.at(expected, (corpus.words[tokens], state.z[tokens].astype(int)), 1)
    np.testing.assert_array_equal(left, expected)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, "0.9", None, [0.9]])
def test_bad_level(level, train, test):
    model = quick_regressor(n_sweeps=2).fit(train.X, train.number)
    with pytest.raises(ParameterError, match=r"^level: must be a number between 0 and 1"):
        model.predict_interval(test.X, level)


def test_intervals_before_the_fit(test):
    with pytest.raises(NotFittedError):
        MedLDARegressor().predict_interval(test.X)
    with pytest.raises(NotFittedError):
        MedLDARegressor().predict(test.X, return_std=True)


def test_a_fit_that_fails_leaves_the_model_as_it_was(train, test):
    model = quick_regressor().fit(train.X, train.number)
    before = model.predict(test.X).tobytes()

    def fail(progress):
        raise ZeroDivisionError

    model.set_params(callbacks=[fail])
    with pytest.raises(ZeroDivisionError):
        model.fit(train.X[:, 1:], 1000 * train.number)
    assert model.predict(test.X).tobytes() == before
    with pytest.raises(ParameterError):
        model.fit(train.X, np.full(len(train.X), np.inf))
    assert model.predict(test.X).tobytes() == before
    new = quick_regressor(callbacks=[fail])
    with pytest.raises(ZeroDivisionError):
        new.fit(train.X, train.number)
    with pytest.raises(NotFittedError):
        new.predict(test.X)
