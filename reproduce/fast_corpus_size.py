"""FastLDA, Figure 8: the speed-up with more and fewer documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.corpora import corpus
from reproduce.drawing import curves, legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import FITS, QUICK, STAND_IN, WHOLE_RUN, measure_one, span
from reproduce.table import Row, Table

DOCUMENTS = {
    "quick": (40, 80, 150),
    "fits": (200, 400, 800),
    "full": (400, 800, 1500),
}  # --quick: a tenth of the paper's
TOPICS = (50, 100, 200, 400, 800)


def measure(scale: Scale, seed: int) -> list[Row]:
    rows = []
    for size in DOCUMENTS[scale]:
        documents = corpus("nips", size)
        for k in TOPICS:
            protocol = {"quick": QUICK, "fits": FITS, "full": WHOLE_RUN}[scale]
            found = piece((size, k), measure_one, documents, k, 2 / k, seed, protocol)
            rows.append({"D": size, "K": k, **found})
    return rows


def judge(table: Table) -> Verdict:
    grid = np.array([table.curve("K", "over_scalar", D=size)[1] for size in table.different("D")])
    visited = np.array([table.curve("K", "share_visited", D=size)[1] for size in table.different("D")])
    by_size, by_topics = (grid.max(0) / grid.min(0)).mean(), (grid.max(1) / grid.min(1)).mean()
    work = (visited.max(0) / visited.min(0)).mean()
    text = (
        f"From {table.different('D')[0]} to {table.different('D')[-1]} documents the speed-up differs by a factor of "
        f"{by_size:.2f} on average, from K = {TOPICS[0]} to {TOPICS[-1]} by {by_topics:.2f}; the share of topics "
        f"visited differs by {work:.2f} between the sizes. Over the scalar dense sampler it is {span(grid)}."
    )
    if by_size < 1.5 and by_topics > by_size:
        return Verdict("yes", text)
    return Verdict("in part" if by_size < by_topics else "no", text)


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    labels = {size: f"{size} documents" for size in table.different("D")}
    curves(left, table, "K", "over_scalar", "D", labels)
    curves(right, table, "K", "share_visited", "D", labels)
    left.set(xlabel="topics K", ylabel="speed-up over scalar dense LDA", ylim=(0, None))
    right.set(xlabel="topics K", ylabel="share of topics visited", ylim=(0, None))
    legend(left)
    legend(right)


FIGURE = Figure(
    name="fast_corpus_size",
    paper="FastLDA, Fig. 8",
    title="FastLDA: speed-up by size of the corpus",
    claim="The speed-up is relatively insensitive to the number of documents (NIPS with 400, 800 and 1,500) and "
    "depends above all on the number of topics.",
    stand_in=f"{STAND_IN['nips']}.",
    settings=(
        "40, 80 and 150 documents; 2 sweeps of each sampler after 30 of burn-in. α = 2/K, β = 0.01.",
        "400, 800 and 1,500 documents; 500 sweeps from random topics. α = 2/K, β = 0.01.",
    ),
    seeds=(2, 2),
    fits=(
        f"200, 400 and 800 documents; {FITS.said} α = 2/K, β = 0.01.",
        3,
    ),
    measure=measure,
    keys=("D", "K"),
    judge=judge,
    draw=draw,
    timed=True,
)
