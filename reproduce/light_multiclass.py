"""Many classes, a model for each or one for all: accuracy and training time over K."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import BOOKKEEPING, FITTING, FITTING_SAID, MEAN_FIELD, NEWSGROUP_WORDS, WEIGHED, newsgroups
from reproduce.medlda import GIBBS, LIGHT, OURS, SCALAR, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import growth, mean_over, score_and_time, together

TOPICS = {"quick": (20, 100), "fits": (20, 100, 200), "full": (20, 50, 100, 150, 200, 300, 400)}
#: Classes, documents to learn from and to test of each; all where there is none.
DATA: dict[Scale, tuple[int, ...]] = {"quick": (4, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {LIGHT: 25, GIBBS: 20, SCALAR: 20, OURS: 20}
SETTINGS = {"cost": 1.6, "margin": 64.0}
MOST_LEVEL = 150  # topics, from which on accuracy falls in the paper
#: Strategy, and the methods that it is tried with.
STRATEGIES = {"ovr": (LIGHT, GIBBS), "multitask": (LIGHT, GIBBS, SCALAR, OURS)}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds of every strategy, method and K."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for strategy, methods in STRATEGIES.items():
        found = over_topics(methods, data, TOPICS[scale], SWEEPS, seed, 6.4, strategy=strategy, **SETTINGS)
        rows += [{**row, "strategy": strategy, "which": f"{row['method']}, {strategy}"} for row in found]
    return rows


def judge(table: Table) -> Verdict:
    """Equal accuracy in either strategy, multi-task quicker, Gibbs MedLDA slower at the largest K, a fall above 150."""
    last = max(table.different("K"))

    def score(strategy: str, method: str) -> float:
        return mean_over(table, "score", strategy=strategy, method=method)

    def time(strategy: str, method: str) -> float:
        return table.mean("train", strategy=strategy, method=method, K=last)

    equal = all(abs(score(strategy, LIGHT) - score(strategy, GIBBS)) < 0.02 for strategy in STRATEGIES)
    sharing = all(time("ovr", method) > 1.5 * time("multitask", method) for method in (LIGHT, GIBBS))
    scalar = time("multitask", SCALAR) > 1.1 * time("multitask", LIGHT)
    simd = all(time(strategy, GIBBS) > 1.1 * time(strategy, LIGHT) for strategy in STRATEGIES)
    power = {method: growth(table, "train", "K", strategy="multitask", method=method) for method in (LIGHT, SCALAR)}
    sharply = power[SCALAR] > 2 * power[LIGHT]
    parts = [equal, sharing, scalar, simd, sharply]
    text = (
        f"Accuracy, mean over K, Light and Gibbs: one-vs-all {score('ovr', LIGHT):.3f} and {score('ovr', GIBBS):.3f}, "
        f"multi-task {score('multitask', LIGHT):.3f} and {score('multitask', GIBBS):.3f}. Training at K = {last}: "
        f"one-vs-all {time('ovr', LIGHT):.1f} and {time('ovr', GIBBS):.1f} s (SIMD), multi-task "
        f"{time('multitask', LIGHT):.1f}, {time('multitask', GIBBS):.1f} (SIMD) and {time('multitask', SCALAR):.1f} s "
        f"(scalar, {time('multitask', SCALAR) / time('multitask', LIGHT):.1f} times LightMedLDA's), "
        f"{time('multitask', OURS):.1f} s by topoi's default. Time of multi-task grows with K to the power "
        f"{power[LIGHT]:.2f} (Light) and {power[SCALAR]:.2f} (scalar). Multi-task is the quicker strategy"
        f"{'' if sharing else ' not everywhere'}."
    )
    if last > MOST_LEVEL:
        before = max(k for k in table.different("K") if k <= MOST_LEVEL)
        falls = all(
            table.mean("score", strategy=s, method=LIGHT, K=last)
            < table.mean("score", strategy=s, method=LIGHT, K=before)
            for s in STRATEGIES
        )
        parts.append(falls)
        text += f" Accuracy {'falls' if falls else 'does not fall'} from K = {before} to {last}."
    else:
        text += f" Too few K to see accuracy fall above {MOST_LEVEL}."
    return Verdict(together(*parts), text)


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over K."""
    score_and_time(table, figure, "accuracy", by="which")


FIGURE = Figure(
    name="light_multiclass",
    paper="LightMedLDA, Fig. 2 (thesis Fig. 3)",
    title="Newsgroups, one-vs-all and multi-task",
    claim=(
        "LightMedLDA and Gibbs MedLDA reach similar accuracy in both strategies, falling once K exceeds 150. Gibbs "
        "MedLDA's time increases sharply with K, LightMedLDA's hardly up to K = 400. Multi-task takes far less time "
        "than one-vs-all."
    ),
    stand_in="",
    settings=(
        "4 of the 20 newsgroups, the first 80 + 200 documents of each; c = 1.6, ℓ = 64 (λ = 102.4), α = 6.4/K, β = "
        "0.01, 25 sweeps of LightMedLDA and 20 of the others; K = 20, 100. Labels are weighed as topoi does by "
        "default.",
        "all 20 newsgroups, 11,269 + 7,505 documents, K = 20 … 400.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; K = 20, 100, 200.", 3),
    measure=measure,
    keys=("which", "strategy", "method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; {MEAN_FIELD}; {BOOKKEEPING}.",
    timed=True,
)
