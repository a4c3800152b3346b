"""Where a chain begins: topics drawn at random or, with labels, from those of the documents' camps."""

from __future__ import annotations

import numpy as np
import pytest

from support.labelled import Documents
from support.tilted_checks import targets_for
from topoi import MedLDAClassifier, ParameterError
from topoi.chain.priors import fixed_priors
from topoi.chain.responses import RESPONSES, LabelResponse, NumberResponse, losses, supervision
from topoi.chain.responses.signs import Signs
from topoi.chain.responses.supervision import camp_topics, new_supervision
from topoi.chain.state import IN_CAMPS, fill_camps, first_topics
from topoi.corpus import Corpus


def test_camps_of_labels():
    """A label puts its document into a camp, whatever other documents have; an unknown one into none."""
    y = np.array([[1.0, -1, -1], [-1, 1, 1], [np.nan, np.nan, np.nan], [-1, -1, -1]])
    for response in losses(LabelResponse).values():
        if not response.ordered:
            np.testing.assert_array_equal(response().camps(y), y > 0)


@pytest.mark.parametrize("name", sorted(RESPONSES))
def test_no_camps(name):
    """Of a single task, and of numbers."""
    y = np.asarray(targets_for(name, (5, 2), np.random.default_rng(3)), float)
    assert RESPONSES[name]().camps(y[:, :1]).shape == (5, 0)
    if issubclass(RESPONSES[name], NumberResponse):
        assert RESPONSES[name]().camps(y).shape == (5, 0)


def filled(camps, n_topics, sizes, share, length=4000):
    z = np.full(len(camps) * length, n_topics, np.uint16)
    ptr = np.arange(len(camps) + 1) * length
    sizes = np.array(sizes)
    begins = (np.cumsum(sizes) - sizes) % n_topics
    fill_camps(ptr, 0, len(camps), z, begins, sizes, np.array(camps, np.bool_), share, np.array([1, 2, 3], np.uint64))
    return z.reshape(len(camps), length)


def test_topics_of_a_camp():
    """Of three camps and eight topics: 0 1 2, 3 4 5, 6 7. Each alike, those of two camps too; without one none."""
    z = filled([[1, 0, 0], [0, 0, 1], [0, 1, 1], [0, 0, 0]], 8, [3, 3, 2], 1.0)
    expected = np.zeros((4, 9))
    expected[0, [0, 1, 2]] = 1 / 3
    expected[1, [6, 7]] = 1 / 2
    expected[2, [3, 4, 5]] = 1 / 6
    expected[2, [6, 7]] = 1 / 4
    expected[3, 8] = 1
    shares = np.array([np.bincount(row, minlength=9) / row.size for row in z])
    np.testing.assert_array_equal(shares > 0, expected > 0)
    np.testing.assert_allclose(shares, expected, atol=4.5 * np.sqrt(0.25 / 4000))


def test_share_of_the_tokens_in_camps():
    share = np.mean(filled([[0, 1]], 4, [2, 2], 0.3) < 4)
    assert abs(share - 0.3) < 4.5 * np.sqrt(0.3 * 0.7 / 4000)


@pytest.mark.parametrize(("n_topics", "expected"), [
    (12, (5, 3, 1, 3)), (5, (2, 1, 1, 1)), (4, (1, 1, 1, 1)), (3, (1, 1, 1, 1)),
])  # fmt: skip
def test_topics_of_camps_by_their_documents(n_topics, expected, monkeypatch):
    """Of sixteen documents 7.5, 5, 0 and 3.5: one of two camps counts half in each, and one without labels nowhere."""
    y = np.full((16, 4), -1.0)
    y[:10, 0] = y[10:15, 1] = y[15, 3] = y[:5, 3] = 1
    y = np.vstack((y, np.full((3, 4), np.nan)))
    response = RESPONSES["hinge"]()
    assert camp_topics(response, y, n_topics) == expected
    monkeypatch.setattr(supervision, "AT_ONCE", 3)
    assert camp_topics(response, Signs.of(y), n_topics) == expected


def test_more_camps_than_topics():
    """Camps 0 and 2 share topic 0, 1 and 3 topic 1."""
    corpus = Corpus.from_counts(np.full((40, 5), 8))
    y = np.where(np.arange(40)[:, None] % 4 == np.arange(4), 1.0, -1.0)
    given = new_supervision(RESPONSES["hinge"](), y, 2)
    z = first_topics(corpus, fixed_priors(np.full(2, 0.1), 0.1), 3, given).reshape(40, -1)
    assert ((z == (np.arange(40) % 2)[:, None]).mean(1) > 0.5).all()


def test_first_topics():
    """By the targets only if that is asked for; the others are those of a chain without targets."""
    corpus = Corpus.from_counts(np.full((600, 5), 8))
    y = np.where(np.arange(600)[:, None] % 2 == [0, 1], 1.0, -1.0)
    priors = fixed_priors(np.full(4, 0.1), 0.1)
    plain = first_topics(corpus, priors, 3)
    apart = {
        by: first_topics(corpus, priors, 3, new_supervision(RESPONSES["hinge"](), y, 4, init_by_targets=by))
        for by in (True, False)
    }
    np.testing.assert_array_equal(apart[False], plain)
    own = (apart[True] // 2).reshape(600, -1) == np.arange(600)[:, None] % 2
    expected = IN_CAMPS + (1 - IN_CAMPS) / 2
    assert abs(own.mean() - expected) < 4.5 * np.sqrt(expected * (1 - expected) / own.size)


def test_init():
    made = Documents(60, 20)
    settings = {"n_topics": 4, "n_sweeps": 2, "random_state": 0, "refit": False}
    words = {"refit": True}
    topics = words | {"word_features": None}
    by_labels, usual, random, alone, beside_words = (
        MedLDAClassifier(**settings | given).fit(made.X, made.many).model_.last_counts.toarray()
        for given in ({"init": "labels"}, {}, {"init": "random"}, topics, words)
    )
    assert (random != by_labels).any()
    np.testing.assert_array_equal(usual, by_labels)
    np.testing.assert_array_equal(alone, by_labels)
    np.testing.assert_array_equal(beside_words, by_labels)
    with pytest.raises(ParameterError, match=r'init.* must be "labels", "random" or None, not .nmf.'):
        MedLDAClassifier(**settings, init="nmf").fit(made.X, made.many)


def test_topics_that_have_a_meaning_begin_as_they_would_without():
    """Where labels or seeds say what topics are, the targets must not say otherwise."""
    made = Documents(60, 20)
    settings = {"n_topics": 4, "n_sweeps": 1, "random_state": 0, "refit": False}
    for given, of_fit in (({"seeds": {"one": [1, 2]}}, {}), ({}, {"topic_labels": [["a"], ["b"]] * 30})):
        fits = [
            MedLDAClassifier(**settings, **given, init=init)
            .fit(made.X, made.many, **of_fit)
            .model_.last_counts.toarray()
            for init in ("labels", "random")
        ]
        np.testing.assert_array_equal(*fits)
