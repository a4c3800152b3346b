"""FastLDA, Figure 7: the speed-up on four corpora, two numbers of topics each."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.corpora import NAMES, corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import BURNED_IN, FITS, QUICK, STAND_IN, WHOLE_RUN, measure_one, span
from reproduce.table import Row, Table

#: Topics, documents with --quick and --fits, and what the paper does on its corpus.
CORPORA = {
    "nips": ((400, 800), 100, 400, WHOLE_RUN),
    "20ng": ((400, 800), 1000, 4000, WHOLE_RUN),
    "reuters": ((800, 1600), 2000, 6000, BURNED_IN),
    "arxiv": ((2000, 4000), 1200, 4000, BURNED_IN),
}


def measure(scale: Scale, seed: int) -> list[Row]:
    rows = []
    for name, (topics, few, more, protocol) in CORPORA.items():
        documents = corpus(name, {"quick": few, "fits": more, "full": None}[scale])
        chosen = {"quick": QUICK, "fits": FITS, "full": protocol}[scale]
        for k in topics:
            found = piece((name, k), measure_one, documents, k, 2 / k, seed, chosen)
            rows.append({"corpus": name, "K": k, **found})
    return rows


def judge(table: Table) -> Verdict:
    scalar, simd, share = (table.curve("K", y)[1] for y in ("over_scalar", "over_simd", "share_visited"))
    each = "; ".join(
        f"{NAMES[name]} {table.curve('K', 'over_scalar', corpus=name)[1][0]:.1f}× and "
        f"{table.curve('K', 'over_scalar', corpus=name)[1][1]:.1f}×"
        for name in CORPORA
    )
    text = (
        f"Over a scalar dense sampler: {each}. Over our dense one: {span(simd)}. The topics visited, "
        f"{share.min():.1%} to {share.max():.1%}, would allow {span(1 / share)}."
    )
    if scalar.min() >= 5:
        return Verdict("yes", text)
    return Verdict("in part" if scalar.min() > 1 else "no", text)


def draw(table: Table, figure: Any) -> None:
    (axis,) = panels(figure)
    place = np.arange(len(table.lines)) + 0.6 * (np.arange(len(table.lines)) // 2)
    for shift, (y, label, colour) in enumerate((
        ("over_scalar", "over scalar dense", "#0072B2"), ("over_simd", "over SIMD dense", "#D55E00"),
    )):  # fmt: skip
        _, mean, sd = table.curve("K", y)
        axis.bar(place + 0.35 * shift, mean, 0.33, yerr=np.nan_to_num(sd), color=colour, label=label, capsize=2)
    axis.axhspan(5, 8, color="#eeeeee", zorder=0, label="the paper's 5–8×")
    axis.axhline(1, color="#888888", lw=0.8)
    axis.set_xticks(place + 0.17, [f"K = {line.keys['K']}" for line in table.lines], fontsize=8)
    for i, name in enumerate(CORPORA):
        middle = place[2 * i : 2 * i + 2].mean() + 0.17
        axis.annotate(NAMES[name], (middle, -0.13), xycoords=("data", "axes fraction"), ha="center", fontsize=9)
    axis.set(ylabel="speed-up of FastLDA", ylim=(0, 8.5))
    legend(axis)


FIGURE = Figure(
    name="fast_corpora",
    paper="FastLDA, Fig. 7",
    title="FastLDA: speed-up by corpus",
    claim="5 to 8 times as fast on NIPS (K = 400, 800), Enron (400, 800), NYTimes (800, 1600) and PubMed (2000, 4000); "
    "5.7 to 7.5 times on the two large ones.",
    stand_in="; ".join(STAND_IN.values()) + ".",
    settings=(
        "100 documents of NIPS, 1,000 of 20 Newsgroups, 2,000 of Reuters, 1,200 of arXiv; 2 sweeps of each sampler "
        "after 30 of burn-in. α = 2/K, β = 0.01.",
        "all documents; NIPS and 20 Newsgroups 500 sweeps from random topics, the others 20 after a burn-in of 300.",
    ),
    seeds=(2, 2),
    fits=(
        f"400 documents of NIPS, 4,000 of 20 Newsgroups, 6,000 of Reuters, 4,000 of arXiv; {FITS.said} α = 2/K, β = "
        "0.01.",
        3,
    ),
    measure=measure,
    keys=("corpus", "K"),
    judge=judge,
    draw=draw,
    timed=True,
)
