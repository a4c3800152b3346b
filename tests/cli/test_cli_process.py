"""The command line as a process: pipes, signals, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import topoi
from support.cli_files import QUICK, done, process, records, table, write_csv
from support.variants import slow_but
from support.waiting import PATIENCE, wait_until

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("process")
    write_csv(folder / "posts.csv")
    done("fit", folder / "posts.csv", "--text", "body", "--label", "subject", *QUICK, "-o", folder / "model")
    return folder


def test_from_standard_input_to_standard_output(place):
    text = (place / "posts.csv").read_bytes()
    out, err = (running := process("predict", place / "model", "-", stdin=subprocess.PIPE, **pipes)).communicate(text)
    assert running.returncode == 0
    assert err == b""  # no progress in a pipe
    rows = table(out.decode("utf-8"))
    assert len(rows) == 60
    right = [row["label"] == post["subject"] for row, post in zip(rows, records(), strict=True) if post["subject"]]
    assert sum(right) > 45


def test_a_reader_that_has_enough(place, tmp_path):
    write_csv(tmp_path / "many.csv", records(60) * 100)
    running = process("transform", place / "model", tmp_path / "many.csv", "--text", "body", **pipes)
    assert running.stdout.readline().startswith(b"document,topic_0")
    running.stdout.close()
    err = running.stderr.read()
    assert running.wait() == 0
    assert err == b""


@posix
def test_a_reader_that_has_enough_of_a_fit(place, tmp_path):
    """As `topoi fit … | head -1`: nobody reads any more when the summary comes; the model is there all the same."""
    fit = ("fit", place / "posts.csv", "--text", "body", "--label", "subject", *QUICK, "-o", tmp_path / "model")
    for arguments in (fit, ("topics", place / "model"), ("info",), ("topics", place / "model", "--json")):
        running = process(*arguments, **pipes)
        running.stdout.close()
        err = running.stderr.read()
        assert running.wait() == 0, arguments
        assert err == b""
    assert len(topoi.load(tmp_path / "model" / "estimator.topoi").components_) == 4
    assert not (tmp_path / "model" / "unfinished.json").exists()


def test_an_error_is_one_line_and_exit_code_2(place):
    out, err = (running := process("topics", place / "none", **pipes)).communicate()
    assert running.returncode == 2
    assert out == b""
    assert err.decode("utf-8").startswith("Error: ")
    assert len(err.splitlines()) == 1


@posix
@pytest.mark.parametrize("number", slow_but([signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_saves_the_model_so_far(place, tmp_path, number):
    options = ("--text", "body", "--label", "subject", "--topics", 4, "--sweeps", 10**7, "--hold-out", 0.1)
    log = tmp_path / "log"
    code = (
        "import sys, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from topoi.cli import _outcome, main\n"
        "sys.argv[0] = 'topoi'\n"
        "kept = _outcome.Speed.__call__\n"
        "def told(self, progress):\n"
        "    kept(self, progress)\n"
        f"    if progress.sweep == 3: open({str(log)!r}, 'w').close()\n"
        "_outcome.Speed.__call__ = told\n"
        "main()\n"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "fit",
        place / "posts.csv",
        *options,
        "-o",
        tmp_path / "m",
        "--hold-out",
        0.1,
    ]
    running = subprocess.Popen([str(part) for part in command], **pipes)
    wait_until(lambda: log.exists() or running.poll() is not None, "the third sweep")
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130, err
    assert b"the model so far is in" in err
    assert b"Traceback" not in err
    assert b"stopped early" in out
    model = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert 3 <= model.n_sweeps_ < 10**7
    assert len(table(done("predict", tmp_path / "m", place / "posts.csv").stdout)) == 60


@posix
@pytest.mark.slow
def test_a_signal_in_a_pilot(place, tmp_path):
    """The model is there, but not what the pilots are for: it is saved, and the fit can go on to what it would be."""
    code = (
        "import sys, signal\n"
        "import topoi.estimators.supervised as supervised\n"
        "from topoi.cli import main\n"
        "sys.argv[0] = 'topoi'\n"
        "kept = supervised.pilot_schedule\n"
        "supervised.pilot_schedule = lambda *given: signal.raise_signal(signal.SIGTERM) or kept(*given)\n"
        "main()\n"
    )
    options = ("--text", "body", "--label", "subject", "--topics", "4", "--sweeps", "10", "--seed", "0")
    fit = ("fit", str(place / "posts.csv"), *options, "-o")
    running = subprocess.run([sys.executable, "-c", code, *fit, str(tmp_path / "m")], capture_output=True, check=False)
    assert running.returncode == 130, running.stderr
    assert b"the model so far is in" in running.stderr
    assert b"Traceback" not in running.stderr
    assert len(table(done("predict", tmp_path / "m", place / "posts.csv").stdout)) == 60
    done("resume", tmp_path / "m")
    done(*fit, tmp_path / "whole")
    resumed, whole = (
        done("predict", tmp_path / name, place / "posts.csv", "--proba").stdout for name in ("m", "whole")
    )
    assert resumed == whole


@posix
def test_a_signal_before_there_is_a_model(tmp_path):
    running = process("fit", "-", "--format", "txt", "-o", tmp_path / "m", stdin=subprocess.PIPE, **pipes)
    running.stdin.write(b"a line of words\n" * 100_000)  # more than a pipe holds: returns when the command reads
    running.stdin.flush()
    assert (tmp_path / "m").exists()
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert b"Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_completion(monkeypatch):
    for name, value in {"_TOPOI_COMPLETE": "complete_bash", "COMP_WORDS": "topoi tra", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    out, _ = process(**pipes).communicate()
    assert out.split() == [b"transform"]


def test_warmup_meets_the_plans_of_auto(monkeypatch):
    """Fits of few topics and of many take other kernels: both are compiled. (What they compile is in the cache.)"""
    from support.cli_files import call
    from topoi.chain.plan import auto
    from topoi.cli import warmup

    seen = set()
    monkeypatch.setattr(
        "topoi.estimators.base.make_plan", lambda *given: seen.add(auto(*given[1:4])) or auto(*given[1:4])
    )
    steps = warmup.steps(False)
    monkeypatch.setattr(warmup, "steps", lambda every: [step for step in steps if step[0].startswith("LDA")])
    result = call("warmup")
    assert result.exit_code == 0
    assert {name for plan in seen for name in plan.samplers} == {"expected", "delayed", "partial", "split"}
    assert "Ready after" in result.stderr
