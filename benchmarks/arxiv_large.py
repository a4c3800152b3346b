"""A supervised fit at scale: half a million arXiv abstracts, 150 labels; wall and CPU time, peak memory, micro-F1."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from sklearn.metrics import f1_score

from benchmarks import report
from benchmarks.harness import Results, options, versions
from benchmarks.labelled import arxiv_large, with_top_label
from benchmarks.memory import peak
from topoi import MedLDAClassifier
from topoi.chain.checkpoint import Checkpoints

NAME = "arxiv_large"


class Log:
    """CPU and wall seconds of every sweep, kept in a file so that a run that was killed goes on counting."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sweeps: list[dict[str, float]] = json.loads(path.read_text()) if path.exists() else []
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def __call__(self, progress: Any) -> None:
        """Called after every sweep."""
        cpu, wall = time.process_time(), time.perf_counter()
        self.sweeps = [entry for entry in self.sweeps if entry["sweep"] < progress.sweep]
        self.sweeps.append({"sweep": progress.sweep, "cpu": cpu - self.cpu, "wall": wall - self.wall})
        self.cpu, self.wall = cpu, wall
        self.path.write_text(json.dumps(self.sweeps))

    def total(self, what: str) -> float:
        """Seconds of all sweeps."""
        return sum(entry[what] for entry in self.sweeps)


def main() -> None:
    parser = options(__doc__, [200])
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    settings = {"sweeps": arguments.sweeps, "jobs": arguments.jobs, "quick": arguments.quick}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    for n_topics in arguments.topics:
        if results.get("topoi", n_topics, 0) is None:
            results.put("topoi", n_topics, 0, one_fit(n_topics, arguments, settings))
    write_report(results, arguments)


def one_fit(n_topics: int, arguments: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit and test one model, going on from its last checkpoint if there is one."""
    data = arxiv_large()
    rows = slice(0, 20_000 if arguments.quick else None)
    before = peak()
    folder = arguments.output / f"{NAME}-{n_topics}-checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    log = Log(folder / "sweeps.json")
    model = MedLDAClassifier(
        n_topics, cost=1.6, topic_word_prior=0.01, doc_topic_prior=6.4 / n_topics, n_sweeps=settings["sweeps"],
        n_jobs=settings["jobs"], random_state=0, callbacks=[log], refit=False,
    )  # fmt: skip
    model.fit(data.X[rows], data.y[rows], checkpoint=Checkpoints(folder, every_seconds=900.0))
    memory = peak()
    testing = time.process_time()
    score = f1_score(data.y_test, with_top_label(model.decision_function(data.X_test)), average="micro")
    entry = {
        "f1": float(score), "cpu": log.total("cpu"), "wall": log.total("wall"), "test": time.process_time() - testing,
        "tokens": float(data.X[rows].sum()), "peak": memory, "input": before, "load": os.getloadavg(),
        "said": f"micro-F1 {score:.4f}, {log.total('wall') / 60:.1f} min, peak {memory:.0f} MB", "versions": versions(),
    }  # fmt: skip
    shutil.rmtree(folder)
    return entry


def write_report(results: Results, arguments: Any) -> None:
    rows = []
    for name, n_topics in results.pairs():
        for entry in results.rounds(name, n_topics):
            rate = entry["tokens"] * results.settings["sweeps"] / entry["cpu"] / 1e6
            rows.append([
                str(n_topics), f"{entry['wall'] / 60:.1f}", f"{entry['cpu'] / 60:.1f}", f"{rate:.2f}",
                f"{entry['peak'] / 1e3:.2f}", f"{entry['input'] / 1e3:.2f}", f"**{entry['f1']:.4f}**",
                report.number(entry["test"]),
            ])  # fmt: skip
    header = [
        "K", "wall, min", "CPU, min", "M tokens per CPU s", "peak, GB", "of which before the fit, GB", "test micro-F1",
        "test, CPU s",
    ]  # fmt: skip
    facts = [
        f"{arxiv_large().about}; {results.settings['sweeps']} sweeps, {results.settings['jobs']} threads; hinge loss, "
        "c = 1.6, α = 6.4/K, β = 0.01, otherwise the defaults. micro-F1 with at least the best label of each document.",
        "Sweeps are timed one by one (topics, auxiliary variables, weights, log joint); a fit that was killed goes on.",
    ]
    body = f"{report.table(header, rows)}\n\n## How\n\n{report.provenance(results, facts)}"
    report.write(arguments.output, NAME, "Half a million documents, 150 labels", body, has_plot=False)


if __name__ == "__main__":
    main()
