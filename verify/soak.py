"""A long run and many threads: memory stays flat and answers stay the same. POSIX only (Linux for the memory in use).

    python verify/soak.py [--sweeps 2000] [--calls 10000] [--threads 8]

Fits LDA and MedLDA on a small corpus for that many sweeps, and looks at the memory of the process after every tenth of
them. Then threads call `transform` of one fitted LDA, and `predict_proba` of one classifier, over and over, on one of
some batches of documents; every answer must have the bytes of the first. Exits with 1 if an answer differs, or if the
memory grows by more than 8 MB after the first fifth.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.labelled import Documents
from topoi import LDA, MedLDAClassifier

GROWTH = 8.0  # megabytes


def memory() -> float:
    """Megabytes of the process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1e6


def flat(name: str, sizes: list[float], begun: float) -> bool:
    """Tell how memory went; whether it stayed as it was after the first fifth."""
    growth = max(sizes[len(sizes) // 5 :]) - sizes[len(sizes) // 5]
    seconds = time.process_time() - begun
    told = " ".join(f"{size:.0f}" for size in sizes)
    print(f"{name}: memory {told} MB, grown by {growth:.1f} MB ({seconds:.0f} s CPU)", flush=True)
    return growth <= GROWTH


def sweeps(make: Callable[..., Any], fit: Callable[[Any], Any], n: int, name: str) -> tuple[Any, bool]:
    """A fit of n sweeps, watched."""
    sizes: list[float] = []

    def look(progress: Any) -> None:
        if progress.sweep % (n // 10) == 0:
            sizes.append(memory())

    begun = time.process_time()
    model = fit(make(n_sweeps=n, callbacks=[look]))
    return model.set_params(callbacks=None), flat(f"{name}, {n:,} sweeps", sizes, begun)


def calls(ask: Callable[[Any], Any], batches: list[Any], n: int, n_threads: int, name: str) -> bool:
    """n calls from threads at the same time; whether every answer was the first one."""
    expected = [ask(batch).tobytes() for batch in batches]
    sizes, wrong, lock = [memory()], 0, threading.Lock()

    def call(number: int) -> None:
        nonlocal wrong
        which = number % len(batches)
        same = ask(batches[which]).tobytes() == expected[which]
        with lock:
            wrong += not same
            if number % (n // 10) == 0:
                sizes.append(memory())

    begun = time.process_time()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(call, range(n)))
    steady = flat(f"{name}, {n:,} calls from {n_threads} threads, {wrong} answers that differ", sizes, begun)
    return steady and not wrong


def main() -> None:
    """Fit long, ask often."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8)
    given = parser.parse_args()
    data, new = Documents(500, seed=1), Documents(200, seed=2)
    common = {"n_topics": 10, "random_state": 0, "n_jobs": 2}
    lda, first = sweeps(lambda **more: LDA(**common, **more), lambda m: m.fit(data.X), given.sweeps, "LDA")
    med, second = sweeps(
        lambda **more: MedLDAClassifier(**common, **more), lambda m: m.fit(data.X, data.many), given.sweeps, "MedLDA"
    )
    batches = [np.ascontiguousarray(new.X[start : start + 20]) for start in range(0, 200, 20)]
    settled = [first, second]
    for model, ask, name in ((lda, lda.transform, "transform"), (med, med.predict_proba, "predict_proba")):
        model.set_params(n_jobs=1)  # the threads are those of the callers
        settled.append(calls(ask, batches, given.calls, given.threads, name))
    sys.exit(0 if all(settled) else 1)


if __name__ == "__main__":
    main()
