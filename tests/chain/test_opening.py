"""Many topics begin in groups that are learned as one, and are divided after each sweep of the opening."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import LDA, Checkpoints
from topoi._machine.pool import Pool
from topoi.chain.engines.local import Local
from topoi.chain.loop import Schedule, run
from topoi.chain.plan import Plan
from topoi.chain.priors import fixed_priors
from topoi.chain.state import divided, new_state
from topoi.corpus import Corpus

rng = np.random.default_rng(3)
X = rng.multinomial(40, rng.dirichlet(np.ones(10)), 60)
CORPUS = Corpus.from_counts(X)


def coarse_topics(n):
    return rng.integers(0, n, CORPUS.n_tokens).astype(np.uint16)


@pytest.mark.parametrize(("n_topics", "parts"), [(12, 4), (10, 4), (9, 4), (7, 7), (5, 1)])
def test_a_document_has_one_part_of_a_topic(n_topics, parts):
    """Also where the last group is smaller than the others."""
    z = coarse_topics(-(-n_topics // parts))
    fine = divided(z, CORPUS, n_topics, parts, seed=0, sweep=1)
    assert fine.max() < n_topics
    np.testing.assert_array_equal(fine // parts, z)
    for d in range(CORPUS.n_documents):
        tokens = slice(*CORPUS.doc_ptr[[d, d + 1]])
        pairs = set(zip(z[tokens].tolist(), fine[tokens].tolist(), strict=True))
        assert len(pairs) == len(set(z[tokens].tolist()))


def test_parts_are_drawn_evenly():
    """Documents with a topic choose its four parts by chance: χ², 3 degrees of freedom, level 1e-5."""
    z = np.zeros(CORPUS.n_tokens, np.uint16)
    chosen = [divided(z, CORPUS, 4, 4, seed, 1)[CORPUS.doc_ptr[:-1]] for seed in range(4)]
    times = np.bincount(np.concatenate(chosen), minlength=4)
    assert ((times - 60) ** 2 / 60).sum() < 25.9
    assert not np.array_equal(chosen[0], chosen[1])


def test_joined_again_they_are_the_same():
    state = new_state(CORPUS, fixed_priors(np.full(10, 0.1), 0.1), 0)
    engine, priors, z = Local(state, Pool(1)), state.priors, state.z.copy()
    engine.join(np.arange(10) // 4)
    np.testing.assert_array_equal(state.z, z // 4)
    np.testing.assert_allclose(state.alpha, [0.4, 0.4, 0.2])
    engine.divide(4, priors)
    np.testing.assert_array_equal(state.z // 4, z // 4)
    assert state.priors is priors


def test_every_sweep_ends_with_all_topics():
    """Groups of three are learned in the first two sweeps: tokens that a document has of a group stay together."""
    state = new_state(CORPUS, fixed_priors(np.full(7, 0.1), 0.1), 0)
    heard = []

    def callback(progress):
        heard.append((progress.sampler, state.n_topics, together(state, 3)))

    run(state, Plan("delayed", "partial", opening=2, parts=3), Schedule(6, 1), callbacks=[callback])
    assert [name for name, _, _ in heard] == ["expected", "expected", "delayed", "partial", "partial", "partial"]
    assert {n for _, n, _ in heard} == {7}
    assert [whole for _, _, whole in heard] == [True, True, False, False, False, False]


def together(state, parts):
    documents = np.repeat(np.arange(CORPUS.n_documents), CORPUS.doc_lengths)
    return len(set(zip(documents, state.z // parts, strict=True))) == len(set(zip(documents, state.z, strict=True)))


# ---- The same bytes --------------------------------------------------------------------------------------------------

SETTINGS = {"n_topics": 300, "n_sweeps": 8, "n_samples": 2, "random_state": 0}


def said(model):
    return [array.tobytes() for array in (model.model_.counts.toarray(), model.doc_topic_, model.log_joint_)]


@pytest.fixture(scope="module")
def fitted():
    return LDA(**SETTINGS).fit(X)


@pytest.mark.parametrize("more", [{"n_jobs": 2}, {"engine": "blocks"}], ids=str)
def test_anywhere(fitted, more):
    assert said(LDA(**SETTINGS, **more).fit(X)) == said(fitted)


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(fitted, engine, tmp_path):
    for stop in (1, 2, 3):
        stopped = LDA(**SETTINGS, engine=engine, callbacks=[lambda progress, stop=stop: progress.sweep == stop])
        stopped.fit(X, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    assert said(LDA(**SETTINGS, engine=engine).fit(X, checkpoint=tmp_path)) == said(fitted)
