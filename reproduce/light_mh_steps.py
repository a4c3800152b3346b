"""Metropolis–Hastings steps per token of LightMedLDA: accuracy and training time."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, MEAN_FIELD, NEWSGROUP_WORDS, WEIGHED, newsgroups
from reproduce.medlda import LIGHT, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import growth, listed, noise, score_and_time, together

STEPS = (1, 2, 6, 12)
TOPICS = {"quick": (20, 100), "fits": (50, 100, 400), "full": (50, 100, 200, 400)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (8, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {"quick": 15, "fits": 25, "full": 25}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds for every number of steps and K."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for n_mh in STEPS:
        found = over_topics(
            (LIGHT,),
            data,
            TOPICS[scale],
            SWEEPS[scale],
            seed,
            6.4,
            cost=1.6,
            margin=64.0,
            sampler_options={"n_mh": n_mh},
        )
        rows += [{**row, "steps": n_mh, "curve": f"K = {row['K']}"} for row in found]
    return rows


def judge(table: Table) -> Verdict:
    """More steps, better accuracy and more time; six are a good compromise."""
    last = max(table.different("K"))
    score = {n: table.mean("score", K=last, steps=n) for n in STEPS}
    time = {n: table.mean("train", K=last, steps=n) for n in STEPS}
    sure = noise(table, "score")
    better, slower = score[6] > score[1], growth(table, "train", "steps", K=last) > 0.5
    more = score[12] - score[6]
    enough = more < 0.02
    return Verdict(
        together(better, slower, enough),
        f"K = {last}, {' / '.join(map(str, STEPS))} steps: accuracy {listed(list(score.values()))} (± {sure:.3f}), "
        f"training {listed(list(time.values()), 1)} CPU s. More steps {'improve' if better else 'do not improve'} "
        f"accuracy; from six to twelve {more:+.3f}, {'little' if enough else 'so that six are not enough here'}.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over the number of steps."""
    score_and_time(table, figure, "accuracy", x="steps", by="curve", xlabel="steps per token")


FIGURE = Figure(
    name="light_mh_steps",
    paper="LightMedLDA, Fig. 7 (conference version)",
    title="Metropolis–Hastings steps per token",
    claim="More steps improve accuracy and increase training time; six, two of each proposal, are the best trade-off.",
    stand_in="",
    settings=(
        "8 of the 20 newsgroups, the first 80 + 200 documents of each, multi-task; c = 1.6, ℓ = 64 (λ = 102.4), α = "
        "6.4/K, 15 sweeps of the mixture by `light_med`; K = 20, 100.",
        "all 20 newsgroups, 25 sweeps, K = 50 … 400.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; 25 sweeps; K = 50, 100, 400.", 3),
    measure=measure,
    keys=("method", "curve", "K", "steps"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
