"""Do the intervals of `effects()` hold the true effects as often as they say? Simulated documents with known effects.

    python verify/effects.py [--fits 100]

A document has two of six topics and 40 words. The target follows the topics, a number and a category, with noise. For
labels and counts the truth is the limit of the same regression on the true topics, found with 50,000 documents: what a
logistic regression estimates depends on what else it knows.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi import MedLDAClassifier, MedLDARegressor
from topoi.estimators.covariates import learn_covariates
from topoi.predict.effects import estimate_effects

TOPICS, PER_TOPIC, LENGTH, LEVEL = 6, 12, 40, 0.9
BRANDS = np.array(["acme", "bolt", "core"])
OF_TOPICS = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
MANY = 50_000

#: By name: the loss, how much the number follows the topics, and the noise of the target.
CASES: dict[str, tuple[str, float, float]] = {
    "numbers": ("epsilon_insensitive", 0.0, 0.5),
    "numbers, covariate correlated with topics (0.7)": ("epsilon_insensitive", 0.9, 0.5),
    "numbers, much noise": ("squared", 0.0, 1.5),
    "labels": ("hinge", 0.0, 1.0),
    "counts": ("counts", 0.0, 0.0),
}


def shares(n: int, rng: np.random.Generator) -> NDArray[Any]:
    """Topic shares: two topics each, and a trace of all."""
    theta = np.full((n, TOPICS), 0.05 / TOPICS)
    order = rng.permuted(np.tile(np.arange(TOPICS), (n, 1)), axis=1)
    main = rng.uniform(0.5, 0.9, n)
    rows = np.arange(n)
    theta[rows, order[:, 0]] += 0.95 * main
    theta[rows, order[:, 1]] += 0.95 * (1 - main)
    return theta


def simulate(case: str, n: int, rng: np.random.Generator) -> tuple[NDArray[Any], dict[str, Any], NDArray[Any]]:
    """Shares, covariates and targets."""
    loss, correlated, noise = CASES[case]
    theta = shares(n, rng)
    of_topics = theta @ OF_TOPICS
    price = rng.normal(0, 1, n) + correlated * of_topics
    brand = rng.choice(BRANDS, n, p=[0.5, 0.3, 0.2])
    f = of_topics + 0.5 * price + 0.6 * (brand == "bolt")
    if loss == "hinge":
        y: NDArray[Any] = (f + rng.logistic(0, noise, n) > 0).astype(float)
    elif loss == "counts":
        y = rng.negative_binomial(2, 2 / (2 + np.exp(1 + 0.5 * f))).astype(float)
    else:
        y = f + rng.normal(0, noise, n)
    return theta, {"price": price, "brand": brand}, y


def words(theta: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Counts of words: a topic has its own, and a few of all."""
    phi = np.kron(np.eye(TOPICS), np.full(PER_TOPIC, 0.95 / PER_TOPIC)) + 0.05 / (TOPICS * PER_TOPIC)
    return np.array([rng.multinomial(LENGTH, p) for p in theta @ phi])


def limits(case: str) -> tuple[float, NDArray[Any]]:
    """What the regression finds with the true topics and very many documents: by price, and by brand."""
    theta, given, y = simulate(case, MANY, np.random.default_rng(99))
    learned, columns = learn_covariates(given, len(y))
    family = {"hinge": "log_odds", "counts": "log_ratio"}.get(CASES[case][0], "linear")
    found = estimate_effects(family, [theta], sparse.csr_array(columns), y[:, None], learned.as_effects)
    assert found is not None
    return float(found.mean[0, 0] / given["price"].std()), found.mean[0, 1:]


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fits", type=int, default=100)
    parser.add_argument("--documents", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| target | true effect of a unit of the number | mean estimate | coverage: number | categories |")
    print("|---|---|---|---|---|")
    for case, (loss, _, _) in CASES.items():
        by_price, by_brand = limits(case)
        inside, means = [], []
        for seed in range(arguments.fits):
            rng = np.random.default_rng(seed)
            theta, given, y = simulate(case, arguments.documents, rng)
            X = words(theta, rng)
            kind = MedLDAClassifier if loss == "hinge" else MedLDARegressor
            model = kind(8, loss=loss, n_sweeps=40, random_state=seed, refit=False).fit(X, y, covariates=given)
            found = model.effects(LEVEL)
            # Numbers are told in standard deviations of the targets at hand.
            unit = y.std() if loss in ("epsilon_insensitive", "squared") else 1.0
            # The effect is that of a standard deviation, and against the average, of the documents at hand.
            has = (given["brand"][:, None] == BRANDS).mean(0)
            truth = [by_price * given["price"].std(), *(by_brand - has @ by_brand)]
            inside.append([effect.low * unit <= value <= effect.high * unit
                           for effect, value in zip(found, truth, strict=True)])  # fmt: skip
            means.append(found[0].mean * unit / given["price"].std())
        share = np.mean(inside, axis=0)
        print(f"| {case} | {by_price:.3f} | {np.mean(means):.3f} | {share[0]:.2f} | "
              f"{', '.join(f'{value:.2f}' for value in share[1:])} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
