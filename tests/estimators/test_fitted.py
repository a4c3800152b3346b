"""The public protocol of fitted estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from topoi import LDA, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi.corpus.target import Target
from topoi.estimators.fitted import Fitted, OneModel, Predictor, check_fitted

X = np.random.default_rng(0).poisson(1.0, (24, 9))
CLASSES = np.array(list("abc"))[np.arange(24) % 3]
INDICATORS = (np.arange(24)[:, None] % np.array([2, 3, 4]) == 0).astype(int)
SHORT = {"n_topics": 2, "n_sweeps": 4, "n_chains": 2, "random_state": 0}


def names(protocol: type) -> set[str]:
    """What a protocol asks for."""
    public = {name for base in protocol.__mro__ for name in (*vars(base), *vars(base).get("__annotations__", ()))}
    return {name for name in public if not name.startswith("_")}


def classifier(strategy: str) -> MedLDAClassifier:
    return MedLDAClassifier(strategy=strategy, **SHORT)


@pytest.fixture(scope="module")
def fitted():
    with np.errstate(all="ignore"):
        return {
            "lda": LDA(**SHORT).fit(X, validation=X),
            "multitask": classifier("multitask").fit(X, CLASSES, validation=(X, CLASSES)),
            "ovr": classifier("ovr").fit(X, CLASSES, validation=(X, CLASSES)),
            "ovo": classifier("ovo").fit(X, CLASSES, validation=(X, CLASSES)),
            "two": classifier("ovo").fit(X, CLASSES == "a", validation=(X, CLASSES == "a")),
            "several": classifier("multitask").fit(X, INDICATORS, validation=(X, INDICATORS)),
            "number": MedLDARegressor(**SHORT).fit(X, X[:, 0], validation=(X, X[:, 0])),
            "numbers": MedLDARegressor(**SHORT).fit(X, X[:, :2], validation=(X, X[:, :2])),
        }


KINDS = ["lda", "multitask", "ovr", "ovo", "two", "several", "number", "numbers"]
pytestmark = pytest.mark.filterwarnings("ignore::topoi.NeverPredictedWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_protocol(kind, fitted):
    model = fitted[kind]
    assert check_fitted(model) is model
    assert {name for name in names(Fitted) if not hasattr(model, name)} == set()
    if model.target_.kind is not None:
        assert {name for name in names(Predictor) if not hasattr(model, name)} == set()
    for one in model.estimators_:
        assert {name for name in names(OneModel) if not hasattr(one, name)} == set()
        assert list(one.estimators_) == [one]
    assert model.topic_models_ == [one.model_ for one in model.estimators_]
    assert len({one.seed_ for one in model.estimators_}) == len(model.estimators_)
    parts = [one.transform(X) for one in model.estimators_]
    np.testing.assert_array_equal(model.transform(X), np.concatenate(parts, axis=1))
    assert model.as_corpus(X).n_documents == len(X)
    assert model.burn_in_ == 2


def test_the_protocols_ask_for_something():
    assert {"target_", "topic_models_", "estimators_", "rhat_", "as_corpus"} <= names(Fitted) <= names(OneModel)
    assert {"seed_", "traces_"} <= names(OneModel)
    assert {"topic_weights_", "as_truth"} <= names(Predictor)


@pytest.mark.parametrize(
    ("kind", "target", "tasks", "models"),
    [
        ("lda", Target(), [], []),
        ("multitask", Target("one", ["a", "b", "c"], ["a", "b", "c"]), ["a", "b", "c"], []),
        ("ovr", Target("one", ["a", "b", "c"], ["a", "b", "c"], "ovr"), ["a", "b", "c"],
         ["a or not", "b or not", "c or not"]),
        ("ovo", Target("one", ["a", "b", "c"], ["a", "b", "c"], "ovo"), ["b, not a", "c, not a", "c, not b"],
         ["a or b", "a or c", "b or c"]),
        ("two", Target("one", [False, True], ["False", "True"], "ovo"), ["True"], []),
        ("several", Target("several", [0, 1, 2], ["0", "1", "2"]), ["0", "1", "2"], []),
        ("number", Target("numbers", [0], ["target"]), ["target"], []),
        ("numbers", Target("numbers", [0, 1], ["output 0", "output 1"]), ["output 0", "output 1"], []),
    ],
)  # fmt: skip
def test_target(kind, target, tasks, models, fitted):
    model = fitted[kind]
    assert model.target_ == target
    assert target.tasks == tasks
    assert target.models == models
    assert len(model.estimators_) == max(len(models), 1)
    assert len(getattr(model, "topic_weights_", [])) == len(tasks)


@pytest.mark.parametrize(("kind", "y", "shape"), [
    ("two", CLASSES == "a", (24,)), ("several", INDICATORS, (24, 3)), ("number", X[:, :1], (24,)),
    ("numbers", X[:, :2].astype(int), (24, 2)),
])  # fmt: skip
def test_truth(kind, y, shape, fitted):
    assert fitted[kind].as_truth(y, 24).shape == shape
    with pytest.raises(ParameterError, match="y: "):
        fitted[kind].as_truth(y[:3], 24)
    with pytest.raises(ParameterError, match="y: "):
        fitted[kind].as_truth(np.column_stack((y, y)), 24)


def test_names():
    target = Target("numbers", [0, 1], ["output 0", "output 1"])
    assert target.named(None) is target
    assert target.named(["weight", 3]).names == ["weight", "3"]
    with pytest.raises(ParameterError, match="label_names: has 1 names, but the model has 2: output 0, output 1"):
        target.named(["weight"])


def test_what_is_not_fitted():
    with pytest.raises(NotFittedError):
        check_fitted(LDA())
    with pytest.raises(ParameterError, match=r"estimator: must be a fitted LDA, .*, not str"):
        check_fitted("model")
    for cls in (LDA, MedLDAClassifier, MedLDARegressor):
        for name in ("estimators_", "topic_models_", "components_"):
            with pytest.raises(AttributeError, match="only after fit"):
                getattr(cls(), name)
