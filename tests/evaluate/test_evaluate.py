"""Scores of predictions, chains, and `evaluate`, which picks what applies."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.metrics import log_loss

from support.labelled import WORDS, classifier, regressor
from topoi import LDA, Corpus, MedLDAClassifier, ParameterError
from topoi.chain.diagnostics import rhat_ess
from topoi.evaluate import (
    MEASURES,
    calibration_error,
    chain_diagnostics,
    classification_scores,
    document_completion,
    evaluate,
    left_to_right,
    npmi,
    regression_scores,
    score_predictions,
    top_columns,
)

# ---- Labels ----------------------------------------------------------------------------------------------------------

TRUTH = ["a", "a", "a", "b", "b", "c"]
GUESS = ["a", "a", "b", "b", "b", "a"]


def test_labels_by_hand():
    found = classification_scores(TRUTH, GUESS, labels=["a", "b", "c", "d"])
    assert found.accuracy == found.micro_f1 == 4 / 6
    np.testing.assert_allclose(found.precision, [2 / 3, 2 / 3, 0, 0])
    np.testing.assert_allclose(found.recall, [2 / 3, 1, 0, 0])
    np.testing.assert_allclose(found.f1, [2 / 3, 0.8, 0, 0])
    assert found.macro_f1 == pytest.approx((2 / 3 + 0.8) / 4)
    assert found.support.tolist() == [3, 2, 1, 0]
    assert found.confusion.tolist() == [[2, 1, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert found.log_loss is None
    assert found.calibration_error is None
    told = found.as_dict()
    assert told["per_label"][1] == {"label": "b", "precision": pytest.approx(2 / 3), "recall": 1.0,
                                    "f1": pytest.approx(0.8), "support": 2}  # fmt: skip
    assert "log_loss" not in told
    assert json.loads(json.dumps(told)) == told


def test_probabilities_by_hand():
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    truth = [0, 1, 1, 1]
    found = classification_scores(truth, p.argmax(1), p, n_bins=5)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.4, 0.7, 0.8]).mean())
    assert found.log_loss == pytest.approx(log_loss(truth, p))
    # Bins 0.6–0.8 (0.6 wrong, 0.7 right) and 0.8–1 (0.9 and 0.8 right).
    assert found.calibration_error == pytest.approx(0.5 * abs(0.5 - 0.65) + 0.5 * abs(1 - 0.85))
    certain = classification_scores([0, 1], [0, 0], [[1, 0], [1, 0]])
    assert certain.log_loss == pytest.approx(-np.log(1e-15) / 2)
    assert certain.calibration_error == 0.5


def test_several_labels_by_hand():
    truth = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    guess = np.array([[1, 0, 1], [0, 1, 1], [0, 1, 0]])
    p = np.where(guess == 1, 0.8, 0.3)
    found = classification_scores(truth, guess, p, labels=["x", "y", "z"], n_bins=2)
    assert found.several
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.as_dict()["subset_accuracy"] == found.accuracy
    assert found.micro_f1 == pytest.approx(2 * 4 / (2 * 4 + 1 + 1))
    np.testing.assert_allclose(found.f1, [2 / 3, 1, 2 / 3])
    assert found.confusion[2].tolist() == [[1, 1], [0, 1]]
    assert found.log_loss == pytest.approx(-np.log([0.8, 0.7, 0.8, 0.7, 0.8, 0.2, 0.3, 0.8, 0.7]).mean())
    assert found.calibration_error == pytest.approx(5 / 9 * abs(4 / 5 - 0.8) + 4 / 9 * abs(1 / 4 - 0.3))


def test_perfect_and_single_documents():
    assert classification_scores(["a"], ["a"]).accuracy == 1
    assert calibration_error([1.0, 1.0], [True, True]) == 0
    assert calibration_error([0.0], [False]) == 0


def test_bad_labels():
    for given, message in (
        ({"truth": [], "predicted": []}, "^truth: .*no documents"),
        ({"truth": ["a"], "predicted": ["a", "b"]}, "^y: "),
        ({"truth": ["a"], "predicted": ["b"], "labels": ["a"]}, "^predicted: .*'b'"),
        ({"truth": [0, 1], "predicted": [0, 1], "probabilities": [[1.0], [1.0]]}, "^probabilities: .*shape"),
        ({"truth": [0, 1], "predicted": [0, 1], "probabilities": [[0.5, 0.5], [1.5, -0.5]]}, "row 1"),
        ({"truth": [[1, 0]], "predicted": [[1, 0]], "labels": ["a"]}, "^labels: "),
    ):
        with pytest.raises(ParameterError, match=message):
            classification_scores(**given)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        calibration_error([1.5], [True])


# ---- Numbers ---------------------------------------------------------------------------------------------------------


def test_numbers_by_hand():
    found = regression_scores([1, 2, 3, np.nan], [1, 3, 3, 9], [[0, 2], [2.5, 4], [2, 4], [0, 0]], level=0.8)
    assert found.as_dict() == {"r2": 0.5, "rmse": pytest.approx(math.sqrt(1 / 3)), "mae": pytest.approx(1 / 3),
                               "coverage": pytest.approx(2 / 3), "interval_width": pytest.approx(5.5 / 3),
                               "level": 0.8}  # fmt: skip
    assert found.n.tolist() == [3]
    single = regression_scores([1.0], [2.0])
    assert math.isnan(single.r2[0])
    assert single.rmse[0] == 1
    assert single.coverage is None


def test_several_outputs():
    found = regression_scores([[1, 0], [2, np.nan], [3, 4]], [[1, 0], [2, 1], [3, 2]])
    assert found.r2.tolist() == [1, 0.5]
    told = found.as_dict()
    assert told["r2"] == 0.75
    assert told["per_output"][1]["mae"] == 1


def test_bad_numbers():
    for given, message in (
        (([1, 2], [1]), "^predicted: .*shape"), ((["a"], [1]), "^truth: .*numbers"),
        (([np.inf], [1]), "^truth: .*finite"),
        (([np.nan], [1]), "single known"), (([1], [np.nan]), "^predicted: row 0"), (([1], [1], [[1]]), "^interval: "),
        (([], []), "^truth: "),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=message):
            regression_scores(*given)


# ---- Chains ----------------------------------------------------------------------------------------------------------


def test_chains(train):
    lda = LDA(4, n_sweeps=400, n_chains=3, random_state=0).fit(train.X[:40])
    after = rhat_ess([trace[20:, 1] for trace in lda.traces_])
    found = chain_diagnostics(lda)
    assert found == {"rhat": after["rhat"], "ess": after["ess_bulk"], "n_chains": 3}
    assert found["rhat"] == lda.rhat_
    assert 3 < found["ess"] < 200


def test_too_few_sweeps_to_tell(train):
    two = chain_diagnostics(LDA(4, n_sweeps=80, n_chains=2, random_state=0).fit(train.X))
    assert two["rhat"] > 0.9
    assert math.isnan(two["ess"])
    one = chain_diagnostics(LDA(4, n_sweeps=20, random_state=0).fit(train.X))
    assert math.isnan(one["rhat"])
    assert math.isnan(one["ess"])
    assert one["n_chains"] == 1


def test_chains_of_several_models(train):
    model = classifier(n_topics=3, strategy="ovr", n_sweeps=200, burn_in=0).fit(train.X[:60], train.many[:60] % 3)
    assert [len(of_class.traces_) for of_class in model.estimators_] == [2] * 3
    every = [rhat_ess([trace[:, 1] for trace in of_class.traces_])["ess_bulk"] for of_class in model.estimators_]
    assert len(set(every)) == 3
    assert chain_diagnostics(model) == {"rhat": model.rhat_, "ess": min(every), "n_chains": 2}


def test_burn_in_after_more_documents(train):
    lda = LDA(3, n_sweeps=40, infer_sweeps=12, burn_in=8, random_state=0).fit(train.X[:50])
    assert lda.burn_in_ == 8
    assert lda.partial_fit(train.X[50:]).burn_in_ == 6


# ---- evaluate --------------------------------------------------------------------------------------------------------

OF_TOPICS = {"log_likelihood", "perplexity", "u_mass", "npmi", "diversity", "exclusivity", "rhat", "ess", "n_chains"}
OF_SEVERAL_CHAINS = OF_TOPICS | {"topic_agreement", "found_in_all_chains"}
OF_LABELS = {"micro_f1", "macro_f1", "log_loss", "calibration_error", "per_label", "confusion"}


@pytest.fixture(scope="module")
def lda(train):
    return LDA(5, n_sweeps=40, random_state=0).fit(Corpus.from_counts(train.X, WORDS))


def test_lda(lda, test):
    found = evaluate(lda, test.X)
    assert set(found) == OF_TOPICS
    assert found["perplexity"] == pytest.approx(lda.perplexity(test.X))
    assert found["npmi"] == npmi(top_columns(lda, order="probability"), test.X).mean()
    assert json.loads(json.dumps(found)).keys() == found.keys()
    only = evaluate(lda, test.X, measures=["npmi"], n_words=3, reference=test.X[:50])
    assert only == {"npmi": npmi(top_columns(lda, 3, "probability"), test.X[:50]).mean()}
    assert evaluate(lda, test.X, measures="diversity") == {"diversity": found["diversity"]}


def test_all_measures(lda, test):
    rng = np.random.default_rng(0)
    texts = [rng.permutation(np.repeat(WORDS, row)).tolist() for row in test.X]
    found = evaluate(lda, test.X[:40], measures="all", documents=texts, seed=3, n_jobs=2)
    assert set(found) == OF_TOPICS | {"c_npmi", "c_v", "left_to_right_log_likelihood", "left_to_right_perplexity"}
    assert found["left_to_right_perplexity"] == left_to_right(lda, test.X[:40], seed=3).perplexity
    assert 0.5 < found["c_v"] <= 1
    assert "c_v" in evaluate(lda, test.X, documents=texts)


def test_topic_model_alone(lda, test):
    found = evaluate(lda.model_, test.X)
    assert set(found) == OF_TOPICS - {"rhat", "ess", "n_chains"}
    assert found["perplexity"] == document_completion(lda, test.X).perplexity


@pytest.mark.parametrize("kind", ["two", "many", "several"])
def test_classifier(kind, fitted, test):
    model, y = fitted["logistic", kind], getattr(test, kind)
    found = evaluate(model, test.X, y)
    accuracy = "subset_accuracy" if kind == "several" else "accuracy"
    assert set(found) == OF_SEVERAL_CHAINS | OF_LABELS | {accuracy}
    assert found[accuracy] == model.score(test.X, y)
    assert set(evaluate(model, test.X)) == OF_SEVERAL_CHAINS  # no labels, no scores of them
    if kind != "several":
        p = model.predict_proba(test.X)
        assert found["log_loss"] == pytest.approx(log_loss(y, p))
        assert [row["label"] for row in found["per_label"]] == model.classes_.tolist()
    json.dumps(found)


def test_several_models(train, test):
    model = MedLDAClassifier(3, strategy="ovo", n_sweeps=10, random_state=0).fit(train.X, train.many)
    found = evaluate(model, test.X, test.many)
    assert found["accuracy"] == model.score(test.X, test.many)
    assert "perplexity" not in found
    with pytest.raises(ParameterError, match=r"^measures: left_to_right: .*10 topic models"):
        evaluate(model, test.X, measures=["left_to_right"])


@pytest.mark.parametrize("kind", ["number", "numbers"])
def test_regressor(kind, train, test):
    model = regressor().fit(train.X, getattr(train, kind))
    y = getattr(test, kind)
    found = evaluate(model, test.X, y, level=0.8)
    more = {"per_output"} if kind == "numbers" else set()
    assert set(found) == OF_SEVERAL_CHAINS | {"r2", "rmse", "mae", "coverage", "interval_width", "level"} | more
    assert found["r2"] == pytest.approx(model.score(test.X, y))
    bounds = model.predict_interval(test.X, 0.8)
    assert found["coverage"] == pytest.approx(((bounds[..., 0] <= y) & (y <= bounds[..., 1])).mean())
    assert found["level"] == 0.8


def test_odd_documents(lda, fitted, test):
    none, one = np.zeros((2, 60), int), test.X[:1]
    assert math.isnan(evaluate(lda, none)["perplexity"])
    assert math.isnan(evaluate(lda, none)["npmi"])
    assert evaluate(lda, one)["perplexity"] > 1
    assert "accuracy" not in evaluate(lda, none[:0])
    assert evaluate(fitted["hinge", "many"], one, test.many[:1])["accuracy"] in (0, 1)
    assert "accuracy" in evaluate(fitted["hinge", "many"], none, test.many[:2])
    single = LDA(1, n_sweeps=4, random_state=0).fit(test.X)
    found = evaluate(single, test.X)
    assert found["diversity"] == 1
    assert found["exclusivity"] == pytest.approx(1)


def test_bad_requests(lda, fitted, test):
    for measures, message in (
        ("speed", "'speed'; there are document_completion, "), (["c_v"], "c_v: .*`documents`"),
        (["predictions"], "predictions: LDA predicts nothing"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"^measures: .*{message}"):
            evaluate(lda, test.X, measures=measures)
    model = fitted["hinge", "many"]
    with pytest.raises(ParameterError, match=r"predictions: .*`y`"):
        evaluate(model, test.X, measures=["predictions"])
    with pytest.raises(ParameterError, match="only columns"):
        evaluate(model, test.X, measures=["c_v"], documents=[["a"]])
    with pytest.raises(ParameterError, match="does not know"):
        evaluate(model, test.X, test.many + 3)
    with pytest.raises(ParameterError, match="no documents"):
        score_predictions(model, test.X[:0], [])
    with pytest.raises(ParameterError, match="not LDA"):
        score_predictions(lda, test.X, test.many)
    with pytest.raises(ParameterError, match="keeps no chains"):
        evaluate(lda.model_, test.X, measures=["chains"])
    with pytest.raises(ValueError, match="not fitted"):
        evaluate(LDA(), test.X)
    assert all(measure.quick for name, measure in MEASURES.items() if name != "left_to_right")
