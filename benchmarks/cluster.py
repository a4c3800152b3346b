"""What a cluster costs: seconds per sweep in memory, in files, and on Dask workers, on one machine.

CPU time is that of all processes together: what it has more than the fit in memory is overhead. Wall-clock time says
something only where nothing else runs. The first sweep is left out (compilation, page cache), and the last, after which
the log joint is evaluated.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import report
from benchmarks.data import data_folder
from benchmarks.harness import Results, alone, measure, options, versions
from topoi import LDA, Corpus, MedLDAClassifier

NAME = "cluster"
#: Data sets, and whether a model learns their labels.
TASKS = {"LDA": ("arxiv_588k", False), "150 labels": ("arxiv_120k", True)}
#: Engines, and their threads or workers.
ENGINES = {
    "in memory, 1 thread": (None, 1),
    "in memory, 2 threads": (None, 2),
    '"blocks", 1 thread': ("blocks", 1),
    '"blocks", 2 threads': ("blocks", 2),
    "Dask, 2 workers of 1 thread": ("dask", 2),
}
THREADS, WORKERS = "in memory, 2 threads", "Dask, 2 workers of 1 thread"
SWEEPS, QUICK_DOCUMENTS = 7, 2000


class Clock:
    """CPU seconds of the driver and of its workers, and wall-clock time, after every sweep."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.times: list[tuple[float, float, float]] = []

    def __call__(self, progress: Any) -> None:
        """Note the times."""
        workers = [] if self.client is None else self.client.run(time.process_time).values()
        self.times.append((time.process_time(), sum(workers), time.perf_counter()))

    def least(self) -> list[float]:
        """CPU of the driver, CPU of the workers, wall-clock time: those of the quickest sweep."""
        sweeps = np.diff(np.array(self.times), axis=0)[:-1]
        found: list[float] = sweeps[sweeps[:, 2].argmin()].tolist()
        return found


def main() -> None:
    parser = options(__doc__, [100])
    arguments = parser.parse_args()
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)
    names = [f"topoi: {task}: {engine}" for task in TASKS for engine in ENGINES]
    measure(results, names, arguments.topics, arguments.rounds, lambda *a: alone(one, *a, arguments.quick))
    write_report(results, arguments)


def one(name: str, n_topics: int, seed: int, quick: bool) -> dict[str, Any]:
    """A fit of a few sweeps, timed; the same seed in every round, so that all engines end with the same topics."""
    _, task, engine_name = name.split(": ")
    (data, labelled), (engine, n) = TASKS[task], ENGINES[engine_name]
    rows = slice(0, QUICK_DOCUMENTS if quick else None)
    settings = {
        "n_topics": n_topics, "sampler": "partial", "n_sweeps": SWEEPS, "n_samples": 1, "random_state": 0,
        "n_jobs": 1 if engine == "dask" else n,
    }  # fmt: skip
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        Corpus.from_counts(sparse.load_npz(data_folder() / data / "train.npz")[rows]).save(folder / "corpus")
        corpus, client = Corpus.load(folder / "corpus"), None
        if engine == "dask":
            from distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")
            engine = client = opened.enter_context(Client(opened.enter_context(cluster)))
        clock = Clock(client)
        if labelled:
            y = sparse.load_npz(data_folder() / data / "train_labels.npz")[rows]
            model: Any = MedLDAClassifier(**settings, refit=False, engine=engine, callbacks=[clock]).fit(corpus, y)
        else:
            model = LDA(**settings, engine=engine, callbacks=[clock]).fit(corpus)
        counts = model.model_.last_counts.sorted_indices()
    driver, workers, wall = clock.least()
    return {
        "driver": driver, "workers": workers, "wall": wall, "load": os.getloadavg()[0], "versions": versions(),
        "topics": _digest(counts),
        "documents": corpus.n_documents, "tokens": corpus.n_tokens, "words": corpus.n_words,
        "said": f"{wall:.2f} s by the clock, {driver:.2f} + {workers:.2f} CPU s",
    }  # fmt: skip


def _digest(counts: sparse.csr_array) -> str:
    return hashlib.blake2b(counts.data.tobytes() + counts.indices.tobytes(), digest_size=8).hexdigest()


def write_report(results: Results, arguments: argparse.Namespace) -> None:
    parts, said, sizes, loads = [], [], [], []
    for n_topics in arguments.topics:
        for task, (data, _) in TASKS.items():
            best = {}
            for engine in ENGINES:
                rounds = results.rounds(f"topoi: {task}: {engine}", n_topics)
                if rounds:
                    best[engine] = min(rounds, key=lambda entry: entry["wall"])
                    loads += [entry["load"] for entry in rounds]
            if not best:
                continue
            rows = [
                [engine, report.number(entry["wall"]), report.number(entry["driver"]), report.number(entry["workers"])]
                for engine, entry in best.items()
            ]
            header = ["engine", "clock, s per sweep", "CPU s, driver", "workers"]
            parts.append(f"## {task}, K = {n_topics}\n\n{report.table(header, rows)}")
            same = len({entry["topics"] for entry in best.values()}) == 1
            if THREADS in best and WORKERS in best:
                ratio = best[THREADS]["wall"] / best[WORKERS]["wall"]
                end = "All engines end with the same topics." if same else "**Topics differ.**"
                said.append(f"- {task}: two workers have **{ratio:.2f}** of the speed of two threads. {end}")
            size = next(iter(best.values()))
            numbers = "{documents:,} documents, {tokens:,} tokens of {words:,} words".format(**size)
            sizes.append(f"{task}: {data}, {numbers}.")
    facts = [
        *sizes,
        f"Sampler `partial`, {SWEEPS} sweeps; the quickest sweep of all rounds but the first and last of each. Models "
        "of labels have the hinge loss, and predict by the chain (`refit=False`).",
        f"Load average of the machine meanwhile (the benchmark is 1 to 2 of it): {min(loads):.1f}–{max(loads):.1f}.",
    ]
    body = "\n\n".join(["\n".join(said), *parts, f"## How\n\n{report.provenance(results, facts)}"])
    report.write(arguments.output, NAME, "What a cluster costs", body, has_plot=False)


if __name__ == "__main__":
    main()
