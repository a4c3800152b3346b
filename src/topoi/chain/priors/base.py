"""What a prior is: α of the topics of a document, or β and pseudo-counts of the words of a topic.

    p(z_i = k | rest) ∝ (n_dk⁻ + α_dk) · (n_wk⁻ + β + δ_wk) / (n_k⁻ + Vβ + Σ_w δ_wk)

A prior is frozen: an update returns another one, so that several chains may begin with the same. It is told apart by
its class: members are listed in `topoi.chain.priors`, one for each file beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.schema import NUMBER, Field, array_of
from topoi._disk.store import ModelError
from topoi._machine.arrays import PerWord
from topoi._machine.pool import Pool
from topoi._machine.rng import TOPIC_PRIOR, WORD_PRIOR, new_stream
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.counts.spectra import Spectrum, document_spectrum
from topoi.chain.priors.positive import check_updated
from topoi.chain.priors.seeds import Seeds, SeedWords
from topoi.corpus import Corpus

if TYPE_CHECKING:
    from topoi.chain.state import State

#: Of a prior in a file: kernels read priors as float32.
LARGEST_PRIOR = 1e30


class Prior:
    """What the priors of topics and of words share."""

    #: Of the member, in error messages and fingerprints.
    name: ClassVar[str]
    #: The parameter of the estimators by which a user asks for a prior of this axis.
    parameter: ClassVar[str]
    #: The word that asks for this member; "" if there is none.
    word: ClassVar[str] = ""
    #: Whatever else asks for it, in the words of error messages.
    accepts: ClassVar[tuple[str, ...]] = ()
    #: The fields that it is made of, numbers or arrays: they go to checkpoints, model files and workers.
    stored: ClassVar[dict[str, Field]]
    #: Sweeps from one update to the next; 0 if there is none.
    every: ClassVar[int] = 0
    #: What its random stream is for.
    purpose: ClassVar[int]

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """The prior that a user means by `value` of the parameter; None if this member is not meant."""
        raise NotImplementedError

    def due(self, sweep: int) -> bool:
        """Whether it is to be updated after sweep number `sweep`, counted from 1."""
        return self.every > 0 and sweep % self.every == 0

    def stream(self, state: State) -> NDArray[np.uint64]:
        """Random numbers of its own for the update after the state's last sweep."""
        return new_stream(state.seed, self.purpose, state.sweep)

    def log_density(self) -> float:
        """Log density of what is learned or drawn, under the prior that it has itself; 0 where nothing is."""
        return 0.0

    def check(self) -> None:
        """Raise a ModelError unless the fields, which may come from a file, can be those of such a prior."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The stored fields; numbers are arrays of one entry."""
        return {name: np.atleast_1d(np.asarray(getattr(self, name))) for name in self.stored}

    def with_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The same prior with stored fields as `arrays` has them; a ModelError if they cannot be its own."""
        own = self.arrays()
        if set(arrays) != set(own):
            raise ModelError(f"the prior {self.name!r} has {', '.join(own)}, not {', '.join(arrays)}")
        values: dict[str, Any] = {}
        for name, array in arrays.items():
            if array.dtype != own[name].dtype or array.shape != own[name].shape:
                raise ModelError(f"{name} has shape {array.shape}, of {array.dtype}; not {own[name].shape}")
            values[name] = array if isinstance(getattr(self, name), np.ndarray) else array[0].item()
        made = replace(self, **values)  # type: ignore[type-var]  # members are dataclasses
        made.check()
        return made


@dataclass(frozen=True, eq=False)
class TopicPrior(Prior):
    """Dirichlet prior of the topics of a document; `alpha` (K) is that of a document of which nothing is known."""

    alpha: NDArray[np.float64]

    parameter: ClassVar[str] = "doc_topic_prior"
    purpose: ClassVar[int] = TOPIC_PRIOR
    stored: ClassVar[dict[str, Field]] = {"alpha": array_of("float64")}
    #: Documents may have an α of their own: then only samplers with `alpha_per_document` can be used.
    per_document: ClassVar[bool] = False
    #: Documents may be kept from topics: their α is 0 there.
    forbids: ClassVar[bool] = False
    #: The table of `Corpus.about` that says which α a document has; "" if what is in the document does.
    about: ClassVar[str] = ""

    @property
    def most(self) -> int:
        """How many topics there may be: as many as there are, unless an update may add some."""
        return len(self.alpha)

    def places(self, n_k: NDArray[np.int64], n_tokens: int) -> NDArray[np.bool_]:
        """Which topics have a place in a model, given their tokens on average: all, unless their number was sought."""
        return np.ones(len(n_k), np.bool_)

    def joined(self, number: NDArray[np.int64]) -> Self:
        """The same of topics that are joined: topic k becomes part of topic number[k]."""
        return replace(self, alpha=np.bincount(number, self.alpha).astype(np.float64))

    def divided(self, k: int, share: float) -> Self:
        """The same with topic k as two, k and k + 1, of which the first has this share of its α."""
        return replace(self, alpha=parted(self.alpha, k, share))

    def joined_draws(self, draws: Mapping[str, NDArray[Any]], number: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """What the samples hold of it, of topics that are joined as by `joined`."""
        return dict(draws)

    def divided_draws(self, draws: Mapping[str, NDArray[Any]], k: int, share: float) -> dict[str, NDArray[Any]]:
        """What the samples hold of it, of a topic that is divided as by `divided`."""
        return dict(draws)

    @property
    def n_bound(self) -> int:
        """How many of the first topics must stay what and where they are, since documents know them by number."""
        return 0

    def found(self) -> Self:
        """The same where the number of topics is no longer sought."""
        return self

    def settles(self, sweep: int) -> bool:
        """Whether topics that are alike are to be joined after sweep number `sweep`."""
        return False

    def reserve(self, n_used: int) -> int:
        """Empty topics to have beside so many in use."""
        return 0

    def figures(self) -> dict[str, float]:
        """Numbers to follow over the updates of a run, by name."""
        return {}

    def alpha_of(self, corpus: Corpus) -> DocumentAlpha:
        """α of the documents of a corpus: those that are fitted, a part of them on a worker, or new ones."""
        return DocumentAlpha(self.alpha[None])

    def sampled(self) -> dict[str, NDArray[Any]]:
        """What every kept sample holds of it, by name, because more than its last value is of interest: nothing."""
        return {}

    def held(self) -> Self:
        """What it becomes for documents that come after a fit: itself, unless those of the fit alone have a say."""
        return self

    def check_draws(self, draws: Mapping[str, NDArray[Any]]) -> None:
        """Raise unless these, which may come from a file, can be what the samples hold of it (samples, …)."""
        own = self.sampled()
        for name, array in draws.items():
            like = own.get(name)
            if like is None or array.dtype != like.dtype or array.ndim < 1 or array.shape[1:] != like.shape:
                raise ModelError(f"the samples cannot hold {name!r} of the prior {self.name!r}")
            if not len(array) or (array.dtype.kind == "f" and not np.isfinite(array).all()):
                raise ModelError(f"{name!r} of the samples of the prior {self.name!r} must be finite numbers")

    def observe(self, state: State, pool: Pool) -> Any:
        """What an update needs to know of the topics of some documents, wherever these are: all, or a part of them."""
        return document_spectrum(state, pool)

    def update(self, state: State, observed: list[Any]) -> Self:
        """The prior after an update; `observed` has what `observe` said of the parts of the corpus, in their order.

        `state` is that of the whole corpus. It may be without topics, which can be on other machines.
        """
        raise NotImplementedError

    def check(self) -> None:
        """Raise unless α are positive numbers."""
        if self.alpha.ndim != 1 or not len(self.alpha) or not ((self.alpha > 0) & (self.alpha < LARGEST_PRIOR)).all():
            raise ModelError("alpha must be positive numbers, one per topic")


def parted(values: NDArray[np.float64], k: int, share: float) -> NDArray[np.float64]:
    """Values of topics with that of topic k shared out to two, k and k + 1."""
    parted = np.insert(values, k + 1, (1.0 - share) * values[k])
    parted[k] = share * values[k]
    return parted


@dataclass(frozen=True, eq=False)
class WordPrior(Prior):
    """Dirichlet prior of the words of a topic: β, one for all of them or one for each, and pseudo-counts δ of some.

    Pseudo-counts (V, K) are whole numbers, for they share tables with counts. They count as if so many tokens of the
    word had the topic, which never move; the counts of a model contain them. `partial_fit` makes them of the tokens of
    earlier documents.
    """

    beta: PerWord
    # Files do not have them: they are among the counts of a model, and never change during a run.
    pseudo_counts: sparse.csr_array | None = field(default=None, kw_only=True, metadata={"stored": False})
    # Words whose tokens begin in topics of a user's choice. Nor have files these: a model has begun.
    seeds: SeedWords | None = field(default=None, kw_only=True, metadata={"stored": False})

    parameter: ClassVar[str] = "topic_word_prior"
    purpose: ClassVar[int] = WORD_PRIOR
    stored: ClassVar[dict[str, Field]] = {"beta": NUMBER}

    @property
    def kinds(self) -> NDArray[np.int64] | None:
        """The kind of every word, where β is an array: words of a kind have the same. None where all have the same."""
        return None

    def total(self, n_words: int) -> float:
        """Σ_w β_w over a vocabulary of so many words."""
        return float(self.beta) * n_words

    def of_words(self, words: slice) -> Self:
        """The prior of some of the words: of a shard, whose words have numbers from 0 on."""
        return self

    def update(self, state: State, spectrum: Spectrum, n_k: NDArray[np.int64]) -> Self:
        """The prior after an update, given how often each count n_wk occurs, and n_k; both with pseudo-counts."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise unless β is a positive number."""
        if not 0 < float(self.beta) < LARGEST_PRIOR:
            raise ModelError("beta must be a positive number")


@dataclass(frozen=True)
class Priors:
    """The two priors of a chain."""

    topics: TopicPrior
    words: WordPrior

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return len(self.topics.alpha)

    def due(self, sweep: int) -> bool:
        """Whether one of them is to be updated after sweep number `sweep`."""
        return self.topics.due(sweep) or self.words.due(sweep)

    def updated(
        self,
        state: State,
        observed: Callable[[], list[Any]],
        tally: Callable[[], tuple[Spectrum, NDArray[np.int64]]],
    ) -> Priors:
        """The priors after the updates that are due; engines know how to get what `update` is given.

        Raises if an update has left what kernels can compute with: they would go on, with topics that mean nothing.
        """
        topics, words = self.topics, self.words
        if topics.due(state.sweep):
            topics = topics.update(state, observed())
            check_updated(topics.name, "α", topics.alpha)
            if topics.per_document:
                check_updated(topics.name, "α of documents", topics.alpha_of(state.corpus).rows)
        if words.due(state.sweep):
            words = words.update(state, *tally())
            check_updated(words.name, "β", words.beta)
        return Priors(topics, words)

    def check(self) -> None:
        """Raise a ModelError unless both can be what they are."""
        self.topics.check()
        self.words.check()

    def seeded(self, seeds: Seeds, corpus: Corpus) -> Priors:
        """The same priors with seeds: their pseudo-counts, beside any that the prior of words has by itself."""
        own, counts = self.words.pseudo_counts, seeds.pseudo_counts(corpus, len(self.topics.alpha))
        together = counts if own is None else sparse.csr_array(own + counts)
        return Priors(
            self.topics,
            replace(self.words, pseudo_counts=together, seeds=seeds.words(corpus, self.words.total(corpus.n_words))),
        )

    def without_counts(self) -> Priors:
        """The same priors for workers, which have the pseudo-counts in a file."""
        return Priors(replace(self.topics), replace(self.words, pseudo_counts=None))

    def given(self, counts: sparse.csr_array | None) -> Priors:
        """The same priors with these pseudo-counts, or with none, as those of a model are: without seeds.

        Both are objects of their own: a file says which objects it has met before, and chains that share a prior would
        give another file than chains that were resumed.
        """
        return Priors(replace(self.topics), replace(self.words, pseudo_counts=counts, seeds=None))

    def joined(self, number: NDArray[np.int64]) -> Priors:
        """The same of topics that are joined: topic k becomes part of topic number[k]."""
        topics, words = self.topics.joined(number), self.words
        if words.pseudo_counts is not None:
            width = len(topics.alpha)
            ones = np.ones(len(number), words.pseudo_counts.dtype)
            joins = sparse.csr_array((ones, (np.arange(len(number)), number)), (len(number), width))
            words = replace(words, pseudo_counts=sparse.csr_array(words.pseudo_counts @ joins))
        return Priors(topics, words)

    def divided(self, k: int, share: float) -> Priors:
        """The same with topic k as two, of which the first has this share; for a model, which has no pseudo-counts."""
        return replace(self, topics=self.topics.divided(k, share))

    def found(self) -> Priors:
        """The same where the number of topics is no longer sought."""
        return replace(self, topics=self.topics.found())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The stored fields of both, as "topics.alpha"; not the pseudo-counts, which never change."""
        return {f"{axis}.{name}": array for axis in AXES for name, array in getattr(self, axis).arrays().items()}

    def with_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Priors:
        """The same priors with stored fields as `arrays` has them; a ModelError if they cannot be their own."""
        parts: dict[str, dict[str, NDArray[Any]]] = {axis: {} for axis in AXES}
        for key, array in arrays.items():
            axis, _, name = key.partition(".")
            if axis not in parts:
                raise ModelError(f"there is no prior {axis!r}")
            parts[axis][name] = array
        return Priors(*(getattr(self, axis).with_arrays(part) for axis, part in parts.items()))


AXES = ("topics", "words")
