"""CPU seconds of one sweep over the number of topics and over the number of documents, with fitted exponents."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.labelled import Labelled
from benchmarks.report import plain_ticks
from reproduce.drawing import curves, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import BOOKKEEPING, NEWSGROUP_WORDS, TABLE_AGES, WEIGHED, newsgroups
from reproduce.medlda import GIBBS, LIGHT, OURS, PUBLISHED, SCALAR, fit
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.verdicts import growth, log_ticks, together
from topoi.chain.loop import Progress

DATA = (4, 480, 5)  # classes, documents to learn from and to test of each
#: With the fewest documents.
TOPICS = {
    "quick": (25, 100, 400),
    "fits": (25, 50, 100, 200, 400, 800),
    "full": (25, 50, 100, 200, 400, 800, 1600),
}
#: With MIDDLE topics.
DOCUMENTS = {
    "quick": (240, 480, 960),
    "fits": (240, 480, 960, 1920),
    "full": (240, 480, 960, 1920),
}
MIDDLE = 100
SWEEPS = 7
BEFORE = 4  # sweeps that are not timed: topics settle a little first
METHODS = (LIGHT, PUBLISHED, GIBBS, SCALAR, OURS)


def measure(scale: Scale, seed: int) -> list[Row]:
    """Seconds of a sweep of every method, over K and over the number of documents."""
    fewest = DOCUMENTS[scale][0]
    cases = [("K", method, k, fewest, k) for k in TOPICS[scale] for method in METHODS]
    cases += [("documents", method, n, n, MIDDLE) for n in DOCUMENTS[scale] for method in METHODS]
    return [
        {
            "over": over, "method": method, "x": x,
            "seconds": piece((over, method, x), seconds_of_sweep, method, n_documents, n_topics, seed),
        }
        for over, method, x, n_documents, n_topics in cases
    ]  # fmt: skip


def seconds_of_sweep(method: str, n_documents: int, n_topics: int, seed: int) -> float:
    """Least CPU seconds between the ends of two sweeps: topics, auxiliary variables and weights."""
    ends = []

    def note(_: Progress) -> None:
        ends.append(time.process_time())

    # One sample, kept after the last sweep, which is therefore left out. topoi's default is in its burn-in till then.
    settings = {"cost": 1.6, "margin": 64.0, "doc_topic_prior": 6.4 / n_topics, "n_samples": 1, "burn_in": SWEEPS - 1}
    fit(method, some(n_documents), n_topics, SWEEPS, seed, by_gibbs=False, callbacks=[note], **settings)
    return float(np.diff(ends)[BEFORE - 1 : -1].min())


def some(n_documents: int) -> Labelled:
    """So many documents at equal distances: the first of a class are longer than the others."""
    data = newsgroups(*DATA)
    rows = np.arange(n_documents) * data.X.shape[0] // n_documents
    return replace(data, X=data.X[rows], y=data.y[rows])


def judge(table: Table) -> Verdict:
    """LightMedLDA at most linear in K and linear in D, Gibbs MedLDA worse than linear in K."""
    k = {method: growth(table.where(over="K"), "seconds", "x", method=method) for method in METHODS}
    d = {method: growth(table.where(over="documents"), "seconds", "x", method=method) for method in METHODS}
    top = table.where(over="K")
    last = max(top.different("x"))
    time_of = {method: top.mean("seconds", method=method, x=last) for method in METHODS}
    first, before = top.different("x")[0], top.different("x")[-2]
    end = {
        method: np.log(time_of[method] / top.mean("seconds", method=method, x=before)) / np.log(last / before)
        for method in METHODS
    }
    linear = k[LIGHT] < 1.1 and abs(d[LIGHT] - 1) < 0.2
    worse = end[SCALAR] > 1.1
    tenfold = time_of[SCALAR] > 10 * time_of[LIGHT]
    ratio_before = top.mean("seconds", method=SCALAR, x=first) / top.mean("seconds", method=LIGHT, x=first)
    more = time_of[SCALAR] / time_of[LIGHT] > 1.1 * ratio_before
    return Verdict(
        together(linear, worse, tenfold, time_of[GIBBS] > 10 * time_of[LIGHT], more),
        f"Exponents in K from {first} to {last}: LightMedLDA {k[LIGHT]:.2f} ({k[PUBLISHED]:.2f} as published), Gibbs "
        f"MedLDA {k[SCALAR]:.2f} in scalar code and {k[GIBBS]:.2f} with SIMD; from {before} to {last} alone "
        f"{end[LIGHT]:.2f}, {end[SCALAR]:.2f} and {end[GIBBS]:.2f}. In D: {d[LIGHT]:.2f}, {d[SCALAR]:.2f} and "
        f"{d[GIBBS]:.2f}. A sweep at K = {last} takes Gibbs MedLDA {time_of[SCALAR] / time_of[LIGHT]:.1f} times as "
        f"long as LightMedLDA in scalar code (at K = {first} {ratio_before:.1f} times), "
        f"{time_of[GIBBS] / time_of[LIGHT]:.1f} times with SIMD, and topoi's default (in its burn-in) "
        f"{time_of[OURS] / time_of[LIGHT]:.2f} times.",
    )


def draw(table: Table, figure: Any) -> None:
    """Seconds of a sweep over K and over D, all axes logarithmic."""
    axes = panels(figure, 2)
    for axis, over, label in zip(axes, ("K", "documents"), ("topics K", f"documents, K = {MIDDLE}"), strict=True):
        part = table.where(over=over)
        curves(axis, part, "x", "seconds", "method")
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel="CPU s of a sweep")
        plain_ticks(axis.xaxis, part.different("x"))
        log_ticks(axis.yaxis, *axis.get_ylim())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)


FIGURE = Figure(
    name="light_complexity",
    paper="LightMedLDA, §3 and abstract",
    title="Time of a sweep over K and D",
    claim=(
        "A sweep of LightMedLDA is O(DK + DN), linear in the number of topics and of documents, where Gibbs MedLDA is "
        "O(K³ + DK² + DNK): an order of magnitude faster, and more for larger models."
    ),
    stand_in="",
    settings=(
        "4 of the 20 newsgroups, multi-task; c = 1.6, ℓ = 64, α = 6.4/K; K = 25, 100, 400 with 240 documents, and 240, "
        "480, 960 documents with K = 100. The least of two sweeps after four others.",
        "K = 25 … 1,600 with 240 documents, and up to 1,920 documents.",
    ),
    seeds=(2, 5),
    fits=("K = 25 … 800 with 240 documents, and up to 1,920 documents.", 3),
    measure=measure,
    keys=("over", "method", "x"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; {BOOKKEEPING}; {TABLE_AGES}.",
    timed=True,
)
