"""What a sampler is: a small class that moves the topics of a state once over all tokens.

A sampler has a word factor (`topoi.chain.factors`) and draws topics with it. A sweep has two parts. `begin` makes
whatever is fixed during the sweep (the factor, proposal tables). `block` moves the tokens of a range of documents with
a random stream of its own. Blocks see nothing of each other where the factor is fixed, so they may run at the same
time, even if each goes on with counts of its own; where it is live they run in order, and each leaves the counts to the
next.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from topoi._machine.arrays import Floats, Stream
from topoi._machine.pool import Pool
from topoi._machine.rng import TOPICS, new_stream
from topoi._machine.simd import pad
from topoi.chain.alpha import AlphaRows
from topoi.chain.factors._table import TableFactor
from topoi.chain.factors.base import WordFactor
from topoi.chain.factors.live import LiveFactor
from topoi.chain.samplers._document import TokenTopics
from topoi.chain.samplers._fixed import sweep_dense
from topoi.chain.samplers._tilted import TiltInput, sweep_tilted
from topoi.chain.state import State
from topoi.errors import ParameterError


class Sampler:
    """Base of all samplers. Class attributes declare what a method is; the tests hold every sampler to them."""

    name: ClassVar[str]
    #: Leaves the posterior of LDA unchanged (the joint with φ where the word factor is a variable of the chain).
    exact: ClassVar[bool]
    #: Where the word factor comes from; that of the sampler itself is its attribute `factor`.
    factor_class: ClassVar[type[WordFactor]]
    #: How a topic is drawn: "gibbs" (from the conditional itself), "mh" (Metropolis–Hastings) or "mean_field" (each
    #: token by itself, from the conditional at the expected counts of its document).
    draw: ClassVar[str]
    #: Work per token, in words.
    cost: ClassVar[str]
    reference: ClassVar[str]
    #: Can move topics under the tilt of responses (supervised models).
    tilts: ClassVar[bool] = False
    #: Can move topics where documents have an α of their own; else one α (`state.alpha`) serves all of them.
    alpha_per_document: ClassVar[bool] = False
    #: Can move topics where words have a β of their own (`State.beta` is then an array); else one β serves all words.
    beta_per_word: ClassVar[bool] = False
    #: Goes through the tokens of a word as it does through those of a document: only one process has them all, and the
    #: engines of several refuse it.
    by_words: ClassVar[bool] = False
    #: Has counts of its own in every block of documents, a copy of the factor's that follows the tokens of the block:
    #: these see each other, as with a live factor, and no block sees another.
    live_in_block: ClassVar[bool] = False
    #: For inexact samplers: measured total variation between their stationary distribution and the posterior of the
    #: five-token corpus REPEATED in tests/support/exact.py, where counts are as small as they get (verify/bias.py).
    bias: ClassVar[float] = 0.0
    #: Options of the constructor that users may set: their choices, or the smallest whole number that they may be.
    options: ClassVar[dict[str, tuple[str, ...] | int]] = {}

    factor: WordFactor
    #: α of the documents, of samplers with `alpha_per_document`.
    prior: AlphaRows

    def __init__(self, state: State, pool: Pool | None = None, **form: Any) -> None:
        """`form` says in which form the kernels take the factor: arguments of its class."""
        self.state = state
        self.pool = pool or Pool(1)
        self.take_alpha()
        self.factor = self.factor_class(state, self.pool, **form)

    @classmethod
    def spreads(cls) -> bool:
        """Whether several processes can each move some of the documents, given the word factor."""
        return cls.factor_class.fixed and not cls.by_words

    @classmethod
    def takes_beta_per_word(cls) -> bool:
        """Whether words may have a β of their own, for the draw and for the word factor."""
        return cls.beta_per_word and cls.factor_class.beta_per_word

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Raise an error that says what there is unless every option is one that the sampler takes."""
        for option, value in options.items():
            if option not in cls.options:
                known = f"it has {', '.join(sorted(cls.options))}" if cls.options else "it has none"
                raise ParameterError("sampler_options", f"{cls.name} has no option {option!r}; {known}")
            allowed = cls.options[option]
            if isinstance(allowed, tuple):
                if value not in allowed:
                    raise ParameterError(
                        "sampler_options", f"{option} must be one of {', '.join(allowed)}, not {value!r}"
                    )
            elif isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < allowed:
                raise ParameterError(
                    "sampler_options", f"{option} must be a whole number of at least {allowed}, not {value!r}"
                )

    def refresh_priors(self) -> None:
        """Take over α and β from the state after an update of the priors."""
        self.take_alpha()
        self.factor.refresh()

    def take_alpha(self) -> None:
        """Have α of the state's documents as kernels take it: those that know of one α alone look at the state."""
        if self.alpha_per_document:
            state = self.state
            alpha = state.priors.topics.alpha_of(state.corpus)
            self.prior = alpha.for_kernels(state.corpus.n_documents, state.real, pad(state.n_topics))

    def begin(self) -> None:
        """Make what is fixed during the coming sweep."""
        self.factor.begin()

    def block(self, first: int, last: int, stream: Stream) -> Any:
        """Move the tokens of documents first … last − 1."""
        raise NotImplementedError

    @property
    def tokens(self) -> TokenTopics:
        """What kernels get of the tokens."""
        corpus = self.state.corpus
        return TokenTopics(corpus.words, corpus.doc_ptr, self.state.z)

    def sweep(self) -> dict[str, float]:
        """Move every token once; returns diagnostics of the sweep."""
        state = self.state
        self.begin()
        answers = self.move()
        state.sweep += 1
        if state.supervision is not None:
            state.supervision.update(state, self.pool)
        return self.summary(answers)

    def move(self) -> list[Any]:
        """Move every token, with what is fixed during the sweep as it is; returns what the blocks returned."""
        state, ptr = self.state, self.state.corpus.block_ptr

        def work(block: int) -> Any:
            stream = new_stream(state.seed, TOPICS, state.sweep, state.corpus.first_block + block)
            return self.block(int(ptr[block]), int(ptr[block + 1]), stream)

        pool = self.pool if self.factor.fixed else Pool(1)
        return pool.map(work, range(len(ptr) - 1))

    def responses(self) -> TiltInput:
        """What a tilt is made of; of no tasks for LDA."""
        state, s = self.state, self.state.supervision
        if s is None:
            none = np.zeros((state.corpus.n_documents, 0), np.float32)
            eta, eta_t = np.zeros((0, pad(state.n_topics)), np.float32), np.zeros((state.n_topics, 0), np.float32)
            return TiltInput(eta, eta_t, none, none)
        return TiltInput(s.eta, np.ascontiguousarray(s.eta[:, : state.n_topics].T), s.kappa, s.omega)

    def table_block(self, first: int, last: int, stream: Stream, factor: TableFactor) -> Any:
        """Move the tokens of documents first … last − 1 given φ in a table, all topics weighed at once."""
        if self.state.supervision is not None:
            return self.tilted_block(first, last, stream, factor, None)
        return sweep_dense(
            self.tokens, first, last, factor.table, float(factor.offset), factor.scale, self.prior, stream
        )

    def tilted_block(
        self, first: int, last: int, stream: Stream, factor: LiveFactor | TableFactor, n_k: Floats | None
    ) -> tuple[int, int]:
        """Move the tokens of documents first … last − 1 under a tilt; an n_k says that the factor's counts are live."""
        state = self.state
        s = state.supervision
        assert s is not None
        wanted, moved = sweep_tilted(
            state.corpus.words, state.corpus.doc_ptr, first, last, state.z, factor.table, factor.offset, factor.scale,
            self.prior, n_k, state.beta_sum, *self.responses(), s.part, stream,
        )  # fmt: skip
        return int(wanted), int(moved)

    def summary(self, answers: list[Any]) -> dict[str, float]:
        """Diagnostics of a sweep from what its blocks returned."""
        if self.state.supervision is None:
            return {}
        wanted, moved = np.sum(answers, axis=0)
        return {"acceptance": moved / max(wanted, 1)}
