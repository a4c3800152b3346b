"""How the three proposals of LightMedLDA are composed: accuracy and training time."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, MEAN_FIELD, NEWSGROUP_WORDS, WEIGHED, newsgroups
from reproduce.medlda import LIGHT, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import mean_over, noise, score_and_time, together

COMPOSITIONS = ("mixture", "cycle", "word", "doc", "exp")
TOPICS = {"quick": (20, 100), "fits": (20, 100, 400), "full": (20, 50, 100, 150, 200, 300, 400)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (8, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {"quick": 15, "fits": 25, "full": 25}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds of every composition and K."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for name in COMPOSITIONS:
        options = {"composition": name, "n_mh": 6}
        found = over_topics(
            (LIGHT,), data, TOPICS[scale], SWEEPS[scale], seed, 6.4, cost=1.6, margin=64.0, sampler_options=options
        )
        rows += [{**row, "method": name} for row in found]
    return rows


def judge(table: Table) -> Verdict:
    """Mixture best, exp poorest, word between exp and doc, cycle far below mixture; doc and exp quickest."""
    score = {name: mean_over(table, "score", method=name) for name in COMPOSITIONS}
    time = {name: mean_over(table, "train", method=name) for name in COMPOSITIONS}
    per_topic = [
        {name: table.mean("score", method=name, K=k) for name in COMPOSITIONS} for k in sorted(table.different("K"))
    ]
    sure = noise(table, "score")
    parts = {
        "the mixture is best at every K": all(max(at, key=at.__getitem__) == "mixture" for at in per_topic),
        "exp alone is poorest": min(score, key=score.__getitem__) == "exp",
        "word alone is worse than doc alone": score["word"] < score["doc"],
        "the cycle is well below the mixture": score["cycle"] < score["mixture"] - 0.02,
        "with the fewest topics all are equally good": max(per_topic[0].values()) - min(per_topic[0].values()) < 0.02,
        "doc and exp alone take substantially less time": max(time["doc"], time["exp"]) < 0.8 * time["mixture"],
    }
    holds = [name for name, true in parts.items() if true]
    fails = [name for name, true in parts.items() if not true]
    return Verdict(
        together(*parts.values()),
        f"Accuracy, mean over K (± {sure:.3f}): {_shown(score, 3)}. Training, CPU s: {_shown(time, 2)}. "
        f"True here: {'; '.join(holds) or 'nothing'}. Not so here: {'; '.join(fails) or 'nothing'}.",
    )


def _shown(values: dict[str, float], digits: int) -> str:
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over K."""
    score_and_time(table, figure, "accuracy")


FIGURE = Figure(
    name="light_compositions",
    paper="LightMedLDA, Fig. 6 (conference version)",
    title="Compositions of the proposals",
    claim=(
        "The mixture of the three proposals is the most accurate for every K, the cycle substantially worse; exp "
        "alone is the poorest, word alone better than exp and worse than doc alone. With few topics all are equally "
        "good. Exp alone and doc alone take substantially less time."
    ),
    stand_in="",
    settings=(
        "8 of the 20 newsgroups, the first 80 + 200 documents of each, multi-task; c = 1.6, ℓ = 64 (λ = 102.4), α = "
        "6.4/K, 15 sweeps of 6 steps by `light_med`, the exact form; K = 20, 100.",
        "all 20 newsgroups, 25 sweeps, K = 20 … 400.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; 25 sweeps; K = 20, 100, 400.", 3),
    measure=measure,
    keys=("method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
