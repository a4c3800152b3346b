"""Whoever listens where a Dask scheduler should is named, soon; TLS works; nobody waits without end."""

from __future__ import annotations

import _thread
import contextlib
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from support.cli_files import call, write_csv
from support.corpora import random_counts
from support.waiting import PATIENCE
from topoi import LDA, ParameterError
from topoi.chain.engines.cluster import EngineError, _connect, _meet, _peer, _workers
from topoi.cli._stop import Stop

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

X = random_counts(60, 50, 30, seed=2)
SETTINGS = {"n_topics": 3, "n_sweeps": 3, "sampler": "partial", "random_state": 0}
GREETING = (
    b":\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0*\0\0\0\0\0\0\0"
    b"\x83\xabcompression\xc0\xa6python\x93\x03\x0b\x07\xafpickle-protocol\x05"
)


def fit(address):
    return LDA(**SETTINGS, engine=address).fit(X)


@pytest.fixture(autouse=True)
def _soon_asked(monkeypatch):
    monkeypatch.setattr(_peer, "SILENCE", 0.2)


@pytest.fixture
def impatient():
    """For those who never answer. All others may take their time: a machine may be busy."""
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        yield


@contextmanager
def server(treat):
    """The address of a server that treats every connection so, on a thread of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kept = []  # an open connection that is forgotten would be closed

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                kept.append(connection)
                threading.Thread(target=treat, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends `accept` on Linux; elsewhere closing does
    for connection in kept:
        connection.close()


def web(connection):
    """As a web server: nothing before a question, and a complaint about one that is not HTTP."""
    with contextlib.suppress(OSError):  # who asked may have gone
        asked = connection.recv(4096)
        found = b"200 OK" if asked.startswith(b"GET") else b"400 Bad Request"
        connection.sendall(b"HTTP/1.0 " + found + b"\r\n\r\n")
        connection.close()


PEERS = {
    "hangs up": (lambda connection: connection.close(), r"a server that closes the connection without a word"),
    "ssh": (
        lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n"),
        r"no Dask scheduler but an SSH server",
    ),
    "mail": (lambda connection: connection.sendall(b"220 mail ESMTP\r\n"), r"a server that says b'220 mail ESMTP"),
    "zeros": (lambda connection: connection.sendall(bytes(64)), r"a server that says b'\\x00"),
    "ones": (lambda connection: connection.sendall(b"\xff" * 64), r"a server that says b'\\xff"),
    "web": (web, r"an HTTP server; is it Dask's dashboard\?"),
    "cut off": (lambda connection: connection.sendall(GREETING[:20]), r"a server that says b':\\x00"),
}


def silent(connection):
    pass


def greeting(connection):
    connection.sendall(GREETING)


@pytest.mark.parametrize("name", PEERS)
def test_somebody_else(name):
    treat, message = PEERS[name]
    with server(treat) as place, pytest.raises(EngineError, match=message):
        fit(f"tcp://{place}")


@pytest.mark.parametrize("name", ["ssh", "web", "hangs up"])
def test_somebody_else_for_tls(name, tls):
    treat, message = PEERS[name]
    with server(treat) as place, tls.trusted(), pytest.raises(EngineError, match=message):
        fit(f"tls://{place}")


NOTHING = r"accepts connections but has said nothing for 2 seconds"


def test_somebody_who_says_nothing(impatient):
    with server(silent) as place, pytest.raises(EngineError, match=NOTHING):
        fit(f"tcp://{place}")


def test_somebody_who_says_nothing_for_tls(impatient, tls):
    with server(silent) as place, tls.trusted(), pytest.raises(EngineError, match=NOTHING):
        fit(f"tls://{place}")


def test_somebody_who_only_greets(impatient):
    with (
        server(greeting) as place,
        pytest.raises(EngineError, match=r"the Dask server at .* (cannot be joined|greets but)"),
    ):
        fit(f"tcp://{place}")


def test_on_the_command_line(tmp_path):
    """Where it was told that topics take too much memory."""
    with server(PEERS["ssh"][0]) as place:
        options = ("--sampler", "partial", "--dask", f"tcp://{place}", "-o", tmp_path / "model")
        failed = call("fit", write_csv(tmp_path / "posts.csv"), "--text", "body", *options)
    assert failed.exit_code == 2
    assert "Error: at tcp://127.0.0.1:" in failed.output
    assert "no Dask scheduler but an SSH server" in failed.output


def test_nobody(impatient):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(
        EngineError, match=rf"no Dask scheduler at tcp://127\.0\.0\.1:{port} .*start one there: dask sch"
    ):
        fit(f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8786", "tcp://", "tcp://host", "tcp://host:99999", "tcp://host:x", ":8786", "a:b:c", "://:",
     "tcp://me@host:1", "tcp://host:1/path", "tcp://[::1:8", "tcp://host:0"],
)  # fmt: skip
def test_no_address(address):
    with pytest.raises(ParameterError, match=r'engine: .*; write "tcp://host:8786", or "tls://host:8786"'):
        fit(address)


def test_a_host_that_cannot_be():
    with pytest.raises(EngineError, match=r"no Dask scheduler at tcp://a\.\.b:1"):
        fit("tcp://a..b:1")


def test_ctrl_c_at_once(listening):
    """The first one, though a fit that has begun would go on to the end of its sweep."""
    pressed = []

    def press(connection):  # once
        if not pressed:
            pressed.append(True)
            _thread.interrupt_main()

    with server(press) as place, pytest.raises(KeyboardInterrupt):
        fit(f"tcp://{place}")


def test_after_ctrl_c_nobody_is_asked_any_more(listening, monkeypatch):
    """The thread that tries again and again to connect ends as well. (verify/fuzz_cli.py has found it.)"""
    threads = []

    def refuse(*given):
        threads.append(threading.current_thread())
        if len(threads) == 1:
            _thread.interrupt_main()
        raise ConnectionRefusedError

    monkeypatch.setattr(_peer.socket, "create_connection", refuse)
    with pytest.raises(KeyboardInterrupt):
        fit("tcp://127.0.0.1:9")
    threads[0].join(10)  # it would try for 30 seconds
    assert not threads[0].is_alive()


def test_waiting_is_told(monkeypatch, capsys, impatient):
    monkeypatch.setattr(_connect, "PATIENT", 0.0)
    with server(silent) as place:
        for progress in (False, True):
            with pytest.raises(EngineError):
                LDA(**SETTINGS, engine=f"tcp://{place}", progress=progress).fit(X)
            told = capsys.readouterr().err
            assert (f"waiting up to 2 s for the Dask scheduler at tcp://{place} …" in told) == progress


def test_late_answers_are_undone():
    """A client that comes after we have left is closed."""
    go, undone = threading.Event(), threading.Event()
    with pytest.raises(_connect.Overdue):
        _connect.within(0.0, lambda: go.wait(PATIENCE), "", print, undo=lambda _: undone.set())
    assert not undone.is_set()
    go.set()
    assert undone.wait(PATIENCE)


# ---- Schedulers ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and, where asked for, workers: all in this process."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        yield cluster


def scale(cluster, n):
    cluster.scale(n)
    cluster.sync(cluster._correct_state)


def test_a_worker_is_no_scheduler(cluster):
    with pytest.raises(EngineError, match="it must be a scheduler, no worker"):
        fit(next(iter(cluster.scheduler_info["workers"])))


def test_the_dashboard_is_no_scheduler(cluster):
    place = cluster.dashboard_link.removeprefix("http://").removesuffix("/status")
    with pytest.raises(EngineError, match="an HTTP server; is it Dask's dashboard"):
        fit(f"tcp://{place}")


def test_a_plain_scheduler_for_tls(cluster, tls):
    with tls.trusted(), pytest.raises(EngineError, match=r"does not speak TLS; .*, or write tcp://127\.0\.0\.1"):
        fit(cluster.scheduler_address.replace("tcp", "tls"))


def test_another_version_of_dask(cluster, monkeypatch):
    with distributed.Client(cluster.scheduler_address) as client:
        _connect._check_version(client, cluster.scheduler_address, 60.0)
        monkeypatch.setattr(client, "run_on_scheduler", lambda function, package: "2024.1.0")
        with pytest.raises(
            EngineError, match=r"has distributed 2024\.1\.0, and here is distributed 2.*; install the same"
        ):
            _connect._check_version(client, cluster.scheduler_address, 60.0)


def test_a_worker_without_topoi(cluster, monkeypatch):
    """Which Dask would end, with its first task."""
    true = distributed.Client.run

    def run(client, function, name, **options):
        return true(client, function, name.replace("topoi", "topoi_that_is_not_there"), **options)

    monkeypatch.setattr(distributed.Client, "run", run)
    with pytest.raises(EngineError, match=r"the worker tcp://.* cannot import topoi \(No module named"):
        fit(cluster.scheduler_address)


def test_without_a_scheme(cluster):
    np.testing.assert_array_equal(
        fit(cluster.scheduler_address.removeprefix("tcp://")).components_, LDA(**SETTINGS).fit(X).components_
    )


def test_without_workers(cluster, monkeypatch, capsys):
    """At the beginning, and when they leave; it is told."""
    monkeypatch.setattr(_workers, "SPELL", 0.2)
    monkeypatch.setattr(_connect, "PATIENT", 0.0)
    message = r"no worker has come to the Dask scheduler at .* within 1 seconds; start some: dask worker tcp"

    def leave(progress):
        scale(cluster, 0)

    try:
        with dask.config.set({"topoi.workers-timeout": "1s"}):
            with pytest.raises(EngineError, match=message):
                LDA(**SETTINGS, engine=cluster.scheduler_address, callbacks=[leave]).fit(X)
            with pytest.raises(EngineError, match=message):
                LDA(**SETTINGS, engine=cluster.scheduler_address, progress=True).fit(X)
        assert "waiting up to 1 s for one (dask worker tcp" in capsys.readouterr().err
    finally:
        scale(cluster, 1)


@contextmanager
def deserted(cluster, seconds):
    """No worker is there, or comes within some seconds."""
    scale(cluster, 0)
    try:
        with dask.config.set({"topoi.workers-timeout": f"{seconds}s"}):
            yield
    finally:
        scale(cluster, 1)


def test_a_wait_for_workers_hears_sigterm(cluster, monkeypatch):
    """A command that is told to stop saves the model after the sweep; but there is none yet, nor will there be."""
    monkeypatch.setattr(_connect, "PATIENT", 0.0)
    with Stop() as stop, deserted(cluster, 20), distributed.Client(cluster.scheduler_address) as client:
        stop.gentle = True
        with pytest.raises(KeyboardInterrupt):  # before: an error after 20 seconds
            _meet.meet_workers(client, lambda _: signal.raise_signal(signal.SIGTERM))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_that_nobody_is_there_to_finish_hears_a_signal(cluster, monkeypatch, listening, number):
    """While it waits; and the wait begins soon after the last worker has left."""
    monkeypatch.setattr(_connect, "PATIENT", 0.0)
    waits = []

    def press(client, say):
        waits.append(True)
        signal.raise_signal(number)
        _meet.wait_for_worker(client, say)

    def leave(progress):
        monkeypatch.setattr(_workers, "wait_for_worker", press)
        scale(cluster, 0)

    with Stop() as stop, contextlib.ExitStack() as stack:
        stop.gentle = True
        stack.callback(scale, cluster, 1)
        stack.enter_context(dask.config.set({"topoi.workers-timeout": "20s"}))
        with pytest.raises(KeyboardInterrupt):
            LDA(**SETTINGS, engine=cluster.scheduler_address, callbacks=[stop, leave]).fit(X)
    assert waits == [True]


# ---- TLS -----------------------------------------------------------------------------------------------------------


class Certificates:
    """Two keys, each with a certificate that is its own authority."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("ours", "others"):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", "-days", "2",
                 "-subj", f"/CN={name}"],
                check=True, capture_output=True,
            )  # fmt: skip

    def of(self, name, part="pem"):
        return str(self.folder / f"{name}.{part}")

    def trusted(self, name="ours"):
        """Dask's configuration of a client with these certificates."""
        return dask.config.set({
            "distributed.comm.tls.ca-file": self.of(name),
            "distributed.comm.tls.client.cert": self.of(name),
            "distributed.comm.tls.client.key": self.of(name, "key"),
        })  # fmt: skip


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is not here")
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def safe_cluster(tls):
    from distributed.security import Security

    pair = {f"tls_{role}_{kind}": tls.of("ours", end) for role in ("scheduler", "worker", "client")
            for kind, end in (("cert", "pem"), ("key", "key"))}  # fmt: skip
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tls://", dashboard_address=":0",
        security=Security(tls_ca_file=tls.of("ours"), require_encryption=True, **pair),
    ) as cluster:  # fmt: skip
        assert cluster.scheduler_address.startswith("tls://")
        yield cluster


def test_tls(safe_cluster, tls):
    with tls.trusted():
        model = fit(safe_cluster.scheduler_address)
    np.testing.assert_array_equal(model.components_, LDA(**SETTINGS).fit(X).components_)


def test_a_safe_scheduler_in_plain(safe_cluster):
    with pytest.raises(EngineError, match=r"speaks TLS; write tls://127\.0\.0\.1"):
        fit(safe_cluster.scheduler_address.replace("tls", "tcp"))


def test_tls_without_certificates(safe_cluster):
    with pytest.raises(
        EngineError, match=r"there are no certificates; TLS needs .*DASK_DISTRIBUTED__COMM__TLS__CA_FILE"
    ):
        fit(safe_cluster.scheduler_address)


def test_other_certificates(safe_cluster, tls):
    with (
        tls.trusted("others"),
        pytest.raises(EngineError, match=r"cannot be joined .*DASK_DISTRIBUTED__COMM__TLS__CA_FILE"),
    ):
        fit(safe_cluster.scheduler_address)


@pytest.mark.parametrize("wrong", ["missing", "of another", "no certificate"])
def test_certificates_that_cannot_be_used(wrong, tls, tmp_path):
    (tmp_path / "text").write_text("no certificate", "utf-8")
    setting = {
        "missing": {"distributed.comm.tls.ca-file": str(tmp_path / "none.pem")},
        "of another": {"distributed.comm.tls.client.key": tls.of("others", "key")},
        "no certificate": {"distributed.comm.tls.client.cert": str(tmp_path / "text")},
    }[wrong]
    with tls.trusted(), dask.config.set(setting), pytest.raises(EngineError, match="certificate or key cannot be used"):
        fit("tls://127.0.0.1:9")
