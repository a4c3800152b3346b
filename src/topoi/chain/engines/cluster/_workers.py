"""Who runs the tasks: the workers of a Dask cluster, or threads of this process."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from topoi._disk.moved import Moved, counted
from topoi._disk.patience import patient
from topoi._machine.allocator import keep_freed_memory
from topoi._machine.interrupt import stop_if_asked
from topoi._machine.pool import Pool
from topoi.chain.engines.cluster._connect import Say, connect, lost
from topoi.chain.engines.cluster._faults import AGAIN, EngineError, file_fault, missing_folder, place, worn_out
from topoi.chain.engines.cluster._job import Job
from topoi.chain.engines.cluster._meet import meet_workers, other_code, wait_for_worker
from topoi.chain.engines.cluster._names import keys
from topoi.chain.engines.cluster._stamp import code_stamp
from topoi.errors import PackageMissingError, ParameterError

R = TypeVar("R")
SPELL = 2.0  # seconds after which a round of tasks that is not done is looked at: without workers it is never done
CHOICES = 'None, "blocks", a Dask Client, or the address of a Dask scheduler such as "tcp://host:8786"'
#: What Dask raises when it gives up: a task has cost several workers, or the scheduler has gone.
WORN_OUT = "KilledWorker"
LOST = ("FutureCancelledError", "FuturesCancelledError", "CancelledError")


class Workers(Protocol):
    """Whoever runs tasks."""

    elsewhere: bool  # whether they may be on machines that do not see the disk of this one
    moved: Moved  # bytes that all tasks so far have read and written

    @property
    def n_threads(self) -> int:
        """How many tasks they do at a time."""

    def map(
        self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True, sweep: int = 0
    ) -> list[R]:
        """[task(job, *given, item) for item in over], in this order, possibly at the same time.

        `cut` says that items may be put together to batches; else they have been cut by `batches`. `sweep` is for those
        who look on.
        """


def checked(task: Callable[..., R], job: Job, *arguments: Any) -> R:
    """Run a task where it can be run: with the same code, and with the folder of the run in sight."""
    if code_stamp() != job.stamp:
        raise other_code(place(), code_stamp(), job.stamp)
    if gone := missing_folder(job):
        raise gone
    try:
        return task(job, *arguments)
    except (OSError, PackageMissingError) as error:
        raise file_fault(job, task.__name__, error) from error


def measured(work: Callable[[Any], R], check: Callable[[], None], batch: list[Any]) -> tuple[list[R], Moved]:
    """Items one after the other, and the bytes that they have moved. A store that is silent is asked again."""
    with counted() as moved, patient(check):
        return [work(item) for item in batch], moved


class Threads:
    """Tasks on the threads of this process: a corpus that is larger than memory."""

    elsewhere = False

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.moved = Moved()

    @property
    def n_threads(self) -> int:
        """Threads of the pool."""
        return self.pool.n_jobs

    def map(
        self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True, sweep: int = 0
    ) -> list[R]:
        """Run a task for every item."""
        left = threading.Event()

        def check() -> None:
            stop_if_asked()
            if left.is_set():  # another task has failed, and whoever waits for us will not take what we bring
                raise KeyboardInterrupt

        work = functools.partial(measured, functools.partial(checked, task, job, *given), check)
        try:
            return _added_up(self, self.pool.map(work, ([item] for item in over)))
        except BaseException:
            left.set()
            raise


def _added_up(workers: Workers, parts: list[tuple[list[R], Moved]]) -> list[R]:
    """The answers of all batches; what they have moved is added to the rest."""
    for _, moved in parts:
        workers.moved.add(moved)
    return [answer for answers, _ in parts for answer in answers]


def in_worker(work: Callable[[Any], R], batch: list[Any]) -> tuple[list[R], Moved]:
    """What a Dask worker does at a time."""
    keep_freed_memory()
    return measured(work, lambda: None, batch)  # a stop is the driver's affair, which cancels what is under way


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
        self.moved = Moved()

    @property
    def n_threads(self) -> int:
        """Threads of the workers that are there now."""
        return max(1, int(sum(self.client.nthreads().values())))

    def map(
        self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any], cut: bool = True, sweep: int = 0
    ) -> list[R]:
        """Run a task for every item; answers are small."""
        work = functools.partial(in_worker, functools.partial(checked, task, job, *given))
        items = list(over)
        parts = batches(items, self.n_threads) if cut else [[item] for item in items]
        # Not pure: the name of a task in Dask says nothing about its files, so no answer may be taken from a cache.
        futures = self.client.map(work, parts, pure=False, key=keys(task.__name__, sweep, len(parts)))
        try:
            self._wait(futures)
            found: list[tuple[list[R], Moved]] = self.client.gather(futures)
        except BaseException as error:
            self.client.cancel(futures)
            if type(error).__name__ == WORN_OUT:
                raise worn_out(task.__name__, sweep, error) from error
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
        return _added_up(self, found)

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
