"""The hierarchical Dirichlet process: documents share topics of which there are as many as the corpus needs.

    α_k = a·Ψ_k,    Ψ ~ GEM(γ), cut off at K pieces (sticks.py),    a ~ Gamma(1, 1),    γ ~ Gamma(1, 0.1)

Ψ_k is how much of the corpus topic k has. γ says into how many pieces it is broken, and a how much documents are alike;
their priors are those of Teh, Jordan, Beal & Blei (2006, JASA 101). All of it is drawn after every sweep, given the
tables l_k of the topics (tables.py), by the sums that Terenin, Magnusson & Jonsson (2020, Sparse Parallel Training of
Hierarchical Dirichlet Process Topic Models) have found to need no more than a histogram of the counts.

The posterior always has some topics of a few tokens, made and lost by chance, and the more of them the longer one
looks. So a topic counts as found if it holds a thousandth of all tokens, or a hundred of them.

The stick is cut off, which costs nothing as long as some of the K topics are empty: they stand for all topics that are
not there yet, and the last of them has what is left of the stick. While the chain burns in, K follows the number of
topics in use: it grows so that there is a reserve of empty ones, and topics that are alike are joined. From then on it
stays, and the chain is an exact one for the model with that K.

Kernels take no α below 1e-10. A smaller piece of the stick counts as that: a token takes such a topic with a
probability of less than 1e-10 times the ratio of two word probabilities, so that a chain would have to move some
billions of tokens before it made a difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topoi._disk.schema import NUMBER, WHOLE, Field, array_of
from topoi._disk.store import ModelError
from topoi.chain.counts.spectra import Spectrum, merge
from topoi.chain.priors.base import LARGEST_PRIOR, TopicPrior
from topoi.chain.priors.positive import SMALLEST
from topoi.chain.priors.sticks import draw_order, draw_sticks, log_density
from topoi.chain.priors.tables import draw_concentration, draw_table_counts
from topoi.chain.state import State
from topoi.corpus import Corpus

#: Of the Gamma prior of a.
SHAPE, RATE = 1.0, 1.0
#: Of that of γ.
TOP_SHAPE, TOP_RATE = 1.0, 0.1
#: Empty topics that a growing chain has in reserve: so many, or this share of those in use.
RESERVE = 8
RESERVE_SHARE = 0.1
#: Sweeps from one time that topics which are alike are joined (chain/merging.py) to the next.
JOIN_EVERY = 5
#: A topic is found if it holds this share of the tokens, or so many of them.
FOUND_SHARE, FOUND = 1e-3, 100


def reserve(n_used: int) -> int:
    """Empty topics to have beside so many in use."""
    return max(RESERVE, math.ceil(RESERVE_SHARE * n_used))


def enough(n_tokens: int) -> int:
    """Tokens that a topic needs to count as found."""
    return max(1, min(FOUND, round(FOUND_SHARE * n_tokens)))


@dataclass(frozen=True, eq=False)
class HDP(TopicPrior):
    """α of a hierarchical Dirichlet process.

    `order` are the topics in the order of their pieces of the stick, `concentration` is a, `top_concentration` γ, and
    `n_found` the number of topics with enough tokens. K grows after the sweeps `grows_from` … `grows_until` − 1, up to
    `most_topics`.
    """

    order: NDArray[np.int64]
    concentration: float
    top_concentration: float
    n_found: int
    most_topics: int
    grows_from: int = 1
    grows_until: int = 1

    name = "hdp"
    word = "hdp"
    every = 1
    stored: ClassVar[dict[str, Field]] = TopicPrior.stored | {
        "order": array_of("int64"),
        "concentration": NUMBER,
        "top_concentration": NUMBER,
        "n_found": WHOLE,
        "most_topics": WHOLE,
        "grows_from": WHOLE,
        "grows_until": WHOLE,
    }

    @classmethod
    def begin(cls, n_topics: int, most_topics: int, grows_from: int = 1, grows_until: int = 1) -> Self:
        """Even pieces: the first topics are drawn uniformly."""
        a = 0.1 * n_topics
        alpha = np.full(n_topics, a / n_topics)
        given = (n_topics, most_topics, grows_from, grows_until)
        return cls(alpha, np.arange(n_topics), a, 1.0 + n_topics / 10, *given)

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """ "hdp": cut off at `n_topics`."""
        return cls.begin(n_topics, n_topics) if isinstance(value, str) and value == cls.word else None

    def update(self, state: State, observed: list[Spectrum]) -> Self:
        """Draw tables, a, the order, the breaks of the stick and γ, one given the others."""
        stream = self.stream(state)
        spectrum = merge(observed)
        tables = draw_table_counts(spectrum, self.alpha, stream)
        lengths = state.corpus.doc_lengths
        a = draw_concentration(self.concentration, int(tables.sum()), lengths, SHAPE, RATE, stream)
        n_k = np.bincount(spectrum.row, spectrum.size * spectrum.times, len(tables))
        n_found = int(np.count_nonzero(n_k >= enough(state.corpus.n_tokens)))
        n_topics = self._next(int(np.count_nonzero(tables)), state.sweep)
        order = np.concatenate((self.order, np.arange(len(tables), n_topics)))
        tables = np.concatenate((tables, np.zeros(n_topics - len(tables), np.int64)))
        draw_order(order, tables, self.top_concentration, stream)
        log_share = np.zeros(n_topics)
        top = draw_sticks(order, tables, self.top_concentration, TOP_SHAPE, TOP_RATE, log_share, stream)
        # Not np.exp, whose last bit depends on the processor.
        share = np.array([math.exp(one) for one in log_share.tolist()])
        alpha = np.maximum(a * share, SMALLEST)
        found = replace(self, alpha=alpha, order=order, n_found=max(n_found, 1))
        return replace(found, concentration=a, top_concentration=top)

    @property
    def most(self) -> int:
        """How many topics there may be."""
        return self.most_topics

    def places(self, n_k: NDArray[np.int64], n_tokens: int) -> NDArray[np.bool_]:
        """Where the number of topics was to be found, those with enough tokens have a place in the model."""
        if self.grows_until == 1:
            return super().places(n_k, n_tokens)
        return np.asarray(n_k >= min(enough(n_tokens), int(n_k.max())), np.bool_)

    def joined(self, number: NDArray[np.int64]) -> Self:
        """Pieces joined; each is where the first of its parts was."""
        alpha = np.bincount(number, self.alpha).astype(np.float64)
        first = np.unique(number[self.order], return_index=True)[1]
        order = number[self.order][np.sort(first)]
        return replace(self, alpha=alpha, order=order, n_found=min(self.n_found, len(alpha)))

    def divided(self, k: int, share: float) -> Self:
        """A piece broken in two, side by side."""
        order = np.where(self.order > k, self.order + 1, self.order)
        order = np.insert(order, int(np.flatnonzero(self.order == k)[0]) + 1, k + 1)
        broken = super().divided(k, share)
        most = max(self.most_topics, len(broken.alpha))
        return replace(broken, order=order, n_found=self.n_found + 1, most_topics=most)

    def found(self) -> Self:
        """No more topics are added."""
        return replace(self, most_topics=len(self.alpha), grows_from=1, grows_until=1)

    def settles(self, sweep: int) -> bool:
        """Every few sweeps while topics may be added."""
        return self.grows_from <= sweep < self.grows_until and sweep % JOIN_EVERY == 0

    def reserve(self, n_used: int) -> int:
        """Some, and more where there are many."""
        return reserve(n_used)

    def figures(self) -> dict[str, float]:
        """The number of topics found, a and γ."""
        return {
            "n_topics": float(self.n_found),
            "concentration": self.concentration,
            "top_concentration": self.top_concentration,
        }

    def _next(self, n_used: int, sweep: int) -> int:
        """K after a sweep: more than before where less than half of the reserve is left."""
        now, wanted = len(self.alpha), reserve(n_used)
        if not self.grows_from <= sweep < self.grows_until or 2 * (now - n_used) >= wanted:
            return now
        return max(now, min(n_used + wanted, self.most_topics))

    def log_density(self) -> float:
        """Of a, γ and the pieces, in their order."""
        of_a = _log_gamma(self.concentration, SHAPE, RATE)
        of_top = _log_gamma(self.top_concentration, TOP_SHAPE, TOP_RATE)
        return of_a + of_top + log_density(self.order, self.alpha / self.alpha.sum(), self.top_concentration)

    def with_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The same prior with other fields; the number of topics may have grown."""
        n = len(arrays.get("alpha", self.alpha))
        if not 0 < n <= self.most_topics:
            raise ModelError(f"alpha has {n} entries; there are at most {self.most_topics} topics")
        sized = replace(self, alpha=np.ones(n), order=np.arange(n))
        return super(HDP, sized).with_arrays(arrays)

    def check(self) -> None:
        """Raise unless the fields, which may come from a file, can be those of such a prior."""
        super().check()
        n = len(self.alpha)
        if self.order.shape != (n,) or not np.array_equal(np.sort(self.order), np.arange(n)):
            raise ModelError("order must have every topic once")
        if not all(0 < x < LARGEST_PRIOR for x in (self.concentration, self.top_concentration)):
            raise ModelError("concentrations must be positive numbers")
        if not 1 <= self.n_found <= n <= self.most_topics or min(self.grows_from, self.grows_until) < 1:
            raise ModelError(f"{self.n_found} of {n} topics found, and at most {self.most_topics}, cannot be")


def _log_gamma(x: float, shape: float, rate: float) -> float:
    """Log density of Gamma(shape, rate)."""
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1) * math.log(x) - rate * x
