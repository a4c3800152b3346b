"""Labels and parameters: documents without a label, labels that cannot be used, odd ones that can."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from support.labelled import FOUR, LOSSES, classifier, fitted_bytes, quick, quick_regressor, refuse
from topoi import NeverPredictedWarning, ParameterError
from topoi.chain.samplers import SAMPLERS
from topoi.estimators.labels import Labels


@pytest.mark.parametrize("loss", LOSSES)
def test_few_labels(loss, hidden, train, test):
    """Far better than guessing; the labels of the others are never looked at."""
    model = classifier(loss=loss).fit(train.X, train.many, unlabelled=hidden)
    assert model.score(test.X, test.many) > 0.6  # guessing: 0.2
    expected = fitted_bytes(model, test.X)
    rng = np.random.default_rng(0)
    garbage = {
        "other labels": np.where(hidden, rng.permutation(train.many), train.many),
        "new labels": np.where(hidden, 77, train.many),
        "minus one": np.where(hidden, -1, train.many),
        "NaN": np.where(hidden, np.nan, train.many),
        "None": [None if gone else int(label) for gone, label in zip(hidden, train.many, strict=True)],
        "text": [f"doc{d}" if gone else int(train.many[d]) for d, gone in enumerate(hidden)],
    }
    garbage["text"] = np.array(garbage["text"], object)
    for name, y in garbage.items():
        other = classifier(loss=loss).fit(train.X, y, unlabelled=hidden)
        assert other.classes_.tolist() == [0, 1, 2, 3, 4], name
        assert fitted_bytes(other, test.X) == expected, name
    without = classifier(loss=loss).fit(train.X[~hidden], train.many[~hidden])  # the words of the others take part
    assert fitted_bytes(without, test.X) != expected


def test_unlabelled_rows_of_several_labels(hidden, train, test):
    model = quick().fit(train.X, train.several, unlabelled=hidden)
    garbage = np.where(hidden[:, None], np.nan, train.several)
    other = quick().fit(train.X, garbage, unlabelled=hidden)
    assert fitted_bytes(other, test.X) == fitted_bytes(model, test.X)
    assert fitted_bytes(quick().fit(train.X, train.several), test.X) != fitted_bytes(model, test.X)


def test_no_document_unlabelled(train, test):
    none = np.zeros(len(train.X), bool)
    expected = fitted_bytes(quick().fit(train.X, train.many), test.X)
    assert fitted_bytes(quick().fit(train.X, train.many, unlabelled=none), test.X) == expected


def test_weights_of_unlabelled_documents(hidden, train, test):
    """`class_weight` counts labelled documents only."""
    y = np.where(hidden, 1, train.two)
    balanced = quick(class_weight="balanced").fit(train.X, y, unlabelled=hidden)
    n, n_labelled = np.bincount(train.two[~hidden]), (~hidden).sum()
    given = quick(class_weight={0: n_labelled / (2 * n[0]), 1: n_labelled / (2 * n[1])})
    assert fitted_bytes(given.fit(train.X, y, unlabelled=hidden), test.X) == fitted_bytes(balanced, test.X)


BAD_LABELS = {
    "none": (None, "y is None"),
    "one class": ([1, 1, 1, 1], "one class, "),
    "one text": (["a"] * 4, "one class, .*a"),
    "infinity": ([0, 1, np.inf, 0], "label 2 is"),
    "too few": ([0, 1, 0], r"3.*4 documents"),
    "too many": ([0, 1, 0, 1, 1], r"5.*4 documents"),
    "too many rows": (np.eye(5), r"5.*4 documents"),
    "a number": (1, "4 documents"),
    "no labels": ([], "4 documents"),
    "continuous": ([0.5, 1.2, 3.3, 0.1], "continuous"),
    "continuous columns": ([[0.5, 1.2], [0.1, 0.2], [1.5, 1.0], [0.0, 2.5]], "continuous"),
    "several columns of classes": ([[0, 1], [2, 1], [1, 0], [3, 3]], ""),
    "NaN in an indicator": ([[0, 1], [1, np.nan], [1, 0], [0, 0]], "label 1 is NaN"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
@pytest.mark.usefixtures("no_sampling")
def test_bad_labels(case):
    y, match = BAD_LABELS[case]
    refuse("y", quick(), match, FOUR, y)


def test_only_unlabelled_labels_may_be_bad():
    """The row that is named is the row of X."""
    y = [np.nan, 0, np.nan, 1]
    assert quick().fit(FOUR, y, unlabelled=np.array([True, False, True, False])).classes_.tolist() == [0, 1]
    refuse("y", quick(), "label 2 is", FOUR, [0, 0, np.inf, 1], unlabelled=np.array([True, False, False, False]))
    refuse("y", quick(), "one class", FOUR, [0, 0, 1, 1], unlabelled=np.array([False, False, True, True]))


BAD_MASKS = [
    ([True, False, True], "4 booleans"),
    ([[True], [False], [True], [False]], "4 booleans"),
    ([1, 0, 0, 0], "4 booleans"),
    ([0.0, 1.0, 0.0, 0.0], "4 booleans"),
    (["yes", "no", "no", "no"], "4 booleans"),
    (True, "4 booleans"),
    ([True] * 4, "every document"),
]


@pytest.mark.parametrize(("mask", "match"), BAD_MASKS, ids=[repr(mask) for mask, _ in BAD_MASKS])
@pytest.mark.usefixtures("no_sampling")
def test_bad_mask(mask, match):
    refuse("unlabelled", quick(), match, FOUR, [0, 1, 0, 1], unlabelled=mask)


BAD_PARAMETERS = [
    *[("loss", value) for value in ("squared", "epsilon_insensitive", "Hinge", None, 3, ["hinge"])],
    *[("cost", value) for value in (0, -1, np.nan, np.inf, "1", "high", [1.0])],
    *[("margin", value) for value in (0, -1, np.nan, np.inf, "1", [1.0])],
    *[("positive_weight", value) for value in (0, -1, np.nan, np.inf, "1", [1.0])],
    *[("weight_prior", value) for value in (0, -1, np.nan, np.inf, "1")],
    *[("n_gibbs", value) for value in (-1, 2.5, "2", None, np.nan)],
    *[("sampler", value) for value in ("gibbs", None, 3)],
    *[("n_topics", value) for value in (0, 2.5)],
    *[("n_chains", value) for value in (0, "2")],
    *[("burn_in", value) for value in (6, -1)],
    ("n_sweeps", 0), ("n_samples", 0), ("infer_sweeps", 0), ("doc_topic_prior", -1.0), ("topic_word_prior", 0),
    ("random_state", "seed"), ("n_jobs", 0), ("callbacks", 3),
    *[("class_weight", value) for value in ("balance", 3, [1.0, 2.0], {7: 2.0}, {0: 1.0, 1: 1.0, 7: 2.0})],
    *[("class_weight", {1: value}) for value in (-1.0, np.nan, np.inf, "heavy")],
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS, ids=[f"{n}={v!r}" for n, v in BAD_PARAMETERS])
@pytest.mark.usefixtures("no_sampling")
def test_bad_parameter(name, value):
    refuse(name, quick(**{name: value}), "", FOUR, [0, 1, 0, 1])
    if name in quick_regressor().get_params() and name != "loss":
        refuse(name, quick_regressor(**{name: value}), "", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("sampler", sorted(name for name, kind in SAMPLERS.items() if not kind.tilts))
@pytest.mark.usefixtures("no_sampling")
def test_samplers_that_cannot_tilt(sampler):
    choices = ", ".join(["auto", *sorted(name for name, kind in SAMPLERS.items() if kind.tilts)])
    for model in (quick(sampler=sampler), quick_regressor(sampler=sampler)):
        refuse("sampler", model, f"{sampler}.*one of {choices}$", FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("weight", ["balanced", {0: 2.0}])
@pytest.mark.usefixtures("no_sampling")
def test_class_weight_of_several_labels(weight, train):
    refuse("class_weight", quick(class_weight=weight), "indicator", train.X, train.several)


def test_good_labels(train, test):
    """What looks odd but has a meaning."""
    several = train.several.copy()
    several[:20] = 0  # documents without any label: all negative
    several[:, 4] = 0  # a label of no document
    with pytest.warns(UserWarning, match="column 4 has no positive label"):
        model = classifier().fit(train.X, several)
    assert not model.predict(test.X)[:, 4].any()
    assert f1_score(test.several[:, :4], model.predict(test.X)[:, :4], average="micro") > 0.8
    for parameters in ({"cost": 1}, {"cost": np.float32(2), "margin": np.int64(3)}, {"weight_prior": 10, "n_gibbs": 5}):
        assert np.isfinite(quick(**parameters).fit(train.X, train.two).decision_function(test.X)).all()
    assert np.isfinite(quick_regressor(epsilon=0).fit(train.X, train.number).predict(test.X)).all()
    assert np.isfinite(quick_regressor(epsilon=0.5).fit(train.X, train.number).predict(test.X)).all()
    assert quick().fit(train.X, train.several.astype(bool)).predict(test.X).shape == test.several.shape
    with pytest.warns(UserWarning, match="column-vector"):
        column = quick().fit(train.X, train.many[:, None])
    assert fitted_bytes(column, test.X) == fitted_bytes(quick().fit(train.X, train.many), test.X)


def test_many_columns_that_say_nothing():
    with pytest.warns(UserWarning, match=r"columns 1, 2, 3, 4, 5, 6, 7, 8, … \(19 in all\) have no") as caught:
        Labels.of(np.eye(20, dtype=int)[:1].repeat(3, 0) * [[1], [0], [1]])
    assert len(caught) == 1


@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
@pytest.mark.parametrize(("value", "what"), [(0, "no positive label"), (1, "only positive labels")])
def test_columns_that_say_nothing(value, what, strategy, hidden, train, test):
    """One warning names all, also if other values are only in documents without a label."""
    several = train.several.copy()
    several[~hidden, 1] = several[~hidden, 3] = value
    with pytest.warns(UserWarning, match=what) as caught:
        model = classifier(strategy=strategy).fit(train.X, several, unlabelled=hidden)
    assert [str(warning.message) for warning in caught] == [
        f"y: columns 1, 3 have {what}; nothing can be learned there"
    ]
    assert (model.predict(test.X)[:, [1, 3]] == value).all()


def test_rows_without_a_label(train, test):
    several = train.several.copy()
    several[:20] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NeverPredictedWarning)  # so few sweeps teach little
        model = quick().fit(train.X, several)
    assert model.predict(test.X).shape == test.several.shape
    assert 0 <= model.score(train.X, several) <= 1


def score_refused(model, match, /, *arguments):
    with pytest.raises(ParameterError, match=match) as caught:
        model.score(*arguments)
    assert caught.value.parameter == "y"


def test_unseen_labels_at_scoring(fitted, train, test):
    names = np.array(["art", "bread", "cars", "dogs", "earth"])
    model = quick().fit(train.X, names[train.many])
    y = names[test.many]
    assert 0 <= model.score(test.X, y) <= 1
    assert 0 <= model.score(test.X[:5], y[:5].tolist()) <= 1  # some classes may be missing
    score_refused(model, "'zoo', which the model does not know; it knows 'art', 'bread'", test.X, ["zoo", *y[1:]])
    score_refused(model, "label 1", test.X[:3], np.array(["art", None, "cars"], object))
    score_refused(model, "199.*200 documents", test.X, y[1:])
    score_refused(model, "None", test.X, None)
    numbers = fitted["hinge", "many"]
    assert numbers.score(test.X, test.many.astype(float)) == numbers.score(test.X, test.many)
    score_refused(numbers, "the label 5,", test.X, test.many + 1)
    score_refused(numbers, "label 0 is NaN", test.X[:2], [np.nan, 1.0])
    score_refused(numbers, "one label per document", test.X, test.several)
    several = fitted["hinge", "several"]
    assert several.score(test.X, sparse.csr_array(test.several)) == several.score(test.X, test.several)
    score_refused(several, r"\(200, 5\) of 0 and 1", test.X, test.several[:, :4])
    score_refused(several, r"\(200, 5\) of 0 and 1", test.X, test.many)
    score_refused(several, r"\(200, 5\) of 0 and 1", test.X, 2 * test.several)
