"""Do the intervals of `topics_by` hold the true shares as often as they say? Simulated documents with known shares.

    python verify/topics_by.py [--times 10]

Documents of a group g have shares θ_d ~ Dirichlet(A·m_g), where m_g differs from group to group, and so many words of
their topics. A share is covered if the interval has m_gk in it. The topics are the true ones, since intervals take
topics for given. "learned" says what becomes of it if they are learned from 3,000 documents: then shares are those of
topics that are a little different, which no interval can know. "usual" is mean ± 1.64 standard errors of what
`transform` gives, the prior's part in it and all.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi import LDA, topics_by

Array = NDArray[np.float64]
LEVEL = 0.9


class Case(NamedTuple):
    """How documents are made: topics, words of a topic, tokens of a document, documents of a group, A."""

    topics: int
    words: int
    length: int
    documents: int
    concentration: float


CASES = {
    "20 documents of 80 tokens in a group": Case(8, 40, 80, 20, 1.0),
    "5 documents in a group": Case(8, 40, 80, 5, 1.0),
    "1,000 documents in a group": Case(8, 40, 80, 1000, 1.0),
    "100 short documents (12 tokens)": Case(8, 40, 12, 100, 1.0),
    "30 topics, most of them rare": Case(30, 20, 80, 40, 1.0),
    "documents of many topics (A = 8)": Case(8, 40, 80, 100, 8.0),
}
GROUPS = 12


def phi_of(case: Case, rng: np.random.Generator) -> Array:
    """Topics whose words overlap by a fifth."""
    n_words = case.topics * case.words
    phi = np.full((case.topics, n_words), 0.2 / n_words)
    for k in range(case.topics):
        phi[k, k * case.words : (k + 1) * case.words] += 0.8 * rng.dirichlet(np.ones(case.words))
    return phi


def draw(case: Case, phi: Array, means: Array, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Counts of words of documents, and the group of each."""
    groups = np.repeat(np.arange(len(means)), case.documents)
    counts = [rng.multinomial(case.length, rng.dirichlet(case.concentration * means[g]) @ phi) for g in groups]
    return np.array(counts), groups


def matched(model: LDA, phi: Array) -> NDArray[np.int64]:
    """The topic of the model that is each true one."""
    from scipy.optimize import linear_sum_assignment

    _, found = linear_sum_assignment(-(phi @ model.components_.T))
    return np.asarray(found)


def plain(model: LDA, counts: NDArray[Any], groups: NDArray[np.int64]) -> tuple[Array, Array]:
    """The usual interval."""
    theta = model.transform(counts)
    parts = [theta[groups == g] for g in np.unique(groups)]
    mean = np.array([part.mean(0) for part in parts])
    error = np.array([part.std(0, ddof=1) / np.sqrt(len(part)) for part in parts])
    return mean - 1.645 * error, mean + 1.645 * error


def with_topics(phi: Array) -> LDA:
    """A model with these topics."""
    n_topics, n_words = phi.shape
    model = LDA(n_topics, n_sweeps=1, n_samples=1, random_state=0).fit(np.ones((n_topics, n_words), int))
    counts = sparse.csr_array(np.rint(phi.T * 1e7).astype(model.model_.counts.dtype))
    model.model_ = replace(model.model_, counts=counts, last_counts=counts)
    return model


def measure(case: Case, times: int, seed: int = 0) -> Iterator[tuple[str, float, float]]:
    """Coverage and mean width of the intervals, by name."""
    rng = np.random.default_rng(seed)
    phi = phi_of(case, rng)
    base = rng.dirichlet(np.full(case.topics, 2.0))
    means = rng.dirichlet(3 * case.topics * base, GROUPS)
    train, _ = draw(case._replace(documents=3000 // GROUPS), phi, means, rng)
    learned = LDA(case.topics, n_sweeps=150, n_samples=10, random_state=seed).fit(train)
    known, order = with_topics(phi), matched(learned, phi)
    shares: list[Array] = []
    found: dict[str, list[tuple[Array, Array]]] = {"topics_by": [], "usual": [], "topics_by, learned": []}
    for _ in range(times):
        counts, groups = draw(case, phi, means, rng)
        table = topics_by(known, groups, counts, level=LEVEL)
        found["topics_by"].append((table.low, table.high))
        shares.append(table.share)
        found["usual"].append(plain(known, counts, groups))
        table = topics_by(learned, groups, counts, level=LEVEL)
        found["topics_by, learned"].append((table.low[:, order], table.high[:, order]))
    apart = means - means.mean(0)
    seen = np.mean(shares, axis=0)
    print(f"groups differ by {(apart * seen).sum() / (apart**2).sum():.3f} of what they should")
    for name, bounds in found.items():
        inside = [(low <= means) & (means <= high) for low, high in bounds]
        yield name, float(np.mean(inside)), float(np.mean([high - low for low, high in bounds]))


def main() -> None:
    """Print a line for each case and kind of interval."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--case", default=None)
    args = parser.parse_args()
    print(f"intervals of {LEVEL:.0%}, {GROUPS} groups, {args.times} times")
    for title, case in CASES.items():
        if args.case is None or args.case in title:
            for name, coverage, width in measure(case, args.times):
                print(f"{title:40} {name:20} coverage {coverage:.3f}  width {width:.4f}", flush=True)


if __name__ == "__main__":
    main()
