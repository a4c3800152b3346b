"""Has something become slower? Speed, time to quality, memory and start-up of this source against the last record.

Every figure is a ratio to a yardstick that is measured in the same minute (a loop of NumPy and Python that topoi has no
part in), so that records of different days and machines can be compared as far as that goes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import DEFAULT_OUTPUT, Stopwatch, alone, machine, pin, versions

NAME = "track"
SLOWER = 1.15
DOCUMENTS, WORDS, TOPICS, LENGTH = 2_000, 5_000, 20, 100
SAMPLERS = ("collapsed", "split", "sparse", "delayed", "partial", "polya_urn", "light", "fast", "alias")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="append what was measured to the record")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT)
    parser.add_argument("--core", type=int, default=None)
    arguments = parser.parse_args()
    pin(arguments.core)
    path = arguments.output / f"{NAME}.json"
    records = json.loads(path.read_text("utf-8")) if path.exists() else []
    figures = measured(arguments.rounds)
    slower = compare(figures, records[-1]["figures"] if records else {})
    if arguments.record:
        entry = {"date": time.strftime("%Y-%m-%d"), "versions": versions(), "machine": machine(), "figures": figures}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([*records, entry], indent=1, ensure_ascii=False) + "\n", "utf-8")
    if slower:
        raise SystemExit(f"Slower by more than {SLOWER - 1:.0%}: {', '.join(slower)}.")


def measured(n_rounds: int) -> dict[str, float]:
    """Every figure, the least of the rounds; times are in yardsticks, memory in MB. Smaller is better for all."""
    jobs: dict[str, Callable[[], dict[str, float]]] = {
        **{f"sweep, {name}": lambda name=name: alone(sweep, name) for name in SAMPLERS},
        "sweep, 8 tasks": lambda: alone(supervised_sweep),
        "fit to quality": lambda: alone(to_quality),
        "fold-in": lambda: alone(fold_in),
        "memory, MB": lambda: alone(memory),
        "import topoi": import_time,
    }  # fmt: skip
    figures: dict[str, float] = {}
    for _ in range(n_rounds):  # all in turn, so that a slow minute does not hit one of them alone
        for name, job in jobs.items():
            value = job()["value"]
            figures[name] = min(value, figures.get(name, np.inf))
    return figures


def compare(now: dict[str, float], before: dict[str, float]) -> list[str]:
    """Print the figures beside those of the record; the names of those that are worse by too much."""
    slower = []
    for name, value in now.items():
        old = before.get(name)
        ratio = value / old if old else np.nan
        mark = "  SLOWER" if ratio > SLOWER else ""
        print(f"{name:24} {value:10.4g}" + (f" {old:10.4g} {ratio:6.2f}×{mark}" if old else "        new"))
        if mark:
            slower.append(name)
    return slower


# ---- What is measured, each in a process of its own -----------------------------------------------------------


def yardstick() -> float:
    """CPU seconds of a fixed piece of work that does not depend on topoi: the least of a few."""
    rng = np.random.default_rng(0)
    table, rows = rng.random((2_000, 512), np.float32), rng.integers(0, 2_000, 4_000)

    def once() -> float:
        with (watch := Stopwatch()):
            for i in rows:
                np.cumsum(table[i])
        return watch.seconds

    return min(once() for _ in range(5))


def counts() -> NDArray[np.int32]:
    """Documents of an LDA with Zipf words: the same for everybody."""
    rng = np.random.default_rng(1)
    weights = 1.0 / np.arange(1, WORDS + 1)
    phi = rng.dirichlet(0.05 * WORDS * weights / weights.sum(), TOPICS)
    theta = rng.dirichlet(np.full(TOPICS, 0.1), DOCUMENTS)
    return np.array([rng.multinomial(LENGTH, row) for row in (theta @ phi)]).astype(np.int32)


def _timed(work: Callable[[], object], before: Callable[[], object] = lambda: None, times: int = 3) -> dict[str, float]:
    seconds = []
    for _ in range(times):
        before()
        with (watch := Stopwatch()):
            work()
        seconds.append(watch.seconds)
    return {"value": min(seconds) / yardstick()}


def sweep(name: str) -> dict[str, float]:
    """A sweep of a sampler with 600 topics, settled a little."""
    from topoi.chain.priors import fixed_priors
    from topoi.chain.samplers import SAMPLERS as KINDS
    from topoi.chain.state import new_state
    from topoi.corpus import Corpus

    state = new_state(Corpus.from_counts(counts()), fixed_priors(np.full(600, 0.05), 0.01), 1)
    for _ in range(5):
        KINDS["delayed"](state).sweep()
    sampler = KINDS[name](state)
    sampler.sweep()
    return _timed(sampler.sweep)


def supervised_sweep() -> dict[str, float]:
    """A sweep of topics and weights with 8 classes."""
    from topoi import MedLDAClassifier

    X = counts()
    y = X[:, :8].argmax(1)
    fit = MedLDAClassifier(50, n_sweeps=10, random_state=0, refit=False).fit
    fit(X[::10], y[::10])
    return _timed(lambda: fit(X, y))


def to_quality() -> dict[str, float]:
    """A fit that stops when the log joint has settled."""
    from topoi import LDA

    X = counts()
    model = LDA(TOPICS, n_sweeps=400, tol=1e-3, random_state=0)
    model.fit(X[::10])
    return _timed(lambda: model.fit(X))


def fold_in() -> dict[str, float]:
    """Topic shares of documents by a model that is there."""
    from topoi import LDA

    X = counts()
    model = LDA(100, n_sweeps=10, random_state=0).fit(X)
    return _timed(lambda: model.transform(X))


def memory() -> dict[str, float]:
    """Peak of the arrays that a fit with 1,000 topics makes (a small one: compiling takes more of the process's)."""
    from topoi import LDA

    X = counts()
    LDA(1000, n_sweeps=2, random_state=0).fit(X[:50, :60] + 1)
    tracemalloc.start()
    LDA(1000, n_sweeps=4, random_state=0).fit(X)
    return {"value": tracemalloc.get_traced_memory()[1] / 1e6}


def import_time() -> dict[str, float]:
    """`import topoi` in a new process, less what Python itself takes."""
    program = "import time; a = time.process_time(); import topoi; print(time.process_time() - a)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {"value": float(done.stdout) / yardstick()}


if __name__ == "__main__":
    main()
