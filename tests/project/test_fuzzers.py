"""The fuzzers in `verify/` run, and their harness sees what they are there to see."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from support.places import ROOT
from support.variants import slow_but
from support.waiting import PATIENCE

VERIFY = ROOT / "verify"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are those of POSIX")


@pytest.mark.parametrize(
    "name", slow_but(["fuzz_readers"], ["fuzz_readers", "fuzz_folders", "fuzz_models", "fuzz_cli"])
)
def test_a_fuzzer_finds_nothing(name):
    command = [sys.executable, VERIFY / f"{name}.py", "--cases", "40", "--seed", "7", "--seconds", str(PATIENCE)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{name}, seed 7, 40 cases: " in done.stdout
    assert "0 faults" in done.stdout


#: What a case must not do, and what is said of it.
CRIMES = {
    "(place.outside / 'precious.txt').write_text('x')": "changes what is not its own: ['precious.txt']",
    "(place.outside / 'empty').rmdir()": "changes what is not its own: ['.', 'empty']",
    "(place.outside / 'folder' / 'deep').chmod(0o700)": "changes what is not its own: ['folder/deep']",
    "open(place.outside / 'link', 'a').close()": "does what it must not: open",
    "os.rename('mine', place.root / 'other')": "does what it must not: os.rename",
    "subprocess.run([sys.executable, '-c', ''])": "does what it must not: ",
    "socket.create_connection(('127.0.0.1', 9))": "does what it must not: socket.connect",
    "(place.temporary / 'left').touch()": "leaves temporary files",
    "os.kill(os.getpid(), signal.SIGSEGV)": "the process ends: exit code -11",
    "bytearray(4 * 10**9)": "MemoryError",
    "Path('big').write_bytes(bytes(70 * 2**20))": "File too large",
    "1 / 0": "ZeroDivisionError",
    "fuzzing.library(lambda: [][1])": "IndexError",
    "fuzzing._judge(2, '')": "exit code 2 without one message",
    "fuzzing._judge(1, 'Error: x')": "exit code 1",
    "fuzzing._judge(0, 'a\\x1b[31m')": "control character",
    "fuzzing._judge(0, 'a.py:3: RuntimeWarning: overflow')": "a warning that is not meant for users",
}


PROGRAM = """
import json, os, signal, socket, subprocess, sys, tempfile, time
from argparse import Namespace
from pathlib import Path
import fuzzing

crimes = json.loads(sys.argv[1])

def case(rng, place, tell):
    number = rng.bit_generator.seed_seq.entropy[1]
    Path("mine").touch()
    tell(f"crime {number}")
    eval(crimes[number], globals() | {"place": place})
    return "done"

with tempfile.TemporaryDirectory() as root:
    place = fuzzing.Place(Path(root).resolve())
    args = Namespace(seed=0, memory=1500, seconds=float(sys.argv[2]), only=None)
    outcomes, faults, _ = fuzzing._run(lambda outside: None, case, place, range(len(crimes)), args)
print(json.dumps([outcomes, faults]))
"""


def judged(crimes, seconds):
    """What the harness says of each, which may take so long, and how many came to what."""
    command = [sys.executable, "-c", PROGRAM, json.dumps(crimes), str(seconds)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=VERIFY)
    assert done.returncode == 0, done.stderr
    outcomes, faults = json.loads(done.stdout.splitlines()[-1])
    return {crimes[number]: fault for number, _, fault in faults}, outcomes


def test_the_harness_sees_every_fault():
    """Each case does one thing that must never be; the last does none."""
    told, outcomes = judged([*CRIMES, "None"], seconds=PATIENCE)
    for crime, said in CRIMES.items():
        assert said in told.get(crime, ""), (crime, told.get(crime))
    assert outcomes == {"crime": {"fault": len(CRIMES), "done": 1}}


def test_the_harness_sees_what_hangs():
    told, _ = judged(["time.sleep(10**6)"], seconds=2)
    assert told == {"time.sleep(10**6)": "hangs: no end after 2 s"}
