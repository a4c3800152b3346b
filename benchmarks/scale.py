"""What a sweep over a corpus larger than memory costs: time, memory and files, for sizes that grow.

    python -m benchmarks.scale --documents 100000 300000 1000000 --folder /scratch

The corpora are drawn from LDA with a Zipf vocabulary, and kept in `--folder`. They are fitted with topics in files, by
threads of one process (`engine="blocks"`) and by two Dask workers. The page has time, CPU time, peak memory of every
process and bytes of files for each size, the growth that fits them, and the cost of every kind of task: the constants
of docs/scale.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.harness import Results, alone, measure, options, versions
from benchmarks.memory import peak
from benchmarks.synthetic import LENGTH, TOPICS_OF_A_DOCUMENT, generate
from topoi import LDA, Corpus
from topoi.chain.engines.cluster import _workers

NAME = "scale"
BLOCKS, DASK = "two threads", "two Dask workers"
GIGA = 1e9
SHOWN = 5  # sweeps at the end of a fit whose median time is shown


class Watch:
    """Follows a fit: times of sweeps; with threads also CPU time of every kind of task, and files of a sweep."""

    def __init__(self, folder: Path, at: int, client: Any) -> None:
        self.folder, self.at, self.client = folder, at, client
        self.times: list[tuple[float, float]] = []
        self.tasks: dict[str, float] = defaultdict(float)
        self.files: dict[str, int] = defaultdict(int)
        self.all_files = 0

    def __call__(self, progress: Any) -> None:
        """Note the times after a sweep."""
        cpu = time.process_time()
        if self.client is not None:
            cpu += sum(self.client.run(time.process_time).values())
        self.times.append((time.perf_counter(), cpu))
        print(f"sweep {progress.sweep}: {self.per_sweep(1)[0]:.1f} s", flush=True)
        sizes = (path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        self.all_files = max(self.all_files, sum(sizes))

    def per_sweep(self, last: int) -> tuple[float, float]:
        """Median seconds, by the clock and of CPU time, of the last sweeps; the first, which may compile, has none."""
        seconds = np.diff(np.array([(np.nan, np.nan), *self.times]), axis=0)[1:][-last:]
        wall, cpu = (np.median(seconds, axis=0) if len(seconds) else seconds.sum(0)).tolist()
        return wall, cpu

    def map(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Threads.map, which adds up the time of each kind of task and, when topics are new, the bytes of files."""

        def watched(threads: Any, task: Any, job: Any, *given: Any, **options: Any) -> Any:
            begun = time.process_time()
            answers = original(threads, task, job, *given, **options)
            if self.at in given:
                self.tasks[task.__name__] += time.process_time() - begun
                if task.__name__ == "move":
                    for sweep in (self.at, self.at + 1):
                        for path in job.sweep(sweep).iterdir():
                            kind = path.name.split("-")[0]
                            if (sweep > self.at) == (kind in ("z", "counts", "pairs")):
                                self.files[kind] += path.stat().st_size
            return answers

        return watched


def main() -> None:
    parser = options(__doc__, [1000])
    parser.add_argument("--documents", type=int, nargs="+", default=[30_000, 100_000, 300_000])
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--sampler", default="polya_urn")
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--engines", nargs="+", default=[BLOCKS, DASK], choices=[BLOCKS, DASK])
    parser.add_argument("--untimed", action="store_true", help="keep no times: other jobs run on this machine too")
    parser.add_argument("--folder", type=Path, help="where corpora are kept, and files of fits are")
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    settings = {"words": arguments.words, "sampler": arguments.sampler, "sweeps": arguments.sweeps}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    with ExitStack() as opened:
        folder = arguments.folder or Path(opened.enter_context(tempfile.TemporaryDirectory()))

        def job(name: str, n_topics: int, _: int) -> dict[str, Any]:
            found = alone(one, name, n_topics, settings, folder)
            return found | {"wall": None, "cpu": None, "tasks": {}} if arguments.untimed else found

        names = [f"topoi: {engine}: {n}" for n in arguments.documents for engine in arguments.engines]
        measure(results, names, arguments.topics, arguments.rounds, job)
    write_report(results, arguments)


def one(name: str, n_topics: int, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Fit a corpus with topics in files."""
    _, engine_name, n_documents = name.split(": ")
    drawn = folder / f"corpus-{n_documents}-{n_topics}-{settings['words']}"
    generate(drawn, int(n_documents), settings["words"], n_topics)
    corpus, client, engine = Corpus.load(drawn), None, "blocks"
    with ExitStack() as opened:
        if engine_name == DASK:
            from distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=None)
            engine = client = opened.enter_context(Client(opened.enter_context(cluster)))
        run = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        watch = Watch(run, settings["sweeps"] - 1, client)
        _workers.Threads.map = watch.map(_workers.Threads.map)  # type: ignore[method-assign]
        lda = LDA(
            n_topics, sampler=settings["sampler"], n_sweeps=settings["sweeps"], n_samples=1, random_state=0, n_jobs=2,
            engine=engine, keep_doc_topic=False, callbacks=[watch],
        )  # fmt: skip
        lda.fit(corpus, checkpoint=run / "fit")
        workers = [] if client is None else list(client.run(peak).values())
    wall, cpu = watch.per_sweep(SHOWN)
    return {
        "documents": corpus.n_documents, "tokens": corpus.n_tokens, "wall": wall, "cpu": cpu,
        "driver": peak() * 1e6, "workers": [value * 1e6 for value in workers], "tasks": watch.tasks,
        "files": watch.files, "disk": watch.all_files, "load": os.getloadavg()[0], "versions": versions(),
        "said": f"{corpus.n_tokens:,} tokens, {wall:.1f} s and {cpu:.1f} CPU s a sweep, {peak() / 1e3:.2f} GB",
    }  # fmt: skip


def write_report(results: Results, arguments: argparse.Namespace) -> None:
    """Write the page."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for name, n_topics in results.pairs():
        engine = name.split(": ")[1]
        entries.setdefault(engine, []).extend(e | {"K": n_topics} for e in results.rounds(name, n_topics))
    for of_engine in entries.values():
        of_engine.sort(key=lambda entry: entry["tokens"])
    facts = [
        f"LDA by `{arguments.sampler}`, {arguments.sweeps} sweeps of which the last is a sample, without `doc_topic_`. "
        f"Corpora: drawn from LDA, {arguments.words:,} words with weights 1/(w + 10), {LENGTH} tokens and "
        f"{TOPICS_OF_A_DOCUMENT:.0f} topics in a document on average, a topic has a thirtieth of the words.",
        f"Time: median of the last {SHOWN} sweeps; – where other jobs ran on the machine meanwhile.",
        "Peak memory: the highest resident memory of a process, pages of mapped files among it.",
        "Files of a sweep: written by it, the same with workers. Of a fit: the most after any sweep, without corpus.",
    ]
    parts = [table(entries), growth(entries), constants(entries)]
    body = "\n\n".join([*parts, f"## How\n\n{report.provenance(results, facts)}"])
    report.write(arguments.output, NAME, "Corpora larger than memory", body, has_plot=False)


def table(entries: dict[str, list[dict[str, Any]]]) -> str:
    """A line for every size and engine."""
    header = [
        "engine", "tokens, million", "K", "clock, s per sweep", "CPU s per sweep", "peak, GB: driver", "each worker",
        "files of a sweep, GB", "all files of a fit, GB",
    ]  # fmt: skip
    rows = [
        [
            engine, report.number(entry["tokens"] / 1e6), str(entry["K"]), report.number(entry["wall"]),
            report.number(entry["cpu"]), report.number(entry["driver"] / GIGA),
            report.number(max(entry["workers"]) / GIGA) if entry["workers"] else "–",
            report.number(sum(entry["files"].values()) / GIGA or None), report.number(entry["disk"] / GIGA),
        ]
        for engine, of_engine in entries.items()
        for entry in of_engine
    ]  # fmt: skip
    return report.table(header, rows)


def growth(entries: dict[str, list[dict[str, Any]]]) -> str:
    """A line fitted to time, memory and files of each engine, where there are three sizes or more."""
    lines = []
    for engine, of_engine in entries.items():
        for name, unit, scale, value in (
            ("CPU time of a sweep", "s", 1.0, lambda e: e["cpu"]),
            ("peak memory of the driver", "GB", GIGA, lambda e: e["driver"]),
            ("peak memory of a worker", "GB", GIGA, lambda e: max(e["workers"], default=None)),
            ("files of a sweep", "GB", GIGA, lambda e: sum(e["files"].values()) or None),
        ):
            known = [(e["tokens"] / 1e6, value(e) / scale) for e in of_engine if value(e) is not None]
            if len(known) >= 3:
                tokens, found = np.array(known).T
                # Relative errors count: otherwise the largest size alone would decide.
                (slope, constant), *_ = np.linalg.lstsq(
                    np.c_[tokens, np.ones_like(tokens)] / found[:, None], np.ones_like(found), rcond=None
                )
                error = np.abs((slope * tokens + constant) / found - 1).max()
                lines.append([engine, name, f"{constant:.3g} {unit}", f"{slope:.3g} {unit}", f"{100 * error:.0f} %"])
    if not lines:
        return ""
    header = ["engine", "what", "constant", "and for each million tokens", "largest error of this line"]
    return "## Growth\n\n" + report.table(header, lines)


def constants(entries: dict[str, list[dict[str, Any]]]) -> str:
    """Time of tasks and bytes of files, per token."""
    of_blocks = [entry for entry in entries.get(BLOCKS, ()) if entry["files"]]
    header = ["", *(f"{report.number(entry['tokens'] / 1e6)} million tokens" for entry in of_blocks)]
    tasks = dict.fromkeys(name for entry in of_blocks for name in entry["tasks"])
    files = dict.fromkeys(name for entry in of_blocks for name in entry["files"])

    def row(title: str, kind: str, name: str, unit: float) -> list[str]:
        values = [entry[kind].get(name) for entry in of_blocks]
        per = [None if v is None else v / e["tokens"] * unit for v, e in zip(values, of_blocks, strict=True)]
        return [title, *map(report.number, per)]

    rows = [row(f"task `{name}`, CPU ns per token", "tasks", name, 1e9) for name in tasks]
    rows += [row(f"files `{name}`, bytes per token", "files", name, 1.0) for name in files]
    return f"## Tasks and files ({BLOCKS})\n\n{report.table(header, rows)}"


if __name__ == "__main__":
    main()
