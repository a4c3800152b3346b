"""What a figure is, and how it is measured: each seed in a process of its own, kept in a file, so that runs go on."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from benchmarks.harness import Stopwatch, alone, machine, pin, versions
from reproduce.pieces import Pieces, keep_in
from reproduce.quick_rows import Digests, compared, digests
from reproduce.ran import add_home, edited, source, traced
from reproduce.table import Row, Table

Holds = Literal["yes", "no", "in part", "not decided"]
#: Small; larger, so that all figures together take some two hours; the paper's settings.
Scale = Literal["quick", "fits", "full"]
SCALES: tuple[Scale, ...] = get_args(Scale)
NOT_KEPT = "all of it"  # of rows that do not tell what ran
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
    measure: Callable[[Scale, int], list[Row]]  # (scale, seed)
    keys: tuple[str, ...]  # columns that identify a row; the others are measured, and averaged over seeds
    judge: Callable[[Table], Verdict]  # from the averaged numbers, never a fixed text
    draw: Callable[[Table, Any], None]  # the averaged numbers on a matplotlib figure
    departures: str = ""  # settings that are not the paper's, beside data and sizes
    decided_by: str = ""  # what decides where not the spread of the seeds: "enumeration, which has no noise"
    timed: bool = False  # times things: nothing else runs beside it, and it keeps to one core
    fits: tuple[str, int] | None = None  # settings in words and seeds where the full run takes more than some minutes

    def scale(self, asked: Scale) -> Scale:
        """What is run where this scale is asked for: where the full run fits, it is what fits."""
        return "full" if asked == "fits" and self.fits is None else asked

    def at(self, scale: Scale) -> tuple[str, int]:
        """Settings in words and the number of seeds."""
        if scale == "fits":
            assert self.fits is not None
            return self.fits
        which = SCALES.index(scale) // 2
        return self.settings[which], self.seeds[which]


def figures(package: str) -> dict[str, Figure]:
    """All figures of a package, by name, in the order of the papers' own numbers."""
    folder = importlib.import_module(package).__path__
    add_home(package, Path(folder[0]))
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
    """The rows of one figure as measured, by seed, in a JSON file that is written after every seed.

    `ran` are the definitions that the seeds were measured with, `found` those that ran when it was last looked for.
    `quick` and `looked` are the digests of the quick rows that go with them. `confirmed` tells of edits since then that
    left the quick rows as they were, which makes `ran` those of the edited source.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.json"
        stored = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        self.scale: Scale | None = stored.get("scale")
        self.ran: list[str] = stored.get("ran", [])
        self.found: list[str] = stored.get("found", [])
        self.quick: Digests = stored.get("quick", {})
        self.looked: Digests = stored.get("looked", {})
        self.confirmed: dict[str, Any] = stored.get("confirmed", {})  # date, edits, columns of times
        self.seeds: dict[int, dict[str, Any]] = {int(seed): entry for seed, entry in stored.get("seeds", {}).items()}

    def put(self, scale: Scale, seed: int, entry: dict[str, Any]) -> None:
        """Keep the rows of a seed, measured with what was found; those of other source go, lest they be averaged."""
        if scale != self.scale or self.changes() or self.older_times():
            self.seeds, self.ran, self.confirmed = {}, [], {}
        self.scale, self.ran = scale, sorted({*self.ran, *self.found})
        self.quick = self.looked or self.quick
        self.seeds[seed] = {"date": time.strftime("%Y-%m-%d"), **entry}
        self.write()

    def write(self) -> None:
        """Write everything, or nothing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_suffix(".tmp")
        found = [] if self.found == self.ran else self.found
        looked = {} if self.looked == self.quick else self.looked
        whole = {"scale": self.scale, "ran": self.ran, "found": found, "quick": self.quick, "looked": looked,
                 "confirmed": self.confirmed, "seeds": dict(sorted(self.seeds.items()))}  # fmt: skip
        scratch.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
        scratch.replace(self.path)

    def changes(self) -> list[str]:
        """What was edited since the seeds were measured, or runs now and did not then."""
        if not self.ran:
            return [NOT_KEPT] if self.seeds else []
        new = (set(self.found) & source().everything) - set(self.ran)
        return sorted({*edited(self.ran), *(said.rpartition(" ")[0] for said in new)})

    def older_times(self) -> list[str]:
        """Columns of times that are of an older source than the other numbers hold for."""
        found: list[str] = self.confirmed.get("times", [])
        return found

    def confirm(self, again: Digests, keys: Sequence[str]) -> str:
        """Take the quick rows of the present source, made twice, as evidence that edits changed no number."""
        before = self.quick
        if not before and self.scale == "quick" and 0 in self.seeds:
            before = digests(self.seeds[0]["rows"])
        if not before:
            return "no quick rows were kept with the results, so that they can only be measured again"
        seen = compared(before, self.looked, again, keys)
        if not seen.confirms:
            differ = ", ".join(f"`{name}`" for name in seen.changed)
            return f"the quick rows differ in {differ}" if differ else "the quick rows are of nothing but times"
        times = sorted({*seen.times, *self.older_times()})
        edits = sorted({*self.changes(), *self.confirmed.get("edits", [])})
        self.confirmed = {"date": time.strftime("%Y-%m-%d"), "edits": edits, "times": times}
        self.ran, self.quick = self.found, self.looked
        self.write()
        return f"confirmed, the quick rows are the same{' but for ' + ', '.join(times) if times else ''}"

    def is_known(self) -> bool:
        """Whether what runs now has been looked for, and its quick rows are kept."""
        found = self.found or self.ran
        return bool(found) and bool(self.looked or self.quick) and not edited(found)

    def drop(self) -> None:
        """Forget everything."""
        self.scale, self.seeds, self.ran, self.found = None, {}, [], []
        self.quick, self.looked, self.confirmed = {}, {}, {}
        self.path.unlink(missing_ok=True)

    def table(self, keys: Sequence[str]) -> Table:
        """The rows of all seeds, averaged."""
        return Table.average([entry["rows"] for _, entry in sorted(self.seeds.items())], keys)


# ---- Measuring -----------------------------------------------------------------------------------------------------


def look(package: str, name: str) -> dict[str, Any]:
    """What runs where a figure is measured, by its quick settings, and the rows; called in a process of its own."""
    figure = figures(package)[name]
    rows, found = traced(figure.measure, "quick", 0)
    return {"found": found, "rows": digests(rows)}


def measure(package: str, name: str, scale: Scale, seed: int, pieces: Pieces) -> dict[str, Any]:
    """The rows of one figure and seed, with what they were measured on; called in a process of its own."""
    about = {"machine": machine(), "versions": versions()}  # before anything is edited
    figure: Figure = importlib.import_module(f"{package}.{name}").FIGURE
    if figure.timed:
        pin(None)
    keep_in(pieces)
    before = pieces.seconds
    with Stopwatch() as watch:
        rows = figure.measure(scale, seed)
    keep_in(None)
    Table.average([rows], figure.keys)  # complains of rows that cannot be averaged while it is known whose they are
    return {"rows": rows, "seconds": round(before + watch.seconds, 1), **about}


def wanted(figure: Figure, raw: Raw, scale: Scale) -> list[int]:
    """Seeds that are not yet measured, or were with other source or at a smaller scale."""
    if raw.seeds and raw.scale is not None and SCALES.index(raw.scale) > SCALES.index(scale):
        raise SystemExit(
            f"{raw.path.name} holds {raw.scale} results and you ask for {scale} ones: use another --output, or --fresh "
            f"to throw the {raw.scale} ones away."
        )
    seeds = range(figure.at(scale)[1])
    missing = [seed for seed in seeds if seed not in raw.seeds]
    fresh = raw.scale != scale or bool(raw.changes()) or bool(missing and raw.older_times())
    return list(seeds) if fresh else missing


def recheck(package: str, chosen: Sequence[Figure], output: Path) -> list[str]:
    """Look again for what runs where figures are measured, and whether what was edited since changed any number.

    Returns a line for each figure.
    """
    raws = {figure.name: Raw(output, figure.name) for figure in chosen}
    raws = {name: raw for name, raw in raws.items() if raw.seeds}
    failures = _look(package, raws)
    changes = {name: raw.changes() for name, raw in raws.items()}
    again = {name: Raw(output, name) for name, found in changes.items() if found and raws[name].looked}
    failures += _look(package, again, keep=False)
    told = []
    for name, raw in raws.items():
        line = f"{name}: {', '.join(changes[name]) or 'nothing changed'}"
        if name in again and again[name].looked:
            keys = next(figure.keys for figure in chosen if figure.name == name)
            line += f"; {raw.confirm(again[name].looked, keys)}"
        told.append(line)
    return [*failures, *told]


def _look(package: str, raws: dict[str, Raw], keep: bool = True) -> list[str]:
    """Look for what runs, and keep it; returns a line for each figure where that failed."""
    failures = []
    for raw in raws.values():
        raw.looked = {}  # where it fails there are none
    with ThreadPoolExecutor(min(AT_A_TIME, _cores())) as pool:
        for name, answer in zip(raws, pool.map(lambda name: alone(look, package, name), raws), strict=True):
            if "failed" in answer:
                failures.append(f"{name}, quick: {answer['failed']}")
                continue
            raws[name].found, raws[name].looked = answer["found"], answer["rows"]
            if keep:
                raws[name].write()
    return failures


def run(package: str, chosen: Sequence[Figure], output: Path, asked: Scale, fresh: bool) -> list[str]:
    """Measure what is still to be measured; returns a line for everything that failed."""
    raws = {figure.name: Raw(output, figure.name) for figure in chosen}
    if fresh:
        for raw in raws.values():
            raw.drop()
    scale = {figure.name: figure.scale(asked) for figure in chosen}
    to_do = {figure.name: wanted(figure, raws[figure.name], scale[figure.name]) for figure in chosen}
    failures = _look(
        package, {name: raws[name] for name, seeds in to_do.items() if seeds and not raws[name].is_known()}
    )
    jobs = [(figure, seed) for figure in chosen if raws[figure.name].is_known() for seed in to_do[figure.name]]
    for timed in (False, True):
        at_a_time = 1 if timed else min(AT_A_TIME, _cores())
        with ThreadPoolExecutor(at_a_time) as pool:
            futures = {}
            for figure, seed in jobs:
                if figure.timed == timed:
                    raw = raws[figure.name]
                    made_with = [scale[figure.name], raw.found or raw.ran]
                    pieces = Pieces(output / ".pieces" / f"{figure.name}.{seed}.json", made_with)
                    job = pool.submit(alone, measure, package, figure.name, scale[figure.name], seed, pieces)
                    futures[job] = (figure, seed, pieces)
            try:
                for future in as_completed(futures):
                    figure, seed, pieces = futures[future]
                    entry = future.result()
                    said = entry.get("failed") or f"{entry['seconds']:.0f} CPU s"
                    if "failed" in entry:
                        failures.append(f"{figure.name}, seed {seed}: {said}")
                    else:
                        raws[figure.name].put(scale[figure.name], seed, entry)
                        pieces.drop()
                    print(f"{figure.name}, seed {seed}: {said}")
                    sys.stdout.flush()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return failures


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
