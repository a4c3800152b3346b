"""Sweeps of burn-in of Gibbs MedLDA with a model for every class: accuracy, and time in a row and in parallel."""

from __future__ import annotations

from typing import Any

from benchmarks.labelled import Labelled
from benchmarks.report import plain_ticks
from reproduce.drawing import curves, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, GIBBS_WORDS, MEAN_FIELD, WEIGHED, newsgroups
from reproduce.medlda import GIBBS, fit
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.verdicts import growth, listed, log_ticks, noise, together

SWEEPS = (1, 5, 10, 20, 40)
TOPICS = {"quick": (20, 40), "fits": (20, 60), "full": (20, 30, 40, 50, 60)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (5, 80, 200), "fits": FITTING, "full": ()}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy of the first sample after so many sweeps, seconds of all models and of one."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for k in TOPICS[scale]:
        rows += [
            {"curve": f"K = {k}", "K": k, "sweeps": n, **piece((k, n), after, data, k, n, seed)}
            for n in (SWEEPS if scale == "quick" else (*SWEEPS, 60))
        ]
    return rows


def after(data: Labelled, k: int, n: int, seed: int) -> dict[str, float]:
    """The first sample after so many sweeps."""
    settings = {"cost": 1.0, "margin": 64.0, "doc_topic_prior": 1.0 / k, "strategy": "ovr"}
    found = fit(GIBBS, data, k, n, seed, n_samples=1, burn_in=n - 1, **settings)
    return {**found.row, "parallel": found.train / len(found.model.estimators_)}


def judge(table: Table) -> Verdict:
    """Stable from 20 sweeps on, and time linear in sweeps."""
    topics, sweeps = table.different("K"), table.different("sweeps")
    at = {n: sum(table.mean("score", K=k, sweeps=n) for k in topics) / len(topics) for n in sweeps}
    sure = noise(table, "score")
    settled = max(abs(at[20] - at[n]) for n in sweeps if n > 20) < 0.02
    power = growth(Table(tuple(line for line in table.lines if int(line.keys["sweeps"]) >= 5)), "train", "sweeps")
    last = table.where(K=topics[-1], sweeps=sweeps[-1]).lines[0].mean
    return Verdict(
        together(settled, at[1] < at[20], 0.7 < power < 1.15, last["parallel"] < 0.5 * last["train"]),
        f"Accuracy after {' / '.join(map(str, sweeps))} sweeps, mean over K: {listed(list(at.values()))} (± "
        f"{sure:.3f} over seeds); from 20 on it is {'stable' if settled else 'not stable'}. Training time grows with "
        f"sweeps (from 5) to the power {power:.2f}. {sweeps[-1]} sweeps at K = {topics[-1]} take {last['train']:.2f} "
        f"CPU s, and {last['parallel']:.2f} s with a core for every model.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy, time, and time in parallel over the sweeps: the paper's three panels."""
    left, middle, right = axes = panels(figure, 3)
    for axis, column in zip(axes, ("score", "train", "parallel"), strict=True):
        curves(axis, table, "sweeps", column, "curve")
        axis.set(xscale="log", xlabel="sweeps of burn-in")
        plain_ticks(axis.xaxis, table.different("sweeps"))
    left.set(ylabel="accuracy, test documents")
    for axis, label in ((middle, "training, CPU s"), (right, "training in parallel, CPU s")):
        axis.set(ylabel=label, yscale="log")
    low, high = right.get_ylim()[0], middle.get_ylim()[1]
    for axis in (middle, right):
        axis.set_ylim(low, high)
        log_ticks(axis.yaxis, low, high)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)


FIGURE = Figure(
    name="gibbs_burn_in_multiclass",
    paper="Gibbs MedLDA, Fig. 5",
    title="Burn-in, a model for every class",
    claim=(
        "With more than 20 sweeps of burn-in accuracy is quite stable; training time grows about linearly with them, "
        "and in parallel it is a fraction."
    ),
    stand_in="",
    settings=(
        "5 of the 20 newsgroups, the first 80 + 200 documents of each; c = 1, ℓ = 64, α = 1/K, β = 0.01; topics and "
        "weights of one sample, after the last sweep; K = 20, 40. The time of one model, the mean of all, is in the "
        "CSV.",
        "all 20 newsgroups, up to 60 sweeps, K = 20 … 60.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; up to 60 sweeps; K = 20, 60.", 3),
    measure=measure,
    keys=("curve", "K", "sweeps"),
    judge=judge,
    draw=draw,
    departures=f"{GIBBS_WORDS}; {WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
