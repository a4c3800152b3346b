"""Counts: expected counts, intervals that are counts, and parameters of the chain in files and on workers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import topoi
from support.cli_files import done
from support.kills import Killed, killer
from support.labelled import COUNT_LOSSES, FOUR, WORDS, Documents, fitted_bytes, quick_regressor, refuse, regressor
from topoi import Checkpoints
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.negative_binomial import LARGEST_COUNT

(LOSS,) = COUNT_LOSSES


@pytest.fixture(scope="module")
def learned(train):
    return regressor(loss=LOSS).fit(train.X, train.count)


@pytest.mark.parametrize("n_gibbs", [0, 2])
def test_expected_counts(n_gibbs, train, test):
    model = regressor(loss=LOSS, n_gibbs=n_gibbs).fit(train.X, train.count)
    found = model.predict(test.X)
    assert (found > 0).all()
    assert np.corrcoef(np.log(found), np.log(test.rate))[0, 1] > 0.9
    slope = np.polyfit(np.log(test.rate), np.log(found), 1)[0]
    assert 0.7 < slope < 1.2
    assert found.mean() == pytest.approx(test.rate.mean(), rel=0.15)
    dispersion, level = model.loss_parameters_[:, 0].T
    assert 2 < np.median(dispersion) < 12, "it was 4"
    assert np.std(level) > 0
    # An average document: the level, and what its topics say.
    assert np.median(model.predict(train.X)) == pytest.approx(np.median(train.rate), rel=0.25)


def test_several_outputs_and_unknown_targets(hidden, train, test):
    y = train.counts.copy()
    y[hidden, 1] = np.nan
    model = regressor(loss=LOSS).fit(train.X, y)
    assert model.loss_parameters_.shape == (10, 2, 2)
    found = model.predict(test.X)
    assert found.shape == (len(test.X), 2)
    assert np.corrcoef(found[:, 0], test.rate)[0, 1] > 0.8
    assert np.corrcoef(found[:, 1], test.theta[:, 0])[0, 1] > 0.6
    assert model.predict_interval(test.X).shape == (len(test.X), 2, 2)


def test_coverage():
    """So many targets are inside as the level says, or a few more: counts cannot hit a level exactly."""
    train, test = Documents(500, seed=21), Documents(1000, seed=22)
    model = regressor(loss=LOSS).fit(train.X, train.count)
    for level in (0.5, 0.8, 0.9):
        low, high = model.predict_interval(test.X, level).T
        assert (low == np.floor(low)).all()
        assert (high == np.floor(high)).all()
        assert (low >= 0).all()
        inside = ((low <= test.count) & (test.count <= high)).mean()
        assert level - 0.05 < inside < level + 0.12, (level, inside)
    mean, std = model.predict(test.X, return_std=True)
    assert 0.8 < np.sqrt(((test.count - mean) ** 2).mean() / (std**2).mean()) < 1.2
    assert (std**2 > mean).all(), "more than a Poisson distribution's"


def test_quantiles_are_those_of_the_mixture():
    """From SciPy's negative binomial distribution, count by count."""
    rng = np.random.default_rng(3)
    f, own = rng.normal(1, 1, (6, 30, 2)), np.stack((rng.gamma(2, 1, (6, 2)), rng.normal(0, 0.5, (6, 2))), axis=2)
    response = RESPONSES[LOSS]()
    mean, r = np.exp(f + own[:, None, :, 1]), np.broadcast_to(own[:, None, :, 0], f.shape)
    np.testing.assert_allclose(response.link(f, own), mean, rtol=1e-12)
    np.testing.assert_allclose(response.variance(f, own), mean + mean**2 / r, rtol=1e-12)
    counts = np.arange(3000)[:, None, None, None]
    below = stats.nbinom(r, r / (r + mean)).cdf(counts).mean(1)
    for p in (0.001, 0.05, 0.5, 0.95, 0.999):
        np.testing.assert_array_equal(response.quantiles(f, own, p), (below < p - 1e-12).sum(0))


def test_large_counts_are_finite():
    rng = np.random.default_rng(4)
    X = rng.poisson(1.0, (30, 8)) + 1
    for y in (np.full(30, LARGEST_COUNT), np.zeros(30), np.where(np.arange(30) == 3, 1e8, 0.0)):
        model = quick_regressor(loss=LOSS).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.predict_interval(X, 0.99)).all()


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize(
    ("y", "said"),
    [([0, 1, -1, 2], "target 2 must be a count"), ([0, 0.5, 1, 2], "target 1 must be a count"),
     ([0, 1, 2, np.inf], "target 3"), ([[0, 1], [1, 1], [3, 2.5], [0, 0]], "target 2 must be a count"),
     ([0, 1, 2, 2e9], "target 3 is above 1e.09")],
)  # fmt: skip
def test_other_targets_are_refused_by_row(y, said):
    refuse("y", quick_regressor(loss=LOSS), said, FOUR, y)


def test_same_bytes_by_threads_and_by_engine(train, test):
    def fit(**more):
        model = quick_regressor(loss=LOSS, sampler="partial", n_samples=3, **more).fit(train.X, train.counts)
        return [
            *fitted_bytes(model, test.X),
            model.predict_interval(test.X).tobytes(),
            model.loss_parameters_.tobytes(),
        ]

    expected = fit()
    for more in ({"n_jobs": 2}, {"engine": "blocks"}, {"engine": "blocks", "n_jobs": 2}):
        assert fit(**more) == expected


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(engine, train, test, tmp_path):
    given = {"loss": LOSS, "sampler": "partial", "engine": engine, "n_sweeps": 10, "n_samples": 3}
    whole = quick_regressor(**given).fit(train.X, train.counts)
    killed = quick_regressor(**given, callbacks=killer(8))
    with pytest.raises(Killed):
        killed.fit(train.X, train.counts, checkpoint=Checkpoints(tmp_path, every_sweeps=2))
    resumed = quick_regressor(**given).fit(train.X, train.counts, checkpoint=tmp_path)
    assert resumed.loss_parameters_.tobytes() == whole.loss_parameters_.tobytes()
    assert resumed.predict_interval(test.X).tobytes() == whole.predict_interval(test.X).tobytes()


def test_saved(learned, test, tmp_path):
    learned.save(tmp_path / "model.topoi")
    back = topoi.load(tmp_path / "model.topoi")
    assert back.predict_interval(test.X).tobytes() == learned.predict_interval(test.X).tobytes()
    assert back.predict(test.X, return_std=True)[1].tobytes() == learned.predict(test.X, return_std=True)[1].tobytes()


def test_validation_and_command_line(train, test, tmp_path):
    model = quick_regressor(loss=LOSS, n_sweeps=12).fit(train.X, train.count, validation=(test.X, test.count))
    assert model.validation_traces_[0][-1, 1] == pytest.approx(model.score(test.X, test.count))
    lines = ["text,votes"] + [
        " ".join(np.repeat(WORDS, row)) + f",{n:.0f}" for row, n in zip(train.X, train.count, strict=True)
    ]
    (tmp_path / "posts.csv").write_text("\n".join(lines))
    options = ["--text", "text", "--target", "votes", "--topics", "6", "--sweeps", "10", "--max-df", "1.0"]
    options += ["--token-pattern", r"\w+"]  # these words have digits
    done("fit", tmp_path / "posts.csv", *options, "--loss", LOSS, "-o", tmp_path / "model")
    out = done("predict", tmp_path / "model", tmp_path / "posts.csv", "--interval", "0.9").stdout
    assert {"prediction", "lower", "upper"} <= set(out.splitlines()[0].split(","))
    shown = done("explain", tmp_path / "model", "--text", " ".join(WORDS[:12])).output
    assert "logarithm of the expected count" in shown
