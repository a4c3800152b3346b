"""R² of held-out training reviews over the passes of coordinate Gibbs over the weights; 0 passes are exact draws.

python -m benchmarks.weight_passes --sampler light_med --cost 262.4 --sweeps 15
python -m benchmarks.weight_passes --sweeps 60 --refit
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.labelled import hotels
from topoi import MedLDARegressor

LEARN, TEST = 1000, 500  # reviews, all of them of the training part
SAMPLES = 5  # of the weights, from the last sweeps


def main() -> None:
    """Print mean and standard error over seeds for every number of topics and of passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--passes", type=int, nargs="+", default=[2, 8, 0])
    parser.add_argument("--sampler", default="auto")
    parser.add_argument("--cost", type=float, default=None)
    parser.add_argument("--loss", default="epsilon_insensitive")
    parser.add_argument("--sweeps", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--refit", action="store_true", help="predict with refitted weights, not those of the chain")
    given = parser.parse_args()
    data = hotels()
    order = np.random.default_rng(7).permutation(data.X.shape[0])
    learn, test = np.sort(order[:LEARN]), np.sort(order[LEARN : LEARN + TEST])
    for n_topics in given.topics:
        for n_gibbs in given.passes:
            scores = []
            for seed in range(given.seeds):
                model = MedLDARegressor(
                    n_topics, n_gibbs=n_gibbs, sampler=given.sampler, cost=given.cost, loss=given.loss,
                    refit=given.refit, n_sweeps=given.sweeps, burn_in=given.sweeps - SAMPLES, n_samples=SAMPLES,
                    doc_topic_prior=6.4 / n_topics, topic_word_prior=0.01, random_state=seed,
                ).fit(data.X[learn], data.y[learn])  # fmt: skip
                scores.append(model.score(data.X[test], data.y[test]))
            error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
            print(f"K = {n_topics}, {n_gibbs} passes: R² {np.mean(scores):.3f} ± {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
