"""FastLDA, Figure 10: how tight the bound on the normaliser is after so many topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduce.chains import begun
from reproduce.corpora import corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import BETA, STAND_IN
from reproduce.table import Row, Table
from reproduce.verdicts import together
from topoi.chain.state import State, topic_counts
from topoi.corpus import Corpus

TOPICS = (400, 4000)
NORMS = ("(2, 2, ∞)", "(3, 3, 3)")
AT = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 400, 700, 1000, 2000, 4000)
#: Documents (None are all), sweeps of burn-in, and tokens at random.
SIZES: dict[Scale, tuple[int | None, int, int]] = {
    "quick": (200, 40, 2000),
    "fits": (400, 80, 4000),
    "full": (None, 500, 20_000),
}


def measure(scale: Scale, seed: int) -> list[Row]:
    size, n_sweeps, n_tokens = SIZES[scale]
    documents = corpus("nips", size)
    rows: list[Row] = []
    for k in TOPICS:
        rows += piece((k,), ratios, documents, k, n_tokens, seed, n_sweeps)
    return rows


def ratios(documents: Corpus, k: int, n_tokens: int, seed: int, n_sweeps: int) -> list[Row]:
    """Both bounds after so many topics, over the normaliser."""
    state = begun(documents, k, 2 / k, BETA, seed, n_sweeps)
    tokens = np.sort(np.random.default_rng(seed).permutation(documents.n_tokens)[:n_tokens])
    return [
        {"K": k, "norms": norms, "visited": n, "ratio": float(ratio[n - 1])}
        for norms, ratio in zip(NORMS, mean_ratios(state, tokens), strict=True)
        for n in AT
        if n <= k
    ]


def mean_ratios(state: State, tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean over tokens of Z_n / Z after n = 1 … K topics, for both choices of norms (2, K)."""
    corpus, k = state.corpus, state.n_topics
    n_wk, n_k = topic_counts(state)
    total = np.zeros((2, k))
    for i in tokens:
        d = np.searchsorted(corpus.doc_ptr, i, "right") - 1
        own = np.bincount(state.z[i : i + 1], minlength=k)
        n_d = np.bincount(state.z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=k) - own
        order = np.argsort(-n_d, kind="stable")
        a = (n_d + state.alpha)[order]
        b = (n_wk[corpus.words[i]] - own + state.beta)[order]
        c = (1 / (n_k - own + state.beta_sum))[order]
        seen = np.cumsum(a * b * c)
        total[0] += (seen + np.sqrt(rest(a**2) * rest(b**2)) * c.max()) / seen[-1]
        total[1] += (seen + np.cbrt(rest(a**3) * rest(b**3) * rest(c**3))) / seen[-1]
    return total / len(tokens)


def rest(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of the terms after each, added up from the end so that nothing is lost to rounding."""
    after: NDArray[np.float64] = np.append(np.cumsum(terms[:0:-1])[::-1], 0.0)
    return after


def judge(table: Table) -> Verdict:
    early, late, fewer = [], [], []
    parts = []
    for k in TOPICS:
        n, two, _ = table.curve("visited", "ratio", K=k, norms=NORMS[0])
        _, three, _ = table.curve("visited", "ratio", K=k, norms=NORMS[1])
        loose = np.maximum(two, three) > 1.1
        early.append(bool((two < three)[loose].all()))
        late.append(float(np.max((two / three)[~loose])))
        half = [needed(n, one) for one in (two, three)]
        fewer.append(half[1] >= 2 * half[0])
        at = list(n).index(10)
        parts.append(
            f"At K = {k} the bound after 10 topics is {two[at]:.1f} times the normaliser for {NORMS[0]} and "
            f"{three[at]:.1f} times for {NORMS[1]}; it comes down to 1.5 after {half[0]:.0f} and {half[1]:.0f} topics."
        )
    text = " ".join(parts)
    if max(late) > 1:
        text += f" Once both are within 10 %, {NORMS[1]} may be the tighter, by up to {max(late) - 1:.1%}."
    if not all(fewer):
        text += " Far fewer, as the paper has it, would be half as many; that is not so at every K here."
    return Verdict(together(all(early), *fewer), text)


def needed(n: NDArray[np.int64], ratio: NDArray[np.float64], near: float = 1.5) -> float:
    """Topics after which the bound is within a factor of the normaliser; between those measured, by logarithms."""
    return float(np.exp(np.interp(-np.log(near), -np.log(ratio), np.log(n))))


def draw(table: Table, figure: Any) -> None:
    axes = panels(figure, 2)
    for axis, k in zip(axes, TOPICS, strict=True):
        for norms, style in zip(NORMS, ("o-", "s--"), strict=True):
            x, mean, sd = table.curve("visited", "ratio", K=k, norms=norms)
            axis.errorbar(x, mean, np.nan_to_num(sd), fmt=style, ms=4, label=norms)
        axis.axhline(1, color="#888888", lw=0.8)
        axis.set(xscale="log", yscale="log", xlabel="topics visited n", ylabel="bound over normaliser, $Z_n/Z$",
                 title=f"K = {k}")  # fmt: skip
        legend(axis, title="norms of a, b, c")


FIGURE = Figure(
    name="fast_bound",
    paper="FastLDA, Fig. 10",
    title="FastLDA: tightness of the two bounds",
    claim="Hölder's bound with norms (2, 2, ∞) comes close to the normaliser after far fewer topics than (3, 3, 3), at "
    "K = 400 and at K = 4000 (NIPS).",
    stand_in=f"{STAND_IN['nips']}.",
    settings=(
        "200 documents, 40 sweeps of burn-in, 2,000 tokens at random; α = 2/K, β = 0.01. By the formulas, in NumPy.",
        "all documents, 500 sweeps, 20,000 tokens.",
    ),
    seeds=(2, 2),
    fits=("400 documents, 80 sweeps of burn-in, 4,000 tokens at random; α = 2/K, β = 0.01.", 4),
    measure=measure,
    keys=("K", "norms", "visited"),
    judge=judge,
    draw=draw,
)
