"""The loops behind a corpus: tokens in word order, and a hash of every document."""

from __future__ import annotations

from topoi._machine.arrays import Ints, Keys
from topoi._machine.jit import kernel
from topoi._machine.rng import GOLDEN, U64, mix


@kernel
def place_by_word(words: Ints, next_place: Ints, order: Ints) -> None:
    """Equivalent to ``order[:] = np.argsort(words, kind="stable")``; `next_place` is used up."""
    for i in range(len(words)):
        w = words[i]
        order[next_place[w]] = i
        next_place[w] += 1


@kernel
def hash_documents(words: Ints, doc_ptr: Ints, keys: Keys) -> None:
    """Equivalent to ``h = mix((h ^ w) + GOLDEN)`` over the words of each document; fills `keys`."""
    for d in range(len(keys)):
        h = GOLDEN
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            h = mix((h ^ U64(words[i])) + GOLDEN)
        keys[d] = h
