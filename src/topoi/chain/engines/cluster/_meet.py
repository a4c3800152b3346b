"""Who is there to do the tasks: waited for, asked what they run, and helped where their memory is full."""

from __future__ import annotations

import ctypes
import gc
import pkgutil
import platform
import time
import uuid
from collections.abc import Mapping
from typing import Any

from topoi.chain.engines.cluster._connect import GRACE, Overdue, Say, lost, unanswered, within
from topoi.chain.engines.cluster._faults import AGAIN, MORE_MEMORY, EngineError, size_in_words
from topoi.chain.engines.cluster._stamp import code_stamp, differences
from topoi.chain.engines.cluster._views import group_corpus

WORKERS = "topoi.workers-timeout"  # a name in Dask's configuration, as `distributed.comm.timeouts.connect` is
LOOK = 0.5  # seconds between two looks at who is there
STAMPS = 60.0  # seconds for the answers of workers, which have to import all of topoi for it
NAME = "topoi:__version__"  # of the standard library's `resolve_name`: what every worker can unpickle


def meet_workers(client: Any, say: Say) -> None:
    """Wait for the first worker, and see that those who are there run what runs here."""
    # An adaptive cluster has no worker as long as there is nothing to do.
    bell = client.submit(pkgutil.resolve_name, NAME, key=f"topoi first worker-{uuid.uuid4().hex}", pure=False)
    try:
        wait_for_worker(client, say)
    finally:
        bell.release()
    check_workers(client)


def wait_for_worker(client: Any, say: Say) -> None:
    """Wait until a worker is there that takes tasks, or has one in hand."""
    import dask
    from dask.utils import parse_timedelta

    limit = float(parse_timedelta(dask.config.get(WORKERS, "5 minutes")))
    address = client.scheduler.address if client.scheduler else "?"
    waiting = (
        f"no worker is running at the Dask scheduler at {address}; waiting up to {limit:g} s for one "
        f"(dask worker {address}) …"
    )
    try:
        left = within(limit + GRACE, lambda: _somebody(client, limit), waiting, say)
    except Overdue:
        raise unanswered(address, limit) from None
    except OSError as error:
        raise lost(address, error) from error
    if left is None:
        return
    if left:
        who, of = next(iter(left.items()))
        raise EngineError(
            f"Dask has paused {_all_of(left)}: the worker {who} ({of.get('nthreads')} threads, "
            f"{size_in_words(of.get('memory_limit'))} of memory) has had more of its memory in use than Dask allows "
            f"for {limit:g} seconds, and takes no tasks; {MORE_MEMORY}; {AGAIN}"
        )
    raise EngineError(
        f"no worker has come to the Dask scheduler at {address} within {limit:g} seconds; start some: dask worker "
        f"{address} (or wait longer: DASK_TOPOI__WORKERS_TIMEOUT=1h); if workers end by themselves, see their "
        f"logs: as a rule they want memory; {AGAIN}"
    )


def _all_of(workers: Mapping[str, Any]) -> str:
    return "the only worker" if len(workers) == 1 else f"all {len(workers)} workers"


def _somebody(client: Any, limit: float) -> Mapping[str, Any] | None:
    """None once a worker works or can; else, at the limit, the workers that are paused."""
    end = time.monotonic() + limit
    while True:
        there: dict[str, Any] = dict(client.sync(client.scheduler.identity)["workers"])
        paused = {worker: about for worker, about in there.items() if about["status"] == "paused"}
        if paused:
            client.run(give_back_memory, workers=list(paused), on_error="ignore")
        if any(about["status"] == "running" for about in there.values()) or any(map(_is_busy, paused.values())):
            return None
        if time.monotonic() > end:
            return paused
        time.sleep(LOOK)


def _is_busy(about: Mapping[str, Any]) -> bool:
    """Whether a worker has a task in hand, by what it has told the scheduler last."""
    counts = (about.get("metrics") or {}).get("task_counts") or {}
    return bool(counts.get("executing"))


def give_back_memory() -> None:
    """In a worker that Dask has paused, which gets no task until it uses less: what saves time, and what is free."""
    group_corpus.forget_all()
    gc.collect()
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


# ---- What they run -------------------------------------------------------------------------------------------


def check_workers(client: Any) -> None:
    """Raise if a worker that is there cannot import topoi, or would draw other topics, before there is any task.

    A worker that cannot import topoi would be ended by Dask with its first task, and nobody be told. Those who come
    later compare what they run when they get a task (`_workers.checked`).
    """
    for worker, answer in _ask(client, GRACE, pkgutil.resolve_name, NAME).items():
        if isinstance(answer, ImportError):
            raise EngineError(
                f"the worker {worker} cannot import topoi ({answer}); install the same packages there as here, and "
                "start it anew"
            )
    ours = code_stamp()
    for worker, theirs in _ask(client, STAMPS, code_stamp).items():
        if isinstance(theirs, OSError):  # it has gone since, as workers of an adaptive cluster do
            continue
        if isinstance(theirs, BaseException):  # a topoi that has no such function, or that lacks a package
            raise EngineError(
                f"the worker {worker} cannot say what it runs ({type(theirs).__name__}: {theirs}); install the same "
                f"packages there as here, and start it anew: here is {ours}"
            )
        if theirs != ours:
            raise other_code(worker, theirs, ours)


def other_code(worker: str, theirs: str, ours: str) -> EngineError:
    """The error of a worker that runs something else."""
    return EngineError(
        f"the worker {worker} runs other code than the driver, and what it makes would differ: "
        f"{differences(theirs, ours)} (it has {theirs}; the driver has {ours}). Install the same there, and start the "
        "worker anew"
    )


def _ask(client: Any, limit: float, *question: Any) -> dict[str, Any]:
    """What every worker answers; nothing if one hangs: Dask gives its tasks to others."""
    try:
        answers: dict[str, Any] = within(limit, lambda: client.run(*question, on_error="return"), "", lambda _: None)
    except Overdue:
        return {}
    except OSError as error:
        raise lost(client.scheduler.address, error) from error
    return answers
