"""The logistic loss: Light-sLDA against Gibbs-sLDA over K."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, MEAN_FIELD, NEWSGROUP_WORDS, newsgroups
from reproduce.medlda import GIBBS, LIGHT, SCALAR, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import mean_over, score_and_time, together

TOPICS = {"quick": (20, 60, 150), "fits": (20, 100, 300), "full": (20, 50, 100, 150, 200, 300, 400)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (8, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {"quick": 15, "fits": 20, "full": 40}
NAMES = {LIGHT: "Light-sLDA", GIBBS: "Gibbs-sLDA, SIMD", SCALAR: "Gibbs-sLDA, scalar"}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds of every method and K."""
    data = newsgroups(*DATA[scale])
    settings = {"loss": "logistic", "cost": 204.8}
    rows = over_topics(NAMES, data, TOPICS[scale], SWEEPS[scale], seed, 5.6, **settings)
    return [{**row, "method": NAMES[str(row["method"])]} for row in rows]


def judge(table: Table) -> Verdict:
    """Comparable accuracy, and significantly less time at every K."""
    light, simd, scalar = NAMES.values()
    score = {name: mean_over(table, "score", method=name) for name in NAMES.values()}
    topics = table.different("K")
    ratio = {
        name: [table.mean("train", method=name, K=k) / table.mean("train", method=light, K=k) for k in topics]
        for name in (simd, scalar)
    }
    equal = abs(score[light] - score[scalar]) < 0.02
    return Verdict(
        together(equal, min(ratio[scalar]) > 1.1, min(ratio[simd]) > 1.1),
        f"Accuracy, mean over K: Light {score[light]:.3f}, Gibbs {score[scalar]:.3f} (scalar) and {score[simd]:.3f} "
        f"(SIMD, the same chain otherwise). Training time of Gibbs-sLDA over Light-sLDA at K = {topics[0]} … "
        f"{topics[-1]}: {' / '.join(f'{r:.1f}' for r in ratio[scalar])} times in scalar code, "
        f"{' / '.join(f'{r:.2f}' for r in ratio[simd])} times with SIMD.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over K."""
    score_and_time(table, figure, "accuracy")


FIGURE = Figure(
    name="light_logistic",
    paper="LightMedLDA, Fig. 4 (conference version)",
    title="Logistic loss: Light-sLDA and Gibbs-sLDA",
    claim="Comparable accuracy, and Light-sLDA takes significantly less training time over the whole range of K.",
    stand_in="",
    settings=(
        "8 of the 20 newsgroups, the first 80 + 200 documents of each, multi-task; logistic loss with λ = 204.8, α = "
        "5.6/K, β = 0.01, 15 sweeps; K = 20, 60, 150.",
        "all 20 newsgroups, 40 sweeps, K = 20 … 400.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; 20 sweeps; K = 20, 100, 300.", 3),
    measure=measure,
    keys=("method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {MEAN_FIELD}.",
    timed=True,
)
