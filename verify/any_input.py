"""Five thousand inputs of any kind: each is fitted and answers in usable rows, or refused by an error of topoi's own.

    python verify/any_input.py [--cases 5000]

The strategies are those of `tests/support/strategies.py`: counts in every container and dtype, of degenerate shapes
and extreme values, labels of every kind, settings at their limits. Prints how many were fitted and refused, for each
estimator; the first case that fails is made as small as possible and shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from hypothesis import HealthCheck, given, settings

from support.any_input import ESTIMATORS, check_case
from support.strategies import Case, cases


def main() -> None:
    """Draw, fit, ask, count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=5000)
    n = parser.parse_args().cases
    for number, kind in enumerate(ESTIMATORS):
        begun = time.process_time()
        outcomes = check(kind, n * (number + 1) // len(ESTIMATORS) - n * number // len(ESTIMATORS))
        told = "; ".join(f"{times:,} {outcome}" for outcome, times in sorted(outcomes.items()))
        seconds = time.process_time() - begun
        print(f"{kind.__name__}, {sum(outcomes.values()):,} cases: {told} ({seconds:.0f} s CPU)", flush=True)


def check(kind: type, n: int) -> Counter[str]:
    """What came of n cases of an estimator."""
    outcomes: Counter[str] = Counter()

    @settings(max_examples=n, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases(kind))
    def go(case: Case) -> None:
        outcomes[check_case(case)] += 1

    go()
    return outcomes


if __name__ == "__main__":
    main()
