"""Who runs the tasks: the workers of a Dask cluster, or threads of this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from topoi._machine.allocator import keep_freed_memory
from topoi._machine.pool import Pool
from topoi.chain.engines.cluster._connect import Say, connect, lost, meet_workers, wait_for_worker
from topoi.chain.engines.cluster._faults import AGAIN, EngineError, file_fault, missing_folder, place
from topoi.chain.engines.cluster._job import Job
from topoi.chain.engines.cluster._stamp import code_stamp
from topoi.errors import PackageMissingError, ParameterError

R = TypeVar("R")
SPELL = 2.0  # seconds after which a round of tasks that is not done is looked at: without workers it is never done
CHOICES = 'None, "blocks", a Dask Client, or the address of a Dask scheduler such as "tcp://host:8786"'
#: What Dask raises when it gives up: a task has cost several workers (too little memory?), or the scheduler has gone.
LOST = ("KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CancelledError")


class Workers(Protocol):
    """Whoever runs tasks."""

    elsewhere: bool  # whether they may be on machines that do not see the disk of this one

    @property
    def n_threads(self) -> int:
        """How many tasks they do at a time."""

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True) -> list[R]:
        """[task(job, *given, item) for item in over], in this order, possibly at the same time.

        `cut` says that items may be put together to batches; else they have been cut by `batches`.
        """


def checked(task: Callable[..., R], job: Job, *arguments: Any) -> R:
    """Run a task where it can be run: with the same code, and with the folder of the run in sight."""
    if code_stamp() != job.stamp:
        raise EngineError(
            f"the worker {place()} runs other code than the driver, and would draw other topics: it has "
            f"{code_stamp()}; the driver has {job.stamp}. Install the same there, and start the worker anew"
        )
    if gone := missing_folder(job):
        raise gone
    try:
        return task(job, *arguments)
    except (OSError, PackageMissingError) as error:
        raise file_fault(job, task.__name__, error) from error


class Threads:
    """Tasks on the threads of this process: a corpus that is larger than memory."""

    elsewhere = False

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    @property
    def n_threads(self) -> int:
        """Threads of the pool."""
        return self.pool.n_jobs

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True) -> list[R]:
        """Run a task for every item."""
        return self.pool.map(functools.partial(checked, task, job, *given), over)


def in_worker(work: Callable[[Any], R], batch: list[Any]) -> list[R]:
    """What a Dask worker does at a time."""
    keep_freed_memory()
    return [work(item) for item in batch]


def batches(items: list[Any], n_threads: int) -> list[list[Any]]:
    """Cut items into large batches first and small ones last, each half of a thread's share of what is left.

    A task costs some 5 ms of Dask's own work, so there should be few; and all threads should end at the same time.
    """
    out = []
    while items:
        size = -(-len(items) // (2 * n_threads))
        out.append(items[:size])
        items = items[size:]
    return out


class Dask:
    """Tasks on a Dask cluster. Workers may come, go and be killed: a task that was lost is run again."""

    elsewhere = True

    def __init__(self, client: Any, say: Say) -> None:
        self.client = client
        self.say = say

    @property
    def n_threads(self) -> int:
        """Threads of the workers that are there now."""
        return max(1, int(sum(self.client.nthreads().values())))

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True) -> list[R]:
        """Run a task for every item; answers are small."""
        work = functools.partial(in_worker, functools.partial(checked, task, job, *given))
        items = list(over)
        parts = batches(items, self.n_threads) if cut else [[item] for item in items]
        # Not pure: the name of a task in Dask says nothing about its files, so no answer may be taken from a cache.
        futures = self.client.map(work, parts, pure=False, key=f"topoi-{task.__name__}")
        try:
            self._wait(futures)
            answers: list[list[R]] = self.client.gather(futures)
        except BaseException as error:
            self.client.cancel(futures)
            if type(error).__name__ in LOST:
                raise EngineError(f"the cluster has lost tasks ({error}); {AGAIN}") from error
            if isinstance(error, OSError):  # those of tasks have become ours
                raise lost(self.client.scheduler.address, error) from error
            if isinstance(error, ImportError) or "deserializ" in str(error).lower():
                raise EngineError(
                    f"the scheduler or a worker cannot read a task ({type(error).__name__}: {str(error).strip()}); "
                    f"install the same packages there as here: {job.stamp}"
                ) from error
            raise
        return [answer for part in answers for answer in part]

    def _wait(self, futures: list[Any]) -> None:
        """Wait for tasks; now and then see whether there is anyone who could do them."""
        from distributed import wait

        while True:
            try:
                wait(futures, timeout=SPELL)  # type: ignore[no-untyped-call]
            except TimeoutError:
                wait_for_worker(self.client, self.say)
            else:
                return


@contextmanager
def open_workers(engine: Any, pool: Pool, say: Say) -> Iterator[Workers]:
    """The workers that a user means by `engine`; `say` tells what is waited for."""
    if isinstance(engine, str) and engine == "blocks":
        yield Threads(pool)
    elif isinstance(engine, str) and ":" in engine:
        with connect(engine, say) as client:
            meet_workers(client, say)
            yield Dask(client, say)
    elif _is_client(engine):
        if engine.asynchronous:
            raise ParameterError("engine", "is an asynchronous Client; use Client(…) without asynchronous=True")
        meet_workers(engine, say)
        yield Dask(engine, say)
    else:
        raise ParameterError("engine", f"must be {CHOICES}, not {engine!r}")


def _is_client(engine: Any) -> bool:
    """Whether it is a Dask Client, without importing Dask for anything else."""
    return any(cls.__name__ == "Client" and cls.__module__.startswith("distributed") for cls in type(engine).__mro__)
