"""What a figure is, and how it is measured: each seed in a process of its own, kept in a file, so that runs go on."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from benchmarks.harness import Stopwatch, alone, machine, pin, versions
from reproduce.source import stamp
from reproduce.table import Row, Table

Holds = Literal["yes", "no", "in part", "not decided"]
AT_A_TIME = 2  # figures that time nothing


@dataclass(frozen=True)
class Verdict:
    """Whether the paper's claim holds here, and the figures that say so."""

    holds: Holds
    text: str

    def __post_init__(self) -> None:
        if self.holds not in get_args(Holds):
            raise ValueError(f"a claim holds {' or '.join(get_args(Holds))}, not {self.holds!r}")


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper: how its numbers are measured, judged and drawn."""

    name: str  # the module's name, as given on the command line
    paper: str  # "FastLDA, Fig. 4"
    title: str
    claim: str  # the paper's, with its numbers, in one or two sentences
    stand_in: str  # what stands in for the paper's data, and why; "" where nothing has to
    settings: tuple[str, str]  # of --quick and of the full run, in words
    seeds: tuple[int, int]  # how many, of --quick and of the full run
    measure: Callable[[bool, int], list[Row]]  # (quick, seed)
    keys: tuple[str, ...]  # columns that identify a row; the others are measured, and averaged over seeds
    judge: Callable[[Table], Verdict]  # from the averaged numbers, never a fixed text
    draw: Callable[[Table, Any], None]  # the averaged numbers on a matplotlib figure
    departures: str = ""  # settings that are not the paper's, beside data and sizes
    decided_by: str = ""  # what decides where not the spread of the seeds: "enumeration, which has no noise"
    timed: bool = False  # times things: nothing else runs beside it, and it keeps to one core


def figures(package: str) -> dict[str, Figure]:
    """All figures of a package, by name, in the order of the papers' own numbers."""
    folder = importlib.import_module(package).__path__
    names = [info.name for info in pkgutil.iter_modules(folder) if info.name != "__main__"]
    modules = [importlib.import_module(f"{package}.{name}") for name in names]
    found = [module.FIGURE for module in modules if hasattr(module, "FIGURE")]
    return {figure.name: figure for figure in sorted(found, key=_in_order)}


def _in_order(figure: Figure) -> list[tuple[int, int | str]]:
    """Fig. 10 after Fig. 4."""
    parts = re.split(r"(\d+)", f"{figure.paper} {figure.name}")
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


# ---- Raw rows ------------------------------------------------------------------------------------------------------


class Raw:
    """The rows of one figure as measured, by seed, in a JSON file that is written after every seed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.json"
        stored = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        self.quick: bool | None = stored.get("quick")
        self.seeds: dict[int, dict[str, Any]] = {int(seed): entry for seed, entry in stored.get("seeds", {}).items()}

    def put(self, quick: bool, seed: int, entry: dict[str, Any]) -> None:
        """Keep the rows of a seed, on disk at once; those measured with other source go, lest they be averaged."""
        self.quick = quick
        self.seeds = {other: rows for other, rows in self.seeds.items() if made_with(rows) == made_with(entry)}
        self.seeds[seed] = {"date": time.strftime("%Y-%m-%d"), **entry}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_suffix(".tmp")
        text = json.dumps({"quick": quick, "seeds": dict(sorted(self.seeds.items()))}, indent=1, ensure_ascii=False)
        scratch.write_text(text + "\n", "utf-8")
        scratch.replace(self.path)

    def drop(self) -> None:
        """Forget everything."""
        self.quick, self.seeds = None, {}
        self.path.unlink(missing_ok=True)

    def table(self, keys: Sequence[str]) -> Table:
        """The rows of all seeds, averaged."""
        return Table.average([entry["rows"] for _, entry in sorted(self.seeds.items())], keys)


# ---- Measuring -----------------------------------------------------------------------------------------------------


def measure(package: str, name: str, quick: bool, seed: int) -> dict[str, Any]:
    """The rows of one figure and seed, with what they were measured on; called in a process of its own."""
    about = {"source": stamp(package, name), "machine": machine(), "versions": versions()}  # before anything is edited
    figure: Figure = importlib.import_module(f"{package}.{name}").FIGURE
    if figure.timed:
        pin(None)
    with Stopwatch() as watch:
        rows = figure.measure(quick, seed)
    Table.average([rows], figure.keys)  # complains of rows that cannot be averaged while it is known whose they are
    return {"rows": rows, "seconds": round(watch.seconds, 1), **about}


def made_with(entry: dict[str, Any]) -> tuple[str, str]:
    """The source of a seed's rows: of the figure, and of topoi."""
    return entry["source"], entry["versions"]["topoi"]


def wanted(package: str, figure: Figure, raw: Raw, quick: bool) -> list[int]:
    """Seeds that are not yet measured, or were with other source."""
    if raw.quick is not None and raw.quick != quick:
        there, asked = ("quick", "full") if raw.quick else ("full", "quick")
        raise SystemExit(
            f"{raw.path.name} holds {there} results and you ask for {asked} ones: use another --output, or --fresh to "
            f"throw the {there} ones away."
        )
    now = (stamp(package, figure.name), versions()["topoi"])
    seeds = range(figure.seeds[0 if quick else 1])
    done = {seed for seed, entry in raw.seeds.items() if made_with(entry) == now}
    return [seed for seed in seeds if seed not in done]


def run(package: str, chosen: Iterable[Figure], output: Path, quick: bool, fresh: bool) -> list[str]:
    """Measure what is still to be measured; returns a line for everything that failed."""
    raws = {figure.name: Raw(output, figure.name) for figure in chosen}
    if fresh:
        for raw in raws.values():
            raw.drop()
    jobs = [(figure, seed) for figure in chosen for seed in wanted(package, figure, raws[figure.name], quick)]
    failures = []
    for timed in (False, True):
        at_a_time = 1 if timed else min(AT_A_TIME, _cores())
        with ThreadPoolExecutor(at_a_time) as pool:
            futures = {
                pool.submit(alone, measure, package, figure.name, quick, seed): (figure, seed)
                for figure, seed in jobs
                if figure.timed == timed
            }
            try:
                for future in as_completed(futures):
                    figure, seed = futures[future]
                    entry = future.result()
                    said = entry.get("failed") or f"{entry['seconds']:.0f} CPU s"
                    if "failed" in entry:
                        failures.append(f"{figure.name}, seed {seed}: {said}")
                    else:
                        raws[figure.name].put(quick, seed, entry)
                    print(f"{figure.name}, seed {seed}: {said}")
                    sys.stdout.flush()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return failures


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
