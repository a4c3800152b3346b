"""Is this source slower than another checkout of it? The jobs of `benchmarks.track`, both sources in turns.

A record of another day says little where a machine is shared: the same kernel takes 0.22 s in one minute, 0.30 in the
next. Here every job is run by one source and then by the other, in processes of their own on one core, and the least
and the median of the rounds are compared.

    git worktree add ../before v0.1 && python -m benchmarks.against ../before
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.harness import pin
from benchmarks.track import SAMPLERS

HERE = Path(__file__).resolve().parents[1]

#: What a child runs: a job of its own checkout's `track`, in seconds instead of yardsticks.
TRACKED = """
import sys, warnings
warnings.simplefilter("ignore")
from benchmarks import track
track.yardstick = lambda: 1.0
print(getattr(track, sys.argv[1])(*sys.argv[2:])["value"])
"""

#: A fit in a process that finds nothing compiled.
COLD = """
import inspect, sys, time, warnings
warnings.simplefilter("ignore")
from benchmarks.track import counts
X = counts()[:200]
begun = time.process_time()
import topoi
if sys.argv[1] == "LDA":
    topoi.LDA(20, n_sweeps=5, random_state=0).fit(X)
else:
    kind = topoi.MedLDAClassifier
    given = {"refit": False} if "refit" in inspect.signature(kind).parameters else {}  # sources without it have none
    kind(20, n_sweeps=5, random_state=0, **given).fit(X, X[:, 0] > X[:, 1])
print(time.process_time() - begun)
"""


def main() -> None:
    """Print a table of both sources."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="folder of another checkout")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--core", type=int, default=None)
    parser.add_argument("--jobs", nargs="*", help="only these, as the table names them")
    arguments = parser.parse_args()
    pin(arguments.core)
    sources = (arguments.other.resolve(), HERE)
    jobs = {name: job for name, job in all_jobs().items() if not arguments.jobs or name in arguments.jobs}
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in jobs}
    for round_ in range(arguments.rounds):
        for name, job in jobs.items():
            for source, found in zip(sources, seconds[name], strict=True):
                found.append(run(source, *job))
        print(f"round {round_ + 1} of {arguments.rounds} is done", file=sys.stderr, flush=True)
    print("| job | before: least, median | now: least, median | ratio of the least | of the medians |")
    print("|---|---|---|---|---|")
    for name, (before, now) in seconds.items():
        cells = (f"{min(values):.3g}, {median(values):.3g}" for values in (before, now))
        print(f"| {name} | {' | '.join(cells)} | {min(now) / min(before):.2f} | {median(now) / median(before):.2f} |")


def all_jobs() -> dict[str, tuple[str, ...]]:
    """What a child is started with: a program and its arguments."""
    return {
        **{f"sweep, {name}": (TRACKED, "sweep", name) for name in SAMPLERS},
        "sweep, 8 tasks": (TRACKED, "supervised_sweep"),
        "fit to quality": (TRACKED, "to_quality"),
        "fold-in": (TRACKED, "fold_in"),
        "memory, MB": (TRACKED, "memory"),
        "import topoi": (TRACKED, "import_time"),
        "first LDA, nothing compiled": (COLD, "LDA"),
        "first classifier, nothing compiled": (COLD, "MedLDA"),
    }


def run(source: Path, program: str, *arguments: str) -> float:
    """The figure that a child process of a checkout prints."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source / "src"), str(source)])}
        if program is COLD:
            environment["NUMBA_CACHE_DIR"] = empty
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{source.name}, {' '.join(arguments)}: {done.stderr.strip()[-500:]}")
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
