"""The margin ℓ of Gibbs MedLDA on two newsgroups: accuracy."""

from __future__ import annotations

from typing import Any

from benchmarks.report import plain_ticks
from reproduce.drawing import curves, legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import GIBBS_WORDS, MEAN_FIELD, binary
from reproduce.medlda import GIBBS, row, scores
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.verdicts import listed, noise, together

MARGINS = (1.0, 9.0, 25.0, 81.0, 164.0, 289.0, 625.0)
WIDE = slice(2, None)  # where the paper says that it does not matter: 25 to 625
TOPICS = (10, 20, 40)
SWEEPS = 10


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy for every ℓ and K; quick and full differ in seeds alone."""
    rows: list[Row] = []
    for k in TOPICS:
        for margin in MARGINS:
            settings = {"cost": 1.0, "margin": margin, "doc_topic_prior": 1.0 / k, "infer_sweeps": 10}
            found = piece((k, margin), row, GIBBS, binary(), k, SWEEPS, seed, **settings)
            rows.append({"curve": f"K = {k}", "K": k, "margin": margin, **scores(found)})
    return rows


def judge(table: Table) -> Verdict:
    """Level from 25 to 625."""
    sure = noise(table, "score")
    span = {k: [table.mean("score", K=k, margin=margin) for margin in MARGINS] for k in TOPICS}
    inside = {k: max(span[k][WIDE]) - min(span[k][WIDE]) for k in TOPICS}
    level = [inside[k] < 0.03 for k in TOPICS]
    per_topic = "; ".join(f"K = {k}: {listed(span[k])}" for k in TOPICS)
    return Verdict(
        together(*level),
        f"Accuracy at ℓ = {' / '.join(f'{margin:g}' for margin in MARGINS)} (± {sure:.3f} over seeds): {per_topic}. "
        f"From 25 to 625 it varies by {listed(list(inside.values()))} at K = {', '.join(map(str, TOPICS))}.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy over ℓ."""
    (axis,) = panels(figure)
    curves(axis, table, "margin", "score", "curve")
    axis.set(xscale="log", xlabel="margin ℓ", ylabel="accuracy, test documents")
    plain_ticks(axis.xaxis, MARGINS)
    legend(axis)


FIGURE = Figure(
    name="gibbs_margin",
    paper="Gibbs MedLDA, Fig. 7",
    title="The margin ℓ",
    claim="Accuracy is quite stable for ℓ from 25 to 625 and all K.",
    stand_in="",
    settings=(
        "alt.atheism against talk.religion.misc, 856 + 569 documents; c = 1, α = 1/K, β = 0.01, 10 sweeps; K = 10, "
        "20, 40.",
        "the same with more seeds.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("curve", "K", "margin"),
    judge=judge,
    draw=draw,
    departures=f"{GIBBS_WORDS}; {MEAN_FIELD}.",
)
