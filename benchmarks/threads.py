"""Two threads against one: wall time of sweeps of the parallel samplers, and whether the bytes are the same."""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from typing import Any

import numpy as np

from benchmarks import ours, report
from benchmarks.data import load_20ng
from benchmarks.harness import Results, alone, measure, options, versions
from benchmarks.med_speed import supervised
from topoi._machine.pool import Pool
from topoi.chain.samplers import SAMPLERS

NAME = "threads"
SUPERVISED = "20 tasks, "
PARALLEL = [name for name, kind in SAMPLERS.items() if kind.factor_class.fixed]
CONTESTANTS = [*PARALLEL, *(SUPERVISED + name for name in PARALLEL)]
START, SWEEPS = 5, 4


def main() -> None:
    parser = options(__doc__, [100, 400])
    parser.add_argument("--contestants", nargs="+", default=CONTESTANTS, choices=CONTESTANTS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    arguments = parser.parse_args()
    settings = {"threads": arguments.threads, "quick": arguments.quick}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    measure(results, arguments.contestants, arguments.topics, arguments.rounds, lambda *a: alone(one, *a, settings))
    write_report(results, arguments)


def one(name: str, n_topics: int, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Wall seconds of a sweep for each number of threads, taking turns; the topics and weights that they end with."""
    seconds: dict[int, list[float]] = {n: [] for n in settings["threads"]}
    chains = {n: Chain(name, n_topics, seed, n, settings["quick"]) for n in settings["threads"]}
    for sweep in range(START + SWEEPS):
        for n, chain in chains.items():
            begun = time.perf_counter()
            chain.sampler.sweep()
            if sweep >= START:
                seconds[n].append(time.perf_counter() - begun)
    least = {n: min(values) for n, values in seconds.items()}
    digests = {chain.digest() for chain in chains.values()}
    said = ", ".join(f"{n} threads {value:.3f} s" for n, value in least.items())
    return {"seconds": list(least.values()), "same": len(digests) == 1, "said": said, "versions": versions(),
            "load": os.getloadavg()[0]}  # fmt: skip


class Chain:
    """A state and its sampler on some threads."""

    def __init__(self, name: str, n_topics: int, seed: int, n_threads: int, quick: bool) -> None:
        if name.startswith(SUPERVISED):
            self.state = supervised(n_topics, 8, 2, seed)
        else:
            self.state = ours.start(load_20ng(quick).corpus, n_topics, seed)
        self.sampler = SAMPLERS[name.removeprefix(SUPERVISED)](self.state, Pool(n_threads))

    def digest(self) -> str:
        """Hash of all that the chain is."""
        s = self.state.supervision
        arrays = [self.state.z] if s is None else [self.state.z, s.eta, s.omega]
        return hashlib.blake2b(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def write_report(results: Results, arguments: argparse.Namespace) -> None:
    rows = []
    for name, n_topics in results.pairs():
        rounds = results.rounds(name, n_topics)
        least = [min(values) for values in zip(*(entry["seconds"] for entry in rounds), strict=True)]
        same = "yes" if all(entry["same"] for entry in rounds) else "**no**"
        rows.append([name, str(n_topics), *map(report.number, least), f"**{least[0] / least[-1]:.2f}×**", same])
    header = ["sampler", "K", *(f"{n} threads, s" for n in arguments.threads), "gain", "same bytes"]
    loads = [entry["load"] for name, k in results.pairs() for entry in results.rounds(name, k)]
    facts = [
        f"20 Newsgroups, all words; with 20 tasks: stop words removed, weights included. {START} sweeps before, then "
        f"{SWEEPS} timed, the numbers of threads taking turns; wall time, least sweep of all rounds.",
        f"Load average of the machine meanwhile (the benchmark is 1 to 2 of it): {min(loads):.1f}–{max(loads):.1f}.",
    ]
    body = f"{report.table(header, rows)}\n\n## How\n\n{report.provenance(results, facts)}"
    report.write(arguments.output, NAME, "Threads", body, has_plot=False)


if __name__ == "__main__":
    main()
