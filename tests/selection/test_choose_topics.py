"""`topoi.choose`: folds, measures against independent computation, what is refused, and Ctrl-C."""

from __future__ import annotations

import importlib
import math
import signal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import topoi
from support.labelled import WORDS, Documents, quick, quick_regressor
from topoi import LDA, Corpus, InterruptedFitWarning, MedLDAClassifier, NeverPredictedWarning, ParameterError, choose
from topoi.estimators.alignment import match_topics, overlaps
from topoi.estimators.problem import model_seed
from topoi.evaluate import document_completion, npmi, top_columns
from topoi.selection.choose import as_candidates
from topoi.selection.folds import ALWAYS_LEARNED, as_documents, fold_numbers

QUICK = LDA(doc_topic_prior="learn", n_sweeps=30, n_samples=4)


def folds_of(X, n_folds=3, seed=0, estimator=QUICK, y=None, unlabelled=None):
    return fold_numbers(as_documents(X, estimator, y, unlabelled, None), estimator, n_folds, seed)


@pytest.fixture(scope="module")
def chosen(train):
    return choose(train.X, (8, 2, 5), estimator=QUICK)


def test_texts_are_taken_as_fit_takes_them():
    """Words that topics leave out are there for a supervised model, as `fit(texts, y)` has them."""
    kinds = (["bread", "butter", "jam"], ["rain", "wind", "snow"])
    texts = [" ".join([*kinds[d % 2], kinds[d % 2][d % 3], "and the 42"]) for d in range(60)]
    y = ["a", "b"] * 30
    series = pd.Series(texts)
    for estimator, target, ngrams in ((QUICK, None, None), (MedLDAClassifier(2), y, 1)):
        found = as_documents(series, estimator, target).corpus
        expected = Corpus.from_texts(texts, ngrams=ngrams)
        np.testing.assert_array_equal(found.words, expected.words)
        assert found.vocabulary.tolist() == expected.vocabulary.tolist()
        assert (found.ngrams is None) == (ngrams is None)
    of_texts = choose(series, (2, 3), cv=2, n_words=2, estimator=QUICK)
    assert of_texts.table == choose(Corpus.from_texts(texts), (2, 3), cv=2, n_words=2, estimator=QUICK).table


# ---- Folds -------------------------------------------------------------------------------------------------


def test_every_document_is_held_out_once(train):
    folds = folds_of(train.X, 4)
    counts = np.bincount(folds)
    assert len(counts) == 4
    assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(folds, folds_of(train.X, 4))
    assert (folds != folds_of(train.X, 4, seed=1)).any()
    assert (np.diff(folds) != 0).any()
    assert set(np.bincount(folds[:40], minlength=4)) != {10}  # drawn, not dealt in the order of the documents


def test_labels_are_spread_over_the_folds():
    y = np.array(["a"] * 30 + ["b"] * 9 + ["c"] * 2 + ["d"] * 3)
    X = np.ones((44, 3), int)
    X[0] = 0
    unlabelled = np.arange(44) == 1
    folds = folds_of(X, estimator=MedLDAClassifier(), y=y, unlabelled=unlabelled)
    assert np.bincount(folds[y == "b"]).tolist() == [3, 3, 3]
    assert sorted(folds[y == "d"].tolist()) == [0, 1, 2]
    # No words; no label; a label that a fit might not know.
    assert np.flatnonzero(folds == ALWAYS_LEARNED).tolist() == [0, 1, 39, 40]


def test_unknown_targets_are_never_held_out():
    y = np.arange(20.0)
    y[3] = np.nan
    folds = folds_of(np.ones((20, 3), int), estimator=quick_regressor(), y=y)
    assert np.flatnonzero(folds == ALWAYS_LEARNED).tolist() == [3]


# ---- Measures ----------------------------------------------------------------------------------------------


def test_the_table_is_what_fits_by_hand_give(chosen, train):
    folds, corpus = folds_of(train.X), Corpus.from_counts(train.X)
    fits = [
        LDA(5, doc_topic_prior="learn", n_sweeps=30, n_samples=4, random_state=model_seed(0, fold)).fit(
            corpus.take(folds != fold)
        )
        for fold in range(3)
    ]
    new = [corpus.take(folds == fold) for fold in range(3)]
    likelihood = [document_completion(lda, held_out).log_likelihood for lda, held_out in zip(fits, new, strict=True)]
    coherence = [
        np.nanmean(npmi(top_columns(lda, 10, "probability"), held_out)) for lda, held_out in zip(fits, new, strict=True)
    ]
    overlap = [match_topics(one.model_, other.model_).overlap for one, other in combinations(fits, 2)]
    neighbours = [overlaps(lda.model_, lda.model_) - np.eye(5) for lda in fits]
    row = chosen.table[1]
    assert row["n_topics"] == 5
    assert row["folds"] == 3
    assert row["log_likelihood"] == pytest.approx(np.mean(likelihood))
    assert row["log_likelihood_se"] == pytest.approx(np.std(likelihood, ddof=1) / np.sqrt(3))
    assert row["perplexity"] == pytest.approx(np.exp(-np.mean(likelihood)))
    assert row["coherence"] == pytest.approx(np.mean(coherence))
    assert row["coherence_se"] == pytest.approx(np.std(coherence, ddof=1) / np.sqrt(3))
    assert row["stability"] == pytest.approx(np.mean(overlap))
    assert row["same"] == pytest.approx(np.mean(np.array(overlap) >= 0.5))
    assert row["nearest"] == pytest.approx(np.mean([one.max(1) for one in neighbours]))


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_true_number_is_recommended(seed):
    """The documents are drawn from five topics. A chain alone may stay where two of them are merged, as with seed 1."""
    estimator = LDA(doc_topic_prior="learn", n_sweeps=100, n_samples=4, n_chains=3)
    found = choose(Documents(200, seed).X, (2, 5, 8), estimator=estimator)
    assert found.best == 5
    assert found.reason.startswith("5 topics:")
    assert found.table[1]["stability"] > 0.9


def test_what_is_returned(chosen):
    assert [row["n_topics"] for row in chosen.table] == [2, 5, 8]
    assert chosen.best in (5, 8)
    assert chosen.criterion == "log_likelihood"
    assert not chosen.interrupted
    frame = pd.DataFrame(chosen.table)
    assert frame["n_topics"].tolist() == [2, 5, 8]
    assert frame.notna().all(axis=None)


def test_it_can_be_printed(chosen):
    lines = str(chosen).splitlines()
    assert lines[0].split()[:2] == ["topics", "perplexity"]
    assert [line.split()[0] for line in lines[1:4]] == ["2", "5", "8"]
    assert lines[5] == chosen.reason
    assert tuple(lines[6:]) == chosen.remarks


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bytes_for_any_number_of_threads(chosen, train, n_jobs):
    assert choose(train.X, (8, 2, 5), estimator=QUICK, n_jobs=n_jobs) == chosen


def test_the_seed_matters(chosen, train):
    assert choose(train.X, (8, 2, 5), estimator=QUICK, random_state=1).table != chosen.table


def test_documents_of_every_kind(chosen, train, tmp_path):
    corpus = Corpus.from_counts(train.X, WORDS)
    corpus.save(tmp_path / "corpus")
    assert (
        choose(corpus, (8, 2, 5), estimator=QUICK) == choose(tmp_path / "corpus", [2, 5, 8], estimator=QUICK) == chosen
    )


def test_the_estimator_stays_as_it_was(train):
    own = LDA(7, n_sweeps=4, n_samples=1, callbacks=[lambda progress: None])
    before = dict(vars(own))
    choose(train.X[:30], (2, 3), estimator=own, cv=2)
    assert vars(own) == before


# ---- Labels and numbers ------------------------------------------------------------------------------------


def test_labels_decide_by_their_score(train):
    found = choose(train.X, (2, 6), y=train.many, estimator=quick(n_sweeps=20), cv=2)
    assert found.criterion == "score"
    assert found.best == 6
    assert "accuracy" in found.reason
    folds = folds_of(train.X, 2, estimator=quick(), y=train.many)
    corpus, scores = Corpus.from_counts(train.X), []
    for fold in range(2):
        model = quick(n_topics=6, n_sweeps=20, random_state=model_seed(0, fold))
        model.fit(corpus.take(folds != fold), train.many[folds != fold])
        scores.append(model.score(corpus.take(folds == fold), train.many[folds == fold]))
    assert found.table[1]["score"] == pytest.approx(np.mean(scores))


@pytest.mark.parametrize("table", [pd.DataFrame, lambda columns: columns, lambda columns: columns["x"][:, None]])
def test_numbers_with_covariates(train, table):
    rows = 60
    covariates = table({"x": np.arange(rows) % 7 * 1.0})
    y = train.number[:rows] + np.arange(rows) % 7
    y[0] = np.nan
    found = choose(train.X[:rows], (2, 3), y=y, covariates=covariates, estimator=quick_regressor(n_sweeps=10), cv=2)
    assert "R²" in found.reason
    assert all(math.isfinite(row["score"]) for row in found.table)


def test_topic_labels(train):
    """Held-out documents have the topics of their labels; a label that only one fold has is not known to the others."""
    names = np.array(["left", "right"])[train.many % 2].tolist()
    given = [[name] for name in names]
    given[0] = None
    given[1] = ["alone"]
    found = choose(train.X, (4, 6), topic_labels=given, estimator=LDA(n_sweeps=12), cv=2)
    folds = folds_of(train.X, 2)
    corpus, logs = Corpus.from_counts(train.X), []
    for fold in range(2):
        rest, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = LDA(4, n_sweeps=12, random_state=model_seed(0, fold))
        model.fit(corpus.take(rest), topic_labels=[given[d] for d in rest])
        known = [None if d == 1 else given[d] for d in held_out]
        logs.append(model.score(corpus.take(held_out), topic_labels=known))
        assert ("alone" in model.topic_labels_) == (1 in rest)
    assert found.table[0]["log_likelihood"] == pytest.approx(np.mean(logs))
    whole = choose(train.X, (4,), estimator=LDA(n_sweeps=12), cv=2)
    assert found.table[0]["log_likelihood"] != pytest.approx(whole.table[0]["log_likelihood"])
    with pytest.raises(ParameterError, match="topic_labels: has 1 rows"):
        choose(train.X, (4, 6), topic_labels=[["left"]])


def test_topic_labels_without_an_estimator(train):
    labels = pd.DataFrame({"left": train.many % 2, "right": 1 - train.many % 2})[:40]
    assert choose(train.X[:40], (3,), topic_labels=labels, cv=2).best == 3


def test_a_model_for_each_label(train):
    model = quick(strategy="ovr", n_sweeps=6)
    unlabelled = np.arange(len(train.many)) % 10 == 0
    found = choose(train.X, (2, 3), y=train.many, unlabelled=unlabelled, estimator=model, cv=2)
    assert all(0 <= row["stability"] <= 1 for row in found.table)
    assert all(row["perplexity"] > 1 for row in found.table)
    several = choose(train.X, (2, 3), y=train.several, estimator=quick(n_sweeps=6), cv=2)
    assert "all labels right" in several.reason


# ---- What is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_topics", "what"),
    [
        (20, "must be whole numbers to choose from"),
        ("20", "must be whole numbers to choose from"),
        ((), "no numbers"),
        ((5, 0), "at least 1, not 0"),
        ((5, "many"), "not 'many'"),
        ((5, 2.5), "not 2.5"),
        ((True, 3), "not True"),
        ((5, 3, 5), "has 5 more than once"),
        ((5, 10**6), "has 1000000, but a fold leaves"),
    ],
)
def test_numbers_that_are_refused(train, n_topics, what):
    with pytest.raises(ParameterError, match=what) as caught:
        choose(train.X, n_topics, estimator=QUICK)
    assert caught.value.parameter == "n_topics"


def test_numbers_are_sorted():
    assert as_candidates(np.array([5, 2])) == [2, 5]
    assert [type(number) for number in as_candidates(np.array([5, 2]))] == [int, int]
    assert as_candidates(range(3, 1, -1)) == [2, 3]


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("cv", {"cv": 1}),
        ("cv", {"cv": 300}),
        ("cv", {"cv": "3"}),
        ("random_state", {"random_state": None}),
        ("n_words", {"n_words": 1}),
        ("estimator", {"estimator": object()}),
        ("estimator", {"estimator": LDA}),
        ("y", {"y": np.zeros(120)}),
        ("y", {"estimator": MedLDAClassifier()}),
        ("y", {"estimator": MedLDAClassifier(), "y": [0, 1]}),
        ("y", {"estimator": MedLDAClassifier(), "y": 3}),
        ("unlabelled", {"estimator": MedLDAClassifier(), "y": np.zeros(120), "unlabelled": [True]}),
    ],
)
def test_what_is_refused(train, parameter, given):
    with pytest.raises(ParameterError) as caught:
        choose(train.X[:120], (2, 3), **given)
    assert caught.value.parameter == parameter


def test_fewer_documents_than_folds():
    with pytest.raises(ParameterError, match="is 3 folds, but 2 documents with words can be held out"):
        choose([[1, 2], [0, 0], [3, 4]], (1, 2))
    with pytest.raises(ParameterError, match="label of at least as many documents"):
        choose(np.ones((4, 2), int), (1, 2), y=["a", "a", "b", "b"], estimator=MedLDAClassifier())


# ---- Ctrl-C ------------------------------------------------------------------------------------------------


def press_in_fit(number):
    """A callback that presses Ctrl-C in the second sweep of a fit, counted from 0."""
    begun = []

    def press(progress):
        if progress.sweep == 1:
            begun.append(progress)
        if progress.sweep == 2 and len(begun) == number + 1:
            signal.raise_signal(signal.SIGINT)

    return press


def interrupted(train, number, cv=3):
    estimator = LDA(doc_topic_prior="learn", n_sweeps=10, n_samples=2, callbacks=[press_in_fit(number)])
    with pytest.warns(InterruptedFitWarning, match=f"after {number} of {3 * cv} fits") as caught:
        found = choose(train.X, (2, 5, 8), estimator=estimator, cv=cv)
    assert len(caught) == 1
    return found


def test_ctrl_c_keeps_what_was_done(train):
    found = interrupted(train, 5)
    assert found.interrupted
    assert [row["n_topics"] for row in found.table] == [2, 5, 8]
    assert {row["folds"] for row in found.table} == {1}  # the second fold has not seen 8
    assert found.best in (2, 5, 8)
    assert "Stopped after 5 of 9 fits; compared on folds: 1." in found.remarks
    whole = choose(train.X, (2, 5, 8), estimator=LDA(doc_topic_prior="learn", n_sweeps=10, n_samples=2))
    assert all(math.isnan(row["stability"]) for row in found.table)
    six = interrupted(train, 6)
    assert {row["folds"] for row in six.table} == {2}
    assert all(math.isfinite(row["stability"]) for row in six.table)
    assert six.table[0]["log_likelihood"] != whole.table[0]["log_likelihood"]


def test_ctrl_c_in_the_first_fold(train):
    found = interrupted(train, 1)
    assert [row["n_topics"] for row in found.table] == [2]
    assert found.remarks[-1] == "Stopped after 1 of 9 fits; compared on folds: 1. Not tried: 5, 8."


def test_ctrl_c_before_anything_was_done(train):
    with pytest.raises(KeyboardInterrupt):
        choose(train.X, (2, 5), estimator=LDA(n_sweeps=10, callbacks=[press_in_fit(0)]))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_pilot(train):
    """A model whose chains are done, but whose predictions are not what they should be, is not measured."""
    press = press_in_fit(5)  # counted with pilots: a model and its three pilots, then a model and its first
    press.hears_pilots = True
    estimator = MedLDAClassifier(n_sweeps=10, n_samples=2, callbacks=[press])
    with pytest.warns(InterruptedFitWarning, match="after 1 of 4 fits"):
        found = choose(train.X, (2, 3), y=train.many, estimator=estimator, cv=2)
    assert [row["n_topics"] for row in found.table] == [2]


def test_other_warnings_come_through(train):
    with pytest.warns(NeverPredictedWarning):
        choose(train.X, (1, 2), y=train.many, estimator=quick(n_sweeps=3), cv=2)


def test_a_fit_that_its_callback_ends_is_a_fit(train):
    found = choose(train.X, (2, 5), estimator=LDA(n_sweeps=50, n_samples=1, callbacks=[lambda p: p.sweep >= 5]), cv=2)
    assert not found.interrupted
    assert {row["folds"] for row in found.table} == {2}


def test_progress_is_shown_on_standard_error(train, capsys):
    choose(train.X[:40], (2, 3), estimator=LDA(n_sweeps=4, n_samples=1), cv=2, progress=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "fit 4 of 4: fold 2 of 2, 3 topics" in told.err


def test_the_function_is_not_hidden_by_a_module():
    importlib.import_module("topoi.selection.choose")
    assert callable(topoi.choose)
    assert "choose" in dir(topoi)
