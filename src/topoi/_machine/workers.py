"""Who does tasks that do not depend on each other: this process, several on this machine, or a Dask cluster.

A task is a function of an item and of what all tasks share. What it leaves for a later task, arrays, it may `keep`: on
this machine in files of a scratch folder, on a cluster in the memory of the worker, which has it when the next task
comes. So nothing but answers goes through the process that asks, and a cluster needs no shared disk.

Processes are those of joblib (loky), on every system started anew: a script needs no ``if __name__ == "__main__"``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from topoi._disk.blocks import kept_arrays, new_file, new_kept_file
from topoi._disk.folders import remove_file
from topoi._machine.pool import answer, resolve_n_jobs
from topoi.errors import ParameterError, WorkersError

R = TypeVar("R")
Arrays = tuple[NDArray[Any], ...]
#: Tasks that are given out before the first is done, for each process: results wait in memory to be taken in order.
AHEAD = 2
LOST = ("KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CancelledError")  # when Dask gives up


class Kept(Protocol):
    """Arrays that a task has kept."""

    def arrays(self) -> Arrays:
        """The arrays; they stay."""

    def taken(self) -> Arrays:
        """The arrays, which are then kept no longer."""


Keep = Callable[[Arrays], Kept]


class InFile:
    """Arrays in a file of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def arrays(self) -> Arrays:
        """Read them."""
        return kept_arrays(self.path)

    def taken(self) -> Arrays:
        """Read them, and remove the file."""
        found = self.arrays()
        remove_file(self.path)
        return found


class InMemory:
    """Arrays as they are."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def arrays(self) -> Arrays:
        """Themselves."""
        return self._arrays

    taken = arrays


def keep_in_file(folder: Path, arrays: Arrays) -> Kept:
    """Keep arrays in a new file of a folder."""
    return InFile(new_kept_file(folder, arrays))


class Workers(Protocol):
    """Whoever does tasks."""

    keep: Keep

    def begin(self, task: Callable[..., Any], items: Iterable[Any], shared: Any) -> Iterator[tuple[Any, Any]]:
        """What ``task(item, shared)`` tells, and what it keeps, to be an item of a later task; in the order of items.

        A task answers with both. Of a cluster what it keeps never comes here.
        """

    def run(self, task: Callable[..., R], items: Iterable[Any], shared: Any) -> Iterator[R]:
        """``task(item, shared)`` for each item, in their order."""


class Here:
    """One task after the other, in this process."""

    def __init__(self, scratch: Path) -> None:
        self.keep: Keep = functools.partial(keep_in_file, scratch)

    def run(self, task: Callable[..., R], items: Iterable[Any], shared: Any) -> Iterator[R]:
        """Do the next one when its answer is asked for."""
        return (task(item, shared) for item in items)

    begin = run


class Processes:
    """Tasks in processes of this machine."""

    def __init__(self, executor: Any, n_jobs: int, scratch: Path) -> None:
        self._executor, self._n_ahead, self._scratch = executor, AHEAD * n_jobs, scratch
        self.keep: Keep = functools.partial(keep_in_file, scratch)

    def run(self, task: Callable[..., R], items: Iterable[Any], shared: Any) -> Iterator[R]:
        """Keep them busy, a few tasks ahead of the answer that is asked for."""
        packed = Packed.of(shared, self._scratch)
        waiting: deque[Any] = deque()
        try:
            for item in items:
                waiting.append(self._executor.submit(_unpacked, task, item, packed))
                if len(waiting) > self._n_ahead:
                    yield answer(waiting.popleft())
            while waiting:
                yield answer(waiting.popleft())
        except BaseException as error:
            for future in waiting:
                future.cancel()
            if type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool"):
                raise WorkersError(
                    "a process has ended before its task was done: was there too little memory? Take fewer (n_jobs)"
                ) from error
            raise
        finally:
            packed.remove()

    begin = run


@dataclass(frozen=True)
class Packed:
    """What tasks share, in a file: each process reads it once, and a task brings no more than its name.

    The digest comes with the task: of a file that somebody else has changed nothing is unpacked, which could run code.
    """

    path: Path
    digest: bytes

    @classmethod
    def of(cls, shared: Any, folder: Path) -> Packed:
        """Pack it, into a new file of a folder."""
        data = pickle.dumps(shared)
        packed = cls(folder / uuid.uuid4().hex, hashlib.blake2b(data).digest())
        with new_file(packed.path) as file:
            file.write(data)
        return packed

    def unpacked(self) -> Any:
        """The same again."""
        data = self.path.read_bytes()
        if hashlib.blake2b(data).digest() != self.digest:
            raise WorkersError(f"{self.path} has been changed by somebody else, or the disk has damaged it")
        return pickle.loads(data)  # noqa: S301 (what the process that has started this one has packed)

    def remove(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):  # a task that is waited for no more may read it; the whole folder will go
            remove_file(self.path)


class Dask:
    """Tasks on the workers of a Dask cluster, who may come and go: what was lost is done again."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.keep: Keep = InMemory

    def begin(self, task: Callable[..., Any], items: Iterable[Any], shared: Any) -> Iterator[tuple[Any, Any]]:
        """The second half of an answer is a future, which stays there."""
        for told, future in self._results(task, items, shared, itemgetter(0)):
            yield told, self._client.submit(itemgetter(1), future, pure=False)

    def run(self, task: Callable[..., R], items: Iterable[Any], shared: Any) -> Iterator[R]:
        """Keep all threads busy, a few tasks ahead of the answer that is asked for."""
        return (told for told, _ in self._results(task, items, shared, None))

    def _results(
        self, task: Callable[..., Any], items: Iterable[Any], shared: Any, part: Callable[[Any], Any] | None
    ) -> Iterator[tuple[Any, Any]]:
        """Answers, or a part of each, and the futures of the whole."""
        from dask.base import is_dask_collection

        client = self._client
        there = client.scatter(shared, broadcast=True, hash=False)
        waiting: deque[tuple[Any, Any]] = deque()

        def next_one() -> tuple[Any, Any]:
            asked, whole = waiting[0]
            found = asked.result()
            waiting.popleft()
            return found, whole

        try:
            for item in items:
                at = client.compute(item) if is_dask_collection(item) else item
                # Not pure: the name of a file says nothing about what is in it now.
                whole = client.submit(task, at, there, pure=False, key=f"topoi-{task.__name__}-{_number()}")
                asked = whole if part is None else client.submit(part, whole, pure=False)
                waiting.append((asked, whole))
                if len(waiting) > AHEAD * max(1, sum(client.nthreads().values())):
                    yield next_one()
            while waiting:
                yield next_one()
        except BaseException as error:
            client.cancel([future for pair in waiting for future in pair])
            if type(error).__name__ in LOST:
                raise WorkersError(f"the cluster has lost a task ({error}); see the logs of its workers") from error
            raise


def _number() -> str:
    return uuid.uuid4().hex


@functools.lru_cache(maxsize=2)
def _shared(packed: Packed) -> Any:
    """What tasks share, unpacked once in a process."""
    return packed.unpacked()


def _unpacked(task: Callable[..., R], item: Any, packed: Packed) -> R:
    return task(item, _shared(packed))


@contextmanager
def open_workers(n_jobs: int | None, engine: Any, scratch: Path) -> Iterator[Workers]:
    """The workers that a user means by `n_jobs` (None is one) and `engine`; `scratch` is a folder for what is kept."""
    if engine is not None:
        if not is_client(engine) or engine.asynchronous:
            raise ParameterError("engine", f"must be None or a Dask Client (not an asynchronous one), not {engine!r}")
        yield Dask(engine)
        return
    n = resolve_n_jobs(1 if n_jobs is None else n_jobs)
    if n == 1:
        yield Here(scratch)
        return
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(max_workers=n)
    done = False
    try:
        yield Processes(executor, n, scratch)
        done = True
    finally:
        executor.shutdown(wait=True, kill_workers=not done)


def is_client(engine: Any) -> bool:
    """Whether it is a Dask Client, without importing Dask for anything else."""
    return any(cls.__name__ == "Client" and cls.__module__.startswith("distributed") for cls in type(engine).__mro__)
