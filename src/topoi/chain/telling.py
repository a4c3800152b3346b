"""The words that a topic is shown by: of its most probable ones those first that other topics use less.

The most probable words of a topic are partly those of every topic (*good*, *time*, *people*). Blei & Lafferty (2009),
"Topic models", show words by

    φ_kw · (log φ_kw − mean over j of log φ_jw)

which is large where a word is frequent in topic k and rarer in the other topics. Here only the `POOL` most probable
words of a topic are put in this order; all others follow them by probability. So what is shown is always frequent in
the topic, also in a small corpus, and the first five words of a topic are the beginning of its first ten.

φ_kw is (n_kw + β_w) · scale_k, and most n_kw are 0. So the mean is that of log β_w + log scale_k, and a sum over the
entries of the word's row, of log(1 + n_jw / β_w), divided by K.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.arrays import PerWord
from topoi.chain.counts.by_rows import row_blocks, top_words
from topoi.errors import ParameterError

POOL = 20
#: In which order the words of a topic may be asked for.
ORDERS = ("telling", "probability")


def check_order(order: object) -> None:
    """Raise unless it is one of the orders."""
    if order not in ORDERS:
        raise ParameterError("order", f"must be one of {', '.join(map(repr, ORDERS))}, not {order!r}")


def telling_words(
    counts: sparse.csr_array, n: int, n_samples: int, beta: PerWord, scale: NDArray[np.float64]
) -> list[list[int]]:
    """Of each topic n words, the most telling first; fewer where fewer have a count.

    `counts` (V, K) are summed over `n_samples`; φ is (counts / n_samples + β) · scale.
    """
    tops = top_words(counts, max(n, POOL))
    if counts.shape[1] < 2:  # there is no other topic
        return [columns[:n] for columns in tops]
    beta_w = np.broadcast_to(np.asarray(beta, np.float64), counts.shape[:1])
    used = np.unique([w for columns in tops for w in columns[:POOL]]).astype(np.int64)
    rows, b = _rows(counts, used).astype(np.float64), beta_w[used]
    rows.data = np.log1p(rows.data / n_samples / np.repeat(b, np.diff(rows.indptr)))  # log φ − log β − log scale
    mean = np.asarray(rows.sum(1), np.float64) / counts.shape[1]
    log_scale, own = np.log(scale), rows.tocsc()
    out: list[list[int]] = []
    for k, columns in enumerate(tops):
        pool = np.array(columns[:POOL], np.int64)
        if len(pool) == 0:
            out.append([])
            continue
        part = slice(own.indptr[k], own.indptr[k + 1])
        at = np.searchsorted(used, pool)
        above = own.data[part][np.searchsorted(own.indices[part], at)]  # a word of the pool has a count
        phi = np.exp(above) * b[at] * scale[k]
        score = phi * (above - mean[at] + log_scale[k] - log_scale.mean())
        best = pool[np.argsort(-score, kind="stable")]
        out.append([*best.tolist(), *columns[POOL:]][:n])
    return out


def _rows(counts: sparse.csr_array, words: NDArray[np.int64]) -> sparse.csr_array:
    """The rows of some words; of counts in a file they are read block by block."""
    parts = []
    for first, block in row_blocks(counts):
        here = words[(words >= first) & (words < first + block.shape[0])] - first
        parts.append(block[here])
    return sparse.csr_array(sparse.vstack(parts, format="csr"))
