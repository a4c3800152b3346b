"""Chains that are brought near their posterior, and timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Stopwatch
from reproduce.partial_alias import PartialAlias
from reproduce.scalar_dense import ScalarDense
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS, Sampler
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus

ALL: dict[str, type[Sampler]] = {**SAMPLERS, "scalar_dense": ScalarDense, "partial_alias": PartialAlias}


def begun(corpus: Corpus, n_topics: int, alpha: float, beta: float, seed: int, burn_in: int) -> State:
    """A chain from random topics after so many sweeps of `delayed`, which gets near in few, and as many of `sparse`.

    The second half is exact: `delayed` alone leaves documents with too few topics (see bias_corpus).
    """
    state = new_state(corpus, fixed_priors(np.full(n_topics, alpha), beta), seed)
    sweeps(state, "delayed", burn_in)
    sweeps(state, "sparse", burn_in)
    return state


def copy(state: State) -> State:
    """The same chain, to go on in another way."""
    return State(**{**vars(state), "z": state.z.copy()})


def sweeps(state: State, name: str, n: int) -> None:
    """So many sweeps of a sampler."""
    sampler = ALL[name](state)
    for _ in range(n):
        sampler.sweep()


def compiled(name: str, **options: Any) -> None:
    """Have a sampler's kernels compiled, or read from the cache, so that no one's time is spent on it."""
    corpus = Corpus.from_counts(np.ones((2, 3), np.int64))
    sampler = ALL[name](new_state(corpus, fixed_priors(np.full(4, 0.1), 0.01), 0), **options)
    for _ in range(2):
        sampler.sweep()


def seconds(state: State, name: str, n: int, **options: Any) -> float:
    """CPU seconds of a sweep, the mean of `n`, from a copy of the chain; making the sampler's tables is not counted."""
    return sum(seconds_by_part(state, name, n, **options))


def seconds_by_part(state: State, name: str, n: int, **options: Any) -> tuple[float, float]:
    """The same, apart for what is fixed during a sweep (φ) and for the topics."""
    compiled(name, **options)
    sampler = ALL[name](copy(state), **options)
    fixed, whole = Stopwatch(), Stopwatch()
    begin = sampler.begin

    def timed() -> None:
        with fixed:
            begin()

    sampler.begin = timed  # type: ignore[method-assign]
    for _ in range(n):
        with whole:
            sampler.sweep()
    return fixed.seconds / n, (whole.seconds - fixed.seconds) / n
