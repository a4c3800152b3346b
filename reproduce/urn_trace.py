"""Pólya Urn LDA, Figures 2 and 3: the log posterior over time and over iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Stopwatch
from benchmarks.report import decade_ticks, plain_ticks, styles
from reproduce.chains import ALL, compiled
from reproduce.corpora import corpus
from reproduce.drawing import legend
from reproduce.harness import Figure, Verdict
from reproduce.table import Row, Table
from reproduce.urns import ALPHA, BETA, DENSE, METHODS, OPPONENT, STAND_IN, URN, WALKED
from topoi.chain.diagnostics import log_joint
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state
from topoi.corpus import Corpus

TOPICS = (10, 100, 1000)
TRACED = tuple(method for method in METHODS if method != WALKED)  # whose chain is that of the opponent
CHECKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300, 500, 700, 1000)
QUICK_DOCUMENTS, QUICK_SWEEPS, FULL_SWEEPS = 500, 40, 1000


def measure(quick: bool, seed: int) -> list[Row]:
    documents = corpus("20ng", QUICK_DOCUMENTS if quick else None)
    n_sweeps = QUICK_SWEEPS if quick else FULL_SWEEPS
    return [row for k in TOPICS for method in TRACED for row in trace(documents, k, method, n_sweeps, seed)]


def trace(documents: Corpus, n_topics: int, method: str, n_sweeps: int, seed: int) -> list[Row]:
    """CPU seconds and log joint per token along a chain from random topics."""
    name, options = METHODS[method]
    compiled(name, **options)
    state = new_state(documents, fixed_priors(np.full(n_topics, ALPHA), BETA), seed)
    rows: list[Row] = []
    watch = Stopwatch()
    with watch:
        sampler = ALL[name](state, **options)
    for sweep in range(1, n_sweeps + 1):
        with watch:
            sampler.sweep()
        if sweep in CHECKS:
            value = log_joint(state) / documents.n_tokens
            rows.append({"K": n_topics, "method": method, "sweep": sweep, "seconds": watch.seconds, "log_joint": value})
    return rows


def judge(table: Table) -> Verdict:
    last = max(table.different("sweep"))
    end = {(k, m): table.mean("log_joint", K=k, method=m, sweep=last) for k in TOPICS for m in TRACED}
    took = {(k, m): table.mean("seconds", K=k, method=m, sweep=last) for k in TOPICS for m in TRACED}
    gap = {k: end[k, URN] - end[k, OPPONENT] for k in TOPICS}
    quicker = {k: took[k, OPPONENT] / took[k, URN] for k in TOPICS}
    over_dense = {k: took[k, DENSE] / took[k, URN] for k in TOPICS}

    def each(values: dict[int, float], form: str) -> str:
        return ", ".join(f"{value:{form}} (K = {k})" for k, value in values.items())

    text = (
        f"After {last} sweeps the urn's log joint per token differs from that of the partially collapsed sampler by "
        f"{each(gap, '+.3f')}, of about {end[100, URN]:.1f}. It takes the {last} sweeps {each(quicker, '.1f')} times "
        f"as fast as the sampler that the paper compares with, and {each(over_dense, '.1f')} times as fast as ours, "
        f"which weighs all topics at once."
    )
    alike = all(abs(gap[k]) < 0.01 * abs(end[k, OPPONENT]) for k in TOPICS)
    faster = all(quicker[k] > 1 for k in TOPICS if k > 10)
    if not alike:
        text += " Likely because most words are rare in so few documents: see `urn_data_size`."
    return Verdict("yes" if alike and faster else "in part" if alike or faster else "no", text)


def draw(table: Table, figure: Any) -> None:
    figure.set_size_inches(9, 5.6)
    axes = figure.subplots(2, len(TOPICS), squeeze=False)
    looks = styles(list(TRACED))
    for column, k in enumerate(TOPICS):
        for row, x in enumerate(("seconds", "sweep")):
            axis = axes[row][column]
            axis.grid(True, color="#e3e3e3")
            for method in TRACED:
                at, mean, sd = table.curve(x, "log_joint", K=k, method=method)
                look = looks[method] | {"markersize": 3, "linewidth": 1.2}
                axis.errorbar(at, mean, np.nan_to_num(sd), label=method, **look)
            axis.set_xscale("log")
            plain_ticks(axis.xaxis, decade_ticks(*axis.get_xlim())[:: 1 if k == 10 or x == "sweep" else 2])
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_xlabel(f"{'Fig. 2: CPU seconds' if x == 'seconds' else 'Fig. 3: sweeps'}, K = {k}", fontsize=9)
            axis.tick_params(labelsize=8)
        axes[0][column].sharey(axes[1][column])
    for row in axes:
        row[0].set_ylabel("log joint per token", fontsize=9)
    legend(axes[0][0], loc="lower right")


FIGURE = Figure(
    name="urn_trace",
    paper="Pólya Urn LDA, Fig. 2–3",
    title="Pólya Urn LDA: log posterior over time and iterations",
    claim="Pólya Urn LDA is faster than partially collapsed LDA in all cases (K = 100, 1000; nearly the same at K = "
    "10), and over iterations the two look identical.",
    stand_in=STAND_IN,
    settings=(
        f"{QUICK_DOCUMENTS:,} documents of 20 Newsgroups, {QUICK_SWEEPS} sweeps from random topics; α = 0.1, β = 0.01.",
        f"all documents of 20 Newsgroups, {FULL_SWEEPS:,} sweeps; α = 0.1, β = 0.01.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("K", "method", "sweep"),
    judge=judge,
    draw=draw,
    timed=True,
)
