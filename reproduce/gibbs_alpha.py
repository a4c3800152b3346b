"""The Dirichlet prior α of Gibbs MedLDA on two newsgroups: accuracy."""

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

ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)
TOPICS = (10, 20, 40)
SWEEPS = 10


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy for every α and K; quick and full differ in seeds alone."""
    rows: list[Row] = []
    for k in TOPICS:
        for alpha in ALPHAS:
            settings = {"cost": 1.0, "margin": 164.0, "doc_topic_prior": alpha / k, "infer_sweeps": 10}
            found = piece((k, alpha), row, GIBBS, binary(), k, SWEEPS, seed, **settings)
            rows.append({"curve": f"K = {k}", "K": k, "alpha": alpha, **scores(found)})
    return rows


def judge(table: Table) -> Verdict:
    """Level from 0.1 to 10, and the best α larger for larger K."""
    sure = noise(table, "score")
    span = {k: [table.mean("score", K=k, alpha=alpha) for alpha in ALPHAS] for k in TOPICS}
    inside = {k: max(span[k][1:4]) - min(span[k][1:4]) for k in TOPICS}
    best = {k: ALPHAS[span[k].index(max(span[k]))] for k in TOPICS}
    level = max(inside.values()) < 0.03
    shifts = best[TOPICS[-1]] > best[TOPICS[0]]
    per_topic = "; ".join(f"K = {k}: {listed(span[k])}" for k in TOPICS)
    return Verdict(
        together(level, shifts),
        f"Accuracy at α = {' / '.join(f'{alpha:g}' for alpha in ALPHAS)} (± {sure:.3f} over seeds): {per_topic}. From "
        f"0.1 to 10 it varies by at most {max(inside.values()):.3f}. The best α is "
        f"{', '.join(f'{best[k]:g} at K = {k}' for k in TOPICS)}{'' if shifts else ', no larger for more topics'}; "
        f"differences below {2 * sure:.3f} mean little.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy over α."""
    (axis,) = panels(figure)
    curves(axis, table, "alpha", "score", "curve")
    axis.set(xscale="log", xlabel="α (each topic: α/K)", ylabel="accuracy, test documents")
    plain_ticks(axis.xaxis, ALPHAS)
    legend(axis)


FIGURE = Figure(
    name="gibbs_alpha",
    paper="Gibbs MedLDA, Fig. 6",
    title="The Dirichlet prior α",
    claim="Accuracy is quite stable for α from 0.1 to 10; larger K generally needs a larger α for the best result.",
    stand_in="",
    settings=(
        "alt.atheism against talk.religion.misc, 856 + 569 documents; c = 1, ℓ = 164, β = 0.01, 10 sweeps; K = 10, "
        "20, 40.",
        "the same with more seeds.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("curve", "K", "alpha"),
    judge=judge,
    draw=draw,
    departures=f"{GIBBS_WORDS}; {MEAN_FIELD}.",
)
