"""Reasons: the topics and words that speak for and against a label."""

from __future__ import annotations

import numpy as np
import pytest

from support.labelled import N_WORDS, WORDS, classifier, quick, quick_regressor
from topoi import Corpus


def test_reasons(train, test):
    """Topics sum to the score, and words nearly do; those that speak for a label are words of its topic."""
    names = np.array(["art", "bread", "cars", "dogs", "earth"])
    corpus = Corpus.from_counts(test.X[:40], WORDS)
    model = classifier(n_chains=1).fit(Corpus.from_counts(train.X, WORDS), names[train.many])
    scores = model.decision_function(corpus)
    reasons = model.explain(corpus, n_topics=8, n_words=N_WORDS)
    assert len(reasons) == 40
    right = []
    for d, document in enumerate(reasons):
        assert [reason.label for reason in document] == names.tolist()
        for task, reason in enumerate(document):
            assert reason.score == pytest.approx(scores[d, task], abs=1e-6)
            assert len(reason.topics) == 8
            assert sum(part for _, part, _ in reason.topics) == pytest.approx(reason.score, abs=1e-9)
            sizes = [abs(part) for _, part, _ in reason.topics]
            assert sizes == sorted(sizes, reverse=True)
            assert {word for word, _ in reason.words} == {WORDS[w] for w in np.flatnonzero(test.X[d])}
            assert sum(part for _, part in reason.words) == pytest.approx(reason.score, abs=0.3)
            assert all(set(words) <= set(WORDS) for _, _, words in reason.topics)
        word, part = max(document[test.many[d]].words, key=lambda entry: entry[1])
        right.append(part > 0 and word.startswith(f"t{test.many[d]}w"))
    assert np.mean(right) > 0.9
    few = model.explain(corpus, n_topics=2, n_words=3)
    for document, all_of_it in zip(few, reasons, strict=True):
        for reason, whole in zip(document, all_of_it, strict=True):
            assert (reason.label, reason.score) == (whole.label, whole.score)
            assert reason.topics == whole.topics[:2]
            assert reason.words == whole.words[:3]


def test_reasons_of_two_classes(train, test):
    """One reason, for the second class: a positive score speaks for it."""
    model = quick().fit(train.X, np.array(["no", "yes"])[train.two])
    reasons = model.explain(test.X[:10], n_topics=4)
    assert [[reason.label for reason in document] for document in reasons] == [["yes"]] * 10
    scores = [document[0].score for document in reasons]
    np.testing.assert_allclose(scores, model.decision_function(test.X[:10]), atol=1e-6)


def test_reasons_of_several_labels_and_numbers(train, test):
    model = quick().fit(train.X, train.several)
    assert [reason.label for reason in model.explain(test.X[:1])[0]] == [0, 1, 2, 3, 4]
    numbers = quick_regressor().fit(train.X, train.numbers)
    (document,) = numbers.explain(test.X[:1], n_topics=4)
    assert [reason.label for reason in document] == [0, 1]
    expected = train.numbers.mean(0) + np.array([reason.score for reason in document]) * train.numbers.std(0)
    np.testing.assert_allclose(numbers.predict(test.X[:1])[0], expected, atol=1e-6)


def test_reasons_of_an_empty_document(train):
    model = quick().fit(train.X, train.many)
    X = np.vstack([np.zeros((1, N_WORDS), int), train.X[:1]])
    empty, other = model.explain(X)
    assert all(reason.words == [] for reason in empty)
    assert all(np.isfinite(reason.score) for reason in empty)
    assert all(len(reason.words) > 0 for reason in other)
