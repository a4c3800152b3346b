"""Measure how far the inexact samplers end from the posterior, on a corpus of five tokens.

    python verify/bias.py                     # every inexact sampler, a few minutes
    python verify/bias.py --sweeps 100000 alias    # longer chains, one sampler
    python verify/bias.py collapsed           # an exact one: what is left is noise

For each sampler: total variation between the share of sweeps that compiled chains spend in each of the 32 states of
REPEATED in tests/support/exact.py and the posterior by enumeration (of samplers whose blocks have counts of their own:
each document a block). `tests/chain/samplers/test_every_sampler.py` holds the samplers to the declared values with
shorter runs. Prints a Markdown table (the last one is in docs/exactness.md).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.exact import REPEATED, visit
from topoi.chain.samplers import SAMPLERS


def measure(name: str, chains: int, sweeps: int) -> tuple[float, float]:
    """Total variation from the posterior, and how much of it may be noise (half the sum of the standard errors)."""
    share = np.array([visit(name, REPEATED.states[chain], seed=chain, sweeps=sweeps) for chain in range(chains)])
    distance = 0.5 * np.abs(share.mean(0) - REPEATED.posterior()).sum()
    noise = 0.5 * (share.std(0, ddof=1) / np.sqrt(chains)).sum()
    return float(distance), float(noise)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="sampler", help="samplers to measure; all inexact ones if none")
    parser.add_argument("--chains", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=20_000)
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(SAMPLERS)):
        parser.error(f"no such sampler: {', '.join(unknown)}; choose from {', '.join(sorted(SAMPLERS))}")
    print("| sampler | declared | measured | noise | seconds |")
    print("|---|---|---|---|---|")
    for name in given.names or [name for name in sorted(SAMPLERS) if not SAMPLERS[name].exact]:
        start = time.perf_counter()
        distance, noise = measure(name, given.chains, given.sweeps)
        seconds = time.perf_counter() - start
        print(f"| `{name}` | {SAMPLERS[name].bias:.3f} | {distance:.4f} | {noise:.4f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
