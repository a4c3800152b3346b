"""Work on blocks, on one thread or many: the result never depends on how many."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from topoi.errors import ParameterError

T = TypeVar("T")
R = TypeVar("R")
SPELL = 0.2  # seconds
MOST_THREADS = 256


def answer(future: Future[R]) -> R:
    """What the future gives, awaited in short spells: on Windows a wait without end does not hear Ctrl-C."""
    while True:
        try:
            return future.result(SPELL)
        except TimeoutError:
            if future.done():  # it is the work's own
                return future.result()


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` means: None is all cores that are free for us, −1 all cores, −2 all but one."""
    if n_jobs is None:
        return free_cores()
    if n_jobs == 0:
        raise ParameterError("n_jobs", "0 threads cannot work; use 1, more, or -1 for all cores")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def cores() -> int:
    """Cores that this process may use: affinity and the limits of containers count (joblib knows how)."""
    import joblib  # only where it is asked: `import topoi` imports no package

    return int(joblib.cpu_count())


def free_cores() -> int:
    """Threads to use where nobody has said how many: one for each core, but only one where others work beside us.

    They do in workers of `multiprocessing`, joblib and Dask. (Dask sets OMP_NUM_THREADS for its workers, but in the
    process that starts them as well, so that the variable tells nothing.)
    """
    beside_others = multiprocessing.current_process().daemon or _joblib_worker() or _dask_worker()
    return 1 if beside_others else cores()


def _joblib_worker() -> bool:
    """Whether this is a task of a joblib loop, of `GridSearchCV(n_jobs=2)` for instance, in a thread or a process."""
    loaded = sys.modules.get("joblib.parallel")
    return loaded is not None and bool(loaded.get_active_backend()[0].nesting_level)


def _dask_worker() -> bool:
    """Whether this is a task of a Dask worker."""
    loaded = sys.modules.get("distributed.worker")
    return loaded is not None and hasattr(loaded.thread_state, "execution_state")


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
            return [answer(future) for future in waiting]
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
