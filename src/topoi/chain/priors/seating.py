"""Tables of the topics of every document: the auxiliary variables that make a prior of α a Poisson regression.

The topics of document d have the probability Γ(A_d)/Γ(A_d + N_d) · Π_k Γ(α_dk + n_dk)/Γ(α_dk), with A_d = Σ_k α_dk. As
in a Chinese restaurant, the n_dk tokens of a topic sit at l_dk tables: the first opens one, token number j + 1 another
one with probability α_dk/(α_dk + j). And q_d ~ Beta(A_d, N_d). Given both, α has the likelihood

    Π_d Π_k α_dk^l_dk · exp(α_dk · log q_d),

that of counts l_dk ~ Poisson(α_dk · e_d) with the exposure e_d = −log q_d (Teh et al. 2006, JASA 101; Escobar & West
1995). One uniform number is drawn per token, from a stream of the block of the document.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import TABLES, log_beta, new_stream
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.priors.tables import draw_tables
from topoi.chain.state import State


class Seating(NamedTuple):
    """Of every row of α that documents have: the tables (rows, K) of their topics, whole numbers.

    And of every document its `exposure`, and its row.
    """

    tables: sparse.csr_array
    exposure: NDArray[np.float64]
    row_of: NDArray[np.int64]


@kernel
def seat_documents(
    doc_ptr: Ints, first: Int, last: Int, z: Ints, rows: Floats, row_of: Ints, stream: Stream, topic: Ints,
    tables: Ints, n_topics: Ints, exposure: Floats,
) -> None:  # fmt: skip
    """Draw tables and exposures of documents first … last − 1.

    `n_topics[d]` topics of document d and their tables stand in `topic` and `tables` from its first token on.
    """
    n_d = np.zeros(rows.shape[1], np.int64)
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        n_topics[d] = 0
        exposure[d] = 0.0
        if lo == hi:
            continue
        alpha = rows[row_of[d]]
        total = 0.0
        for k in range(alpha.shape[0]):
            total += alpha[k]
        log_q, _ = log_beta(stream, total, float(hi - lo))
        exposure[d] = -log_q
        for i in range(lo, hi):
            n_d[z[i]] += 1
        at = lo
        for i in range(lo, hi):
            k = z[i]
            if n_d[k] == 0:
                continue
            topic[at] = k
            tables[at] = draw_tables(stream, n_d[k], alpha[k])
            at += 1
            n_d[k] = 0
        n_topics[d] = at - lo


def draw_seating(state: State, alpha: DocumentAlpha, pool: Pool) -> Seating:
    """Tables and exposures of the documents of a state, which may be a part of the corpus."""
    corpus = state.corpus
    row_of = np.zeros(corpus.n_documents, np.int64) if alpha.row_of is None else alpha.row_of
    topic, tables = np.zeros(corpus.n_tokens, np.int64), np.zeros(corpus.n_tokens, np.int64)
    n_topics, exposure = np.zeros(corpus.n_documents, np.int64), np.zeros(corpus.n_documents)
    ptr = corpus.block_ptr

    def work(block: int) -> None:
        stream = new_stream(state.seed, TABLES, state.sweep, corpus.first_block + block)
        seat_documents(
            corpus.doc_ptr, ptr[block], ptr[block + 1], state.z, alpha.rows, row_of, stream, topic, tables, n_topics,
            exposure,
        )  # fmt: skip

    pool.map(work, range(len(ptr) - 1))
    filled = np.flatnonzero(tables)  # tokens at whose places nothing stands are left out
    cells = (np.repeat(row_of, n_topics), topic[filled])
    summed = sparse.coo_array((tables[filled], cells), shape=alpha.rows.shape).tocsr()
    summed.sort_indices()
    return Seating(summed, exposure, row_of)
