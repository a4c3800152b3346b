"""Phrases: words that stand side by side far more often than chance would have it, as "machine learning", are one word.

The score of a pair is its normalised pointwise mutual information (Bouma 2009),

    npmi(a, b) = log(p(a, b) / (p(a) p(b))) / −log p(a, b),

0 where words meet by chance and 1 where they come only together. A pair is a phrase if it scores `SCORE` and comes
`FEWEST` times. Stop words are in no phrase, and end it. What was joined may be joined once more: "new york times".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import running_total

SCORE = 0.5
FEWEST = 10
JOINT = "_"
PASSES = 2

Pairs = list[tuple[str, str]]
Numbers = NDArray[np.int32]


def find_phrases(
    numbers: Numbers, lengths: NDArray[np.int64], words: Sequence[str], fewest: int
) -> tuple[Pairs, list[str], Numbers, NDArray[np.int64]]:
    """The pairs of words that are phrases, their names, and the documents in which they are one word.

    `numbers` are those of the words of all documents, in order; below `fewest` they are stop words. Phrases get the
    numbers after those of the words.
    """
    names, pairs = list(words), []
    for _ in range(PASSES):
        doc_ptr = running_total(lengths)
        keys = _neighbours(numbers, doc_ptr, len(names), fewest)
        odd = np.array([" " in name for name in names], bool)  # a pair is told by the blank between its words
        keys[(keys >= 0) & (odd[keys // len(names)] | odd[keys % len(names)])] = -1
        if len(names) > len(words):  # again, for what was joined
            keys[np.maximum(keys // len(names), keys % len(names)) < len(words)] = -1
        chosen = _phrases(keys, numbers, len(names))
        if not len(chosen):
            break
        place = np.minimum(np.searchsorted(chosen, keys), len(chosen) - 1)
        first = _every_other(np.flatnonzero(chosen[place] == keys))
        kept = np.ones(len(numbers), bool)
        kept[first + 1] = False
        numbers = numbers.copy()
        numbers[first] = len(names) + place[first]
        numbers, lengths = numbers[kept], np.diff(running_total(kept.astype(np.int64))[doc_ptr])
        new = [(names[key // len(names)], names[key % len(names)]) for key in chosen.tolist()]
        pairs += new
        names += [JOINT.join(pair) for pair in new]
    return pairs, names[len(words) :], numbers, lengths


def _neighbours(numbers: Numbers, doc_ptr: NDArray[np.int64], n: int, fewest: int) -> NDArray[np.int64]:
    """A number for the pair of words that begins at each token, −1 where there is none."""
    keys = np.full(len(numbers), -1, np.int64)
    if len(numbers) > 1:
        left, right = numbers[:-1].astype(np.int64), numbers[1:].astype(np.int64)
        keys[:-1] = np.where((left >= fewest) & (right >= fewest) & (left != right), left * n + right, -1)
    ends = doc_ptr[1:][np.diff(doc_ptr) > 0]
    keys[ends - 1] = -1  # the next word is of another document
    return keys


def _phrases(keys: NDArray[np.int64], numbers: Numbers, n: int) -> NDArray[np.int64]:
    """The pairs that are phrases, ascending."""
    found, n_pair = np.unique(keys[keys >= 0], return_counts=True)
    found, n_pair = found[n_pair >= FEWEST], n_pair[n_pair >= FEWEST]
    n_word = np.bincount(numbers, minlength=n).astype(np.float64)
    total = float(max(len(numbers), 1))
    p_pair = n_pair / total
    p_left, p_right = n_word[found // n] / total, n_word[found % n] / total
    score = np.log(p_pair / (p_left * p_right)) / -np.log(p_pair) if total > 1 else np.ones(len(found))
    return np.asarray(found[score >= SCORE])


def _every_other(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of places that follow each other the first, third, …: a word is in one phrase, the first that it can be in."""
    if not len(places):
        return places
    begins = np.flatnonzero(np.append(True, np.diff(places) > 1))
    within = np.arange(len(places)) - np.repeat(begins, np.diff(np.append(begins, len(places))))
    return np.asarray(places[within % 2 == 0])


def join_phrases(document: list[str], pairs: dict[tuple[str, str], str]) -> list[str]:
    """A document, in the order of its text, with known phrases as one word: as `find_phrases` joins them."""
    for _ in range(PASSES):
        out: list[str] = []
        at, last = 0, len(document) - 1
        while at <= last:
            name = pairs.get((document[at], document[at + 1])) if at < last else None
            out.append(document[at] if name is None else name)
            at += 1 if name is None else 2
        if len(out) == len(document):
            return document
        document = out
    return document
