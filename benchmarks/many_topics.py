"""Thousands of topics on one core: held-out perplexity that samplers reach within so many CPU seconds.

    TOPOI_DATA=~/data python -m benchmarks.many_topics                       # the table of docs/samplers.md
    TOPOI_DATA=~/data python -m benchmarks.many_topics --topics 10000 --samplers warp light

Perplexity is that of the topics of the last sweep alone, by document completion, at the end of the sweep in which the
seconds are over. A sweep is never cut short, so that of slow samplers may end late: the cells say when.
"""

from __future__ import annotations

import argparse

from benchmarks import ours
from benchmarks.data import Problem, load_20ng
from benchmarks.harness import Stopwatch, pin
from topoi.chain.samplers import SAMPLERS


def follow(problem: Problem, name: str, n_topics: int, points: list[float], seed: int) -> list[str]:
    """Perplexity, sweeps and CPU seconds at the first sweep that ends after each of the points."""
    ours.warm_up(problem, name, n_topics)
    state, watch, cells = ours.start(problem.corpus, n_topics, seed), Stopwatch(), []
    with watch:
        sampler = SAMPLERS[name](state)
    for point in points:
        while watch.seconds < point:
            with watch:
                sampler.sweep()
        perplexity = problem.perplexity(ours.last_model(state).topic_word())
        cells.append(f"{perplexity:.0f} ({state.sweep}, {watch.seconds:.0f} s)")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=5000)
    parser.add_argument("--samplers", nargs="+", default=["warp", "light", "split", "delayed", "expected"])
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0, 30.0, 60.0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--core", type=int, help="core to run on, the last unless given")
    parser.add_argument("--test-every", type=int, default=8, help="one in so many test documents: all take minutes")
    given = parser.parse_args()
    pin(given.core)
    problem = load_20ng()
    problem = Problem(problem.train, problem.test[:: given.test_every])
    print(f"| K = {given.topics} | {' | '.join(f'{seconds:g} s' for seconds in given.seconds)} |")
    print("|---" * (len(given.seconds) + 1) + "|")
    for name in given.samplers:
        cells = follow(problem, name, given.topics, given.seconds, given.seed)
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
