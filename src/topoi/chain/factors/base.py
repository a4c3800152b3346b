"""What a word factor is: φ_wk, the probability of word w in topic k, as the draws of a sweep meet it.

Whatever its origin, a factor has one form,

    φ_wk = (x_wk + offset) · scale_k

| factor    | x_wk                                   | offset | scale          | during a sweep         |
|-----------|----------------------------------------|--------|----------------|------------------------|
| live      | counts n_wk                            | β      | 1/(n_k + Vβ)   | moves with every token |
| delayed   | counts n_wk as they were at its start  | β      | 1/(n_k + Vβ)   | stays                  |
| dirichlet | γ_wk ~ Gamma(n_wk + β)                 | 0      | 1/Σ_w γ_wk     | stays                  |
| urn       | c_wk ~ Poisson(n_wk + β), mostly 0     | 0      | 1/Σ_w c_wk     | stays                  |
| expected  | E[n_wk], by passes over the documents  | β      | 1/(E[n_k] + Vβ)| stays                  |

Rows of words depend on the counts of their words alone; only the scale needs sums over all words. So a factor that
stays is made in three steps: `draw` makes rows and returns sums, `set_scale` takes the sums of all words, and `finish`
makes what needs both. In one process `begin` does them one after the other. A factor in which documents have a say has
`rounds` after the first two steps: `observe` asks documents, `revise` changes the rows of words by what was seen, and
`rescale` takes the sums. The engine of a cluster draws and finishes
shards of words in several places: there the state is that of a shard, and the arrays that a factor names in `drawn`
and `given` are what goes from one place to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Numbers, PerWord
from topoi._machine.pool import Pool
from topoi.chain.counts.expectations import Seen
from topoi.chain.state import State


class WordFactor:
    """Base of all word factors. Class attributes declare what a factor is; the tests hold every factor to them."""

    name: ClassVar[str]
    #: Draws from the conditional itself, given this factor, leave the posterior unchanged: it is the conditional's own
    #: word factor, or drawn from the posterior of φ given the topics.
    exact: ClassVar[bool]
    #: Stays as it is during a sweep. Documents are then independent of each other, and sweeps are parallel.
    fixed: ClassVar[bool]
    reference: ClassVar[str]
    #: For inexact factors: measured total variation between the posterior of the five-token corpus REPEATED in
    #: tests/support/exact.py and what draws from the conditional given this factor end in (verify/bias.py).
    bias: ClassVar[float] = 0.0
    #: Takes a β for each word (`State.beta` is then an array); samplers say so of themselves as well.
    beta_per_word: ClassVar[bool] = False
    scale: Floats

    def __init__(self, state: State, pool: Pool) -> None:
        self.state = state
        self.pool = pool

    def begin(self) -> None:
        """Make the factor ready for a sweep."""

    def refresh(self) -> None:
        """Take over the priors from the state after they were learned."""


class Part(NamedTuple):
    """An array of a factor of which every word has a part: an item of shape `row`, or one for each entry of its row."""

    name: str
    dtype: Any
    row: tuple[int, ...] | None = ()  # None: as many items as the word's row has entries


class FixedFactor(WordFactor):
    """A factor that stays as it is during a sweep, made anew from the counts at its start."""

    fixed = True
    #: What `opened` makes of the arrays `given`: the same whatever the documents, and made once for many groups.
    follows: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, state: State, pool: Pool, **settings: Any) -> None:
        super().__init__(state, pool)
        #: With `name`, all that it takes to make such a factor for other words, in another process.
        self.settings = settings

    @property
    def drawn(self) -> Sequence[Part]:
        """The arrays that `draw` leaves."""
        raise NotImplementedError

    @property
    def given(self) -> Sequence[Part]:
        """The arrays that kernels are given, beside the scale: left by `draw`, or made by `finish`."""
        raise NotImplementedError

    def begin(self) -> None:
        """Make the factor of the coming sweep."""
        self.set_scale(self.draw())
        for step in self.rounds():
            self.rescale(step, self.revise(step, self.observe(step)))
        self.finish()

    def rounds(self) -> Sequence[Any]:
        """Rounds in which documents have a say in the rows: for each, what `observe`, `revise` and `rescale` get."""
        return ()

    def observe(self, step: Any) -> Seen:
        """What the documents of the state say in a round, given rows and scale as they are."""
        raise NotImplementedError

    def revise(self, step: Any, seen: Seen) -> Sequence[Numbers]:
        """Let the words of the state take up what all documents say; returns sums over them, in their order."""
        raise NotImplementedError

    def rescale(self, step: Any, sums: Sequence[Numbers]) -> None:
        """Make the scale anew from what `revise` has returned for all words, one shard after the other."""
        raise NotImplementedError

    def draw(self) -> Sequence[Numbers]:
        """Make the rows of the words of the state; returns sums over them, in the order of the words."""
        raise NotImplementedError

    def changes_rows(self, sums: Sequence[Numbers]) -> bool:
        """Whether `set_scale` would change rows that `draw` has made. Else nobody has to have them all for it."""
        return False

    def set_scale(self, sums: Sequence[Numbers]) -> None:
        """Make the scale from what `draw` has returned for all words, one shard after the other."""
        raise NotImplementedError

    def finish(self) -> None:
        """Make what needs the rows and the scale."""

    def opened(self) -> None:
        """Make what follows from the arrays `given`, where these were made elsewhere."""

    def to_dense(self) -> NDArray[np.float64]:
        """φ of the sweep as an array (V, K)."""
        raise NotImplementedError


def probabilities(x: NDArray[Any], offset: PerWord, scale: Any) -> NDArray[Any]:
    """φ = (x + offset) · scale, in the float type of x; of many offsets each is that of a row of x, or of an entry.

    In kernels `draw_topic` has the same.
    """
    real = x.dtype.type
    offsets = np.asarray(offset, real)
    if offsets.ndim:
        offsets = offsets.reshape(-1, *[1] * (x.ndim - 1))
    phi: NDArray[Any] = (x + offsets) * np.asarray(scale, real)
    return phi


def beta_of(beta: PerWord, words: NDArray[Any]) -> PerWord:
    """β of some words: an entry for each, or the one that all words share."""
    return beta[words] if isinstance(beta, np.ndarray) else beta


def scale_of_counts(n_k: NDArray[np.float64], beta_sum: float) -> NDArray[np.float64]:
    """1/(n_k + Vβ): the scale of counts, whose offset is β."""
    return 1.0 / (n_k + beta_sum)
