"""Counts gathered word by word: those of the tokens, whatever the blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest

from support.corpora import random_counts
from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain.counts.gathered import gathered_counts
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("at_once", [1, 60, 100_000])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_counts_of_the_tokens(with_base, at_once, n_threads, monkeypatch):
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: at_once))
    counts = random_counts(30, 40, 25, seed=8)
    counts[:, [0, 17, 39]] = 0  # words without tokens: first, between others, last
    base = np.random.default_rng(0).poisson(0.3, (40, 5)) if with_base else None
    state = new_state(Corpus.from_counts(counts), fixed_priors(np.full(5, 0.1), 0.01, base), 0)
    assert (len(state.corpus.word_block_ptr) > 2) == (at_once < 100_000)
    whole = np.zeros((40, 5), np.int64) if base is None else base.astype(np.int64)
    np.add.at(whole, (state.corpus.words, state.z), 1)
    found = gathered_counts(state, Pool(n_threads))
    assert found.has_canonical_format
    assert found.data.min() > 0
    np.testing.assert_array_equal(found.toarray(), whole)
