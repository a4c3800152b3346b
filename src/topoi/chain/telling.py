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
from topoi.chain.counts.by_rows import log_sums, top_counts
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
    tops = top_counts(counts, max(n, POOL))
    n_topics = counts.shape[1]
    if n_topics < 2:  # there is no other topic
        return [words[:n].tolist() for words, _ in tops]
    offset = np.broadcast_to(np.asarray(beta, np.float64) * n_samples, counts.shape[:1])  # β of the sums of counts
    mean = log_sums(counts, offset) / n_topics  # of log φ − log β − log scale
    log_scale = np.log(scale)
    out: list[list[int]] = []
    for k, (words, times) in enumerate(tops):
        pool, rest = words[:POOL], words[POOL:]
        above = np.log1p(times[:POOL] / offset[pool])
        phi = (times[:POOL] + offset[pool]) / n_samples * scale[k]
        score = phi * (above - mean[pool] + log_scale[k] - log_scale.mean())
        best = pool[np.argsort(-score, kind="stable")]
        out.append([*best.tolist(), *rest.tolist()][:n])
    return out
