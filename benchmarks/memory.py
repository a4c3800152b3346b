"""Peak memory of a fit beyond its input: topoi and its peers on 20 Newsgroups."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import ours, peers, report
from benchmarks.data import load_20ng
from benchmarks.harness import Recorder, Results, alone, measure, options, pin, versions

NAME = "memory"
REFERENCE = "tomotopy"
STATUS = Path("/proc/self/status")
OURS = ("auto", "collapsed", "sparse", "polya_urn")


def main() -> None:
    parser = options(__doc__, [100, 1000])
    parser.add_argument("--competitors", nargs="+", default=[REFERENCE, "lda", *OURS])
    parser.add_argument("--sweeps", type=int, default=4)
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    settings = {"sweeps": arguments.sweeps, "quick": arguments.quick}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    measure(results, arguments.competitors, arguments.topics, arguments.rounds, lambda *a: alone(one_fit, *a, settings))
    rows = []
    for name, n_topics in sorted(results.pairs(), key=lambda pair: pair[1]):
        best = min(entry["peak"] for entry in results.rounds(name, n_topics))
        reference = min((entry["peak"] for entry in results.rounds(REFERENCE, n_topics)), default=None)
        ratio = "–" if reference is None else f"{best / reference:.2f}"
        rows.append([name, str(n_topics), f"**{best:.0f}**", ratio])
    facts = [
        load_20ng(arguments.quick).describe(),
        "Highest resident memory of the process in a fit, less what it was with packages imported, kernels compiled "
        "and the sparse matrix read (topoi's compact copy of the words and a peer's own copy count).",
        f"{arguments.sweeps} sweeps, half of them burn-in for `auto`; one fresh process each, {pinned}.",
    ]
    table = report.table(["competitor", "K", "MB", "× tomotopy"], rows)
    draw(results, arguments)
    body = f"{table}\n\n## How\n\n{report.provenance(results, facts)}"
    report.write(arguments.output, NAME, "Peak memory of LDA beyond the input", body)


class Sweeps(Recorder):
    """Counts sweeps, and does not look at the topics, which would be an array as large as a fit."""

    def step(self, model: Callable[[], Any]) -> bool:
        """Note that a step is done."""
        self.n_steps += 1
        return self.n_steps >= max(self.check_points)


def peak() -> float:
    """Highest resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def resident() -> float:
    """Resident memory now, in MB; the highest so far on systems that do not tell."""
    if not STATUS.exists():
        return peak()
    return next(float(line.split()[1]) / 1e3 for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))


def one_fit(name: str, n_topics: int, round_: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit one competitor and return what it added to the peak."""
    problem = load_20ng(settings["quick"])
    recorder = Sweeps(lambda _: 0.0, [settings["sweeps"]], float("inf"))
    if name in peers.PEERS:
        __import__(name)
        before = resident()
        peers.PEERS[name][0](problem, n_topics, round_, recorder)
    else:
        ours.warm_up(problem, name, n_topics)  # which also makes the corpus, to find the plan
        vars(problem).pop("corpus")
        before = resident()
        ours.fit(name, problem, n_topics, round_, recorder)
    added = peak() - before
    return {"peak": added, "said": f"{added:.0f} MB beyond {before:.0f} MB", "versions": versions()}


def draw(results: Results, arguments: Any) -> None:
    """A bar for each competitor and K."""
    pairs = sorted(results.pairs(), key=lambda pair: pair[1])
    figure, (axis,) = report.panels(1, 6.5, 0.3 * len(pairs) + 1.0)
    values = [min(entry["peak"] for entry in results.rounds(*pair)) for pair in pairs]
    colours = [report.COLOURS[1] if name in peers.PEERS else report.COLOURS[0] for name, _ in pairs]
    axis.barh(range(len(pairs)), values, color=colours)
    axis.set_yticks(range(len(pairs)), [f"{name}, K = {k}" for name, k in pairs])
    axis.invert_yaxis()
    axis.set_xlabel("MB beyond the input")
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
