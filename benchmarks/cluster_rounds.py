"""Where the time of a sweep goes on two Dask workers: round by round, what tasks do, and how long nobody does anything.

    python -m benchmarks.cluster_rounds [--task LDA | "150 labels"] [--sampler partial] [--sweeps 8] [--threads]

Of every kind of round, per sweep (the mean of all sweeps but the first and the last): seconds of the round by the
clock; of both workers together the seconds in tasks, split by what they do there (each function without what it calls
of the others), CPU seconds, page faults, and the seconds in which a worker has no task of the round: before its first
one, in between, and after its last one. `driver` is what lies between rounds. With --threads, "blocks" on two threads.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import os
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cluster import QUICK_DOCUMENTS, TASKS, _digest
from benchmarks.data import data_folder
from topoi import LDA, Corpus, MedLDAClassifier
from topoi.chain.engines import cluster
from topoi.chain.engines.cluster._workers import Dask, Threads

HERE = "topoi.chain.engines.cluster"
#: Functions that are timed: where a name is looked up, the name, and what it is called in the table.
WATCHED = (
    (f"{HERE}._job", "Layout.read", "read layout"),
    (f"{HERE}._documents", "group_state", "read topics, model"),
    (f"{HERE}._documents", "group_corpus", "open group"),
    (f"{HERE}._documents", "read_factor", "read factor"),
    (f"{HERE}._counts", "ByTokens._count", "count tokens"),
    (f"{HERE}._counts", "ByTokens.counted", "pack counts"),
    (f"{HERE}._documents", "write_counts", "write counts"),
    (f"{HERE}._documents", "_write_topics", "write topics"),
    (f"{HERE}._documents", "_write_pairs", "write pairs"),
    (f"{HERE}._documents", "write_seen", "write seen"),
    (f"{HERE}._words", "_sum", "add up counts"),
    (f"{HERE}._words", "read_seen", "read seen"),
    (f"{HERE}._words", "shard_state", "open shard"),
    (f"{HERE}._words", "_write", "write factor"),
    (f"{HERE}._weights", "read_arrays", "read pairs"),
    (f"{HERE}._weights", "read_items", "read pairs"),
    (f"{HERE}._weights", "joined", "join pairs"),
    ("topoi.chain.samplers.base", "Sampler.move", "draw topics"),
    ("topoi.chain.responses.supervision", "Supervision.refresh", "refresh"),
    ("topoi.chain.responses.supervision", "Supervision.observe", "observe"),
    ("topoi.chain.responses.supervision", "Supervision.draw_weights", "draw weights"),
    ("topoi.chain.factors.dirichlet", "DirichletFactor.draw", "draw factor"),
)
local = threading.local()


def watched(function: Callable[..., Any], label: str) -> Callable[..., Any]:
    """The function, with its time noted under a label."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        stack = getattr(local, "stack", None)
        if not stack:
            return function(*args, **kwargs)
        begun = time.perf_counter()
        stack.append(0.0)
        try:
            return function(*args, **kwargs)
        finally:
            took = time.perf_counter() - begun
            local.parts[label] += took - stack.pop()
            stack[-1] += took

    return run


@functools.cache
def watch() -> None:
    """Time the functions of this process."""
    for module, name, label in WATCHED:
        owner: Any = importlib.import_module(module)
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        made = watched(getattr(owner, last), label)
        setattr(owner, last, staticmethod(made) if last == "read" else made)


class Timed:
    """A task that says beside its answer what it took."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task, self.__name__ = task, task.__name__

    def __call__(self, *args: Any) -> Any:
        """Run the task."""
        watch()
        local.stack, local.parts = [0.0], defaultdict(float)
        usage, cpu, begun = faults(), time.thread_time(), time.time()
        answer = self.task(*args)
        end = time.time()
        local.parts["other"] += end - begun - local.stack.pop()
        who = (os.getpid(), threading.get_ident())
        return answer, (self.__name__, who, begun, end, time.thread_time() - cpu, faults() - usage, dict(local.parts))


def faults() -> int:
    """Page faults of this process so far; of the system's that do not tell, none."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def timed(kind: type[Any]) -> type[Any]:
    """Workers that keep what their tasks say."""

    class Noted(kind):  # type: ignore[misc]
        rounds: list[Any]

        def map(
            self, task: Callable[..., Any], job: Any, *given: Any, over: Iterable[Any], **options: Any
        ) -> list[Any]:
            """A round."""
            begun = time.time()
            found = super().map(Timed(task), job, *given, over=over, **options)
            self.rounds.append((task.__name__, begun, time.time(), [record for _, record in found]))
            return [answer for answer, _ in found]

    return Noted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="LDA", choices=list(TASKS))
    parser.add_argument("--sampler", default="partial")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=8)
    parser.add_argument("--threads", action="store_true", help='"blocks" on two threads')
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    data, labelled = TASKS[args.task]
    rows = slice(0, QUICK_DOCUMENTS if args.quick else None)
    noted: list[Any] = []
    ends: list[float] = []
    original = cluster.open_workers

    def opened(engine: Any, pool: Any, say: Any) -> Any:
        import contextlib

        workers = timed(Threads)(pool) if args.threads else timed(Dask)(engine, say)
        workers.rounds = noted
        return contextlib.nullcontext(workers)

    with tempfile.TemporaryDirectory() as folder:
        Corpus.from_counts(sparse.load_npz(data_folder() / data / "train.npz")[rows]).save(Path(folder) / "corpus")
        settings: dict[str, Any] = {
            "n_topics": args.topics, "sampler": args.sampler, "n_sweeps": args.sweeps, "n_samples": 1,
            "random_state": 0, "callbacks": [lambda _: ends.append(time.time())],
        }  # fmt: skip
        corpus = Corpus.load(Path(folder) / "corpus")

        def fit(engine: Any, n_jobs: int) -> Any:
            cluster.open_workers = opened  # type: ignore[assignment]
            if labelled:
                y = sparse.load_npz(data_folder() / data / "train_labels.npz")[rows]
                return MedLDAClassifier(**settings, refit=False, engine=engine, n_jobs=n_jobs).fit(corpus, y)
            return LDA(**settings, engine=engine, n_jobs=n_jobs).fit(corpus)

        try:
            if args.threads:
                model = fit("blocks", 2)
            else:
                from distributed import Client, LocalCluster

                with (
                    LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
                    Client(workers) as client,
                ):
                    model = fit(client, 1)
        finally:
            cluster.open_workers = original
    show(noted, ends)
    print("topics", _digest(model.model_.last_counts.sorted_indices()))


def show(noted: list[Any], ends: list[float]) -> None:
    """Print the tables."""
    begin, end = ends[0], ends[-2]
    n = len(ends) - 2
    inside = [one for one in noted if begin <= one[1] and one[2] <= end]
    print(f"sweeps: {' '.join(f'{x:.3f}' for x in np.diff(ends))} s; per sweep of the {n} in between:\n")
    busy = sum(one[2] - one[1] for one in inside)
    print(f"all {(end - begin) / n:.3f} s, rounds {busy / n:.3f}, driver {(end - begin - busy) / n:.3f}\n")
    for kind in dict.fromkeys(one[0] for one in inside):
        chosen = [one for one in inside if one[0] == kind]
        wall, cpu, fault, tasks, inner = 0.0, 0.0, 0, 0, 0.0
        idle, parts = np.zeros(3), defaultdict(float)
        for _, first, last, records in chosen:
            wall += last - first
            by: dict[Any, list[Any]] = defaultdict(list)
            for record in records:
                by[record[1]].append(record)
                cpu, fault, tasks, inner = cpu + record[4], fault + record[5], tasks + 1, inner + record[3] - record[2]
                for label, took in record[6].items():
                    parts[label] += took
            for theirs in by.values():
                theirs.sort(key=lambda record: record[2])
                gaps = sum(b[2] - a[3] for a, b in pairwise(theirs))
                idle += [theirs[0][2] - first, gaps, last - theirs[-1][3]]
            idle[2] += (2 - len(by)) * (last - first)  # a worker without any
        said = ", ".join(f"{label} {took / n:.3f}" for label, took in sorted(parts.items(), key=lambda item: -item[1]))
        print(
            f"{kind}: {wall / n:.3f} s, {tasks / n:g} tasks in {len(chosen) / n:g} rounds: {inner / n:.3f} s in tasks "
            f"({cpu / n:.3f} CPU, {fault / n:.0f} page faults), idle before {idle[0] / n:.3f}, between "
            f"{idle[1] / n:.3f}, after {idle[2] / n:.3f}\n    {said}"
        )


if __name__ == "__main__":  # workers get `Timed` by the name of its module, which is not __main__ there
    importlib.import_module("benchmarks.cluster_rounds").main()
