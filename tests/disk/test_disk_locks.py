"""Two fits into one folder: the second is told at once who has it; a process that was killed is in nobody's way."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from support.cli_files import FILES, call, done, process, write_csv
from support.waiting import wait_until
from topoi import LDA
from topoi._disk import locks
from topoi._disk.locks import LOCK, check_free, locked
from topoi.errors import BusyError

OPTIONS = ("--text", "body", "--topics", "3", "--jobs", "1", "--checkpoint-seconds", "0")
LONG = ("--sweeps", "1000000")
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
HOLD = """
import sys
from topoi._disk.locks import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock of the folder."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "held\n"
    yield other
    other.kill()
    other.communicate()


def test_the_holder_is_named(holder, tmp_path):
    for attempt in (locked(tmp_path).__enter__, lambda: check_free(tmp_path)):
        with pytest.raises(BusyError, match=f"process {holder.pid} on .*, since 20.*choose another folder"):
            attempt()
    holder.communicate("\n")
    with locked(tmp_path):
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    assert not list(tmp_path.iterdir())


def test_a_killed_process_holds_nothing(holder, tmp_path):
    holder.kill()
    holder.wait()
    assert (tmp_path / LOCK).exists()
    check_free(tmp_path)
    with locked(tmp_path), pytest.raises(BusyError, match=f"this process .{os.getpid()}"), locked(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_threads_of_one_process(tmp_path):
    errors = []

    def second():
        try:
            with locked(tmp_path):
                pass
        except BusyError as error:
            errors.append(error)

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(errors) == 1
    second()
    assert len(errors) == 1


@POSIX
def test_a_child_holds_nothing(tmp_path):
    """Nor does it keep the lock of a parent that was killed."""
    code = """
    import os, sys, time
    from topoi._disk.locks import locked
    with locked(sys.argv[1]):
        if os.fork() == 0:
            print("child", flush=True)
            time.sleep(1000)
        sys.stdin.readline()
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert parent.stdout.readline() == "child\n"
        with pytest.raises(BusyError):
            check_free(tmp_path)
        parent.kill()
        parent.wait()
        with locked(tmp_path):
            pass
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.stdin.close()
        parent.stdout.close()


@POSIX
def test_a_disk_without_locks(tmp_path, monkeypatch):
    """Then the file alone tells, by the process that it names."""
    import fcntl

    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", none)
    monkeypatch.setattr(locks, "_PAUSE", 0)
    with locked(tmp_path):
        locks._held.clear()  # as another process
        with pytest.raises(BusyError, match=str(os.getpid())):
            check_free(tmp_path)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    note = {"pid": gone.pid, "host": socket.gethostname(), "since": "then"}
    (tmp_path / LOCK).write_text(json.dumps(note))
    with locked(tmp_path):
        pass
    for other in (note | {"host": "elsewhere"}, note | {"pid": os.getpid()}, "nonsense"):
        (tmp_path / LOCK).write_text(json.dumps(other))
        with pytest.raises(BusyError, match=r"remove .*\.topoi\.lock"):
            check_free(tmp_path)


@POSIX
def test_a_file_of_another_name_is_not_written_to(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / LOCK).hardlink_to(tmp_path / "mine")
    with locked(tmp_path / "folder"):
        assert (tmp_path / "mine").read_text() == "mine"


def test_what_the_file_says_is_shown_in_plain_letters(holder, tmp_path):
    note = {"pid": 7, "host": "\x1b[2Jevil\n", "since": "x" * 5000}
    (tmp_path / LOCK).write_text(json.dumps(note)[:900])
    with pytest.raises(BusyError, match="by another process"):
        check_free(tmp_path)
    (tmp_path / LOCK).write_text(json.dumps(note | {"since": "now"}))
    with pytest.raises(BusyError) as caught:
        check_free(tmp_path)
    assert str(caught.value).isprintable()


# ---- Commands ------------------------------------------------------------------------------------------------


def start(posts, folder, *more):
    """A fit in a process of its own, that has begun."""
    running = process("fit", posts, *OPTIONS, *LONG, *more, "-o", folder, stderr=subprocess.PIPE)
    wait_until(lambda: list(folder.rglob("sweep-*.topoi")) or running.poll() is not None, "a checkpoint")
    assert running.poll() is None, running.stderr.read()
    return running


@POSIX
def test_two_fits_into_one_folder(tmp_path):
    posts, folder = write_csv(tmp_path / "posts.csv"), tmp_path / "m"
    running = start(posts, folder)
    try:
        for command in (
            ("fit", posts, *OPTIONS, *LONG, "-o", folder),
            ("fit", posts, *OPTIONS, *LONG, "-o", folder, "--force"),
            ("resume", folder),
        ):
            result = call(*command)
            assert result.exit_code == 2
            assert f"is being written to by process {running.pid} on" in " ".join(result.output.split())
        assert running.poll() is None
        assert list(folder.rglob("sweep-*.topoi")), "the first has lost nothing"
    finally:
        running.send_signal(signal.SIGKILL)
        running.communicate()
    assert (folder / LOCK).exists()
    result = call("fit", posts, *OPTIONS, "--sweeps", "4", "-o", folder)
    assert "topoi resume" in result.output
    done("fit", posts, *OPTIONS, "--sweeps", "4", "-o", folder, "--force")
    assert {path.name for path in folder.iterdir()} == set(FILES)


@POSIX
def test_killed_and_resumed_at_once(tmp_path):
    posts, folder = write_csv(tmp_path / "posts.csv"), tmp_path / "m"
    running = start(posts, folder)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    order = json.loads((folder / "unfinished.json").read_text("utf-8"))
    order["settings"]["sweeps"] = 2  # it would take too long; other settings are another run
    (folder / "unfinished.json").write_text(json.dumps(order), "utf-8")
    result = call("resume", folder)
    assert "other documents, labels or settings" in " ".join(result.output.split())


def test_two_fits_with_one_folder_of_checkpoints(tmp_path):
    X = np.random.default_rng(0).poisson(0.6, (40, 20))
    refused = []

    def again(progress):
        if progress.sweep == 2:
            for state in (0, None):
                with pytest.raises(BusyError, match="is being written to by") as caught:
                    LDA(3, n_sweeps=4, random_state=state).fit(X, checkpoint=tmp_path)
                refused.append(caught.value)

    LDA(3, n_sweeps=4, random_state=0, callbacks=[again]).fit(X, checkpoint=tmp_path)
    assert len(refused) == 2
    assert not (tmp_path / LOCK).exists()
    LDA(3, n_sweeps=4, random_state=0).fit(X, checkpoint=tmp_path)


@POSIX
def test_a_child_can_take_the_lock_when_its_parent_lets_go(tmp_path):
    code = """
    import os, sys
    from topoi._disk.locks import locked
    ready, go = os.pipe()
    with locked(sys.argv[1]):
        child = os.fork()
        if child == 0:
            os.read(ready, 1)
            with locked(sys.argv[1]):
                os._exit(0)
    os.write(go, b"1")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True)


@POSIX
def test_a_child_that_leaves_does_not_let_go(tmp_path):
    code = """
    import os, sys
    from pathlib import Path
    from topoi._disk.locks import LOCK, locked
    with locked(sys.argv[1]):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            assert Path(sys.argv[1], LOCK).exists()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True)
