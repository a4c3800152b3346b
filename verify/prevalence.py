"""Do intervals of λ, and of the effects of covariates on topics, hold the truth as often as they say?

    python verify/prevalence.py [--fits 100]

Simulation-based: scales, weights λ, topics and words are drawn from the prior of the model, and the model is fitted to
the words alone. An exact sampler's 90 % intervals must then hold the true values in 90 % of all cases, whatever the
data. Pseudo-counts of a few words tell topics apart, in the simulation and in the fit alike, so that a topic keeps its
number. The intervals are those of `effects()`: mean ± t · sd · √(1 + 1/draws). They should hold 87 to 93 % of the true
values.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.pool import Pool
from topoi.chain.engines.local import Local
from topoi.chain.priors import FixedBeta, Priors
from topoi.chain.priors.prevalence import RATE, SHAPE, WIDE, Prevalence
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import new_state
from topoi.corpus import Corpus
from topoi.estimators.formula import parse_formula
from topoi.estimators.marginal import changes, interval, mean_shares_of
from topoi.estimators.terms import Terms, learn_terms

TOPICS, WORDS, DOCUMENTS, LENGTH, LEVEL = 4, 40, 120, 40, 0.9
BETA, SEEDED = 0.1, 20  # pseudo-counts of each of the first words of a topic
BURN_IN, KEPT, APART = 400, 100, 20  # sweeps, samples, and sweeps between them
FORMULA = "~ party + year"


def covariates(rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """A category and a number for each document."""
    return {"party": rng.choice(["a", "b", "c"], DOCUMENTS, p=[0.5, 0.3, 0.2]), "year": rng.normal(size=DOCUMENTS)}


def truth(rng: np.random.Generator, table: NDArray[np.float64], base: float) -> NDArray[np.float64]:
    """λ (K, columns) from its prior, within the range of α."""
    while True:
        variance = np.append(WIDE**2, RATE / rng.gamma(SHAPE, size=table.shape[1] - 1))
        weights = rng.normal(size=(TOPICS, table.shape[1])) * np.sqrt(variance)
        weights[:, 0] += math.log(base)
        if np.abs(table @ weights.T).max() < math.log(1e10):
            return weights


def simulate(rng: np.random.Generator, alpha: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of every document, as counts; topics have Dirichlet words around their pseudo-counts."""
    phi = np.array([rng.dirichlet(BETA + counts[:, k]) for k in range(TOPICS)])
    logs = np.log(rng.gamma(alpha + 1.0)) + np.log(rng.random(alpha.shape)) / alpha  # of gamma draws, however small α
    theta = np.exp(logs - logs.max(1, keepdims=True))
    theta /= theta.sum(1, keepdims=True)
    return np.array([rng.multinomial(LENGTH, row @ phi) for row in theta])


def draws(corpus: Corpus, counts: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Kept draws of λ."""
    prior = Prevalence.from_value(None, TOPICS, corpus)
    assert prior is not None
    words = FixedBeta(BETA, pseudo_counts=sparse.csr_array(counts))
    state = new_state(corpus, Priors(prior, words), seed)
    engine, kept = Local(state, Pool(1)), []
    for sweep in range(1, BURN_IN + KEPT * APART + 1):
        engine.sweep(SAMPLERS["partial"], {})
        if state.priors.due(sweep):
            engine.update_priors()
        if sweep > BURN_IN and sweep % APART == 0:
            found = state.priors.topics
            assert isinstance(found, Prevalence)
            kept.append(found.weights)
    return np.array(kept)


def effects(terms: Terms, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Changes of the shares (draws, changes · K)."""
    now = mean_shares_of(terms, terms.kept, weights)
    return np.concatenate(
        [mean_shares_of(terms, one.apply(terms.kept), weights) - now for one in changes(terms, None)], axis=1
    )


def main() -> None:
    """Simulate and fit, over and over, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=100)
    arguments = parser.parse_args()
    counts = np.kron(np.eye(TOPICS, dtype=np.int64), np.full((WORDS // TOPICS, 1), SEEDED))
    inside: dict[str, list[float]] = {"weights": [], "effects": []}
    for fit in range(arguments.fits):
        rng = np.random.default_rng([2026, fit])
        given = covariates(rng)
        terms, table = learn_terms(parse_formula(FORMULA), given, DOCUMENTS)
        true = truth(rng, table.toarray(), 0.1)
        X = simulate(rng, np.exp(table.toarray() @ true.T), counts)
        found = draws(Corpus.from_counts(X).with_about(prevalence=table), counts, fit)
        pairs = {
            "weights": (found.reshape(len(found), -1), true.ravel()),
            "effects": (effects(terms, found), effects(terms, true[None])[0]),
        }
        for name, (drawn, right) in pairs.items():
            bounds = [interval(column, LEVEL) for column in drawn.T]
            inside[name].append(
                float(np.mean([low <= value <= high for (_, low, high), value in zip(bounds, right, strict=True)]))
            )
        if (fit + 1) % 10 == 0:
            said = ", ".join(f"{name} {np.mean(found):.3f}" for name, found in inside.items())
            print(f"{fit + 1} data sets: {said}", flush=True)
    print(f"\n| {LEVEL:.0%} intervals of | coverage | standard error |\n|---|--:|--:|")
    for name, shares in inside.items():
        error = np.std(shares, ddof=1) / math.sqrt(len(shares))
        print(f"| {name} | {np.mean(shares):.3f} | {error:.3f} |")
    if not all(0.87 <= np.mean(shares) <= 0.93 for shares in inside.values()):
        raise SystemExit("intervals do not hold the truth as often as they say")


if __name__ == "__main__":
    main()
