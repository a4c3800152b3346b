"""FastLDA, Figures 5 and 6: CPU time and speed-up over dense LDA as the number of topics grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.report import decade_ticks, plain_ticks
from reproduce.corpora import NAMES, corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import FITS, QUICK, STAND_IN, WHOLE_RUN, exponent, measure_one, span
from reproduce.table import Row, Table
from reproduce.verdicts import together

#: Documents of each corpus; None are all.
DOCUMENTS: dict[Scale, dict[str, int | None]] = {
    "quick": {"nips": 100, "20ng": 1000},
    "fits": {"nips": 400, "20ng": 4000},
    "full": {"nips": None, "20ng": None},
}
CORPORA = tuple(DOCUMENTS["full"])
TOPICS = (50, 100, 200, 400, 800)
LABELS = {
    "scalar": "dense, scalar",
    "simd": "dense, SIMD",
    "fast": "FastLDA",
    "fast_333": "FastLDA (3, 3, 3)",
}


def measure(scale: Scale, seed: int) -> list[Row]:
    rows = []
    for name, size in DOCUMENTS[scale].items():
        documents = corpus(name, size)
        for k in TOPICS:
            protocol = {"quick": QUICK, "fits": FITS, "full": WHOLE_RUN}[scale]
            found = piece((name, k), measure_one, documents, k, 2 / k, seed, protocol)
            rows.append({"corpus": name, "K": k, **found})
    return rows


def judge(table: Table) -> Verdict:
    growth = {
        method: float(np.mean([exponent(*table.curve("K", f"seconds_{method}", corpus=name)[:2]) for name in CORPORA]))
        for method in ("scalar", "fast")
    }
    slower = growth["fast"] < growth["scalar"] - 0.1
    scalar, simd, share = (table.curve("K", y)[1] for y in ("over_scalar", "over_simd", "share_visited"))
    by_corpus = [table.curve("K", "over_scalar", corpus=name)[1] for name in CORPORA]
    rises = all(one[-1] > one[0] for one in by_corpus)
    text = (
        f"Scalar dense time grows as K^{growth['scalar']:.2f}, FastLDA's as K^{growth['fast']:.2f}; the speed-up "
        f"{'grows with K' if rises else 'does not grow with K on every corpus'}. Over a scalar dense sampler it is "
        f"{span(scalar)}, over our dense one, which weighs sixteen topics at a time, {span(simd)}. FastLDA visits "
        f"{share.min():.0%} to {share.max():.0%} of the topics, which would allow {span(1 / share)}."
    )
    if scalar.max() < 0.5 * (1 / share).max():
        text += (
            " So a topic visited costs several that are merely added up. Likely reasons, not measured apart: it is "
            "met out of order in memory, and each new bound needs a square root."
        )
    parts = [0.85 < growth["scalar"] < 1.15, slower, rises, scalar.min() >= 3]
    if "seconds_fast_333" in table.lines[0].mean:
        dearer = table.curve("K", "seconds_fast_333")[1] / table.curve("K", "seconds_fast")[1]
        text += f" With norms (3, 3, 3) a sweep takes {span(dearer)} the time."
        parts.append(bool(dearer.min() > 1))
    else:
        text += " Norms (3, 3, 3) were not timed in the stored rows."
    return Verdict(together(*parts), text)


def draw(table: Table, figure: Any) -> None:
    times, speeds = panels(figure, 2)
    for name, colour in zip(CORPORA, ("#0072B2", "#D55E00"), strict=True):
        for method, style in (("scalar", "o-"), ("simd", "^:"), ("fast", "s--"), ("fast_333", "x-.")):
            k, mean, sd = table.curve("K", f"seconds_{method}", corpus=name)
            if not len(k):
                continue  # rows of before it was timed
            label = LABELS[method]
            times.errorbar(k, mean, np.nan_to_num(sd), fmt=style, color=colour, label=f"{label}, {NAMES[name]}", ms=4)
        for against, style in (("scalar", "o-"), ("simd", "^:")):
            k, mean, sd = table.curve("K", f"over_{against}", corpus=name)
            label = f"over {against.replace('simd', 'SIMD')} dense, {NAMES[name]}"
            speeds.errorbar(k, mean, np.nan_to_num(sd), fmt=style, color=colour, label=label, ms=4)
    times.set(xlabel="topics K", ylabel="CPU seconds of a sweep", title="Fig. 5: time", xscale="log", yscale="log")
    plain_ticks(times.xaxis, TOPICS)
    plain_ticks(times.yaxis, decade_ticks(*times.get_ylim()))
    speeds.axhspan(3, 8, color="#eeeeee", zorder=0, label="the paper's 3–8×")
    speeds.axhline(1, color="#888888", lw=0.8)
    speeds.set(xlabel="topics K", ylabel="speed-up of FastLDA", title="Fig. 6: speed-up", ylim=(0, 8.5))
    legend(times)
    legend(speeds)


FIGURE = Figure(
    name="fast_time",
    paper="FastLDA, Fig. 5–6",
    title="FastLDA: time and speed-up over K",
    claim="CPU time of LDA grows linearly with K, that of FastLDA slower than linearly; FastLDA is 3 to 8 times as "
    "fast, the more so the larger K (NIPS and Enron, K up to 800); norms (3, 3, 3) are slower in all comparisons.",
    stand_in=f"{STAND_IN['nips']}; {STAND_IN['20ng']}.",
    settings=(
        "100 documents of NIPS and 1,000 of 20 Newsgroups; from the same topics after 30 sweeps of burn-in, 2 sweeps "
        "of each sampler. α = 2/K, β = 0.01.",
        "all documents; 500 sweeps from random topics, burn-in included. α = 2/K, β = 0.01.",
    ),
    seeds=(2, 2),
    fits=(f"400 documents of NIPS and 4,000 of 20 Newsgroups; {FITS.said} α = 2/K, β = 0.01.", 3),
    measure=measure,
    keys=("corpus", "K"),
    judge=judge,
    draw=draw,
    timed=True,
)  # fmt: skip
