"""CPU seconds to the quality that tomotopy has after 100 sweeps: topoi and its peers on 20 Newsgroups."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks import ours, peers, report
from benchmarks.data import load_20ng, priors
from benchmarks.harness import Recorder, Results, alone, measure, options, pin, versions

NAME = "lda_quality"
REFERENCE = "tomotopy"
OURS = ("auto", "collapsed", "sparse", "delayed", "expected", "partial", "polya_urn", "light")
SWEEPS = (1, 2, 3, 5, 10, 15, 20, 30, 40, 50, 60, 75, 90, 100, 125, 150, 175, 200, 250, 300, 400, 500)
PASSES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
# A fit ends this much below the reference's first result, which may differ a little from its mean over the rounds.
MARGIN = 0.995

Point = tuple[int, float, float]


def main() -> None:
    parser = options(__doc__, [100, 400, 1000])
    parser.add_argument("--competitors", nargs="+", default=[*peers.PEERS, *OURS], help="who takes part")
    parser.add_argument("--sweeps", type=int, default=100, help="sweeps of tomotopy that set the target")
    parser.add_argument("--longest", type=int, default=200, help="sweeps after which any sampler stops")
    parser.add_argument("--cap", type=float, default=400.0, help="CPU seconds after which a fit is stopped")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sweeps, arguments.longest, arguments.cap = 20, 40, 10.0
    pinned = pin(arguments.core)
    settings = {key: getattr(arguments, key) for key in ("sweeps", "longest", "cap", "quick")}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    names = [REFERENCE, *(name for name in arguments.competitors if name != REFERENCE)]

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        return alone(one_fit, name, n_topics, round_, settings, first_target(results, n_topics))

    measure(results, names, arguments.topics, arguments.rounds, job)
    write_report(results, arguments, pinned)


def one_fit(name: str, n_topics: int, round_: int, settings: dict[str, Any], target: float | None) -> dict[str, Any]:
    """Fit one competitor, seeded by the round, and return its curve."""
    problem = load_20ng(settings["quick"])
    is_reference = name == REFERENCE
    problem.perplexity(np.full((2, problem.train.shape[1]), 1.0 / problem.train.shape[1]))  # compiles
    recorder = Recorder(
        problem.perplexity,
        check_points(name, settings["sweeps"] if is_reference else settings["longest"], settings["sweeps"]),
        np.inf if is_reference else settings["cap"],
        None if is_reference or target is None else MARGIN * target,
    )
    if name in peers.PEERS:
        peers.PEERS[name][0](problem, n_topics, round_, recorder)
    else:
        ours.fit(name, problem, n_topics, round_, recorder)
    step, seconds, value = recorder.points[-1]
    said = f"{value:.1f} after {step} steps, {seconds:.1f} CPU s ({recorder.stopped})"
    return {"points": recorder.points, "stopped": recorder.stopped, "said": said, "versions": versions()}


def check_points(name: str, longest: int, target_sweeps: int) -> list[int]:
    """Steps after which a competitor is evaluated."""
    if name in peers.PEERS and not peers.PEERS[name][1]:
        return list(PASSES)
    return sorted({step for step in SWEEPS if step < longest} | {longest, min(longest, target_sweeps)})


# ---- From curves to figures --------------------------------------------------------------------------------


def first_target(results: Results, n_topics: int) -> float | None:
    """The reference's quality in the first round that there is."""
    rounds = results.rounds(REFERENCE, n_topics)
    return rounds[0]["points"][-1][2] if rounds else None


def target(results: Results, n_topics: int) -> float:
    """The reference's quality at its last sweep, averaged over the rounds."""
    return float(np.mean([entry["points"][-1][2] for entry in results.rounds(REFERENCE, n_topics)]))


def reach(points: list[Point], goal: float) -> tuple[float, float] | None:
    """(Seconds, steps) at which a curve falls to the goal, log perplexity interpolated; None if it never does."""
    before = None
    for step, seconds, value in points:
        if value <= goal:
            if before is None:
                return seconds, step
            part = np.log(before[2] / goal) / np.log(before[2] / value)
            return before[1] + part * (seconds - before[1]), before[0] + part * (step - before[0])
        before = (step, seconds, value)
    return None


def reached(results: Results, name: str, n_topics: int) -> list[tuple[float, float]]:
    """(Seconds, steps) to the target in each round that gets there; the reference is there at its last sweep."""
    rounds = [entry["points"] for entry in results.rounds(name, n_topics)]
    if name == REFERENCE:
        return [(points[-1][1], points[-1][0]) for points in rounds]
    goal = target(results, n_topics)
    return [found for points in rounds if (found := reach(points, goal)) is not None]


def row(results: Results, name: str, n_topics: int, reference_seconds: float) -> list[str]:
    """One competitor's line of the table."""
    rounds = results.rounds(name, n_topics)
    if not rounds:
        return [name, "failed", "–", "–", "–", "–", "–"]
    ends = [entry["points"][-1] for entry in rounds]
    per_step = min(seconds / step for step, seconds, _ in ends)
    times = reached(results, name, n_topics)
    best = min(ends, key=lambda point: point[2])
    lowest = f"{best[2]:.0f} ({best[0]}, {number(best[1])} s)"
    if not times:
        capped = " (cap)" if any(entry["stopped"] == "cap" for entry in rounds) else ""
        return [name, f"not reached{capped}", "–", "–", "–", number(per_step), lowest]
    seconds, steps = min(times)
    spread = ", ".join(number(time) for time, _ in times) + (
        f"; {len(rounds) - len(times)} not reached" if len(times) < len(rounds) else ""
    )
    return [name, f"**{number(seconds)}**", spread, f"{steps:.0f}", f"{seconds / reference_seconds:.2f}",
            number(per_step), lowest]  # fmt: skip


number = report.number
HEADER = (
    "competitor", "CPU s to target", "each round", "steps", "× tomotopy", "CPU s a step", "lowest (steps, CPU s)",
)  # fmt: skip


def section(results: Results, n_topics: int) -> str:
    """Table of one number of topics."""
    names = [name for name, k in results.pairs() if k == n_topics]
    reference = min(seconds for seconds, _ in reached(results, REFERENCE, n_topics))
    rows = [row(results, name, n_topics, reference) for name in names]
    alpha, beta = priors(n_topics)
    title = f"## K = {n_topics} (α = {alpha:g}, β = {beta:g}): perplexity {target(results, n_topics):.1f}"
    return f"{title}\n\n{report.table(HEADER, rows)}"


def write_report(results: Results, arguments: argparse.Namespace, pinned: str) -> None:
    topics = sorted({k for name, k in results.pairs() if name == REFERENCE and results.rounds(name, k)})
    names = list(dict.fromkeys(name for name, _ in results.pairs()))
    intro = (
        f"CPU seconds of training, one thread, until the topics complete test documents as well as tomotopy's after "
        f"{arguments.sweeps} sweeps (mean over the rounds). Best round counts; time is interpolated between check "
        f"points, in log perplexity. Lower is better everywhere."
    )
    facts = [
        load_20ng(arguments.quick).describe(),
        "Quality: perplexity of one half of each test document given the other half, 30 EM steps, Σα = 10, one sample "
        "of each sampler; the same function for all, its time not counted.",
        f"Time: `time.process_time`, {pinned}, every fit in a fresh process, competitors taking turns, the round as "
        f"seed. Reading data and compiling are not counted; first topics count for topoi, not for tomotopy.",
        f"A fit stops {1 - MARGIN:.1%} below the target, after {arguments.longest} sweeps ({max(PASSES)} passes), or "
        f"above {arguments.cap:g} CPU seconds (the last step is finished; tomotopy itself has no limit).",
        f"topoi: `topoi.chain.loop` with one sample at the end; `auto` is the estimator's plan for {arguments.longest} "
        "sweeps, half of them burn-in; other names are its samplers.",
        *(f"{name}: {peers.PEERS[name][2]}." for name in names if name in peers.PEERS),
    ]
    parts = [intro, *(section(results, k) for k in topics), "## How", report.provenance(results, facts)]
    draw(results, topics, names, arguments)
    report.write(arguments.output, NAME, "LDA: quality for time", "\n\n".join(parts))


def draw(results: Results, topics: list[int], names: list[str], arguments: argparse.Namespace) -> None:
    """One panel for each K: perplexity over CPU seconds, the round that ends first of each competitor."""
    figure, axes = report.panels(len(topics), 5.0, 4.8)
    styles = report.styles(names, peers.PEERS)
    for axis, n_topics in zip(axes, topics, strict=True):
        for name in names:
            rounds = results.rounds(name, n_topics)
            if rounds:
                points = np.array(min(rounds, key=lambda entry: entry["points"][-1][1])["points"])
                label = name if name in peers.PEERS else f"topoi {name}"
                axis.plot(points[:, 1], points[:, 2], label=label, **styles[name])
        goal = target(results, n_topics)
        axis.axhline(goal, color="#444444", linewidth=1, linestyle=":")
        axis.annotate(f"tomotopy after {arguments.sweeps} sweeps: {goal:.0f}", (0.66, goal), xytext=(0, -3),
                      xycoords=("axes fraction", "data"), textcoords="offset points", va="top", ha="center", fontsize=8,
                      color="#444444")  # fmt: skip
        axis.set(xscale="log", yscale="log", title=f"K = {n_topics}", xlabel="CPU seconds of training")
        report.plain_ticks(axis.xaxis, report.decade_ticks(*axis.get_xlim()))
        axis.set_ylim(0.96 * goal, min(axis.get_ylim()[1], 2.2 * goal))
        report.plain_ticks(axis.yaxis, report.even_ticks(*axis.get_ylim()))
    axes[0].set_ylabel("document-completion perplexity")
    figure.legend(
        *_legend(axes), loc="outside lower center", ncols=5 if len(axes) > 1 else 3, frameon=False, fontsize=9
    )
    report.save(figure, arguments.output, NAME)


def _legend(axes: list[Any]) -> tuple[list[Any], list[str]]:
    """Every competitor once, wherever it was drawn."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


if __name__ == "__main__":
    main()
