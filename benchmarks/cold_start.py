"""What waiting costs: importing topoi, a first fit that compiles, a first fit of a process, and the same fit again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks import report
from benchmarks.harness import Results, measure, options, versions

NAME = "cold_start"
JOBS = {
    "LDA": "LDA(20, n_sweeps=50, random_state=0).fit(X)",
    "MedLDAClassifier": "MedLDAClassifier(20, n_sweeps=50, random_state=0).fit(X, y)",
    "MedLDARegressor": "MedLDARegressor(20, n_sweeps=50, random_state=0).fit(X, y * 1.0)",
}
# Both clocks: wall time is what a user feels, CPU time what a busy machine does not change.
PROGRAM = """
import json, time
def clocks(): return time.perf_counter(), time.process_time()
a = clocks()
import topoi
b = clocks()
from topoi import LDA, MedLDAClassifier, MedLDARegressor
import numpy as np
rng = np.random.default_rng(0)
X = rng.poisson(0.3, (500, 300)); X[:, 0] += 1; y = rng.integers(0, 4, 500)
c = clocks()
{job}
d = clocks()
{job}
e = clocks()
times = {{"import": (a, b), "first": (c, d), "again": (d, e)}}
print(json.dumps({{name: [y - x for x, y in zip(*pair)] for name, pair in times.items()}}))
"""


def main() -> None:
    parser = options(__doc__, [20])
    arguments = parser.parse_args()
    results = Results(arguments.output / f"{NAME}.json", {}, arguments.fresh)
    measure(results, list(JOBS), [20], arguments.rounds, lambda name, *_: one_start(name))
    write_report(results, arguments)


def one_start(name: str) -> dict[str, Any]:
    """The same program twice: with an empty compile cache, and with the one that it left."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        cold, warm = (_run(PROGRAM.format(job=JOBS[name]), environment) for _ in range(2))
    said = ", ".join(f"{what} {seconds['first'][0]:.1f} s" for what, seconds in (("cold", cold), ("warm", warm)))
    return {"cold": cold, "warm": warm, "said": said, "versions": versions()}


def _run(program: str, environment: dict[str, str]) -> dict[str, list[float]]:
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def write_report(results: Results, arguments: Any) -> None:
    rows = []
    for name in JOBS:
        rounds = results.rounds(name, 20)
        for clock, kind in enumerate(("wall", "CPU")):
            least = {
                (state, what): min(entry[state][what][clock] for entry in rounds)
                for state in ("cold", "warm")
                for what in ("import", "first", "again")
            }
            over = min(entry["warm"]["first"][clock] - entry["warm"]["again"][clock] for entry in rounds)
            rows.append([
                f"{name}, {kind}", report.number(least["warm", "import"]), report.number(least["cold", "first"]),
                report.number(least["warm", "first"]), report.number(least["warm", "again"]), report.number(over),
            ])  # fmt: skip
    header = [
        "", "import topoi, s", "first fit, compiling, s", "first fit of a process, s", "the same fit again, s",
        "warm over again, s",
    ]  # fmt: skip
    facts = [
        "500 documents, 300 words, 20 topics, 50 sweeps, defaults otherwise. Cold: an empty compile cache; the warm "
        "process comes after it. Importing scikit-learn, which the first `from topoi import LDA` does, is not counted.",
        "Least of the rounds, for each clock.",
    ]
    body = f"{report.table(header, rows)}\n\n## How\n\n{report.provenance(results, facts)}"
    report.write(arguments.output, NAME, "Cold and warm starts", body, has_plot=False)


if __name__ == "__main__":
    main()
