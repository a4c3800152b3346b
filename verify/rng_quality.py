"""Feed the generator's bits to dieharder (Debian package `dieharder`) and summarise its verdicts.

    python verify/rng_quality.py            # the chosen tests, a few minutes
    python verify/rng_quality.py 0 8 202    # only these test numbers (dieharder -l lists them)
    python verify/rng_quality.py --seed 1 --multiply 10 102    # a WEAK verdict again: new data, ten times as much

Two sources are tested: one long stream, and the streams of 1024 neighbouring blocks taken in turn, one word each,
where any likeness of neighbours would show. About 1 % WEAK verdicts are to be expected of a perfect generator (p below
0.005 or above 0.995, dieharder's default); a FAILED (p beyond 1e-6) is not.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from topoi._machine.jit import kernel
from topoi._machine.rng import TOPICS, bits, new_stream

SEED = 20240601  # fixed before the first run
# All tests that dieharder calls good, but for the longest (200–202) and those that need a tuple size to be given.
TESTS = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 15, 16, 17, 100, 101, 102, 203, 204, 205, 206, 207, 208, 209]


@kernel
def fill_in_turn(streams, out):
    """One word from each stream in rotation."""
    n = streams.shape[0]
    for i in range(out.size):
        out[i] = bits(streams[i % n])


def words(seed: int, n_streams: int) -> Iterator[memoryview]:
    """Endless blocks of raw bytes from the streams of blocks 0 … n_streams − 1."""
    streams = np.array([new_stream(seed, TOPICS, 0, block) for block in range(n_streams)])
    out = np.empty(1 << 17, np.uint64)
    while True:
        fill_in_turn(streams, out)
        yield out.data.cast("B")


def run_test(number: int, seed: int, n_streams: int, multiply: int) -> list[str]:
    """The result lines of one dieharder test on raw bytes from its standard input."""
    command = ["dieharder", "-g", "200", "-d", str(number), "-m", str(multiply)]
    for column in ("test_name", "ntuple", "tsamples", "psamples", "pvalues", "assessment"):
        command += ["-D", column]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        with contextlib.suppress(BrokenPipeError):  # dieharder hangs up when it has had enough
            for block in words(seed, n_streams):
                process.stdin.write(block)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        text = process.stdout.read().decode()
    return [line for line in text.splitlines() if line.rstrip().endswith(("PASSED", "WEAK", "FAILED"))]


def main() -> int:
    """Run the tests on both sources; the exit code says whether any failed."""
    parser = argparse.ArgumentParser(description="Feed the generator's bits to dieharder.")
    parser.add_argument("tests", nargs="*", type=int, default=TESTS, help="test numbers")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--multiply", type=int, default=1, help="how many times the default number of p-values")
    options = parser.parse_args()
    failed = 0
    for n_streams in (1, 1024):
        verdicts: Counter[str] = Counter()
        print(f"== {n_streams} stream{'s, in turn' if n_streams > 1 else ''}, seed {options.seed}", flush=True)
        start = time.perf_counter()
        for number in options.tests:
            for line in run_test(number, options.seed, n_streams, options.multiply):
                print(line, flush=True)
                verdicts[line.split("|")[-1].strip()] += 1
        failed += verdicts["FAILED"]
        summary = ", ".join(f"{name} {verdicts[name]}" for name in ("PASSED", "WEAK", "FAILED"))
        print(f"== {summary} in {time.perf_counter() - start:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
