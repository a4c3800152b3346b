"""Passes of coordinate Gibbs over the weights of LightMedLDA: accuracy and training time."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, MEAN_FIELD, NEWSGROUP_WORDS, WEIGHED, newsgroups
from reproduce.medlda import LIGHT, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import listed, noise, score_and_time, together

PASSES = (1, 2, 4, 16)
TOPICS = {"quick": (20, 100), "fits": (50, 100, 400), "full": (50, 100, 200, 400)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (8, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {"quick": 15, "fits": 25, "full": 25}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds for every number of passes and K."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for n_gibbs in PASSES:
        found = over_topics(
            (LIGHT,), data, TOPICS[scale], SWEEPS[scale], seed, 6.4, cost=1.6, margin=64.0, n_gibbs=n_gibbs
        )
        rows += [{**row, "passes": n_gibbs, "curve": f"K = {row['K']}"} for row in found]
    return rows


def judge(table: Table) -> Verdict:
    """Accuracy level over the passes, time rising with them."""
    topics = table.different("K")
    score = {k: [table.mean("score", K=k, passes=n) for n in PASSES] for k in topics}
    time = [table.mean("train", K=topics[-1], passes=n) for n in PASSES]
    sure = noise(table, "score")
    level = {k: max(score[k]) - min(score[k]) < 0.02 for k in topics}
    enough = {k: max(score[k]) - score[k][1] < 0.02 for k in topics}
    slower = time[-1] > 1.1 * time[0]
    told = "; ".join(f"K = {k}: {listed(score[k])}" for k in topics)
    return Verdict(
        together(all(level.values()), all(enough.values()), slower),
        f"Accuracy with {' / '.join(map(str, PASSES))} passes (± {sure:.3f} over seeds): {told}. It is level over the "
        f"passes for {sum(level.values())} of {len(topics)} K, and two passes are enough for {sum(enough.values())}. "
        f"Training at K = {topics[-1]}: {listed(time, 1)} CPU s; sixteen passes take {time[-1] / time[0]:.2f} times "
        f"as long as one, {'more' if slower else 'hardly more'}: most of the time goes into topics here.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over the number of passes."""
    axes = score_and_time(
        table, figure, "accuracy", x="passes", by="curve", xlabel="passes over the weights", log_x=True
    )
    axes[1].set_yscale("linear")  # times are too near each other for logarithms
    axes[1].set_ylim(bottom=0)


FIGURE = Figure(
    name="light_weight_passes",
    paper="LightMedLDA, Fig. 8 (conference version)",
    title="Gibbs sub-iterations over the weights",
    claim="Accuracy stays about constant while more sub-iterations clearly take more time; one or two suffice.",
    stand_in="",
    settings=(
        "8 of the 20 newsgroups, the first 80 + 200 documents of each, multi-task; c = 1.6, ℓ = 64 (λ = 102.4), α = "
        "6.4/K, 15 sweeps of `light_med`; K = 20, 100.",
        "all 20 newsgroups, 25 sweeps, K = 50 … 400.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; 25 sweeps; K = 50, 100, 400.", 3),
    measure=measure,
    keys=("method", "curve", "K", "passes"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
