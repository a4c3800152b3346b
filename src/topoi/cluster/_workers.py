"""Who runs the tasks: the workers of a Dask cluster, or threads of this process."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from topoi._jit import source_stamp
from topoi._pool import Pool
from topoi.cluster._job import Job
from topoi.errors import ParameterError, TopoiError

R = TypeVar("R")
PATIENCE = 60.0  # seconds to wait for the first worker
CHOICES = 'None, "blocks", a Dask Client, or the address of a Dask scheduler such as "tcp://host:8786"'
#: What Dask raises when it gives up: a task has cost several workers (too little memory?), or the scheduler has gone.
LOST = ("KilledWorker", "FutureCancelledError", "CancelledError")
AGAIN = "with fit(…, checkpoint=folder) the same call goes on from the last checkpoint"


class EngineError(TopoiError, RuntimeError):
    """Tasks of a run that cannot be done."""


class Workers(Protocol):
    """Whoever runs tasks."""

    def map(self, task: Callable[..., R], job: Job, *given: Any, over: Iterable[Any]) -> list[R]:
        """[task(job, *given, item) for item in over], in this order, possibly at the same time."""


def checked(task: Callable[..., R], job: Job, *arguments: Any) -> R:
    """Run a task where it can be run: with the same kernels, and with the folder of the run in sight."""
    if source_stamp() != job.stamp:
        raise EngineError(
            f"the worker on {socket.gethostname()} has another version of topoi than the driver; install the same one"
        )
    if not Path(job.folder).is_dir() or not Path(job.corpus).is_dir():
        raise EngineError(unseen(job, socket.gethostname()))
    try:
        return task(job, *arguments)
    except OSError as error:
        raise EngineError(f"{task.__name__} failed on {socket.gethostname()}: {error}") from error


def unseen(job: Job, host: str) -> str:
    """What to do about a worker that does not see the files."""
    return (
        f"the worker on {host} does not see {job.folder} or {job.corpus}; fit(…, checkpoint=folder), or -o on the "
        "command line, names a folder for the run, which must be on a disk that all workers share, as must a corpus "
        "that is given by its folder"
    )


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
