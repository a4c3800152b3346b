"""How things are measured: CPU time on one core, in rounds that take turns, kept in a file so that a run can go on."""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import json
import multiprocessing
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

PACKAGES = ("topoi", "tomotopy", "gensim", "lda", "scikit-learn", "numba", "numpy", "scipy")
DEFAULT_OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


# ---- The machine -------------------------------------------------------------------------------------------


def pin(core: int | None) -> str:
    """Keep this process, and those it starts, on one core (the last by default); says what was done."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned (this system cannot)"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if core is None else core})
    return "pinned to one core"


def cpu_model() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine() -> dict[str, str]:
    """What is measured on; no host name, no paths."""
    return {
        "CPU": f"{cpu_model()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Versions of everybody; for topoi also the hash of its source."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    found["topoi"] += f" (source {source_hash()})"
    return found


@cache
def source_hash() -> str:
    """Hash of all that topoi says: a changed default changes a measurement as a changed kernel does.

    In which module something stands does not count: what has only moved is what was measured.
    """
    import topoi

    said = [text for path in Path(topoi.__path__[0]).rglob("*.py") for text in statements(path.read_text("utf-8"))]
    return hashlib.blake2b("\n".join(sorted(said)).encode(), digest_size=4).hexdigest()


def statements(source: str) -> list[str]:
    """What a module says, statement by statement.

    Without comments, layout and docstrings, which change nothing that runs. Of a module that names are imported from
    only its own name counts, not the packages that it lies in: they change when it moves.
    """
    tree = parsed(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            node.module = node.module and node.module.split(".")[-1]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return [ast.unparse(node) for node in tree.body if not _is_docstring(node)]


def parsed(source: str) -> ast.Module:
    """The syntax tree of a module, made while no garbage is collected.

    CPython 3.11 counts how deep it is in a number that all trees share: where the collector runs a finaliser that makes
    another tree, the first one ends with "recursion depth mismatch".
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if collecting:
            gc.enable()


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# ---- Time --------------------------------------------------------------------------------------------------


class Stopwatch:
    """CPU seconds of this process, all its threads, while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> Stopwatch:
        self._begun = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._begun


@dataclass
class Recorder:
    """Follows a fit: `step` is called after every sweep or pass, and the time between calls is the fit's.

    After the steps in `check_points`, and at the end, `evaluate` is called on the model; its time is not counted.
    The fit is over at the last check point, above `cap` seconds, or when a value is at most `enough`.
    """

    evaluate: Callable[[Any], float]
    check_points: Collection[int]
    cap: float
    enough: float | None = None
    n_steps: int = 0
    seconds: float = 0.0
    points: list[tuple[int, float, float]] = field(default_factory=list)  # step, seconds, value
    stopped: str = ""

    def begin(self) -> None:
        """From here on time counts."""
        self._mark = time.process_time()

    def step(self, model: Callable[[], Any]) -> bool:
        """Note that a step is done; `model` gives what `evaluate` takes. Returns whether to stop."""
        self.seconds += time.process_time() - self._mark
        self.n_steps += 1
        self.stopped = "last" if self.n_steps >= max(self.check_points) else "cap" if self.seconds >= self.cap else ""
        if self.stopped or self.n_steps in self.check_points:
            value = self.evaluate(model())
            self.points.append((self.n_steps, self.seconds, value))
            if not self.stopped and self.enough is not None and value <= self.enough:
                self.stopped = "enough"
        self._mark = time.process_time()
        return bool(self.stopped)


# ---- Rounds and results ------------------------------------------------------------------------------------


class Results:
    """Finished measurements in a JSON file, each under (name, K, round); written after every one."""

    def __init__(self, path: Path, settings: dict[str, Any], fresh: bool = False) -> None:
        self.path = path
        self.settings = json.loads(json.dumps(settings))
        self.entries: dict[str, dict[str, Any]] = {}
        if path.exists() and not fresh:
            self._load()

    def _load(self) -> None:
        stored = json.loads(self.path.read_text())
        if stored["settings"] != self.settings:
            raise SystemExit(
                f"{self.path.name} holds results with other settings ({stored['settings']}, now {self.settings}): "
                f"use --fresh to throw them away, or another --output."
            )
        self.entries = stored["results"]

    def get(self, name: str, n_topics: int, round_: int) -> dict[str, Any] | None:
        """The measurement, if there is one."""
        return self.entries.get(f"{name}/{n_topics}/{round_}")

    def put(self, name: str, n_topics: int, round_: int, entry: dict[str, Any]) -> None:
        """Keep a measurement, on disk at once; one made in another process brings the versions it saw there."""
        stamp = {"date": time.strftime("%Y-%m-%d"), "versions": versions(), "machine": machine()}
        self.entries[f"{name}/{n_topics}/{round_}"] = stamp | entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_suffix(".tmp")
        scratch.write_text(json.dumps({"settings": self.settings, "results": self.entries}, indent=1) + "\n")
        scratch.replace(self.path)

    def rounds(self, name: str, n_topics: int) -> list[dict[str, Any]]:
        """All rounds of one competitor that did not fail."""
        wanted = f"{name}/{n_topics}/"
        return [entry for key, entry in self.entries.items() if key.startswith(wanted) and "failed" not in entry]

    def pairs(self) -> list[tuple[str, int]]:
        """Every (name, K) that was measured, in the order of the first measurement."""
        keys = (key.rsplit("/", 2)[:2] for key in self.entries)
        return list(dict.fromkeys((name, int(n_topics)) for name, n_topics in keys))

    def seen(self, key: str) -> list[Any]:
        """The distinct values of `date`, `versions` or `machine` over all measurements."""
        return [json.loads(text) for text in dict.fromkeys(json.dumps(entry[key]) for entry in self.entries.values())]


def turns(
    results: Results, names: Iterable[str], topics: Iterable[int], n_rounds: int, keep: bool = False
) -> Iterator[tuple[str, int, int]]:
    """What is still to be measured: in each round every competitor once, so that a slow hour hits all of them.

    `keep`: results of another version stay.
    """
    for round_, n_topics, name in product(range(n_rounds), topics, names):
        entry = results.get(name, n_topics, round_)
        # Peers are measured again only when their own version changed, topoi whenever its source did.
        if entry is None or "failed" in entry or (not keep and _changed(entry, name)):
            yield name, n_topics, round_


def _changed(entry: dict[str, Any], name: str) -> bool:
    peer = next((package for package in PACKAGES if package != "topoi" and name.startswith(package)), "topoi")
    return bool(entry["versions"][peer] != versions()[peer])


def measure(
    results: Results,
    names: Iterable[str],
    topics: Iterable[int],
    n_rounds: int,
    job: Callable[[str, int, int], dict[str, Any]],
    keep: bool = False,
) -> None:
    """Call `job` for whatever is still to be measured, keep what it returns, and tell how far things are."""
    for name, n_topics, round_ in list(turns(results, list(names), list(topics), n_rounds, keep)):
        begun = time.perf_counter()
        entry = job(name, n_topics, round_)
        results.put(name, n_topics, round_, entry)
        outcome = entry.get("failed") or entry.get("said", "done")
        print(f"K = {n_topics}, round {round_ + 1}, {name}: {outcome} [{time.perf_counter() - begun:.0f} s in all]")
        sys.stdout.flush()


def alone(function: Callable[..., dict[str, Any]], *args: Any) -> dict[str, Any]:
    """function(*args) in a fresh process, so that nobody inherits another's memory; a crash is a result too."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_die_with_parent) as pool:
        try:
            return pool.submit(function, *args).result()
        except BrokenProcessPool:
            return {"failed": "crashed"}
        except Exception as error:  # one that fails does not end a night's run; it is tried again in the next
            traceback.print_exception(error)
            return {"failed": f"{type(error).__name__}: {error}"}


def _die_with_parent() -> None:
    """End this process when its parent is killed: it would take time from the run that goes on."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


# ---- Options -----------------------------------------------------------------------------------------------


def options(description: str, topics: list[int]) -> argparse.ArgumentParser:
    """The options that all scripts share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=topics, help="numbers of topics K")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the best counts")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="folder for table, plot and results")
    parser.add_argument("--core", type=int, help="core to run on; the last one if not given")
    parser.add_argument("--fresh", action="store_true", help="throw away the results of an earlier run")
    parser.add_argument(
        "--quick", action="store_true", help="a sample of the documents and few sweeps, to see that it works"
    )
    return parser
