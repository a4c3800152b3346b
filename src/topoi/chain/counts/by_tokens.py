"""Counting tokens by words and topics in the order in which they lie in memory, into tables of bytes.

Counting word by word (`dense.py`) jumps about in the topics of all tokens, which do not fit into the processor's cache
where a corpus is large: 40 million tokens then take two to three times as long as in their own order. The price is a
table of all pairs of word and topic for every thread. It has a byte for each pair; a byte that is full begins anew, and
its place is noted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Int, Ints
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi.chain.state import State

MOST = 255
#: Bytes of all tables, at most, for each token: so many does `Corpus.by_word` take, which is then not needed.
BYTES_PER_TOKEN = 4


@kernel
def count_bytes(words: Ints, z: Ints, n_topics: Int, table: Ints, full: Ints) -> Int:
    """Count tokens into `table` (V·K bytes); a pair that has MOST begins anew, and is noted in `full`: so many are."""
    m = 0
    for i in range(words.shape[0]):
        place = np.int64(words[i]) * n_topics + np.int64(z[i])
        if table[place] == MOST:
            full[m] = place
            m += 1
            table[place] = 0
        table[place] += np.uint8(1)
    return m


@kernel
def add_bytes(tables: Ints, full: Ints, first: Int, last: Int, base: Floats, table: Floats, n_k: Floats) -> None:
    """Fill rows first … last − 1 of `table` with the counts of `tables` (parts, V·K), base included; add to `n_k`.

    `full` are those places of these rows that have MOST more, once for each time.
    """
    n_topics = tables.shape[1] // table.shape[0]
    for w in range(first, last):
        for k in range(table.shape[1]):
            table[w, k] = 0
        if base.shape[0] > 0:
            for k in range(base.shape[1]):
                table[w, k] = base[w, k]
        for part in range(tables.shape[0]):
            row = tables[part, w * n_topics : (w + 1) * n_topics]
            for k in range(n_topics):
                table[w, k] += row[k]
    for j in range(full.shape[0]):
        table[full[j] // n_topics, full[j] % n_topics] += MOST
    for w in range(first, last):
        for k in range(table.shape[1]):
            n_k[k] += table[w, k]


class ByteTables(NamedTuple):
    """Counts of the parts of a corpus (parts, V·K), and in order the places that have MOST more, once for each time."""

    tables: NDArray[np.uint8]
    full: NDArray[np.int64]

    def fill(self, first: int, last: int, base: Floats, table: Floats, n_k: NDArray[np.float64]) -> None:
        """Fill rows first … last − 1 of `table` (V, K padded) with the counts, and add them to `n_k`."""
        n_topics = self.tables.shape[1] // len(table)
        beyond = self.beyond(first * n_topics, last * n_topics)
        add_bytes(self.tables, beyond, first, last, base, table, n_k)

    def beyond(self, first: int, last: int) -> NDArray[np.int64]:
        """The places first … last − 1 that have MOST more."""
        return self.full[slice(*np.searchsorted(self.full, (first, last)))]

    def counts(self, state: State, first: int, last: int) -> NDArray[np.int64]:
        """The counts of words first … last − 1 of the state (words, K), base included."""
        begin, end = first * state.n_topics, last * state.n_topics
        found: NDArray[np.int64] = self.tables[:, begin:end].sum(0, dtype=np.int64)
        np.add.at(found, self.beyond(begin, end) - begin, MOST)
        found = found.reshape(last - first, state.n_topics)
        if len(state.base_table):
            found += state.base_table[first:last].astype(np.int64)
        return found


def tables_fit(state: State, pool: Pool) -> bool:
    """Whether a table for each thread takes no more memory than the order of the tokens by words."""
    n_pairs = state.corpus.n_words * state.n_topics
    return 0 < n_pairs * pool.n_jobs <= BYTES_PER_TOKEN * state.corpus.n_tokens


def count_by_tokens(state: State, pool: Pool) -> ByteTables:
    """The counts of all tokens, by as many parts of the corpus as there are threads.

    Counts are whole numbers, so they are the same however many parts there are.
    """
    corpus, n_topics = state.corpus, state.n_topics
    tables = np.zeros((pool.n_jobs, corpus.n_words * n_topics), np.uint8)
    cuts = np.linspace(0, corpus.n_tokens, pool.n_jobs + 1).astype(np.int64)

    def work(part: int) -> NDArray[np.int64]:
        own = slice(cuts[part], cuts[part + 1])
        full = np.empty((own.stop - own.start) // MOST, np.int64)
        return full[: count_bytes(corpus.words[own], state.z[own], n_topics, tables[part], full)]

    full = np.concatenate(pool.map(work, range(pool.n_jobs)))
    full.sort()
    return ByteTables(tables, full)
