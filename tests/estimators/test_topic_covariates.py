"""Covariates of prevalence in the estimators: from a data frame to effects."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import topoi
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError, choose
from topoi._disk.store import ModelError
from topoi.chain.priors.prevalence import Prevalence
from topoi.estimators.marginal import interval
from topoi.estimators.problem import model_seed
from topoi.evaluate import document_completion, evaluate, topic_effects
from topoi.selection.folds import as_documents, fold_numbers


class Speeches:
    """Three topics of ten words each: the first is the greens', the second the reds', the third rises with the year."""

    def __init__(self, n_documents=400, seed=0):
        rng = np.random.default_rng(seed)
        self.party = rng.choice(["green", "red"], n_documents)
        self.year = rng.integers(1990, 2020, n_documents)
        late = (self.year - self.year.mean()) / self.year.std()
        self.alpha = 0.5 * np.exp(np.column_stack((1.5 * (self.party == "green"), 1.5 * (self.party == "red"), late)))
        self.theta = np.array([rng.dirichlet(row) for row in self.alpha])
        phi = np.kron(np.eye(3), np.full(10, 0.1))
        self.X = np.array([rng.multinomial(30, row @ phi) for row in self.theta])
        self.covariates = {"party": self.party, "year": self.year}
        self.y = np.where(self.theta[:, 2] > 0.3, "late", "early")

    def some(self, rows):
        return {name: values[rows] for name, values in self.covariates.items()}

    def topics_of(self, model):
        """Which topic of the model is each of ours."""
        return model.components_.reshape(-1, 3, 10).sum(2).argmax(0)


DATA = Speeches()
QUICK = {"n_topics": 3, "n_sweeps": 60, "n_samples": 10, "random_state": 0}


@pytest.fixture(scope="module")
def lda():
    return LDA(**QUICK, prevalence="~ party + year").fit(DATA.X, covariates=DATA.covariates)


def by_name(effects):
    return {(row.topic, row.covariate, row.value): row for row in effects}


def test_effects_are_found(lda):
    found = by_name(lda.effects())
    green, red, late = DATA.topics_of(lda)
    now = (DATA.alpha / DATA.alpha.sum(1, keepdims=True)).mean(0)
    weights = np.array([[1.5, 0], [0, 1.5], [0, 0]])
    slope = np.array([0, 0, 1.0])
    standard = (DATA.year - DATA.year.mean()) / DATA.year.std()
    for place, party in enumerate(("green", "red")):
        alpha = np.exp(weights[:, place] + standard[:, None] * slope)
        expected = (alpha / alpha.sum(1, keepdims=True)).mean(0) - now
        for topic, value in zip((green, red, late), expected, strict=True):
            row = found[topic, "party", party]
            assert abs(row.mean - value) < 0.06
            assert row.low < row.mean < row.high
    assert found[late, "year", "+1 sd"].low > 0.05
    assert found[green, "party", "green"].low > 0.1 > -0.1 > found[green, "party", "red"].high
    # Shares sum to 1, so that changes of all topics sum to 0.
    for covariate, value in (("party", "red"), ("year", "+1 sd")):
        assert sum(found[k, covariate, value].mean for k in range(3)) == pytest.approx(0, abs=1e-12)
    assert lda.prevalence_covariates_ == {"party": "category", "year": "number"}


def test_levels_and_grids(lda):
    narrow, wide = by_name(lda.effects(level=0.5)), by_name(lda.effects(level=0.99))
    for key, row in by_name(lda.effects()).items():
        assert wide[key].low < row.low < narrow[key].low < row.mean == narrow[key].mean
    curve = [row for row in lda.effects(grid=5) if row.covariate == "year" and row.topic == DATA.topics_of(lda)[2]]
    assert [row.value for row in curve] == np.linspace(DATA.year.min(), DATA.year.max(), 5).tolist()
    assert (np.diff([row.mean for row in curve]) > 0).all()
    for level in (0, 1, "a", None):
        with pytest.raises(ParameterError, match="level: must be a number between 0 and 1"):
            lda.effects(level=level)
    with pytest.raises(ParameterError, match="grid"):
        lda.effects(grid=1)


def test_intervals_of_few_draws_have_their_coverage():
    """Of the next draw, by a binomial test at the level 0.001: from 5 draws and from 50."""
    rng = np.random.default_rng(4)
    for n in (5, 50):
        draws = rng.normal(size=(4000, n + 1))
        inside = [low < row[-1] < high for row in draws for _, low, high in [interval(row[:-1], 0.9)]]
        assert abs(np.mean(inside) - 0.9) < 3.3 * np.sqrt(0.09 / 4000)
    assert interval(np.array([0.3]), 0.9) == (0.3, -np.inf, np.inf)


def test_without_a_formula_all_columns_count():
    model = LDA(**QUICK | {"n_sweeps": 6, "n_samples": 2}).fit(DATA.X, covariates=DATA.covariates)
    assert model.prevalence_covariates_ == {"party": "category", "year": "number"}
    assert type(model.model_.priors.topics) is Prevalence
    assert model.doc_topic_prior_.shape == (3,)


def test_a_constant_number_has_no_effect_to_tell():
    """Its weight would be a draw from the prior, and so would be what is told as its effect."""
    with pytest.warns(UserWarning, match="the column 'fee' is constant; it has no effect") as caught:
        model = LDA(**QUICK | {"n_sweeps": 6}).fit(
            DATA.X, covariates={"fee": np.ones(len(DATA.X)), "party": DATA.party}
        )
    assert {row.covariate for row in model.effects()} == {"party"}
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_points_to_the_line_of_the_user(lda):
    with pytest.warns(UserWarning, match="which the training documents do not have") as caught:
        lda.transform(DATA.X[:1], covariates={name: ["new"] if name == "party" else column[:1]
                                              for name, column in DATA.covariates.items()})  # fmt: skip
    assert caught[0].filename == __file__


def test_splines_are_told_at_eleven_values():
    model = LDA(**QUICK, prevalence="~ s(year, df=5) + C(party)").fit(DATA.X, covariates=DATA.covariates)
    rows = [row for row in model.effects() if row.covariate == "year" and row.topic == DATA.topics_of(model)[2]]
    assert len(rows) == 11
    assert rows[-1].low > 0 > rows[0].high


def test_interactions():
    model = LDA(**QUICK | {"n_sweeps": 10, "n_samples": 3}, prevalence="~ party * year")
    model.fit(DATA.X, covariates=DATA.covariates)
    assert {row.covariate for row in model.effects()} == {"party", "year"}
    assert model.model_.draws["weights"].shape == (3, 3, 6)


def test_new_documents(lda):
    """Covariates move the shares of short documents; without any a document is an average one."""
    short = np.zeros((2, 30), int)
    short[:, 0] = short[:, 10] = 1
    green, red, _ = DATA.topics_of(lda)
    known = lda.transform(short, covariates={"party": ["green", "red"], "year": [2005, 2005]})
    assert known[0, green] > known[1, green] + 0.1
    assert known[1, red] > known[0, red] + 0.1
    unknown = lda.transform(short)
    np.testing.assert_array_equal(unknown[0], unknown[1])
    np.testing.assert_allclose(lda.transform(np.zeros((1, 30), int))[0], lda.model_.alpha / lda.model_.alpha.sum())
    with pytest.warns(UserWarning, match="'pink'"):
        average = lda.transform(short, covariates={"party": ["pink", "pink"], "year": [2005, 2005]})
    assert known[1, green] < average[0, green] < known[0, green]


def test_saved_and_loaded(lda, tmp_path):
    lda.save(tmp_path / "m")
    loaded = topoi.load(tmp_path / "m")
    assert loaded.effects() == lda.effects()
    some = DATA.some(slice(0, 5))
    np.testing.assert_array_equal(loaded.transform(DATA.X[:5], some), lda.transform(DATA.X[:5], some))
    assert clone(lda).prevalence == "~ party + year"


def test_a_file_whose_parts_do_not_fit(lda, tmp_path):
    """Another table, weights that are missing, or terms of a model that has none."""
    other = LDA(**QUICK | {"n_sweeps": 3}).fit(DATA.X)
    terms = vars(lda)["_terms"]
    other.__dict__["_terms"] = terms
    other.save(tmp_path / "a")
    whole = LDA(**QUICK | {"n_sweeps": 3}, prevalence="~ year").fit(DATA.X, covariates=DATA.covariates)
    whole.__dict__["_terms"] = terms
    whole.save(tmp_path / "b")
    whole.__dict__.pop("_terms")
    whole.save(tmp_path / "c")
    for name in "abc":
        with pytest.raises(ModelError, match="covariates"):
            topoi.load(tmp_path / name)


def test_a_file_does_not_run_formulas(tmp_path):
    """A formula from a file is read by the same grammar, or refused; nothing is evaluated."""
    model = LDA(**QUICK | {"n_sweeps": 3}, prevalence="~ year").fit(DATA.X, covariates=DATA.covariates)
    model.prevalence = "~ __import__('os').abort()"
    model.save(tmp_path / "m")
    with pytest.raises(ModelError, match="is not part of a formula"):
        topoi.load(tmp_path / "m")


def bytes_of(model):
    arrays = [model.model_.draws["weights"], model.model_.priors.topics.weights, model.doc_topic_, model.components_]
    return [array.tobytes() for array in arrays]


SHORT = QUICK | {"n_sweeps": 12, "n_samples": 3, "sampler": "partial", "prevalence": "~ party + s(year)"}


# ---- Held-out words of documents with covariates -----------------------------------------------------------

NEW = Speeches(200, seed=1)


def test_held_out_words_of_documents_with_covariates(lda):
    """They say what half of a short document leaves open."""
    rng = np.random.default_rng(2)
    short = np.array([rng.multinomial(4, row / row.sum()) for row in NEW.X])
    known = lda.perplexity(short, covariates=NEW.covariates)
    assert known < 0.97 * lda.perplexity(short)
    assert lda.score(short, covariates=NEW.covariates) == pytest.approx(-np.log(known))
    assert known == lda.perplexity(lda.with_prevalence(short, NEW.covariates))
    np.testing.assert_array_equal(
        lda.transform(lda.with_prevalence(short, NEW.covariates)), lda.transform(short, covariates=NEW.covariates)
    )
    found = evaluate(lda, short, measures="all", covariates=NEW.covariates)
    unknown = evaluate(lda, short, measures="all")
    assert found["perplexity"] == known
    assert found["left_to_right_perplexity"] < 0.97 * unknown["left_to_right_perplexity"]
    assert {name for name in found if not np.array_equal(found[name], unknown[name], equal_nan=True)} == {
        "perplexity", "log_likelihood", "left_to_right_perplexity", "left_to_right_log_likelihood"}  # fmt: skip
    plain = LDA(**QUICK | {"n_sweeps": 5}).fit(DATA.X)
    for use in (plain.perplexity, plain.score, lambda X, covariates: evaluate(plain, X, covariates=covariates)):
        with pytest.raises(ParameterError, match="covariates: are given, but fit had none that topics depend on"):
            use(NEW.X, covariates=NEW.covariates)


def test_of_supervised_models():
    """Covariates of a score alone leave the likelihood as it is; those of prevalence do not."""
    settings = QUICK | {"n_sweeps": 12, "refit": False}
    for prevalence in (None, "~ party"):
        model = MedLDAClassifier(**settings, prevalence=prevalence).fit(DATA.X, DATA.y, covariates=DATA.covariates)
        known, unknown = (
            evaluate(model, NEW.X, measures="document_completion", covariates=given)["perplexity"]
            for given in (NEW.covariates, None)
        )
        assert (known == unknown) == (prevalence is None)
        assert "accuracy" in evaluate(model, NEW.X, NEW.y, covariates=NEW.covariates)


def test_documents_to_watch_have_covariates(tmp_path):
    watched = LDA(**SHORT).fit(DATA.X, covariates=DATA.covariates, validation=(NEW.X, NEW.covariates))
    (trace,) = watched.validation_traces_
    assert trace[-1, 1] == pytest.approx(watched.perplexity(NEW.X, covariates=NEW.covariates), rel=1e-12)
    average = LDA(**SHORT).fit(DATA.X, covariates=DATA.covariates, validation=(NEW.X, None))
    alone = LDA(**SHORT).fit(DATA.X, covariates=DATA.covariates, validation=NEW.X)
    np.testing.assert_array_equal(average.validation_traces_, alone.validation_traces_)
    assert alone.validation_traces_[0][-1, 1] != trace[-1, 1]
    # The scores of other covariates are not those of this run.
    stopped = LDA(**SHORT, callbacks=[lambda progress: progress.sweep == 10])
    given = {"covariates": DATA.covariates, "checkpoint": Checkpoints(tmp_path, every_sweeps=1)}
    stopped.fit(DATA.X, validation=(NEW.X, NEW.covariates), **given)
    (resumed,) = LDA(**SHORT).fit(DATA.X, validation=NEW.X, **given).validation_traces_
    assert np.isnan(resumed[0, 1])
    np.testing.assert_array_equal(resumed[1:], alone.validation_traces_[0][1:])
    for wrong, message in (((NEW.X, None, None), r"not a tuple of 3"), ((NEW.X, NEW.covariates), "fit gets none")):
        with pytest.raises(ParameterError, match=f"validation: .*{message}"):
            LDA(**SHORT | {"prevalence": None}).fit(DATA.X, validation=wrong)


def test_the_number_of_topics_is_chosen_with_covariates():
    chosen = choose(DATA.X, (2, 3), estimator=LDA(n_sweeps=12, n_samples=2), cv=2, covariates=DATA.covariates)
    documents = as_documents(DATA.X, LDA(), None, None, DATA.covariates)
    folds = fold_numbers(documents, LDA(), 2, 0)
    found = []
    for fold in range(2):
        new = documents.take(np.flatnonzero(folds == fold))
        lda = documents.take(np.flatnonzero(folds != fold)).fit(
            LDA(3, n_sweeps=12, n_samples=2, random_state=model_seed(0, fold))
        )
        found.append(document_completion(lda, new.corpus, **new.known_to(lda)).log_likelihood)
    assert chosen.table[1]["log_likelihood"] == pytest.approx(np.mean(found))


@pytest.fixture
def blocks(monkeypatch):
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: 800))


@pytest.fixture
def whole(blocks):
    return bytes_of(LDA(**SHORT).fit(DATA.X, covariates=DATA.covariates))


@pytest.mark.parametrize("more", [{"n_jobs": 2}, {"n_jobs": 4}, {"engine": "blocks"}])
def test_the_same_bytes(whole, more):
    assert bytes_of(LDA(**SHORT, **more).fit(DATA.X, covariates=DATA.covariates)) == whole


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(whole, engine, tmp_path):
    """Draws of λ that were kept before are among those in the end."""
    for stop in (5, 9):
        stopped = LDA(**SHORT, engine=engine, callbacks=[lambda progress, stop=stop: progress.sweep == stop])
        stopped.fit(DATA.X, covariates=DATA.covariates, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    resumed = LDA(**SHORT, engine=engine).fit(DATA.X, covariates=DATA.covariates, checkpoint=tmp_path)
    assert bytes_of(resumed) == whole


def test_other_covariates_are_another_run(tmp_path):
    LDA(**SHORT).fit(DATA.X, covariates=DATA.covariates, checkpoint=tmp_path)
    with pytest.raises(ParameterError, match="holds a run of other documents, labels or settings"):
        LDA(**SHORT).fit(DATA.X, covariates=DATA.some(slice(None, None, -1)), checkpoint=tmp_path)


def test_documents_that_come_later(lda, tmp_path):
    """Effects stay; the covariates of new documents say what topics these may have."""
    lda.save(tmp_path / "m")
    later = topoi.load(tmp_path / "m").partial_fit(DATA.X[:40], covariates=DATA.some(slice(0, 40)))
    assert later.effects() == lda.effects()
    assert later.doc_topic_.shape == (40, 3)
    later.partial_fit(DATA.X[:20])
    later.save(tmp_path / "later")
    assert topoi.load(tmp_path / "later").effects() == lda.effects()


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"prevalence": "~ party"}, None, "covariates: are needed: prevalence is '~ party'. Give fit the columns"),
        ({"prevalence": "~ colour"}, DATA.covariates, "prevalence: names a column 'colour'"),
        ({"prevalence": "~ party +"}, DATA.covariates, "prevalence: the end of"),
        ({"prevalence": 3}, DATA.covariates, "prevalence: must be a formula"),
        ({}, {"party": DATA.party[:9]}, "column 'party' has 9 values, but there are 400 documents"),
        (
            {"doc_topic_prior": "learn"},
            DATA.covariates,
            "doc_topic_prior: is 'learn'; must be a positive number or None",
        ),
        ({"sampler": "light"}, DATA.covariates, "sampler: 'light' uses the same α for all documents"),
    ],
)
def test_what_is_wrong_is_said(settings, given, message):
    with pytest.raises(ParameterError, match=message):
        LDA(**QUICK | settings).fit(DATA.X, covariates=given)


def test_models_without_covariates():
    model = LDA(**QUICK | {"n_sweeps": 5}).fit(DATA.X)
    assert model.prevalence_covariates_ == {}
    with pytest.raises(ParameterError, match="were not given to fit, so there are no effects on topics"):
        model.effects()
    with pytest.raises(ParameterError, match="fit had none that topics depend on; leave them out here"):
        model.transform(DATA.X, covariates=DATA.covariates)


# ---- Regression of draws of θ ------------------------------------------------------------------------------


def test_effects_of_a_model_without_covariates():
    model = LDA(**QUICK).fit(DATA.X)
    found = by_name(topic_effects(model, DATA.covariates, DATA.X))
    green, red, late = DATA.topics_of(model)
    shares = DATA.theta.mean(0)
    for topic, place in ((green, 0), (red, 1), (late, 2)):
        for party in ("green", "red"):
            row = found[topic, "party", party]
            raw = DATA.theta[DATA.party == party, place].mean() - shares[place]
            assert row.low - 0.03 < raw < row.high + 0.03
    assert found[late, "year", "+1 sd"].low > 0.1
    certain = by_name(topic_effects(model, DATA.covariates))
    wider = [found[key].high - found[key].low > row.high - row.low for key, row in certain.items()]
    assert np.mean(wider) > 0.7
    assert topic_effects(model, DATA.covariates, DATA.X) == list(found.values())


def test_their_intervals_have_the_coverage_of_a_regression():
    """Without topics to find: shares as known, whose regression on a number has a slope; by a test at 0.001."""
    rng, inside = np.random.default_rng(6), []
    model = LDA(2, n_sweeps=2, n_samples=1, random_state=0).fit(np.ones((80, 4), int))
    for _ in range(300):
        x = rng.normal(size=80)
        theta = np.clip(0.5 + 0.1 * (x - x.mean()) / x.std() + rng.uniform(-0.3, 0.3, 80), 0.01, 0.99)
        model.doc_topic_ = np.column_stack((theta, 1 - theta)).astype(np.float32)
        row = topic_effects(model, {"x": x})[0]
        inside.append(row.low < 0.1 < row.high)
    assert abs(np.mean(inside) - 0.9) < 3.3 * np.sqrt(0.09 / 300)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"formula": "~ colour"}, "names a column 'colour'"),
        ({"formula": "~ ("}, "formula: the end of"),
        ({"level": 2}, "level: must be"),
        ({"n_draws": 0}, "n_draws"),
        ({"X": DATA.X[:5]}, "has 400 values, but there are 5 documents"),
    ],
)
def test_what_cannot_be_regressed(more, message):
    model = LDA(**QUICK | {"n_sweeps": 3}).fit(DATA.X)
    with pytest.raises(ParameterError, match=message):
        topic_effects(model, DATA.covariates, **more)


# ---- Supervised models -------------------------------------------------------------------------------------

SUPERVISED = {"n_topics": 3, "n_sweeps": 20, "n_samples": 4, "random_state": 0, "prevalence": "~ party + year"}


def said(model, X, given):
    return model.transform(X, given), model.predict(X, covariates=given)


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("kind", ["labels", "numbers", "ovr"])
def test_supervised(kind, refit, tmp_path):
    """Topics depend on them, and so does the score; saved and loaded, the same is said."""
    cls = MedLDARegressor if kind == "numbers" else MedLDAClassifier
    y = DATA.theta[:, 2] if kind == "numbers" else DATA.y
    if kind == "ovr":
        y = np.where(DATA.theta[:, 0] > 0.6, "green", DATA.y)
    more = {"strategy": "ovr"} if kind == "ovr" else {}
    model = cls(**SUPERVISED, **more, refit=refit)
    watched = (DATA.X[:30], y[:30], DATA.some(slice(0, 30)))
    model.fit(DATA.X, y, covariates=DATA.covariates, validation=watched)
    n_topics = sum(one.n_topics for one in model.topic_models_)
    found = by_name(model.topic_effects())
    assert len(found) == 3 * n_topics
    assert all(type(one.priors.topics) is Prevalence for one in model.topic_models_)
    some = DATA.some(slice(0, 20))
    assert len(model.effects()) > 0
    other = some | {"party": some["party"][::-1]}
    assert not np.array_equal(model.transform(DATA.X[:20], some), model.transform(DATA.X[:20], other))
    model.save(tmp_path / "m")
    loaded = topoi.load(tmp_path / "m")
    assert loaded.topic_effects() == model.topic_effects()
    for a, b in zip(said(loaded, DATA.X[:20], some), said(model, DATA.X[:20], some), strict=True):
        np.testing.assert_array_equal(a, b)
    if kind == "ovr":
        assert len(model.estimators_[0].topic_effects()) == 9


def test_covariates_of_the_score_alone():
    model = MedLDAClassifier(**SUPERVISED | {"prevalence": None}).fit(DATA.X, DATA.y, covariates=DATA.covariates)
    assert model.prevalence_covariates_ == {}
    with pytest.raises(ParameterError, match="that topics depend on were not given to fit"):
        model.topic_effects()


@pytest.mark.parametrize("more", [{"n_jobs": 2}, {"engine": "blocks"}])
def test_supervised_models_have_the_same_bytes(blocks, more):
    settings = SUPERVISED | {"sampler": "partial", "refit": False, "n_sweeps": 10}
    found = []
    for own in ({}, more):
        model = MedLDAClassifier(**settings, **own).fit(DATA.X, DATA.y, covariates=DATA.covariates)
        found.append([*bytes_of(model), model.decision_function(DATA.X, DATA.covariates).tobytes()])
    assert found[0] == found[1]
