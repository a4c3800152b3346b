"""How far a burn-in gets: held-out perplexity after a few sweeps, and after as many and 20 of an exact sampler.

    TOPOI_DATA=~/data python -m benchmarks.burn_in                   # the table of docs/samplers.md
    TOPOI_DATA=~/data python -m benchmarks.burn_in --seconds         # with CPU seconds: only on a machine at rest

Perplexity is that of the topics of the last sweep alone, by document completion. Where a corpus has no test documents,
every tenth document is one.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse

from benchmarks import ours
from benchmarks.data import Problem, data_set, load_20ng
from benchmarks.harness import pin
from topoi.chain.samplers import SAMPLERS

DATA = {"20ng": 100, "uci_kos": 50, "uci_nips": 50, "hotel_reviews": 50, "reuters_modapte20": 50}
AFTER = 20


def load(name: str) -> Problem:
    """A corpus with test documents."""
    if name == "20ng":
        return load_20ng()
    if name in ("hotel_reviews", "reuters_modapte20"):
        folder = data_set(name, "train.npz", "test.npz")
        train, test = (sparse.csr_array(sparse.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
    else:
        counts = sparse.csr_array(sparse.load_npz(data_set(name, "counts.npz") / "counts.npz"))
        tenth = np.arange(counts.shape[0]) % 10 == 9
        train, test = counts[~tenth], counts[tenth]
    occurs = np.unique(train.indices)
    return Problem(train[:, occurs], test[:, occurs])


def follow(
    problem: Problem, n_topics: int, plan: list[str], points: set[int], seed: int
) -> dict[int, tuple[float, float]]:
    """Perplexity and CPU seconds after the sweeps in `points`; the plan names a sampler for every sweep."""
    for name in set(plan):
        ours.warm_up(problem, name, n_topics)
    state, found, seconds, sampler = ours.start(problem.corpus, n_topics, seed), {}, 0.0, None
    for sweep, name in enumerate(plan, start=1):
        begun = time.process_time()
        if sampler is None or sampler.name != name:
            sampler = SAMPLERS[name](state)
        sampler.sweep()
        seconds += time.process_time() - begun
        if sweep in points:
            found[sweep] = problem.perplexity(ours.last_model(state).topic_word()), seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--topics", type=int, help="K; 100 for 20 Newsgroups and 50 for the others unless given")
    parser.add_argument("--burn-in", nargs="+", default=["expected", "delayed"], help="samplers to compare")
    parser.add_argument("--sweeps", type=int, default=5, help="sweeps that are shown one by one")
    parser.add_argument("--hand-over", type=int, nargs="*", default=[2, 3], help=f"sweeps before {AFTER} of --sampling")
    parser.add_argument("--sampling", default="partial")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", action="store_true", help="CPU seconds as well")
    given = parser.parse_args()
    pin(None)

    def cell(value: tuple[float, float]) -> str:
        return f"{value[0]:.0f} ({value[1]:.2f} s)" if given.seconds else f"{value[0]:.0f}"

    shown = [f"{n}" for n in range(1, given.sweeps + 1)] + [f"{n} + {AFTER} {given.sampling}" for n in given.hand_over]
    print(f"| data, K | burn-in | {' | '.join(shown)} |")
    print("|---" * (len(shown) + 2) + "|")
    for data in given.data:
        problem, n_topics = load(data), given.topics or DATA[data]
        for name in given.burn_in:
            found = follow(problem, n_topics, [name] * given.sweeps, set(range(1, given.sweeps + 1)), given.seed)
            cells = [cell(found[n]) for n in sorted(found)]
            for n in given.hand_over:
                plan = [name] * n + [given.sampling] * AFTER
                cells += map(cell, follow(problem, n_topics, plan, {len(plan)}, given.seed).values())
            print(f"| `{data}`, {n_topics} | `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
