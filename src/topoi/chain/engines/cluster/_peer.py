"""Who listens at an address: found out before Dask talks to it.

Dask takes the first bytes of whatever answers for the length of a message, and waits without end for a server that says
nothing. But a Dask server greets: with the length of its greeting and a few settings, in plain or under TLS. So we
listen first, and tell who is there if it is somebody else. Nothing that comes is unpickled here.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from urllib.parse import urlsplit

from topoi.chain.engines.cluster._faults import EngineError
from topoi.errors import ParameterError

EXAMPLE = '"tcp://host:8786", or "tls://host:8786"'
#: Seconds of silence after which the server is asked what it is, and seconds for its answer.
SILENCE = 3.0
ANSWER = 2.0
LONGEST = 2**16  # bytes of a greeting: they are some hundred
PRINTED = "name the address that the scheduler printed when it was started"
DASHBOARD = "is it Dask's dashboard? The scheduler listens at another port, 8786 unless told otherwise"


def split_address(address: str) -> tuple[str, str, int]:
    """The protocol, host and port of an address; "tcp" where none is named."""
    from distributed.comm.registry import get_backend

    scheme, separator, place = address.rpartition("://")
    scheme = scheme if separator else "tcp"
    try:
        get_backend(scheme)
    except ValueError:
        raise ParameterError(
            "engine", f"{address!r} has the protocol {scheme!r}, which Dask does not speak; write {EXAMPLE}"
        ) from None
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ParameterError("engine", f"{address!r} is no address ({error}); write {EXAMPLE}") from None
    if scheme in ("tcp", "tls") and (not host or not port or parts.netloc != place or parts.username is not None):
        raise ParameterError("engine", f"{address!r} is no address of a host and a port; write {EXAMPLE}")
    return scheme, host or "", port or 0


def check_peer(address: str, limit: float, left: threading.Event) -> None:
    """Raise unless a Dask server greets at an address, in plain (tcp://) or after TLS (tls://), within some seconds.

    Whoever waits for the answer may have `left`: then nobody is asked any more.
    """
    scheme, host, port = split_address(address)
    if scheme not in ("tcp", "tls"):
        return  # Dask's own affair
    deadline = time.monotonic() + limit
    with _reach(address, host, port, deadline, left) as connection:
        if scheme == "tls":
            connection.sendall(client_hello())
            first = _hear(connection, deadline)
            if first is not None and not speaks_tls(first):
                raise wrong_peer(address, first)
        else:
            first = _hear(connection, min(deadline, time.monotonic() + SILENCE))
            if first is None:
                for question in (client_hello(), f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode()):
                    answer = None if left.is_set() else _ask(host, port, question)
                    if answer and not greets(answer):
                        raise wrong_peer(address, answer)
                first = _hear(connection, deadline)
            if first is not None and not greets(first):
                raise wrong_peer(address, first)
        if first is None:
            raise EngineError(
                f"the server at {address} accepts connections but has said nothing for {limit:g} seconds; a Dask "
                "scheduler greets at once. Is it another server, a firewall, or a scheduler that hangs?"
            )


def _reach(address: str, host: str, port: int, deadline: float, left: threading.Event) -> socket.socket:
    """A connection; tried again until the deadline, since a scheduler may just be starting."""
    while True:
        try:
            return socket.create_connection((host, port), max(deadline - time.monotonic(), 0.1))
        except (OSError, UnicodeError) as error:
            no_such_host = isinstance(error, UnicodeError) or error.errno == socket.EAI_NONAME
            if no_such_host or time.monotonic() + 0.5 > deadline or left.wait(0.2):
                raise EngineError(
                    f"there is no Dask scheduler at {address} ({error}); start one there: dask scheduler"
                ) from error


def _hear(connection: socket.socket, deadline: float) -> bytes | None:
    """The first bytes that come before a deadline, as many as tell who speaks; None for silence, b"" for a hang-up."""
    data = b""
    while len(data) < 8 or (_length(data) <= LONGEST and len(data) < 8 + _length(data)):
        connection.settimeout(max(deadline - time.monotonic(), 0.01))
        try:
            more = connection.recv(4096)
        except TimeoutError:
            return data or None
        except OSError:  # reset
            return data
        if not more:
            return data
        data += more
    return data


def _length(data: bytes) -> int:
    return int(struct.unpack("<Q", data[:8])[0])


def _ask(host: str, port: int, question: bytes) -> bytes | None:
    """What a server answers to a question, on a connection of its own."""
    try:
        with socket.create_connection((host, port), ANSWER) as connection:
            connection.sendall(question)
            return _hear(connection, time.monotonic() + ANSWER)
    except OSError:
        return None


def client_hello() -> bytes:
    """The bytes with which a client begins TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    sent = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    return sent.read()


def greets(data: bytes) -> bool:
    """Whether this is the greeting of a Dask server."""
    return len(data) > 8 and _length(data) <= LONGEST and b"compression" in data and b"pickle-protocol" in data


def speaks_tls(data: bytes) -> bool:
    """Whether this is the answer of a server that speaks TLS: a handshake or an alert."""
    return data[:1] in (b"\x15", b"\x16") and data[1:2] == b"\x03"


def wrong_peer(address: str, data: bytes) -> EngineError:
    """The error of an address at which somebody else listens."""
    place = address.rpartition("://")[2]
    if greets(data):
        return EngineError(
            f"the Dask server at {address} does not speak TLS; start the scheduler with TLS, or write tcp://{place}"
        )
    if speaks_tls(data):
        return EngineError(f"the server at {address} speaks TLS; write tls://{place}: docs/cluster.md")
    if not data:
        found, remedy = "a server that closes the connection without a word", PRINTED
    elif data.startswith(b"SSH-"):
        found, remedy = "an SSH server", "name the port of the scheduler, 8786 unless told otherwise"
    elif data.startswith((b"HTTP/", b"<!DOCTYPE", b"<html")):
        found, remedy = "an HTTP server", DASHBOARD
    else:
        found, remedy = f"a server that says {data[:40]!r}", PRINTED
    return EngineError(f"at {address} there is no Dask scheduler but {found}; {remedy}")
