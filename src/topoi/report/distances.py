"""How far topics are from each other, and where that puts them on a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.chain.counts.by_rows import row_blocks, topic_totals

MOST_PAIRS = 200_000_000  # of topics that share a word, over all words: some ten seconds
CHUNK = 2_000_000  # pairs at a time
#: The shares of its topic below which a word may be taken as one of that topic alone: the least that is enough.
LEAST = np.concatenate(([0.0], np.cumprod([1e-6, *[1.5] * 36])))
WORDS = 2**14  # whose shares are compared with all limits together
MOST_ORDERED = 200  # topics whose tree is turned so that neighbours are alike, which takes their cube


def js_divergence(
    counts: sparse.csr_array | Sequence[sparse.csr_array], topics: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Jensen–Shannon divergences (K, K), in nats, of the words of topics with `counts` (V, K), or of some of them.

    Topics of several matrices with the same words stand side by side.

    A word that only one of two topics has adds the same to their divergence whatever else there is. So

        JS(p, q) = ln 2 + ½ Σ_w [p ln p + q ln q − (p + q) ln(p + q)]

    over the words that both have, and a word costs the square of the number of its topics, not K². In a very large
    model the rarest words of topics are taken as words of that topic alone, which errs by their share of it at most.
    A topic without tokens is as far as can be from all others with tokens.
    """
    matrices = [counts] if isinstance(counts, sparse.csr_array) else list(counts)
    n_k = np.concatenate([topic_totals(matrix) for matrix in matrices])
    topics = np.arange(len(n_k)) if topics is None else topics
    n_k, n_topics = n_k[topics], len(topics)
    shares = _largest_shares(matrices, topics, n_k)
    out = np.full(n_topics * n_topics, np.log(2.0))
    # Words with as many topics as each other are one array.
    n_of_word = np.diff(shares.indptr)
    for n in np.unique(n_of_word[n_of_word > 0]).tolist():
        words = np.flatnonzero(n_of_word == n)
        step = max(CHUNK // (n * n), 1)
        for first in range(0, len(words), step):
            where = shares.indptr[words[first : first + step]][:, None] + np.arange(n)
            p, topic = shares.data[where], shares.indices[where].astype(np.int64)
            both = p[:, :, None] + p[:, None, :]
            own = p * np.log(p)
            terms = own[:, :, None] + own[:, None, :] - both * np.log(both)
            pair = topic[:, :, None] * n_topics + topic[:, None, :]
            out += 0.5 * np.bincount(pair.ravel(), terms.ravel(), minlength=len(out))
    divergence: NDArray[np.float64] = out.reshape(n_topics, n_topics)
    empty = n_k == 0
    divergence[np.ix_(empty, empty)] = 0.0
    divergence = np.maximum((divergence + divergence.T) / 2.0, 0.0)
    np.fill_diagonal(divergence, 0.0)
    return divergence


def _largest_shares(
    matrices: list[sparse.csr_array], topics: NDArray[np.int64], n_k: NDArray[np.float64]
) -> sparse.csr_array:
    """Shares of words in topics, without the smallest, as many as must go for `MOST_PAIRS`."""
    n_of_word = sum(np.diff(matrix.indptr).astype(np.float64) for matrix in matrices)
    least = 0.0
    if float((n_of_word**2).sum()) > MOST_PAIRS:
        n_pairs = sum(map(_pairs_that_stay, _shares(matrices, topics, n_k)))
        least = LEAST[np.argmax(n_pairs <= MOST_PAIRS)]
    blocks = []
    for shares in _shares(matrices, topics, n_k):
        shares.data[shares.data < least] = 0.0
        shares.eliminate_zeros()
        blocks.append(shares)
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _pairs_that_stay(shares: sparse.csr_array) -> NDArray[np.float64]:
    """Pairs of topics that share a word, over all words, with each of the limits."""
    found = np.zeros(len(LEAST))
    for first in range(0, shares.shape[0], WORDS):
        part = shares[first : first + WORDS]
        # The highest limit with which a share stays; it does with all below.
        highest = np.searchsorted(LEAST, part.data, side="right") - 1
        word = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        times = np.bincount(word * len(LEAST) + highest, minlength=part.shape[0] * len(LEAST))
        stay = times.reshape(-1, len(LEAST))[:, ::-1].cumsum(1)
        found += (stay[:, ::-1].astype(np.float64) ** 2).sum(0)
    return found


def _shares(
    matrices: list[sparse.csr_array], topics: NDArray[np.int64], n_k: NDArray[np.float64]
) -> Iterator[sparse.csr_array]:
    """The same, all of them, by blocks of words."""
    for first, block in row_blocks(matrices[0]):
        others = [matrix[first : first + block.shape[0]] for matrix in matrices[1:]]
        side_by_side = sparse.hstack([block, *others], format="csc")[:, topics]
        shares = sparse.csr_array(side_by_side).astype(np.float64)
        shares.eliminate_zeros()
        shares.data /= n_k[shares.indices]
        yield shares


def classical_mds(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places (K, 2) whose distances are as near as can be to `distance` (K, K): principal coordinates.

    Fewer dimensions than two leave zeros. Of the two directions of an axis the one is taken in which the farthest place
    is positive, so that the same topics give the same map.
    """
    n = len(distance)
    places = np.zeros((n, 2))
    squares = distance**2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    for axis, which in enumerate(np.argsort(-values, kind="stable")[:2].tolist()):
        if values[which] > 1e-12:
            along = vectors[:, which] * np.sqrt(values[which])
            farthest = int(np.argmax(np.round(np.abs(along), 9)))  # rounded: two may be as far as each other
            places[:, axis] = along * np.sign(along[farthest])
    return places


#: Places farther from the middle than so many times the median are pulled in.
FAR = 2.0


def pulled_in(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """The places, with those that lie far out nearer: a few topics that are like no other leave room for the rest.

    A place at r times the limit from the middle, r above 1, is drawn at 1 + ln r times the limit, in its direction: it
    stays beyond the others, and those that are not far out stay where they are.
    """
    centre = np.median(places, axis=0)
    away = places - centre
    distance = np.hypot(*away.T)
    limit = FAR * float(np.median(distance))
    if limit == 0:
        return places
    r = np.maximum(distance / limit, 1.0)
    out: NDArray[np.float64] = centre + away * ((1.0 + np.log(r)) / r)[:, None]
    return out


def by_similarity(divergence: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order of the topics in which those that are alike stand together: leaves of a tree, by average linkage."""
    n = len(divergence)
    if n < 3:
        return np.arange(n)
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    pairs = squareform(divergence, checks=False)
    tree = linkage(pairs, "average")
    if n <= MOST_ORDERED:
        tree = optimal_leaf_ordering(tree, pairs)
    return np.asarray(leaves_list(tree), np.int64)
