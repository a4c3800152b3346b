"""A connection to a Dask scheduler: every wait has a limit, is told, and hears Ctrl-C and SIGTERM at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, TypeVar

from topoi._machine.interrupt import check_stop
from topoi.chain.engines.cluster._faults import AGAIN, EngineError
from topoi.chain.engines.cluster._peer import check_peer, split_address

R = TypeVar("R")
#: Where a line goes that says what is waited for.
Say = Callable[[str], None]
SPELL = 0.2  # seconds
PATIENT = 2.0  # seconds before a wait is told
GRACE = 10.0  # seconds that Dask may take longer than the limit that it was given
CERTIFICATES = (
    "TLS needs files of certificates, which Dask's configuration names: DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY; see docs/cluster.md"
)


class Overdue(Exception):  # noqa: N818 (it becomes an error of its caller's)
    """Work that is not done within its limit."""


def within(limit: float, work: Callable[[], R], waiting: str, say: Say, undo: Callable[[R], None] | None = None) -> R:
    """work(), on a thread of its own, so that Ctrl-C and the limit hold whatever it waits for.

    A stop that a fit has been asked for ends the wait as well, be it before or meanwhile: it would be heard after the
    sweep only. The work cannot be stopped, only left behind: what it gives then goes to `undo`.
    """
    future: Future[R] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    def late(done: Future[R]) -> None:
        if undo is not None and done.exception() is None:
            undo(done.result())

    threading.Thread(target=run, daemon=True).start()
    begun, told = time.monotonic(), False
    try:
        while True:
            try:
                return future.result(SPELL)
            except TimeoutError:
                if future.done():  # it is the work's own, or has just come
                    return future.result()
            if time.monotonic() > begun + PATIENT:  # whoever is there has answered by now
                check_stop()
                if not told:
                    told = True
                    say(waiting)
            if time.monotonic() > begun + limit:
                raise Overdue
    except BaseException:
        future.add_done_callback(late)
        raise


@contextmanager
def connect(address: str, say: Say) -> Iterator[Any]:
    """A client of the scheduler at an address."""
    try:
        import dask
        from dask.utils import parse_timedelta
        from distributed import Client
    except ImportError as error:
        raise EngineError(
            f"the Dask cluster at {address} needs the package `distributed`: pip install distributed"
        ) from error
    limit = float(parse_timedelta(dask.config.get("distributed.comm.timeouts.connect")))
    if split_address(address)[0] == "tls":
        _check_certificates(address)
    waiting = f"waiting up to {limit:g} s for the Dask scheduler at {address} …"

    left = threading.Event()

    def begin() -> Any:
        check_peer(address, limit, left)
        if left.is_set():
            raise Overdue
        return Client(address, timeout=limit)  # type: ignore[no-untyped-call]

    try:
        client = within(2 * limit + GRACE, begin, waiting, say, undo=lambda client: client.close())
    except KeyboardInterrupt:
        left.set()
        raise
    except Overdue:
        raise EngineError(
            f"the Dask server at {address} greets but has not let us in for {limit:g} seconds; start it anew"
        ) from None
    except EngineError:
        raise
    except Exception as error:  # whatever Dask makes of a peer that it does not understand
        raise EngineError(
            f"the Dask server at {address} cannot be joined ({type(error).__name__}: {str(error) or _cause(error)}); "
            + (
                CERTIFICATES
                if address.startswith("tls")
                else f"it must be a scheduler, no worker, with {_ours()} as here"
            )
        ) from error
    with client:
        _check_version(client, address, limit)
        yield client


def _cause(error: BaseException) -> str:
    return str(error.__cause__ or error.__context__ or "no reason given")


def _ours() -> str:
    return f"distributed {version('distributed')}"


def _check_certificates(address: str) -> None:
    """Raise unless Dask's configuration names certificates that can be read."""
    import dask
    from distributed.security import Security

    if dask.config.get("distributed.client.security-loader", None):
        return  # a function that Dask will ask for them
    try:
        context = Security().get_connection_args("client")["ssl_context"]  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:  # SSLError is an OSError
        raise EngineError(f"{address}: a certificate or key cannot be used ({error}); {CERTIFICATES}") from error
    if context is None:
        raise EngineError(f"{address}: there are no certificates; {CERTIFICATES}")


def _check_version(client: Any, address: str, limit: float) -> None:
    """Raise unless the scheduler has our version of Dask: what they send each other changes from one to the next."""
    try:
        theirs = within(limit, lambda: client.run_on_scheduler(version, "distributed"), "", lambda _: None)
    except Overdue:
        raise unanswered(address, limit) from None
    except Exception as error:
        raise EngineError(f"the Dask scheduler at {address} cannot be used ({error}); it needs {_ours()}") from error
    if theirs != version("distributed"):
        raise EngineError(
            f"the Dask scheduler at {address} has distributed {theirs}, and here is {_ours()}; install the same one"
        )


def unanswered(address: str, limit: float) -> EngineError:
    return EngineError(
        f"the Dask scheduler at {address} has not answered for {limit:g} seconds; start it anew; {AGAIN}"
    )


def lost(address: str, error: BaseException) -> EngineError:
    """The error of a connection that has gone."""
    return EngineError(f"the connection to the Dask scheduler at {address} is lost ({error}); {AGAIN}")
