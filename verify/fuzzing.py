"""What the fuzzers share: a child process with limits, and comparisons of all that it must not touch (untouched.py).

A fuzzer has two functions. `setup(outside)` writes what cases begin from. `case(rng, place, tell)` makes one case in
the folder `place.work`, says by `tell` what it is (and whether it is `much` work, may use the `network`, or is
`strict`: runs no code that is made on the way), carries it out, and returns what came of it. It raises a `Fault` for
what must never happen; any other exception is a fault as well.

Cases run in a child process, one after the other, with limits of time, memory and the size of files; when the fuzzer is
started as root, as the user `nobody`, whom permissions bind. A child that dies or hangs is replaced. After each case
the parent compares everything outside the working folder with what was there: names, kinds, modes, sizes, times, bytes.
Each case has random numbers of its own, from the seed and its number: `--only N` repeats it.

Kernels are interpreted: tiny fits take milliseconds and compile nothing, and an index out of bounds is an IndexError
where machine code would read on.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import encodings
import importlib
import io
import json
import os
import pkgutil
import platform
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

os.environ |= {"NUMBA_DISABLE_JIT": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import numpy as np
import rich
import typer
from untouched import NOBODY, Watch, changes, empty, hand_over, plant_canaries, snapshot

import topoi
from topoi.errors import TopoiError

MEGABYTE = 2**20
FILE_SIZE = 64 * MEGABYTE  # a child cannot write a longer file
DISK = 128 * MEGABYTE  # that a case may leave
ENOUGH = 500  # cases after which a child is replaced, so that what it has leaked does not add up
PATIENCE = 1.0  # seconds that a case of much work gets before Ctrl-C
SHOW = False  # whether to print what commands print
SHOWN = 12  # faults that are printed, of different kinds


class Fault(Exception):  # noqa: N818 (not an error of the program that raises it)
    """What must never happen."""


@dataclass(frozen=True)
class Place:
    """Where a case runs. All but `work` and `temporary` must stay as it was."""

    root: Path

    @property
    def outside(self) -> Path:
        """What `setup` wrote, and the canaries."""
        return self.root / "outside"

    @property
    def work(self) -> Path:
        """The working folder, empty when a case begins."""
        return self.root / "work"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files."""
        return self.root / "temporary"


Tell = Callable[..., None]
Setup = Callable[[Path], None]
Case = Callable[[np.random.Generator, Place, Tell], str]


# ---- What a case does with topoi -----------------------------------------------------------------------------------

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FOREIGN = re.compile(r"^\S+\.py:\d+: \w*Warning: .*", re.MULTILINE)


def command(arguments: list[str], given: bytes = b"") -> str:
    """Run a command in this process, as from a shell: "done", "refused", "refused: memory" or "stopped" by Ctrl-C."""
    from topoi import cli

    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(given), "utf-8")
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    argv, sys.argv = sys.argv, ["topoi", *arguments]
    show = warnings.formatwarning
    code: Any = 0
    try:
        cli.main()
    except SystemExit as error:
        code = error.code or 0
    finally:
        out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (sys.stdout, sys.stderr))
        sys.stdin, sys.stdout, sys.stderr = streams
        sys.argv, warnings.formatwarning = argv, show
    if SHOW:
        print(f"topoi {arguments}: exit code {code}\n{out}{err}", file=sys.stderr)
    return _judge(code, err)


def _judge(code: Any, err: str) -> str:
    """What an exit code and the standard error say; a Fault if they say it in a way that no user should see."""
    if "Traceback (most recent call last)" in err or code not in (0, 2, 130):
        raise Fault(f"exit code {code}: {err.strip()[-3000:]}")
    if found := _CONTROL.search(err):
        raise Fault(f"standard error has the control character {found[0]!r}: {err[-500:]!r}")
    if found := _FOREIGN.search(err):
        raise Fault(f"a warning that is not meant for users: {found[0]}")
    if code == 2 and len(re.findall(r"^(Error: |╭─ Error)", err, re.MULTILINE)) != 1:
        raise Fault(f"exit code 2 without one message: {err[-500:]!r}")
    if code == 2:
        return "refused: memory" if "does not fit into memory" in err else "refused"
    return "stopped" if code == 130 else "done"


def library(action: Callable[[], Any]) -> str:
    """Call the library: "done", or "refused" by an error of topoi's own or one of the system that names the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            action()
        except TopoiError:
            return "refused"
        except OSError as error:
            if error.filename is None:
                raise
            return "refused"
        except KeyboardInterrupt:
            return "stopped"
    return "done"


def import_all() -> None:
    """Import whatever topoi imports anywhere: the user `nobody` may not be able to read this Python's files."""
    names = set()
    for package in (encodings, rich, topoi, typer):  # these import parts of their own late, as when a message is shown
        parts = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        names |= {part.name for part in parts if not part.name.endswith(".__main__")}
    for path in sorted(Path(topoi.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for name in sorted(names):
        with contextlib.suppress(ImportError, AssertionError):  # no modules, and those of other systems
            importlib.import_module(name)


# ---- The child -----------------------------------------------------------------------------------------------------


class _Child:
    """A process that carries out cases, one at a time."""

    def __init__(self, case: Case, place: Place, seed: int, megabytes: int) -> None:
        order, self.orders = os.pipe()
        self.reports, report = os.pipe()
        self.done, self.unread = 0, b""
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.orders)
            os.close(self.reports)
            _serve(case, place, seed, megabytes, order, report)
        os.close(order)
        os.close(report)

    def carry_out(self, number: int, seconds: float) -> tuple[str, str, str]:
        """Run a case: what it is, what came of it ("" if the child is gone), and what went wrong, if anything."""
        os.write(self.orders, b"%d\n" % number)
        what, asked_to_stop = "a case that could not be told", False
        limit = time.monotonic() + seconds
        while True:
            message = self._message(limit)
            if message is None and not asked_to_stop and limit > 0 and what.endswith("(much work)"):
                asked_to_stop, limit = True, time.monotonic() + seconds
                os.kill(self.pid, signal.SIGINT)
            elif message is None:
                return what, "", f"hangs: no end after {seconds:.0f} s" + " and Ctrl-C" * asked_to_stop
            elif "what" in message:
                what = message["what"]
                if what.endswith("(much work)"):
                    limit = time.monotonic() + PATIENCE
            elif "gone" in message:
                return what, "", f"the process ends: {message['gone']}"
            else:
                self.done += 1
                outcome, fault = message["outcome"], message["fault"]
                if outcome == "stopped" and not asked_to_stop and not fault:
                    fault = "ends as if by Ctrl-C, which nobody pressed"
                return what, outcome, fault

    def _message(self, limit: float) -> dict[str, Any] | None:
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.reports], [], [], max(limit - time.monotonic(), 0))
            if not ready:
                return None
            more = os.read(self.reports, 65536)
            if not more:
                _, status = os.waitpid(self.pid, 0)
                self.pid = 0
                return {"gone": f"exit code {os.waitstatus_to_exitcode(status)} (negative: the signal)"}
            self.unread += more
        line, self.unread = self.unread.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def end(self) -> None:
        """End the process and whatever it has started."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        os.close(self.orders)
        os.close(self.reports)


def _serve(case: Case, place: Place, seed: int, megabytes: int, order: int, report: int) -> NoReturn:
    """The life of a child: cases by their numbers, until there are no more."""
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
        room = pages * os.sysconf("SC_PAGE_SIZE") + megabytes * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        os.environ |= {"HOME": str(place.outside / "home"), "TMPDIR": str(place.temporary)}
        os.environ["NUMBA_CACHE_DIR"] = str(place.temporary)
        tempfile.tempdir = None
        os.umask(0o022)
        watch = Watch([place.work, place.temporary])
        with os.fdopen(order) as numbers:
            for line in numbers:
                _serve_one(case, place, seed, int(line), report, watch)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(70)


def _serve_one(case: Case, place: Place, seed: int, number: int, report: int, watch: Watch) -> None:
    def send(message: dict[str, Any]) -> None:
        os.write(report, json.dumps(message).encode() + b"\n")

    def tell(what: str, much: bool = False, network: bool = False, strict: bool = False) -> None:
        send({"what": what + " (much work)" * much})
        watch.on, watch.network, watch.strict = True, network, strict  # what the case did before was ours

    os.chdir(place.work)
    outcome, fault = "fault", ""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome = case(np.random.default_rng((seed, number)), place, tell)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except Fault as error:
        fault = str(error)
    except KeyboardInterrupt:
        outcome = "stopped"
    except BaseException:
        fault = traceback.format_exc()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch.on = False
    if watch.seen:
        fault = f"does what it must not: {'; '.join(watch.seen[:5])}; {fault}"
        watch.seen.clear()
    os.chdir("/")
    send({"outcome": outcome, "fault": fault})


# ---- The parent ----------------------------------------------------------------------------------------------------


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(counts.items()))


def main(text: str, setup: Setup, case: Case, megabytes: int = 1500) -> None:
    """Run a fuzzer as its command line says; the exit code is 1 if there were faults."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=text.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--only", type=int, help="repeat the case of this number, and show what it prints")
    parser.add_argument("--seconds", type=float, default=30.0, help="limit of a case")
    parser.add_argument("--memory", type=int, default=megabytes, help="megabytes that a case may take")
    args = parser.parse_args()
    numbers = range(args.first, args.first + args.cases)
    if args.only is not None:
        numbers = range(args.only, args.only + 1)
    name = Path(sys.argv[0]).stem
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="topoi-fuzz-") as root:
        outcomes, faults, slowest = _run(setup, case, Place(Path(root).resolve()), numbers, args)
    for kind, counts in sorted(outcomes.items()):
        print(f"{kind}: {_told(counts)}")
    told = _told(sum(outcomes.values(), Counter()))
    print(f"{name}, seed {args.seed}, {len(numbers):,} cases: {told}; {len(faults):,} faults")
    print(f"slowest case {slowest:.1f} s, {time.monotonic() - begun:.0f} s in all; topoi {topoi.__version__}, Python "
          f"{platform.python_version()}, NumPy {np.__version__}, {platform.system()}")  # fmt: skip
    _show(faults, args.seed, name)
    sys.exit(1 if faults else 0)


def _run(
    setup: Setup, case: Case, place: Place, numbers: range, args: argparse.Namespace
) -> tuple[dict[str, Counter[str]], list[tuple[int, str, str]], float]:
    """Carry out cases: how many of each kind came to what, the faults, and how long the slowest took."""
    place.root.chmod(0o755)
    kept = place.root / "kept"
    for folder in (place.outside, place.work, place.temporary, place.outside / "home"):
        folder.mkdir()
    plant_canaries(place.outside)
    os.chdir(place.work)
    import_all()
    setup(place.outside)
    os.chdir("/")
    global SHOW
    SHOW = args.only is not None
    hand_over(place.outside)
    shutil.copytree(place.outside, kept, symlinks=True)
    kept.chmod(0o700)
    before = snapshot(place.outside)
    outcomes: dict[str, Counter[str]] = {}
    faults: list[tuple[int, str, str]] = []
    slowest = 0.0
    child: _Child | None = None
    for number in numbers:
        for folder in (place.work, place.temporary):
            empty(folder)
        if child is None or child.done >= ENOUGH:
            if child is not None:
                child.end()
            child = _Child(case, place, args.seed, args.memory)
        start = time.monotonic()
        what, outcome, fault = child.carry_out(number, args.seconds)
        slowest = max(slowest, time.monotonic() - start)
        if not outcome:
            child.end()
            child = None
        if changed := changes(before, snapshot(place.outside)):
            fault = f"changes what is not its own: {[os.path.relpath(p, place.outside) for p in changed]}; {fault}"
            empty(place.outside)
            shutil.copytree(kept, place.outside, symlinks=True, dirs_exist_ok=True)
            hand_over(place.outside)
            before = snapshot(place.outside)
        if (left := sum(os.lstat(p).st_blocks * 512 for p in _files(place))) > DISK:
            fault = f"leaves {left / MEGABYTE:.0f} MB on the disk; {fault}"
        elif any(not name.startswith("kernels-") for name in os.listdir(place.temporary)):
            fault = f"leaves temporary files: {os.listdir(place.temporary)}; {fault}"
        kind = re.match(r"(?:topoi )?'?([\w.]+)", what)
        counts = outcomes.setdefault(kind[1] if kind else what, Counter())
        counts["fault" if fault else outcome] += 1
        if fault:
            faults.append((number, what, fault))
        if sum(map(Counter.total, outcomes.values())) % 1000 == 0:
            print(f"{number + 1:,} … {len(faults)} faults", file=sys.stderr, flush=True)
    if child is not None:
        child.end()
    for folder in (place.work, place.temporary):
        empty(folder)  # so that who started us can remove it
    return outcomes, faults, slowest


def _files(place: Place) -> list[str]:
    """What a case has left."""
    tops = (place.work, place.temporary)
    return [os.path.join(path, name) for top in tops for path, _, names in os.walk(top) for name in names]


def _show(faults: list[tuple[int, str, str]], seed: int, name: str) -> None:
    """Print faults, one of each kind."""
    kinds: dict[str, list[tuple[int, str, str]]] = {}
    for fault in faults:
        lines = [line for line in fault[2].strip().splitlines() if line.strip()] or ["?"]
        lines = [line for line in lines if not line.startswith("This is a fault of topoi")]
        kinds.setdefault(re.sub(r"[0-9a-f]{6,}|\d+|'[^']*'", "…", lines[-1])[:200], []).append(fault)
    for same in sorted(kinds.values(), key=len, reverse=True)[:SHOWN]:
        number, what, fault = same[0]
        others = f" (and {len(same) - 1:,} like it, as {same[-1][0]})" if len(same) > 1 else ""
        print(f"\ncase {number}{others}: {what}\n{fault}\nagain: python verify/{name}.py --seed {seed} --only {number}")
    if len(kinds) > SHOWN:
        print(f"\n{len(kinds) - SHOWN} other kinds")
