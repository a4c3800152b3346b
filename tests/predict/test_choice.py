"""Settings are chosen together, on documents that were not learned from, and for as many documents as there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.predict import choice
from topoi.predict.aims import LabelAim, NumberAim
from topoi.predict.choice import ALL, STRENGTHS, Trial, choose_settings
from topoi.predict.refit import FINAL_PASSES, Settings, parts_of

N, WORDS, TOPICS = 400, 60, 4


def documents(n, seed, of_topics=1.0, of_words=0.0, noise=0.3):
    """Parts of documents, and numbers that their topics and a word make."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(TOPICS, 0.3), n)
    bag = sparse.csr_array(rng.poisson(0.5, (n, WORDS)).astype(np.float32))
    y = of_topics * (theta[:, 0] - theta[:, 1]) + of_words * bag.toarray()[:, 0] + rng.normal(0, noise, n)
    return parts_of(bag, [theta], None), ((y - y.mean()) / y.std())[:, None]


def trial(of_topics, of_words, labels=False, noise=0.3):
    (parts, y), (unseen, right) = (documents(N, seed, of_topics, of_words, noise) for seed in (0, 1))

    def aim(targets):
        if labels:
            return LabelAim(np.where(targets > 0, 1.0, -1.0), np.ones_like(targets), exclusive=False, several=False)
        return NumberAim(targets, np.ones_like(targets))

    return Trial(parts, aim(y), unseen), aim(right)


def losses(found, aim, strengths, **settings):
    each = found.scores(replace(Settings(), **settings), strengths, np.arange(1), ALL, FINAL_PASSES, 0, Pool(1))
    return [aim.loss(scores) for scores in each]


@pytest.mark.parametrize("labels", [False, True])
def test_strengths_together_are_strengths_alone(labels):
    found, aim = trial(1.0, 1.0, labels)
    together = losses(found, aim, STRENGTHS)
    alone = [losses(found, aim, (value,))[0] for value in STRENGTHS]
    np.testing.assert_allclose(together, alone, rtol=1e-3)
    assert len(set(np.round(together, 6))) == len(STRENGTHS)


def test_many_strengths_are_tried_a_few_at_a_time(monkeypatch):
    found, aim = trial(1.0, 1.0)
    expected = losses(found, aim, STRENGTHS)
    monkeypatch.setattr(choice, "AT_ONCE", 3)
    np.testing.assert_allclose(losses(found, aim, STRENGTHS), expected, rtol=1e-3)


@pytest.mark.parametrize("labels", [False, True])
def test_what_tells_is_given_its_say(labels):
    """Topics are given more where they make the targets than where words do, and the choice is the best or nearly."""
    by_topics, by_words = (
        choose_settings([found], aim, N, 0, Pool(1))[0]
        for found, aim in (trial(1.0, 0.0, labels), trial(0.0, 1.0, labels))
    )
    assert by_topics.topics > by_words.topics
    found, aim = trial(1.0, 0.3, labels)
    settings, scores = choose_settings([found], aim, N, 0, Pool(1))
    grid = [
        min(losses(found, aim, STRENGTHS, power=power, topics=topics))
        for power in (0.5, 1.0, 2.0)
        for topics in choice.TOPIC_SCALES
    ]
    assert aim.loss(scores) <= 1.03 * min(grid)
    chosen = {"power": settings.power, "topics": settings.topics, "ratio": settings.ratio}
    assert aim.loss(scores) == pytest.approx(losses(found, aim, (settings.strength,), **chosen)[0], rel=1e-3)


@pytest.mark.parametrize("labels", [False, True])
def test_more_documents_get_less_strength(labels):
    """As 1/n; but few documents say little of very many."""
    found, aim = trial(1.0, 0.3, labels)
    strength = {n: choose_settings([found], aim, n, 0, Pool(1))[0].strength for n in (N, 4 * N // 3, 100 * N)}
    assert strength[4 * N // 3] == pytest.approx(strength[N] * 0.75, rel=2e-3)
    assert strength[100 * N] == pytest.approx(strength[N] * choice.LEAST_SHARE)


def test_labels_take_the_strongest_that_is_alike(monkeypatch):
    found, aim = trial(1.0, 0.3, labels=True)
    strengths = []
    for alike in (0.0, choice.ALIKE, 0.5):
        monkeypatch.setattr(choice, "ALIKE", alike)
        strengths.append(choose_settings([found], aim, N, 0, Pool(1))[0].strength)
    assert strengths == sorted(strengths)
    assert strengths[-1] > strengths[0]


def test_several_trials_judge_together():
    """The scores are those of the unseen documents of all trials, in order."""
    first, aim = trial(1.0, 0.3)
    second = Trial(*(getattr(first, name) for name in ("parts", "aim", "unseen")))
    both = NumberAim(np.concatenate((aim.targets, aim.targets)), np.concatenate((aim.weight, aim.weight)))
    settings, scores = choose_settings([first, second], both, N, 0, Pool(1))
    alone, of_one = choose_settings([first], aim, N, 0, Pool(1))
    assert settings == alone
    np.testing.assert_array_equal(scores, np.concatenate((of_one, of_one)))
