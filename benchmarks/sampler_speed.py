"""Tokens per second of every sampler on one core, at a state that has converged."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours, report
from benchmarks.data import Problem, load_20ng
from benchmarks.harness import Results, Stopwatch, measure, options, pin
from topoi.chain.loop import Rules, Schedule, run
from topoi.chain.plan import Plan
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State

NAME = "sampler_speed"
LEAST_SWEEPS = 2


def main() -> None:
    parser = options(__doc__, [20, 100, 400, 1000])
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS), help="which")
    parser.add_argument("--start", type=int, default=30, help="sweeps of `delayed` before anything is timed")
    parser.add_argument("--seconds", type=float, default=2.0, help="least CPU seconds of sweeps to time")
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    problem = load_20ng(arguments.quick)
    settings = {key: getattr(arguments, key) for key in ("start", "seconds", "quick")}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)

    @cache
    def topics_at(n_topics: int) -> NDArray[Any]:
        return converged(problem, n_topics, arguments.start).z

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        state = ours.start(problem.corpus, n_topics, seed=round_)
        state.z[:] = topics_at(n_topics)
        return speed(name, state, arguments.seconds)

    measure(results, arguments.samplers, arguments.topics, arguments.rounds, job)
    write_report(results, problem, arguments, pinned)


def converged(problem: Problem, n_topics: int, n_sweeps: int) -> State:
    """A state after so many sweeps with delayed counts."""
    state = ours.start(problem.corpus, n_topics, seed=0)
    run(state, Plan("delayed", "delayed"), Schedule(n_sweeps, 1), Rules(evaluate_every=n_sweeps + 1))
    return state


def speed(name: str, state: State, least_seconds: float) -> dict[str, Any]:
    """Tokens per CPU second over a few sweeps; a sweep before them compiles what is not yet compiled."""
    sampler = SAMPLERS[name](state)
    sampler.sweep()
    watch, n_sweeps = Stopwatch(), 0
    while n_sweeps < LEAST_SWEEPS or watch.seconds < least_seconds:
        with watch:
            info = sampler.sweep()
        n_sweeps += 1
    rate = n_sweeps * state.corpus.n_tokens / watch.seconds
    return {"rate": rate, "n_sweeps": n_sweeps, "info": info, "said": f"{rate / 1e6:.2f} M tokens/s"}


def best(results: Results, name: str, n_topics: int) -> float:
    """Tokens per second in the best round; nan if there is none."""
    return max((entry["rate"] for entry in results.rounds(name, n_topics)), default=np.nan)


def write_report(results: Results, problem: Problem, arguments: argparse.Namespace, pinned: str) -> None:
    names = list(dict.fromkeys(name for name, _ in results.pairs()))
    topics = sorted({k for _, k in results.pairs()})
    rows = [
        [name, _kind(name), *(report.number(best(results, name, k) / 1e6) for k in topics)]
        for name in names
    ]  # fmt: skip
    grid = report.table(["sampler", "", *(f"K = {k}" for k in topics)], rows)
    facts = [
        problem.describe(),
        f"Start: {arguments.start} sweeps of `delayed`, then one sweep of the sampler that is not timed. Timed: whole "
        f"sweeps, with whatever is made once in a sweep, for at least {arguments.seconds:g} CPU seconds and "
        f"{LEAST_SWEEPS} sweeps.",
        f"Time: `time.process_time`, one thread, {pinned}, samplers taking turns, best of the rounds.",
        "Priors: β = 0.01, α = 0.1 up to 200 topics, 50/K above.",
    ]
    draw(results, names, topics, arguments)
    intro = "Million tokens per CPU second, one thread. A sampler that is quicker per token may need more sweeps."
    body = "\n\n".join([intro, grid, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "Samplers: tokens per second", body)


def _kind(name: str) -> str:
    if name not in SAMPLERS:  # measured before it was renamed or removed
        return "–"
    kind = SAMPLERS[name]
    return f"{'exact' if kind.exact else 'approximate'}, {'parallel' if kind.factor_class.fixed else 'sequential'}"


def draw(results: Results, names: list[str], topics: list[int], arguments: argparse.Namespace) -> None:
    """Rate over K, both logarithmic."""
    figure, (axis,) = report.panels(1, 7.0, 4.4)
    for name, style in report.styles(names).items():
        axis.plot(topics, [best(results, name, k) / 1e6 for k in topics], label=name, **style)
    axis.set(xscale="log", yscale="log", xlabel="topics K", ylabel="million tokens per CPU second")
    report.plain_ticks(axis.xaxis, topics)
    report.plain_ticks(axis.yaxis, report.decade_ticks(*axis.get_ylim()))
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
