"""Gibbs MedLDA with a model for every class, one after the other and all at once: accuracy and training time."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.labelled import Labelled
from reproduce.drawing import curves, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import FITTING, FITTING_SAID, GIBBS_WORDS, MEAN_FIELD, WEIGHED, newsgroups
from reproduce.medlda import GIBBS, SCALAR, fit, scores
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.verdicts import at_most_in_part, log_ticks, mean_over, together
from topoi.chain.loop import Progress

MULTITASK, ONE_VS_ALL = "one model for all classes", "a model for every class"
PARALLEL = "a model for every class, in parallel"
TOPICS = {"quick": (10, 20, 40), "fits": (20, 60, 100), "full": (20, 30, 40, 50, 60, 70, 80, 90, 100)}
DATA: dict[Scale, tuple[int, ...]] = {"quick": (6, 80, 200), "fits": FITTING, "full": ()}
SWEEPS = {"quick": 15, "fits": 20, "full": 20}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy and seconds of the strategies; of the parallel one, what the slowest of its models took."""
    data = newsgroups(*DATA[scale])
    rows: list[Row] = []
    for k in TOPICS[scale]:
        rows += piece((k,), strategies, data, k, SWEEPS[scale], seed)
    return rows


def strategies(data: Labelled, k: int, n_sweeps: int, seed: int) -> list[Row]:
    """All of them with so many topics."""
    ends: dict[int, float] = {}

    def note(progress: Progress) -> None:
        ends[progress.model] = time.process_time()

    common = {"cost": 1.0, "margin": 64.0, "doc_topic_prior": 1.0 / k}
    several = fit(GIBBS, data, k, n_sweeps, seed, strategy="ovr", callbacks=[note], **common).row
    scalar = fit(SCALAR, data, k, n_sweeps, seed, **common).row
    one = fit(GIBBS, data, k, n_sweeps, seed, **common).row
    # With one thread the models run in order: the time between the ends of two is that of the second. When the
    # first began is not known, but it is one of many.
    slowest = max(ends[model + 1] - ends[model] for model in range(len(ends) - 1))
    return [
        {"method": ONE_VS_ALL, "K": k, **several},
        {"method": MULTITASK, "K": k, **one},
        {"method": f"{MULTITASK}, scalar", "K": k, **scalar},
        {"method": PARALLEL, "K": k, **scores(several), "train": slowest, "test": several["test"]},
    ]


def judge(table: Table) -> Verdict:
    """Accuracy no lower than of one model, and the parallel form many times quicker than the serial one."""
    score = {method: mean_over(table, "score", method=method) for method in (ONE_VS_ALL, MULTITASK)}
    train = {method: mean_over(table, "train", method=method) for method in table.different("method")}
    gain = train[ONE_VS_ALL] / train[PARALLEL]
    better = score[ONE_VS_ALL] > score[MULTITASK] + 0.01
    return Verdict(
        at_most_in_part(together(better, gain > 3)),  # the models that the paper compares with are not here
        f"Accuracy, mean over K: {score[ONE_VS_ALL]:.3f} with a model for every class, {score[MULTITASK]:.3f} with "
        f"one for all. Training: {train[ONE_VS_ALL]:.2f} CPU s one after the other; the slowest model takes "
        f"{train[PARALLEL]:.2f} s, so with a core for each it is {gain:.1f} times quicker; one model for all takes "
        f"{train[MULTITASK]:.2f} s ({train[f'{MULTITASK}, scalar']:.2f} s in scalar code). The paper compares with "
        "variational and older Gibbs MedLDA, which are not part of topoi.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy (in parallel it is the same) and time over K."""
    left, right = panels(figure, 2)
    curves(left, Table(tuple(line for line in table.lines if line.keys["method"] != PARALLEL)), "K", "score", "method")
    curves(right, table, "K", "train", "method")
    left.set(xlabel="topics K", ylabel="accuracy, test documents", xticks=table.different("K"))
    right.set(xlabel="topics K", ylabel="training, CPU s", yscale="log", xticks=table.different("K"))
    log_ticks(right.yaxis, *right.get_ylim())
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=8)


FIGURE = Figure(
    name="gibbs_multiclass",
    paper="Gibbs MedLDA, Fig. 3",
    title="A model for every class, also in parallel",
    claim=(
        "With a binary model for each of the 20 classes Gibbs MedLDA is clearly more accurate than multi-class MedLDA "
        "(variational or older Gibbs) and takes slightly less time; learning the models in parallel saves a lot of it."
    ),
    stand_in="",
    settings=(
        "6 of the 20 newsgroups, the first 80 + 200 documents of each; c = 1, ℓ = 64, α = 1/K, β = 0.01, 15 sweeps; "
        "K = 10, 20, 40. Time in parallel is that of the slowest model: two cores are too few to try it.",
        "all 20 newsgroups, 20 sweeps, K = 20 … 100.",
    ),
    seeds=(2, 5),
    fits=(f"{FITTING_SAID}; 20 sweeps; K = 20, 60, 100.", 3),
    measure=measure,
    keys=("method", "K"),
    judge=judge,
    draw=draw,
    departures=f"{GIBBS_WORDS}; {WEIGHED}; {MEAN_FIELD}.",
    timed=True,
)
