"""Errors of a run whose files or workers fail: what was found, where, and what to do."""

from __future__ import annotations

import errno
import functools
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from topoi._disk.moved import counted
from topoi._disk.patience import patient
from topoi._disk.remote import is_url, shown
from topoi._machine.interrupt import stop_if_asked
from topoi.chain.engines.cluster._job import Job
from topoi.chain.engines.cluster._names import in_words
from topoi.errors import PackageMissingError, StorageError, TopoiError

R = TypeVar("R")
P = ParamSpec("P")
FULL = (errno.ENOSPC, errno.EDQUOT)
MORE_MEMORY = "give workers more memory (dask worker --memory-limit), or fewer threads (--nthreads), a task for each"
AGAIN = "with fit(…, checkpoint=folder) the same call goes on from the last checkpoint"
REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make the folder one that can be written again"),
}


class EngineError(TopoiError, RuntimeError):
    """Tasks of a run that cannot be done."""


def worker_name() -> str | None:
    """The address and host of the Dask worker that runs this; None where no worker does."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return f"{distributed.get_worker().address} on {socket.gethostname()}"
    except ValueError:
        return None


def place() -> str:
    """Where this runs, for messages."""
    return worker_name() or socket.gethostname()


def missing_folder(job: Job) -> EngineError | None:
    """The error of a run that does not see its folders; None if it does."""
    missing = [folder for folder in (job.folder, job.corpus) if not (is_url(folder) or Path(folder).is_dir())]
    if not missing:
        return None
    name = worker_name()
    if name is None:
        return EngineError(
            f"{missing[0]} has gone: something has removed, renamed or unmounted it while the fit was running; "
            "begin the fit anew, with fit(…, checkpoint=folder) in a folder that nothing cleans up"
        )
    return EngineError(
        f"the worker {name} does not see {missing[0]}; fit(…, checkpoint=folder), or -o on the command line, names a "
        "folder for the run, which must be on a disk that all workers share, as must a corpus that is given by its "
        "folder; if it was there before, something has removed it: begin the fit anew"
    )


def file_fault(job: Job, doing: str, error: OSError | PackageMissingError) -> EngineError:
    """The error of a run that cannot read or write a file."""
    if isinstance(error, StorageError | PackageMissingError):  # which says by itself what to do
        return EngineError(f"{doing} failed on {place()}: {error}; {AGAIN}")
    if error.errno in FULL:
        return EngineError(f"{doing} failed on {place()}: {error}; {_make_room(job)}; {AGAIN}")
    remedy = REMEDIES.get(error.errno or 0, f"see to the disk of {shown(job.folder)}")
    gone = missing_folder(job) if isinstance(error, FileNotFoundError) else None
    return gone or EngineError(f"{doing} failed on {place()}: {error}; {remedy}; {AGAIN}")


def _make_room(job: Job) -> str:
    """Where there is no room any more, in words."""
    if not is_url(job.folder):
        return f"make room on the disk of {job.folder}"
    return (
        "make room there, on the disk of the copies of objects (TOPOI_CACHE names another folder, TOPOI_CACHE_GB says "
        "how much it may hold) and on that of temporary files"
    )


def size_in_words(n_bytes: object) -> str:
    """A size of memory or files for people."""
    if not isinstance(n_bytes, int | float) or n_bytes <= 0:
        return "an unknown size"
    size, units = float(n_bytes), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.5 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"


def worn_out(task: str, sweep: int, error: BaseException) -> EngineError:
    """The error of a task that has cost as many workers as Dask lets it."""
    last, times = getattr(error, "last_worker", None), getattr(error, "allowed_failures", None)
    cost = "several workers" if times is None else f"{times + 1} worker{'s' if times else ''}"
    about = "" if last is None else (
        f"; the last was {last.address} ({last.nthreads} thread{'s' if last.nthreads != 1 else ''}, "
        f"{size_in_words(last.memory_limit)} of memory)"
    )  # fmt: skip
    return EngineError(
        f"tasks of sweep {sweep}, “{in_words(task)}”, have ended {cost}{about}. As a rule they want more memory than a "
        f"worker has; docs/cluster.md says how much a thread needs: {MORE_MEMORY}. If something else has ended them, "
        f"their logs say so; {AGAIN}"
    )


def with_files(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of the driver whose file errors say what became of the run, and whose bytes are counted."""

    @functools.wraps(method)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with counted() as moved, patient(stop_if_asked):
            try:
                return method(self, *args, **kwargs)
            except OSError as error:
                raise file_fault(self.job, method.__name__, error) from error
            finally:
                self.by_driver.add(moved)

    return run
