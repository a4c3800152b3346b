"""A fit with default settings: one thread and two, beside tomotopy's 1,000 iterations; time, perplexity, bytes."""

from __future__ import annotations

import argparse
import hashlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours, peers, report
from benchmarks.data import Problem, load_20ng
from benchmarks.harness import Results, alone, measure, options, pin, versions
from topoi import LDA

NAME = "default_fit"
ITERATIONS = 1000  # of tomotopy: what its users run
THREADS = {"topoi, one thread": 1, "topoi, two threads": 2}
PEERS = {"tomotopy, one worker": 1, "tomotopy, two workers": 2}


def main() -> None:
    parser = options(__doc__, [100])
    parser.add_argument("--contestants", nargs="+", default=[*THREADS, *PEERS], choices=[*THREADS, *PEERS])
    arguments = parser.parse_args()
    settings = {"quick": arguments.quick}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    measure(results, arguments.contestants, arguments.topics, arguments.rounds, lambda *a: alone(one, *a, settings))
    write_report(results, arguments)


def one(name: str, n_topics: int, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """A fit: its clock and CPU seconds, its perplexity, and a hash of its topics."""
    problem = load_20ng(settings["quick"])
    if (THREADS | PEERS)[name] == 1:
        pin(None)
    fit = topoi(problem, n_topics, seed, THREADS[name]) if name in THREADS else tomotopy(problem, n_topics, seed, name)
    load, clock, cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
    topics = fit()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    phi = topics()
    perplexity = problem.perplexity(phi)
    said = f"{clock:.1f} s, {cpu:.1f} CPU s, perplexity {perplexity:.1f}"
    digest = hashlib.blake2b(np.ascontiguousarray(phi).tobytes()).hexdigest()
    return {"clock": clock, "cpu": cpu, "perplexity": perplexity, "digest": digest, "load": load, "said": said,
            "versions": versions()}  # fmt: skip


Fit = Callable[[], Callable[[], NDArray[Any]]]


def topoi(problem: Problem, n_topics: int, seed: int, n_jobs: int) -> Fit:
    """`LDA(n_topics).fit(corpus)`, compiled."""
    LDA(n_topics, n_sweeps=8, random_state=0, n_jobs=n_jobs).fit(ours.small_corpus(problem))
    corpus = problem.corpus

    def fit() -> Callable[[], NDArray[Any]]:
        model = LDA(n_topics, random_state=seed, n_jobs=n_jobs).fit(corpus)
        return lambda: np.asarray(model.components_)

    return fit


def tomotopy(problem: Problem, n_topics: int, seed: int, name: str) -> Fit:
    """Training of `LDAModel` as it comes, documents added before."""
    model = peers.tomotopy_model(problem, n_topics, seed, learn_alpha=True)
    iterations = 20 if problem.is_sample else ITERATIONS

    def fit() -> Callable[[], NDArray[Any]]:
        if PEERS[name] == 1:
            peers.tomotopy_train(model, iterations)
        else:
            model.train(iterations, workers=PEERS[name])
        return lambda: peers.tomotopy_topics(model, problem.corpus.n_words)

    return fit


def write_report(results: Results, arguments: argparse.Namespace) -> None:
    rows, loads = [], []
    for name, n_topics in results.pairs():
        rounds = results.rounds(name, n_topics)
        loads += [entry["load"] for entry in rounds]
        clock, cpu = (min(entry[key] for entry in rounds) for key in ("clock", "cpu"))
        perplexity = float(np.mean([entry["perplexity"] for entry in rounds]))
        rows.append([name, str(n_topics), f"**{report.number(clock)}**", report.number(cpu), f"{perplexity:.1f}",
                     str(len(rounds))])  # fmt: skip
    header = ["fit", "K", "clock s", "CPU s", "perplexity", "rounds"]
    facts = [
        load_20ng(arguments.quick).describe(),
        "topoi: `LDA(K).fit(corpus)` with default settings, everything from the corpus to the fitted model; the "
        "perplexity is that of `components_`, the average of its samples.",
        f"tomotopy: {ITERATIONS:,} iterations of `LDAModel` with α learned, as it comes; α = 0.1, β = 0.01 at first; "
        "with one worker and no parallel scheme, or two workers and the scheme that it chooses. Adding documents is "
        "not counted. The perplexity is that of its last iteration.",
        "Least times of the rounds, mean perplexity. With one thread the process is pinned to one core. Compiling is "
        "not counted.",
        f"Load average of the machine before the fits (1 is the benchmark itself): {min(loads):.1f}–{max(loads):.1f}.",
    ]
    parts = [said(results), report.table(header, rows), f"## How\n\n{report.provenance(results, facts)}"]
    report.write(arguments.output, NAME, "A fit with default settings", "\n\n".join(parts), has_plot=False)


def said(results: Results) -> str:
    """The figures that matter, in words."""
    lines = []
    for n_topics in dict.fromkeys(k for _, k in results.pairs()):
        one, two = (results.rounds(name, n_topics) for name in THREADS)
        if one and two:
            gain = min(entry["clock"] for entry in one) / min(entry["clock"] for entry in two)
            pairs = [{entry["digest"] for entry in both} for both in zip(one, two, strict=False)]
            same = "the same bytes" if all(len(pair) == 1 for pair in pairs) else "**other bytes**"
            lines.append(f"- K = {n_topics}: two threads are {gain:.2f} times as fast as one, with {same}.")
        peer = results.rounds("tomotopy, one worker", n_topics)
        if one and peer:
            ours, theirs = (min(entry["cpu"] for entry in entries) for entries in (one, peer))
            lines.append(f"- K = {n_topics}: topoi takes 1/{theirs / ours:.0f} of the CPU time of tomotopy's "
                         f"{ITERATIONS:,} iterations.")  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    main()
