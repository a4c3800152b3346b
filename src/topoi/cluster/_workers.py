"""Who runs the tasks: the workers of a Dask cluster, or threads of this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from topoi._pool import Pool
from topoi.cluster._faults import AGAIN, EngineError, file_fault, missing_folder, place
from topoi.cluster._job import Job
from topoi.cluster._stamp import code_stamp
from topoi.errors import ParameterError

R = TypeVar("R")
PATIENCE = 60.0  # seconds to wait for the first worker
CHOICES = 'None, "blocks", a Dask Client, or the address of a Dask scheduler such as "tcp://host:8786"'
#: What Dask raises when it gives up: a task has cost several workers (too little memory?), or the scheduler has gone.
LOST = ("KilledWorker", "FutureCancelledError", "CancelledError")


class Workers(Protocol):
    """Whoever runs tasks."""

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any]) -> list[R]:
        """[task(job, *given, item) for item in over], in this order, possibly at the same time."""


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
    except OSError as error:
        raise file_fault(job, task.__name__, error) from error


class Threads:
    """Tasks on the threads of this process: a corpus that is larger than memory."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any]) -> list[R]:
        """Run a task for every item."""
        return self.pool.map(functools.partial(checked, task, job, *given), over)


class Dask:
    """Tasks on a Dask cluster. Workers may come, go and be killed: a task that was lost is run again."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any]) -> list[R]:
        """Run a task for every item; answers are small."""
        work = functools.partial(checked, task, job, *given)
        # Not pure: the name of a task in Dask says nothing about its files, so no answer may be taken from a cache.
        futures = self.client.map(work, list(over), pure=False, key=f"topoi-{task.__name__}")
        try:
            answers: list[R] = self.client.gather(futures)
        except BaseException as error:
            self.client.cancel(futures)
            if type(error).__name__ in LOST:
                raise EngineError(f"the cluster has lost tasks ({error}); {AGAIN}") from error
            raise
        return answers


@contextmanager
def open_workers(engine: Any, pool: Pool) -> Iterator[Workers | None]:
    """The workers that a user means by `engine`; None for none."""
    if engine is None:
        yield None
    elif isinstance(engine, str) and engine == "blocks":
        yield Threads(pool)
    elif isinstance(engine, str) and ":" in engine:
        with connect(engine) as client:
            yield Dask(client)
    elif _is_client(engine):
        if engine.asynchronous:
            raise ParameterError("engine", "is an asynchronous Client; use Client(…) without asynchronous=True")
        _wait_for_workers(engine)
        yield Dask(engine)
    else:
        raise ParameterError("engine", f"must be {CHOICES}, not {engine!r}")


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError(
            f"the Dask cluster at {address} needs the package `distributed`: pip install distributed"
        ) from error
    try:
        client: Any = Client(address, timeout=PATIENCE / 4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise EngineError(f"there is no Dask scheduler at {address} ({error}); start one: dask scheduler") from error
    with client:
        _wait_for_workers(client)
        yield client


def _is_client(engine: Any) -> bool:
    """Whether it is a Dask Client, without importing Dask for anything else."""
    return any(cls.__name__ == "Client" and cls.__module__.startswith("distributed") for cls in type(engine).__mro__)


def _wait_for_workers(client: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        address = client.scheduler.address if client.scheduler else "?"
        raise EngineError(
            f"no worker has come to the Dask scheduler at {address} within {PATIENCE:.0f} seconds; start some: "
            f"dask worker {address}"
        ) from error
