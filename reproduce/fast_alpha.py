"""FastLDA, Figure 9: the speed-up over the prior α."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.corpora import corpus
from reproduce.drawing import curves, legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import FITS, QUICK, STAND_IN, WHOLE_RUN, measure_one, span
from reproduce.table import Row, Table

ALPHAS = (0.0001, 0.001, 0.01, 0.1, 1.0)
TOPICS = (400, 800)
DOCUMENTS: dict[Scale, int | None] = {"quick": 60, "fits": 200, "full": None}


def measure(scale: Scale, seed: int) -> list[Row]:
    documents = corpus("nips", DOCUMENTS[scale])
    protocol = {"quick": QUICK, "fits": FITS, "full": WHOLE_RUN}[scale]
    return [
        {"K": k, "alpha": alpha, **piece((k, alpha), measure_one, documents, k, alpha, seed, protocol)}
        for k in TOPICS
        for alpha in ALPHAS
    ]


def judge(table: Table) -> Verdict:
    grid = np.array([table.curve("alpha", "over_scalar", K=k)[1] for k in TOPICS])
    share = np.array([table.curve("alpha", "share_visited", K=k)[1] for k in TOPICS])
    falls = bool((grid[:, 0] > grid[:, -1]).all() and (np.diff(share, axis=1) > 0).all())
    text = (
        f"From α = {ALPHAS[0]:g} to {ALPHAS[-1]:g} the share of topics visited goes from {share[:, 0].mean():.1%} to "
        f"{share[:, -1].mean():.0%}, and the speed-up over scalar dense LDA from {span(grid[:, 0])} "
        f"down to {span(grid[:, -1])}. The best at K = 800 is {grid[1].max():.1f}×, where the paper has more than 18×; "
        f"the topics visited would allow {1 / share[1].min():.0f}×."
    )
    if falls and grid[1].max() >= 18:
        return Verdict("yes", text)
    return Verdict("in part" if falls else "no", text)


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    labels = {k: f"K = {k}" for k in TOPICS}
    curves(left, table, "alpha", "over_scalar", "K", labels)
    curves(right, table, "alpha", "share_visited", "K", labels)
    left.axhline(1, color="#888888", lw=0.8)
    left.set(xlabel="α", ylabel="speed-up over scalar dense LDA", xscale="log", ylim=(0, None))
    right.set(xlabel="α", ylabel="share of topics visited", xscale="log", ylim=(0, None))
    legend(left)
    legend(right)


FIGURE = Figure(
    name="fast_alpha",
    paper="FastLDA, Fig. 9",
    title="FastLDA: speed-up by α",
    claim="A smaller α concentrates the topics of a document and makes FastLDA faster: more than 18 times as fast as "
    "LDA on NIPS with K = 800 and a low α.",
    stand_in=f"{STAND_IN['nips']}.",
    settings=(
        f"{DOCUMENTS['quick']} documents; 2 sweeps of each sampler after 30 of burn-in. β = 0.01.",
        "all documents; 500 sweeps from random topics. β = 0.01.",
    ),
    seeds=(2, 2),
    fits=(f"{DOCUMENTS['fits']} documents; {FITS.said} β = 0.01.", 3),
    measure=measure,
    keys=("K", "alpha"),
    judge=judge,
    draw=draw,
    timed=True,
)
