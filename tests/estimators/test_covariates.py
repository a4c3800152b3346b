"""Covariates: numbers and categories of documents beside their words; effects, errors, new documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from support.labelled import Documents, quick, quick_regressor
from topoi import ParameterError, load
from topoi.estimators.covariates import learn_covariates

N = 240


class Sold:
    """Documents whose target depends on their price and brand, beside their topics."""

    def __init__(self, n_documents, seed):
        self.documents = Documents(n_documents, seed)
        rng = np.random.default_rng(seed + 50)
        price, brand = rng.normal(100, 20, n_documents), rng.choice(["acme", "bolt", "core"], n_documents)
        self.X = self.documents.X
        self.frame = pd.DataFrame({"price": price, "brand": brand})
        effect = 2 * (price - 100) / 20 + np.where(brand == "bolt", 2.0, 0.0)
        self.y = self.documents.number + effect + rng.normal(0, 0.3, n_documents)
        self.label = np.where(effect > effect.mean(), "dear", "cheap")


@pytest.fixture(scope="module")
def train():
    return Sold(N, 0)


@pytest.fixture(scope="module")
def test():
    return Sold(120, 1)


@pytest.fixture(scope="module")
def fitted(train):
    return quick_regressor(refit=True, n_topics=8, n_sweeps=60, n_samples=20).fit(
        train.X, train.y, covariates=train.frame
    )


@pytest.mark.parametrize("refit", [True, False])
def test_they_predict(refit, train, test):
    with_them = quick_regressor(refit=refit, n_sweeps=20).fit(train.X, train.y, covariates=train.frame)
    without = quick_regressor(refit=refit, n_sweeps=20).fit(train.X, train.y)
    gain = with_them.score(test.X, test.y, covariates=test.frame) - without.score(test.X, test.y)
    assert gain > 0.25


@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
@pytest.mark.parametrize("refit", [True, False])
def test_labels(strategy, refit, train, test):
    """What no word tells, the brand, is told by its column."""
    model = quick(refit=refit, strategy=strategy, n_sweeps=20)
    model.fit(train.X, train.frame["brand"], covariates=train.frame)
    assert model.score(test.X, test.frame["brand"], covariates=test.frame) > 0.9


def test_effects(fitted, train):
    """Estimates and intervals that hold what is true; a price is a number, brands are categories."""
    found = pd.DataFrame(fitted.effects(level=0.99)).set_index("covariate")
    assert found.index.tolist() == ["price", "brand=acme", "brand=bolt", "brand=core"]
    bolt = train.frame["brand"] == "bolt"
    true = {"price": 2 * train.frame["price"].std(ddof=0) / 20}  # as the targets were made
    true |= {f"brand={name}": 2 * ((name == "bolt") - bolt.mean()) for name in ("acme", "bolt", "core")}
    for name, value in true.items():
        low, mean, high = found.loc[name, ["low", "mean", "high"]]
        assert low < value / train.y.std() < high, name
        assert low < mean < high
        assert high - low < 0.2
    narrow = pd.DataFrame(fitted.effects(level=0.9)).set_index("covariate")
    assert ((narrow["high"] - narrow["low"]) < (found["high"] - found["low"])).all()


def test_effects_do_not_depend_on_the_predictor(fitted, train):
    """They are those of a regression: the refit, and how strongly targets pull in the chain, have no say."""
    other = quick_regressor(n_topics=8, n_sweeps=60, cost=0.5).fit(train.X, train.y, covariates=train.frame)
    for one, another in zip(fitted.effects(), other.effects(), strict=True):
        assert one.mean == pytest.approx(another.mean, abs=0.05)
        assert one.high - one.low == pytest.approx(another.high - another.low, rel=0.5)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_effects_of_several_models_are_of_labels(strategy, train):
    labels = np.array(["low", "mid", "high"])[np.digitize(train.y, np.quantile(train.y, [1 / 3, 2 / 3]))]
    model = quick(strategy=strategy, n_sweeps=4).fit(train.X, labels, covariates=train.frame)
    found = {(effect.label, effect.covariate): effect for effect in model.effects()}
    assert {label for label, _ in found} == {"low", "mid", "high"}
    assert found["high", "price"].low > 0 > found["low", "price"].high
    with pytest.raises(ParameterError, match="whole estimator"):
        model.estimators_[0].effects()


def test_effects_of_counts_and_of_places(train):
    """The number of standard deviations is in the effect: a logarithm of a ratio, or places."""
    rng = np.random.default_rng(0)
    price = (train.frame["price"] - train.frame["price"].mean()) / train.frame["price"].std(ddof=0)
    model = quick_regressor(loss="counts", n_sweeps=10).fit(
        train.X, rng.poisson(np.exp(2 + 0.5 * price)), covariates=train.frame
    )
    (effect,) = (effect for effect in model.effects(0.99) if effect.covariate == "price")
    assert effect.low < 0.5 < effect.high
    stars = np.clip(np.round(3 + price), 1, 5).astype(int)
    model = quick(loss="ordinal", n_sweeps=10).fit(train.X, stars, covariates=train.frame)
    (effect,) = (effect for effect in model.effects(0.99) if effect.covariate == "price")
    assert effect.label == "5, not 1"
    assert 0.8 < effect.mean < 1


def test_effects_of_labels(train):
    model = quick(n_sweeps=10, n_samples=4).fit(train.X, train.label, covariates=train.frame)
    assert {effect.label for effect in model.effects()} == {"dear"}
    with pytest.raises(ParameterError, match="were not given to fit"):
        quick().fit(train.X, train.label).effects()


def test_reasons_of_the_chain(train, test):
    """Without a refit, topics and covariates add up to what the chain expects."""
    model = quick_regressor(n_sweeps=10).fit(train.X, train.y, covariates=train.frame)
    scores = (model.predict(test.X[:4], covariates=test.frame[:4]) - model._mean) / model._spread
    for (reason,), score in zip(model.explain(test.X[:4], covariates=test.frame[:4]), scores, strict=True):
        assert reason.score == pytest.approx(score, abs=1e-4)
        assert sum(reason.parts.values()) == pytest.approx(reason.score)
        assert reason.parts["covariates"] == pytest.approx(sum(value for _, value in reason.covariates))


def test_intervals_of_counts_follow_them(train, test):
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.exp(1 + (train.frame["price"] - 100) / 20))
    model = quick_regressor(loss="counts", n_sweeps=20, n_samples=5).fit(train.X, counts, covariates=train.frame)
    cheap, dear = (
        model.predict_interval(test.X[:5], covariates=test.frame[:5].assign(price=price)) for price in (80.0, 140.0)
    )
    assert (dear[:, 1] > cheap[:, 1]).all()


def test_reasons(fitted, test):
    """The price divides the score as topics and words do."""
    (reason,) = fitted.explain(test.X[:1], covariates=test.frame[:1], n_words=99)[0]
    assert sum(value for _, value in reason.covariates) == pytest.approx(reason.parts["covariates"], abs=1e-6)
    assert dict(reason.covariates)["price"] * (test.frame["price"][0] - 100) > 0
    assert sum(reason.parts.values()) == pytest.approx(reason.score, abs=1e-6)


def test_saved(fitted, test, tmp_path):
    fitted.save(tmp_path / "model.topoi")
    again = load(tmp_path / "model.topoi")
    assert (
        again.predict(test.X, covariates=test.frame).tobytes()
        == fitted.predict(test.X, covariates=test.frame).tobytes()
    )
    assert again.effects() == fitted.effects()


def test_same_bytes_in_blocks(train, test):
    given = {"sampler": "partial", "n_sweeps": 6, "refit": True}
    one, other = (
        quick_regressor(**given, engine=engine).fit(train.X, train.y, covariates=train.frame)
        for engine in (None, "blocks")
    )
    assert one.effects() == other.effects()
    predicted = [model.predict(test.X, covariates=test.frame).tobytes() for model in (one, other)]
    assert predicted[0] == predicted[1]


def test_validation_uses_them(train, test):
    watched = quick_regressor(n_sweeps=20).fit(
        train.X, train.y, covariates=train.frame, validation=(test.X, test.y, test.frame)
    )
    assert watched.validation_traces_[0][-1, 1] > 0.7
    with pytest.raises(ParameterError, match="covariates: are needed"):
        quick_regressor().fit(train.X, train.y, covariates=train.frame, validation=(test.X, test.y))


@pytest.mark.parametrize("form", ["frame", "mapping", "array", "sparse"])
def test_forms(form, train, test):
    """A frame, a mapping of columns, an array and a sparse matrix of the same numbers predict alike."""

    def as_form(frame):
        numbers = np.column_stack((frame["price"], frame["brand"] == "bolt")).astype(float)
        return {"frame": pd.DataFrame(numbers, columns=["a", "b"]), "array": numbers,
                "mapping": {"a": numbers[:, 0], "b": numbers[:, 1]},
                "sparse": sparse.csr_array(numbers - [100, 0])}[form]  # fmt: skip

    model = quick_regressor(refit=True, n_sweeps=10).fit(train.X, train.y, covariates=as_form(train.frame))
    assert model.score(test.X, test.y, covariates=as_form(test.frame)) > 0.8


def test_a_new_category_has_no_effect(fitted, test):
    frame = test.frame.assign(brand="new")
    with pytest.warns(UserWarning, match="'brand' has 'new', which the training documents do not have"):
        found = fitted.predict(test.X, covariates=frame)
    by_brand = [fitted.predict(test.X, covariates=test.frame.assign(brand=brand)) for brand in ("acme", "bolt", "core")]
    assert (found > np.min(by_brand, axis=0)).all()
    assert (found < np.max(by_brand, axis=0)).all()


@pytest.mark.parametrize(("change", "message"), [
    (lambda f: f.assign(price=[*f["price"][:-1], np.nan]), "row 239, column 'price' is nan"),
    (lambda f: f.assign(price=[np.inf, *f["price"][1:]]), "row 0, column 'price' is inf"),
    (lambda f: f.assign(brand=[*f["brand"][:7], None, *f["brand"][8:]]), "row 7, column 'brand' has no value"),
    (lambda f: f[:-1], "column 'price' has 239 values, but there are 240 documents"),
    (lambda f: f.assign(brand=[f"name {i}" for i in range(N)] ), None),
    (lambda f: sparse.csr_array(np.full((N, 2), np.nan)), "row 0, column 0 is not a finite number"),
    (lambda f: sparse.csr_array(np.ones((5, 2))), "have 5 rows, but there are 240 documents"),
    (lambda f: f[[]], "have no columns"),
    (lambda f: np.zeros((N, 2, 2)), "not an array of 3 dimensions"),
    (lambda f: pd.concat([f, f], axis=1), "have several columns that are called 'brand'"),
    (lambda f: f.assign(price=1j * f["price"]), "column 'price' has complex numbers"),
    (lambda f: f.assign(price=1e300 * f["price"]), "column 'price' has numbers that are too large to standardise"),
    (lambda f: f.assign(day=pd.Timestamp("2020-01-01")), "column 'day' has dates or times"),
])  # fmt: skip
def test_bad_covariates(change, message, train):
    if message is None:  # many categories, but not too many
        learn_covariates(change(train.frame), N)
        return
    with pytest.raises(ParameterError, match=message) as caught:
        quick_regressor().fit(train.X, train.y, covariates=change(train.frame))
    assert caught.value.parameter == "covariates"


def test_too_many_categories():
    with pytest.raises(ParameterError, match="1001 different values, more than 1000: is it an id"):
        learn_covariates({"name": [f"name {i}" for i in range(1001)]}, 1001)


def test_a_constant_column_has_no_effect(train):
    frame = train.frame.assign(year=2020, place="here")
    with pytest.warns(UserWarning, match="the column '(year|place)' is constant") as told:
        learned, columns = learn_covariates(frame, N)
    assert len(told) == 2
    numbers = learned.standard(frame, N).toarray()
    np.testing.assert_array_equal(numbers[:, learned.columns.index("year")], 0)
    np.testing.assert_array_equal(numbers[:, learned.columns.index("place=here")], 0)
    assert columns.shape == (N, 3)  # a price, and two ways in which three brands differ


def test_new_documents_need_them(fitted, train, test):
    with pytest.raises(ParameterError, match="covariates: are needed: the model was fitted with price, brand"):
        fitted.predict(test.X)
    with pytest.raises(ParameterError, match="have no column 'brand'"):
        fitted.predict(test.X, covariates=test.frame[["price"]])
    far = test.frame.assign(price=np.where(np.arange(len(test.frame)) == 3, -1e300, test.frame["price"]))
    with pytest.raises(ParameterError, match="row 3, column 'price' is too far from the numbers of the fit"):
        fitted.predict(test.X, covariates=far)
    with pytest.raises(ParameterError, match="must not be a sparse matrix here"):
        fitted.predict(test.X, covariates=sparse.csr_array(np.ones((120, 2))))
    with pytest.raises(ParameterError, match="'price' must be numbers"):
        fitted.predict(test.X, covariates=test.frame.assign(price="dear"))
    with pytest.raises(ParameterError, match="were not given to fit"):
        quick_regressor().fit(train.X, train.y).predict(test.X, covariates=test.frame)


def test_columns_without_names_are_as_many_as_in_the_fit():
    numbers = np.random.default_rng(0).normal(size=(20, 3))
    learned, _ = learn_covariates(numbers[:, :2], 20)
    with pytest.raises(ParameterError, match="have 3 columns, but 2 in the fit"):
        learned.standard(numbers, 20)
    with pytest.raises(ParameterError, match="have no column 'x1'"):
        learned.standard(numbers[:, :1], 20)
    frame = {f"x{j}": numbers[:, j] for j in (2, 1, 0)}  # by name, whatever else there is
    np.testing.assert_array_equal(learned.standard(frame, 20).toarray(), learned.standard(numbers[:, :2], 20).toarray())


def test_columns_are_standardised(train):
    learned, columns = learn_covariates(train.frame, N)
    assert learned.columns == ["price", "brand=acme", "brand=bolt", "brand=core"]
    standard = learned.standard(train.frame, N).toarray()
    np.testing.assert_allclose(standard.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(standard.std(0), 1, atol=1e-5)
    # Those that weights are learned for are uncorrelated, and say the same.
    np.testing.assert_allclose(columns.toarray().T @ columns.toarray() / N, np.eye(3), atol=1e-4)
    weights = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(columns @ weights, standard @ learned.back(weights), atol=1e-4)


def test_two_categories_share_their_effect(train):
    """Their columns say the same, so that neither can have the effect alone."""
    frame = train.frame.assign(brand=np.where(train.frame["brand"] == "bolt", "bolt", "acme"))
    model = quick_regressor(n_sweeps=40, n_samples=10).fit(train.X, train.y, covariates=frame)
    found = pd.DataFrame(model.effects()).set_index("covariate")
    share = (frame["brand"] == "bolt").mean()
    assert share * found.loc["brand=bolt", "mean"] == pytest.approx(-(1 - share) * found.loc["brand=acme", "mean"])
    difference = found.loc["brand=bolt", "mean"] - found.loc["brand=acme", "mean"]
    assert difference == pytest.approx(2 / train.y.std(), rel=0.1)
