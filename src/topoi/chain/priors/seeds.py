"""Guided topics: words that a user expects in named topics, as pseudo-counts of the prior of words.

A seed word w of topic k counts as if the share `strength` of its n_w tokens, beside these tokens themselves, had the
topic already and never moved:

    δ_wk = max(1, round(strength · n_w))

So seeds weigh as much in a large corpus as in a small one, and no number of sweeps washes them out; the words that go
with them are learned. Much more than 1 leaves a topic that is nothing but its seeds: they have a larger share of it
than of any document, and a free topic beside it explains the documents better.

Where a chain begins is no part of the model, but it has many modes, and the start decides which of them it finds.
Tokens of seed words begin in the topics of their seeds, all others in topics without: a named topic grows from its
seeds, while the others find what else there is. If it began with its share of all tokens it would take every document
that is a little like its own. But a topic of seeds alone gives any other word only β / (n_k + Vβ). Where that is too
little for it to grow, other words begin in it as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Ints
from topoi.chain.names import fault_of_names
from topoi.corpus import Corpus
from topoi.errors import ParameterError, warn_user

#: Where seeds of less strength do nothing, and where a topic is nothing but its seeds.
WEAKEST, STRONGEST = 0.001, 100.0
#: Counts of a word in a topic, in kernels and in files.
MOST_COUNTED = 2**31 - 1
#: How many times less likely than on average a word may be in a topic that is to grow from its seeds.
GROWS = 60.0
#: Words that a warning lists, or an error.
MOST_LISTED = 10


class UnknownSeedWarning(UserWarning):
    """Seed words that the vocabulary does not have: they are left out."""


@dataclass(frozen=True, eq=False)
class SeedWords:
    """Column and topic of every seed word, by columns, and the topics that grow: what a chain needs that begins."""

    columns: NDArray[np.int64]
    topics: NDArray[np.int64]
    growing: NDArray[np.int64]

    def free(self, alpha: Floats) -> Floats:
        """α (rows, K) without the topics that grow from seeds, in rows that have others: there other words begin."""
        others = np.delete(alpha, self.growing, 1).any(1)
        free = alpha.copy()
        free[np.ix_(others, self.growing)] = 0
        return free

    def move(self, z: NDArray[Any], words: NDArray[Any], allowed: NDArray[np.bool_], row_of: Ints) -> None:
        """Let tokens of `words`, whose topics `z` have been drawn, begin in topics of their seeds.

        Topics that a token may have are those of its row of `allowed` (rows, K). Of a word that is a seed of several
        topics the draw chooses among them.
        """
        first = np.searchsorted(self.columns, words, "left")
        n = np.searchsorted(self.columns, words, "right") - first
        (seeds,) = np.nonzero(n)
        topics = self.topics[first[seeds] + z[seeds].astype(np.int64) % n[seeds]]
        kept = allowed[row_of[seeds], topics]
        z[seeds[kept]] = topics[kept]


@dataclass(frozen=True, eq=False)
class Seeds:
    """The seeds of a fit: names of the first topics, columns of the words of each, and the strength."""

    names: list[str]
    columns: list[NDArray[np.int64]]
    strength: float

    def words(self, corpus: Corpus, beta_sum: float) -> SeedWords:
        """All seed words, by columns; and the topics that grow from the tokens that they have in the documents."""
        tokens = np.array([corpus.word_counts[own].sum() for own in self.columns])
        growing = np.flatnonzero((1 + self.strength) * tokens <= GROWS * beta_sum)
        return SeedWords(*self._pairs(), growing)

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        columns = np.concatenate(self.columns)
        topics = np.repeat(np.arange(len(self.names)), [len(own) for own in self.columns])
        order = np.lexsort((topics, columns))
        return columns[order], topics[order]

    def pseudo_counts(self, corpus: Corpus, n_topics: int) -> sparse.csr_array:
        """δ (V, K) of the documents of a fit."""
        if len(self.names) > n_topics:
            many, more = f"{len(self.names)} topics, but n_topics is {n_topics}", repr(self.names[n_topics])
            raise ParameterError("seeds", f"names {many}; {more} would be one too many. Name fewer, or ask for more")
        columns, topics = self._pairs()
        counts = np.maximum(np.rint(self.strength * corpus.word_counts[columns]), 1).astype(np.int64)
        if counts.max(initial=0) > MOST_COUNTED - corpus.word_counts.max(initial=0):
            raise ParameterError("seed_strength", f"is {self.strength:g}, too much for a word of so many tokens")
        return sparse.csr_array((counts, (columns, topics)), shape=(corpus.n_words, n_topics))


def check_seeds(seeds: Any, strength: Any) -> dict[str, list[Any]]:
    """What a user gives as seeds, as lists of words by topic; an error that names the topic and the word if it is bad.

    Words are texts, which the vocabulary may or may not have, or numbers of columns.
    """
    if isinstance(strength, bool) or not isinstance(strength, Real) or not WEAKEST <= float(strength) <= STRONGEST:
        raise ParameterError("seed_strength", f"must be a number from {WEAKEST:g} to {STRONGEST:g}, not {strength!r}")
    if seeds is None:
        return {}
    if not isinstance(seeds, Mapping):
        raise ParameterError("seeds", f"must be a dict of names of topics and lists of words, not {seeds!r:.60}")
    for name in seeds:
        if not isinstance(name, str) or not name:
            raise ParameterError("seeds", f"has a topic {name!r}; names of topics must be texts, and not empty")
    if (fault := fault_of_names(list(seeds), len(seeds))) is not None:
        raise ParameterError("seeds", fault)
    return {name: _check_words(name, words) for name, words in seeds.items()}


def _check_words(name: str, words: Any) -> list[Any]:
    if isinstance(words, np.ndarray):
        words = words.tolist()
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise ParameterError("seeds", f"the topic {name!r} has {words!r:.60}; it must have a list of words")
    if not words:
        raise ParameterError("seeds", f"the topic {name!r} has no words")
    for word in words:
        if isinstance(word, bool) or not isinstance(word, str | Integral):
            what = f"{word!r}, a {type(word).__name__}"
            raise ParameterError("seeds", f"the topic {name!r} has {what}; words must be texts, or numbers of columns")
        if isinstance(word, str) and not word.strip("* \t\n"):
            raise ParameterError("seeds", f"the topic {name!r} has {word!r}, which is no word")
    return list(words)


def find_seeds(seeds: Any, strength: Any, corpus: Corpus) -> Seeds | None:
    """The seeds that a user means, found in the vocabulary; words that it does not have are told in one warning."""
    given = check_seeds(seeds, strength)
    if not given:
        return None
    columns, unknown = [], {}
    numbers = None if corpus.vocabulary is None else {str(word): w for w, word in enumerate(corpus.vocabulary)}
    for name, words in given.items():
        found, missing = _columns(name, words, numbers, corpus.n_words)
        if not found:
            raise ParameterError(
                "seeds",
                f"the topic {name!r} has no word that the vocabulary has: {_listed(missing, numbers)}. Give it a "
                "word of the documents, or leave the topic out; rare and very frequent words are left out in reading",
            )
        columns.append(np.array(sorted(found), np.int64))
        if missing:
            unknown[name] = missing
    if unknown:
        told = "; ".join(f"of {name!r}: {_listed(words, numbers)}" for name, words in unknown.items())
        warn_user(f"seeds: words that the vocabulary does not have are left out: {told}", UnknownSeedWarning)
    return Seeds(list(given), columns, float(strength))


def _columns(name: str, words: list[Any], numbers: dict[str, int] | None, n_words: int) -> tuple[set[int], list[str]]:
    """The columns of the words of a topic, and the words that have none."""
    found: set[int] = set()
    missing: list[str] = []
    for word in words:
        if not isinstance(word, str):
            if numbers is not None:
                raise ParameterError("seeds", f"the topic {name!r} has {word!r}; the columns have names: give the word")
            if not 0 <= word < n_words:
                raise ParameterError("seeds", f"the topic {name!r} has column {word}, but they are 0 to {n_words - 1}")
            found.add(int(word))
        elif numbers is None:
            raise ParameterError(
                "seeds",
                f"the topic {name!r} has {word!r}, but the columns of X have no names; give a Corpus with a "
                "vocabulary, a data frame, or numbers of columns",
            )
        elif word in numbers:  # also one that has a star
            found.add(numbers[word])
        else:
            matching = _matching(word, numbers) if "*" in word else []
            found.update(matching)
            missing += [] if matching else [word]
    return found, missing


def _matching(pattern: str, numbers: dict[str, int]) -> list[int]:
    """Columns of the words that a pattern means, where a star stands for any letters, or none."""
    like = re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL)
    return [w for word, w in numbers.items() if like.fullmatch(word)]


def _listed(words: list[str], numbers: dict[str, int] | None) -> str:
    """Words for a message, with what may have been meant."""
    known = numbers or {}
    shown = [f"{word!r} ({word.lower()!r} is there)" if word.lower() in known else repr(word) for word in words]
    more = len(shown) - MOST_LISTED
    return ", ".join(shown[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
