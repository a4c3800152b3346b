"""Errors of a run whose files or workers fail: what was found, where, and what to do."""

from __future__ import annotations

import errno
import functools
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from topoi._disk.remote import is_url, shown
from topoi.chain.engines.cluster._job import Job
from topoi.errors import PackageMissingError, StorageError, TopoiError

R = TypeVar("R")
P = ParamSpec("P")
AGAIN = "with fit(…, checkpoint=folder) the same call goes on from the last checkpoint"
REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room on its disk"),
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
    remedy = REMEDIES.get(error.errno or 0, f"see to the disk of {shown(job.folder)}")
    gone = missing_folder(job) if isinstance(error, FileNotFoundError) else None
    return gone or EngineError(f"{doing} failed on {place()}: {error}; {remedy}; {AGAIN}")


def with_files(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of the driver whose file errors say what became of the run."""

    @functools.wraps(method)
    def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise file_fault(self.job, method.__name__, error) from error

    return run
