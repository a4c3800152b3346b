"""Work on blocks, on one thread or many: the result never depends on how many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from topoi.errors import ParameterError

T = TypeVar("T")
R = TypeVar("R")
SPELL = 0.2  # seconds
MOST_THREADS = 256


def _answer(future: Future[R]) -> R:
    """What the future gives, awaited in short spells: on Windows a wait without end does not hear Ctrl-C."""
    while True:
        try:
            return future.result(SPELL)
        except TimeoutError:
            if future.done():  # it is the work's own
                return future.result()


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Number of threads that scikit-learn's `n_jobs` means: None is 1, −1 is all cores, −2 all but one."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ParameterError("n_jobs", "0 threads cannot work; use 1, more, or -1 for all cores")
    cores = os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


class Pool:
    """Threads that run kernels (which release the GIL) over blocks, answers in block order."""

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.n_jobs = resolve_n_jobs(n_jobs)
        most = max(MOST_THREADS, os.cpu_count() or 1)  # whoever asks for a million, as a file may, gets no more
        self._executor = ThreadPoolExecutor(min(self.n_jobs, most)) if self.n_jobs > 1 else None

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """[work(item) for item in items], possibly at the same time."""
        if self._executor is None:
            return [work(item) for item in items]
        waiting = [self._executor.submit(work, item) for item in items]
        try:
            return [_answer(future) for future in waiting]
        finally:
            for future in waiting:
                future.cancel()  # after an error; those that are done do not mind

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown()
