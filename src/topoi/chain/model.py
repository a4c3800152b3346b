"""The fitted arrays: word–topic counts summed over the kept samples, the priors, and what follows from them.

Counts are kept sparse: a word has few topics, so that a model of 1,000 topics takes megabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk import store
from topoi._disk.mapped import give_back, limits
from topoi._disk.schema import NUMBER, SPARSE, TEXT, WHOLE, array_of, instance_of, list_of, mapping_of, optional
from topoi._disk.store import Classes, ModelError, Stored, StoredMembers, known
from topoi._machine.arrays import Floats, Ints, PerWord
from topoi._machine.pool import Pool
from topoi.chain.counts.by_rows import lie_in_file, top_words, topic_totals
from topoi.chain.counts.by_tokens import count_by_tokens, tables_fit
from topoi.chain.counts.gathered import gathered_counts
from topoi.chain.factors.base import beta_of, probabilities, scale_of_counts
from topoi.chain.names import FOR_PEOPLE, fault_of_names
from topoi.chain.priors import TOPIC_PRIORS, WORD_PRIORS, Priors, TopicPrior, WordPrior, fixed_priors
from topoi.chain.priors.base import Prior
from topoi.chain.state import State
from topoi.chain.telling import check_order, telling_words
from topoi.errors import ParameterError, TooLargeError

#: Topics beyond those of its counts that a file may claim. A topic takes 8 bytes there, but a number for each word and
#: each document of a prediction in memory: without a limit a file of megabytes asks for all there is.
MOST_EMPTY = 2**14

#: Words whose counts are gathered together: what this needs beside the counts stays small, whatever the vocabulary.
WORDS_AT_ONCE = 4096

#: Probabilities of words in topics (K·V) that are made as one array, at most: 4 GB of them.
MOST_PROBABILITIES = 500_000_000
#: Numbers of rows of counts that are made dense together.
DENSE_AT_ONCE = 2**22


def check_dense(n_topics: int, n_words: int, name: str) -> None:
    """Raise if φ of so many topics and words should not be one array, which users know by this name."""
    if n_topics * n_words > MOST_PROBABILITIES:
        raise TooLargeError(
            f"{name} would have {n_topics:,} × {n_words:,} numbers, {8e-9 * n_topics * n_words:.0f} GB, and above "
            f"{MOST_PROBABILITIES:,} numbers it is not made. Use top_words(), transform(X), "
            "model_.word_probabilities(words) for the rows of some words, or model_.counts, which is sparse"
        )


def check_whole(name: str, value: Any, least: int | None = 1) -> None:
    """Raise unless the parameter `name` is a whole number of at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise ParameterError(name, f"must be a whole number{bound}, not {value!r}")
    if not -(2**63) <= value < 2**63:
        raise ParameterError(name, f"must be a number of 64 bits, not {value!r}")


def sample_counts(state: State, pool: Pool | None = None) -> sparse.csr_array:
    """Word–topic counts (V, K) of a state, pseudo-counts included."""
    pool = pool or Pool(1)
    return _counted_by_tokens(state, pool) if tables_fit(state, pool) else gathered_counts(state, pool)


def _counted_by_tokens(state: State, pool: Pool) -> sparse.csr_array:
    """The same where few pairs of word and topic have many tokens: no order of the tokens by words is made."""
    n_words, tables = state.corpus.n_words, count_by_tokens(state, pool)
    size, data, topics = [], [], []
    for first in range(0, n_words, WORDS_AT_ONCE):
        n_wk = tables.counts(state, first, min(first + WORDS_AT_ONCE, n_words))
        rows, columns = np.nonzero(n_wk)
        size.append(np.bincount(rows, minlength=len(n_wk)))
        data.append(n_wk[rows, columns])
        topics.append(columns.astype(np.int32))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(size))))
    return sparse.csr_array((np.concatenate(data), np.concatenate(topics), indptr), shape=(n_words, state.n_topics))


def join_columns(counts: sparse.csr_array, number: NDArray[np.int64], n: int | None = None) -> sparse.csr_array:
    """Counts (V, K) with column k added to column number[k], of n columns or as many as have a number."""
    width = int(number.max()) + 1 if n is None else n
    ones = np.ones(len(number), counts.dtype)
    found = sparse.csr_array(counts @ sparse.csr_array((ones, (np.arange(len(number)), number)), (len(number), width)))
    found.sort_indices()
    return found


def _divided_column(counts: sparse.csr_array, k: int, share: NDArray[np.float64]) -> sparse.csr_array:
    """Counts (V, K + 1) with column k as two, of which the first has this share (V) of each count, rounded."""
    entries = counts.tocoo()
    words, topics, values = entries.coords[0], entries.coords[1].astype(np.int64), entries.data
    own = topics == k
    first = np.rint(share[words[own]] * values[own]).astype(values.dtype)
    kept = values.copy()
    kept[own] = first
    topics = np.concatenate((np.where(topics > k, topics + 1, topics), np.full(int(own.sum()), k + 1)))
    data, rows = np.concatenate((kept, values[own] - first)), np.concatenate((words, words[own]))
    shape = (counts.shape[0], counts.shape[1] + 1)
    there = data > 0
    found = sparse.csr_array((data[there], (rows[there], topics[there].astype(np.int32))), shape)
    found.sort_indices()
    return found


@dataclass
class TopicModel:
    """Topics: `counts` (V, K) summed over `n_samples` samples, and `last_counts` of the last one alone.

    Both contain the pseudo-counts of the prior of words. `priors` are those that the run ended with; `draws` are what
    the samples hold of the prior of topics, by name (samples, …). `topic_names` has an entry for each topic, "" where
    it has no name; None if none has one. `hidden` are numbers of topics that tables and reports leave out.
    """

    counts: sparse.csr_array
    last_counts: sparse.csr_array
    n_samples: int
    priors: Priors
    vocabulary: NDArray[Any] | None = None
    topic_names: list[str] | None = None
    draws: dict[str, NDArray[Any]] = field(default_factory=dict, kw_only=True)
    hidden: list[int] = field(default_factory=list, kw_only=True)

    @property
    def alpha(self) -> NDArray[np.float64]:
        """α (K) of a document of which nothing is known but its words."""
        return self.priors.topics.alpha

    @property
    def beta(self) -> PerWord:
        """β, or one for each word; pseudo-counts, if there are some, are among the counts."""
        return self.priors.words.beta

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return len(self.alpha)

    @property
    def n_words(self) -> int:
        """Size of the vocabulary V."""
        return int(self.counts.shape[0])

    def joined(self, number: NDArray[np.int64]) -> TopicModel:
        """The model with topics joined: topic k becomes part of topic number[k]. Names go, and none is hidden."""
        counts, last = join_columns(self.counts, number), join_columns(self.last_counts, number)
        priors, draws = self.priors.joined(number).found(), self.priors.topics.joined_draws(self.draws, number)
        return TopicModel(counts, last, self.n_samples, priors, self.vocabulary, draws=draws)

    def divided(self, k: int, share: NDArray[np.float64]) -> TopicModel:
        """The model with topic k as two, k and k + 1: of each word the first has this share (V) of its tokens there.

        Counts are whole numbers: of each word the two have what the one had. Names go, and none is hidden.
        """
        counts, last = (_divided_column(matrix, k, share) for matrix in (self.counts, self.last_counts))
        first, second = np.asarray(counts.sum(0), np.float64)[k : k + 2]
        if first == 0 or second == 0:
            raise ModelError(f"topic {k} cannot be divided: one of its parts would have no tokens")
        of_first = first / (first + second)
        priors = self.priors.divided(k, of_first)
        draws = self.priors.topics.divided_draws(self.draws, k, of_first)
        return TopicModel(counts, last, self.n_samples, priors, self.vocabulary, draws=draws)

    @property
    def topic_counts(self) -> NDArray[np.float64]:
        """Average number of tokens of each topic."""
        return self._totals / self.n_samples

    @property
    def _totals(self) -> NDArray[np.float64]:
        """Tokens of each topic in all samples; of counts in a file they are summed once, since those never change."""
        known: tuple[Any, NDArray[np.float64]] | None = self.__dict__.get("_known_totals")
        if not lie_in_file(self.counts):
            return topic_totals(self.counts)
        if known is None or known[0] is not self.counts:
            known = self.__dict__["_known_totals"] = (self.counts, topic_totals(self.counts))
        return known[1]

    @property
    def scale(self) -> NDArray[np.float64]:
        """1/(n_k + Vβ) with average counts."""
        return scale_of_counts(self.topic_counts, self.priors.words.total(self.n_words))

    def word_rows(self, words: Ints, dtype: type[np.floating[Any]]) -> Floats:
        """Average counts (len(words), K) of some words, dense."""
        rows: Floats = np.empty((len(words), self.n_topics), dtype)
        for part in self._parts(len(words)):
            rows[part] = self.counts[words[part]].toarray()
            rows[part] /= dtype(self.n_samples)
            give_back(self.counts.data, self.counts.indices)
        return rows

    def word_probabilities(self, words: Ints, dtype: type[np.floating[Any]] = np.float64) -> Floats:
        """φ (len(words), K) of some words, dense."""
        phi: Floats = np.empty((len(words), self.n_topics), dtype)
        scale = self.scale
        for part in self._parts(len(words)):
            phi[part] = probabilities(self.word_rows(words[part], dtype), beta_of(self.beta, words[part]), scale)
        return phi

    def _parts(self, n: int) -> Iterator[slice]:
        """Parts of so many words: what is made on the way to their rows stays small."""
        step = max(1, DENSE_AT_ONCE // max(self.n_topics, 1))
        for first in range(0, n, step):
            yield slice(first, first + step)

    def topic_word(self, dtype: type[np.floating[Any]] = np.float64) -> Floats:
        """φ (K, V): the probability of every word in every topic; rows sum to 1."""
        check_dense(self.n_topics, self.n_words, "φ of all words")
        return np.ascontiguousarray(self.word_probabilities(np.arange(self.n_words)).T, dtype)

    @property
    def topic_shares(self) -> NDArray[np.float64]:
        """Share of the training tokens that each topic has; sums to 1."""
        counts = self.topic_counts
        return np.asarray(counts / max(counts.sum(), np.finfo(float).tiny))

    def top_columns(self, n: int = 10, order: str = "telling") -> list[list[int]]:
        """Columns of n words of each topic, in the order of `top_words`; fewer where fewer have a count."""
        check_whole("n", n, 0)
        check_order(order)
        if order == "probability":
            return top_words(self.counts, n)
        return telling_words(self.counts, n, self.n_samples, self.beta, self.scale)

    def top_words(self, n: int = 10, order: str = "telling") -> list[list[str]]:
        """n words of each topic, the most telling first, or with ``order="probability"`` the most probable first.

        Telling are those of the most probable words that other topics use less (`topoi.chain.telling`).
        """
        return [[self.word(w) for w in columns] for columns in self.top_columns(n, order)]

    def word(self, w: int) -> str:
        """Word number w, as text."""
        return str(w) if self.vocabulary is None else str(self.vocabulary[w])

    def topic_label(self, k: int) -> str:
        """The name of topic number k, or "topic 3" where it has none."""
        return (self.topic_names[k] if self.topic_names else "") or FOR_PEOPLE.format(k)

    def check(self) -> None:
        """Raise unless the parts fit together."""
        shape = (self.counts.shape[0], len(self.alpha))
        if self.n_samples < 1:
            raise ModelError("there must be a sample")
        for matrix in (self.counts, self.last_counts):
            whole = matrix.shape == shape and matrix.dtype.kind in "iu"
            least, greatest = limits(matrix.data) if whole else (-1, 0)
            if least < 0:
                raise ModelError(f"counts must be whole numbers of shape {shape}")
            if greatest >= 2**31:  # kernels count in as many bits
                raise ModelError("a word cannot be in a topic 2³¹ times or more")
        if self.vocabulary is not None and self.vocabulary.shape != shape[:1]:
            raise ModelError(f"there are {len(self.vocabulary)} names of {shape[0]} words")
        if self.topic_names is not None and (fault := fault_of_names(self.topic_names, self.n_topics)) is not None:
            raise ModelError(fault)
        if self.hidden != sorted(set(self.hidden)) or any(not 0 <= k < self.n_topics for k in self.hidden):
            raise ModelError(f"hidden must be numbers of topics, rising, from 0 to {self.n_topics - 1}")
        self.priors.topics.check_draws(self.draws)

    def check_topics(self) -> None:
        """Raise if there are many more topics than counts, which no fit leaves but one with more topics than tokens."""
        if self.n_topics > MOST_EMPTY + self.counts.nnz:
            raise ModelError(
                f"there are {self.n_topics:,} topics, but {self.counts.nnz:,} counts of words; of topics without a "
                f"word more than {MOST_EMPTY:,} are not believed from a file. If you trust whoever wrote it: "
                "load(path, trusted=True)"
            )

    def save(self, path: str | Path) -> None:
        """Write the model to one file, all of it or nothing: a model saved there before stays if writing fails."""
        store.save(path, self, CLASSES)

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> TopicModel:
        """Read a model that `save` wrote; a file that is anything else, or was changed by a byte, is a ModelError.

        A number of topics that would take all memory is refused unless the file is `trusted`: see `check_topics`.
        Counts of 256 MB or more stay in the file, and are read from there as they are needed.
        """
        model = store.load(path, believing(CLASSES) if trusted else CLASSES, mapped=True)
        if not isinstance(model, cls):
            raise ModelError(f"{path}: holds a {type(model).__name__}, not a {cls.__name__}")
        return model


class StoredModel(Stored):
    """How a `TopicModel` is written."""

    trusted = False

    def make(self, values: dict[str, Any]) -> Any:
        """A model from checked fields; α and β stand in files of version 0.1.0 in place of the priors."""
        if "alpha" in values:
            values["priors"] = fixed_priors(values.pop("alpha"), values.pop("beta"))
            values["priors"].check()
        made: TopicModel = super().make(values)
        if not self.trusted:
            made.check_topics()
        return made


def believing(classes: Classes) -> Classes:
    """What stands in a file whose number of topics is believed, whatever it is."""
    own = classes["TopicModel"]
    trusting = StoredModel(own.cls, own.fields, own.old, own.spare)
    trusting.trusted = True
    return known({"TopicModel": trusting}, classes)


def _stored_prior(kind: type[Prior]) -> Stored:
    return Stored(kind, kind.stored)


#: What stands in a file of a `TopicModel`.
CLASSES = known(
    {
        "Priors": Stored(Priors, {"topics": instance_of(TopicPrior), "words": instance_of(WordPrior)}),
        "TopicModel": StoredModel(
            TopicModel,
            {
                "counts": SPARSE,
                "last_counts": SPARSE,
                "n_samples": WHOLE,
                "priors": instance_of(Priors),
                "vocabulary": optional(array_of()),
                "topic_names": optional(list_of(TEXT)),
                "draws": mapping_of(array_of()),
                "hidden": list_of(WHOLE),
            },
            {"alpha": array_of("float64"), "beta": NUMBER},
            spare=("topic_names", "draws", "hidden"),
        ),
    },
    StoredMembers(TOPIC_PRIORS, _stored_prior),
    StoredMembers(WORD_PRIORS, _stored_prior),
)
