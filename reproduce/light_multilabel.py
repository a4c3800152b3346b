"""Several labels per document, at scale: F1 and training time over K."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import MEAN_FIELD, WEIGHED, arxiv
from reproduce.medlda import GIBBS, LIGHT, OURS, SCALAR, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import growth, mean_over, score_and_time, together

TOPICS = {"quick": (20, 100), "fits": (50, 200), "full": (50, 100, 200, 400)}
DATA = {"quick": (2_000, 1_500), "fits": (4_000, 2_000), "full": ()}
SWEEPS = {"quick": {LIGHT: 20, GIBBS: 10, SCALAR: 10, OURS: 10}, "fits": {LIGHT: 40, GIBBS: 20, SCALAR: 20, OURS: 20},
          "full": {LIGHT: 80, GIBBS: 40, SCALAR: 40, OURS: 40}}  # fmt: skip
PASSES = 4


def measure(scale: Scale, seed: int) -> list[Row]:
    """Micro-F1 and seconds of every method and K."""
    data = arxiv(*DATA[scale])
    rows: list[Row] = []
    for method, sweeps in SWEEPS[scale].items():
        passes = {"n_gibbs": PASSES} if method in (LIGHT, OURS) else {}
        rows += over_topics((method,), data, TOPICS[scale], sweeps, seed, 6.4, cost=1.6, margin=64.0, **passes)
    return rows


def judge(table: Table) -> Verdict:
    """Equal F1, about the same for every K, and less time."""
    light, gibbs = (mean_over(table, "score", method=method) for method in (LIGHT, GIBBS))
    spread = max(line.sd["score"] for line in table.lines)
    last = max(table.different("K"))
    time = {method: table.mean("train", method=method, K=last) for method in SWEEPS["quick"]}
    power = {method: growth(table, "train", "K", method=method) for method in SWEEPS["quick"]}
    per_topic = [table.mean("score", method=LIGHT, K=n_topics) for n_topics in table.different("K")]
    equal, level = abs(light - gibbs) < 0.02, max(per_topic) - min(per_topic) < 0.05
    scalar, simd = time[SCALAR] > 1.1 * time[LIGHT], time[GIBBS] > 1.1 * time[LIGHT]
    return Verdict(
        together(equal, level, scalar, simd),
        f"Micro-F1, mean over K: {light:.3f} (Light) and {gibbs:.3f} (Gibbs), ± up to {spread:.3f} over "
        f"seeds with so few abstracts; Light from {min(per_topic):.3f} to {max(per_topic):.3f} over K. Training at K "
        f"= {last}: {time[LIGHT]:.1f} s (twice as many sweeps, as in the paper), Gibbs {time[GIBBS]:.1f} s with SIMD "
        f"and {time[SCALAR]:.1f} s in scalar code, topoi's default {time[OURS]:.1f} s. Time grows with K to the power "
        f"{power[LIGHT]:.2f} (Light), {power[SCALAR]:.2f} (scalar), {power[GIBBS]:.2f} (SIMD).",
    )


def draw(table: Table, figure: Any) -> None:
    """F1 and time over K."""
    score_and_time(table, figure, "micro-F1")


FIGURE = Figure(
    name="light_multilabel",
    paper="LightMedLDA, Fig. 3 (thesis Fig. 4)",
    title="Several labels per document: F1 and time",
    claim=(
        "On 1.1 million Wikipedia articles both reach an F1 of about 0.55 for every K. Gibbs MedLDA took 33 hours with "
        "200 topics and was too slow with 400, LightMedLDA 11 hours with 400."
    ),
    stand_in=(
        "arXiv abstracts with the 20 most frequent labels stand in for Wikipedia (LSHTC), which cannot be had here. "
        "They are short (70 tokens), so the work per document weighs more and that per token less than in the paper."
    ),
    settings=(
        "2,000 + 1,500 abstracts, 20 labels; c = 1.6, ℓ = 64 (λ = 102.4), α = 6.4/K, β = 0.01, 20 sweeps of "
        "LightMedLDA with 4 passes over the weights, 10 of the others; K = 20, 100. F1 counts labels with a positive "
        "score, and at least the best of each document.",
        "all abstracts of arxiv_120k with such a label, 80 and 40 sweeps, K = 50, 100, 200, 400.",
    ),
    seeds=(2, 3),
    fits=("4,000 + 2,000 abstracts, 40 and 20 sweeps, K = 50, 200.", 3),
    measure=measure,
    keys=("method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
