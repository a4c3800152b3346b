"""LightMedLDA and Gibbs MedLDA on two newsgroups: accuracy and training time over K."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import MEAN_FIELD, NEWSGROUP_WORDS, TABLE_AGES, binary
from reproduce.medlda import GIBBS, LIGHT, OURS, PUBLISHED, SCALAR, over_topics
from reproduce.table import Row, Table
from reproduce.verdicts import growth, mean_over, score_and_time, together

TOPICS = {"quick": (10, 40, 70, 100), "full": tuple(range(10, 101, 10))}
SWEEPS = 10


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds of every method and K."""
    settings = {"cost": 1.6, "margin": 164.0, "infer_sweeps": 10}
    methods = (LIGHT, PUBLISHED, GIBBS, SCALAR, OURS)
    return over_topics(methods, binary(), TOPICS[scale], SWEEPS, seed, 6.4, **settings)


def judge(table: Table) -> Verdict:
    """Equal accuracy around 0.8, Light's the better; Gibbs MedLDA growing with K; Light below 1 s at the largest."""
    light, gibbs = (mean_over(table, "score", method=method) for method in (LIGHT, SCALAR))
    last = max(table.different("K"))
    time = {method: table.mean("train", method=method, K=last) for method in table.different("method")}
    power = {method: growth(table, "train", "K", method=method) for method in table.different("method")}
    equal = abs(light - gibbs) < 0.02 and min(light, gibbs) > 0.78
    scalar, simd = time[SCALAR] > 1.1 * time[LIGHT], time[GIBBS] > 1.1 * time[LIGHT]
    return Verdict(
        together(equal, light > gibbs, scalar and power[SCALAR] > 2 * power[LIGHT], simd, time[LIGHT] < 1.0),
        f"Accuracy, mean over K: {light:.3f} against {gibbs:.3f}. Training at K = {last}: LightMedLDA "
        f"{time[LIGHT]:.2f} s ({time[PUBLISHED]:.2f} s as published), Gibbs MedLDA {time[SCALAR]:.2f} s in scalar "
        f"code, as the paper's, {time[SCALAR] / time[LIGHT]:.1f} times as long; but {time[GIBBS]:.2f} s with sixteen "
        f"topics at a time, {'still slower' if simd else 'which is the quicker'}. Time grows with K to the power "
        f"{power[LIGHT]:.2f} (Light), {power[SCALAR]:.2f} (scalar) and {power[GIBBS]:.2f} (SIMD). topoi's default "
        f"takes {time[OURS]:.2f} s.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over K."""
    score_and_time(table, figure, "accuracy")


FIGURE = Figure(
    name="light_binary",
    paper="LightMedLDA, Fig. 1 (thesis Fig. 2)",
    title="Two newsgroups: accuracy and time over K",
    claim=(
        "Both reach about 80 % for K = 10 … 100, LightMedLDA slightly more. Gibbs MedLDA's training time rises sharply "
        "with K; LightMedLDA's stays under 1 s even at K = 100."
    ),
    stand_in="",
    settings=(
        "alt.atheism against talk.religion.misc, 856 + 569 documents, stop words removed; c = 1.6, ℓ = 164 (λ = "
        "262.4), α = 6.4/K, β = 0.01, 10 sweeps of which the last 5 are averaged, 6 steps, 2 passes over the "
        "weights; K = 10 … 100.",
        "the same with more K and seeds.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {MEAN_FIELD}; {TABLE_AGES}.",
    timed=True,
)
