"""How settings of supervised models were chosen: on held-out parts of training documents, never on test documents."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.harness import Results, Stopwatch, alone, measure, options, pin, versions
from benchmarks.labelled import DATA, Labelled, quality
from topoi import MedLDAClassifier

NAME = "med_choices"
PAPERS = {"cost": 1.6, "topic_word_prior": 0.01}  # c and β of the papers
MOST_DOCUMENTS = 12_000
#: Chains and sweeps, for 20 Newsgroups: (K, sweeps, chains). Scores are kept for 1, 2, 4, … of the chains.
CHAINS = {
    "16 chains of 100 sweeps": (100, 100, 16),
    "16 chains of 50 sweeps": (100, 50, 16),
    "24 chains of 20 sweeps": (100, 20, 24),
    "12 chains of 30 sweeps, K = 200": (200, 30, 12),
}
#: Fold-in methods, sweeps of each.
FOLD_IN = (("mean_field", 1), ("mean_field", 3), ("mean_field", 10), ("mean_field", 60), ("gibbs", 30), ("gibbs", 100))
FOLD_IN_DATA = ("20ng", "reuters", "binary")
#: Weights of documents that have a label; None, the default, follows from how rare it is.
WEIGHTS = (1.0, 3.0, 10.0, None)
WEIGHT_DATA = ("arxiv", "reuters")


def main() -> None:
    parser = options(__doc__, [50])
    names = [*CHAINS, *(f"fold-in, {data}" for data in FOLD_IN_DATA), *(f"positive_weight, {d}" for d in WEIGHT_DATA)]
    parser.add_argument("--studies", nargs="+", default=names, choices=names)
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)
    measure(results, arguments.studies, [50], arguments.rounds, lambda *a: alone(one_study, *a, arguments.quick))
    write_report(results, pinned, arguments)


def split(data: Labelled, seed: int) -> Labelled:
    """Four fifths of (some of) the training documents, and the fifth that is held out."""
    order = np.random.default_rng(seed).permutation(data.X.shape[0])[:MOST_DOCUMENTS]
    n = len(order) * 4 // 5
    rows, held_out = np.sort(order[:n]), np.sort(order[n:])
    return Labelled(data.X[rows], data.y[rows], data.X[held_out], data.y[held_out], data.about)


def one_study(name: str, _: int, seed: int, quick: bool) -> dict[str, Any]:
    """Quality of held-out documents for every choice of a study."""
    if name in CHAINS:
        found, seconds = chains(*CHAINS[name], seed, quick)
    else:
        study, data = name.split(", ")
        found, seconds = (fold_in if study == "fold-in" else positive_weight)(split(DATA[data](), seed), seed, quick)
    said = ", ".join(f"{choice}: {value:.4f}" for choice, value in found.items())
    return {"found": found, "seconds": seconds, "said": said, "versions": versions()}


def model(n_topics: int, seed: int, quick: bool, **more: Any) -> MedLDAClassifier:
    """A classifier with the papers' settings."""
    settings = PAPERS | {"doc_topic_prior": 6.4 / n_topics, "random_state": seed, "n_jobs": 1} | more
    return MedLDAClassifier(n_topics, refit=False, **settings | ({"n_sweeps": 4} if quick else {}))


def chains(n_topics: int, n_sweeps: int, n_chains: int, seed: int, quick: bool) -> tuple[dict[str, float], float]:
    """Accuracy of the averaged scores of 1, 2, 4, … chains; smaller groups are averaged over."""
    data = split(DATA["20ng"](), seed)
    scores: list[NDArray[np.float64]] = []
    with (watch := Stopwatch()):
        for number in range(n_chains):
            fitted = model(n_topics, seed + number, quick, n_sweeps=n_sweeps).fit(data.X, data.y)
            scores.append(fitted.decision_function(data.X_test))
    sizes = [size for size in (1, 2, 4, 8, 12, 16, 24) if n_chains % size == 0]
    found = {}
    for size in sizes:
        groups = np.array(scores).reshape(n_chains // size, size, *scores[0].shape).sum(1)
        found[str(size)] = float(np.mean([quality(fitted, group, data.y_test) for group in groups]))
    return found, watch.seconds


def fold_in(data: Labelled, seed: int, quick: bool) -> tuple[dict[str, float], float]:
    """One fit, its new documents folded in in several ways."""
    with (watch := Stopwatch()):
        fitted = model(50, seed, quick).fit(data.X, data.y)
        found = {}
        for method, n_sweeps in FOLD_IN:
            fitted.set_params(infer_method=method, infer_sweeps=n_sweeps)
            found[f"{method}, {n_sweeps}"] = quality(fitted, fitted.decision_function(data.X_test), data.y_test)
    return found, watch.seconds


def positive_weight(data: Labelled, seed: int, quick: bool) -> tuple[dict[str, float], float]:
    """A fit for each weight."""
    found = {}
    with (watch := Stopwatch()):
        for weight in WEIGHTS:
            fitted = model(100, seed, quick, n_sweeps=40, positive_weight=weight).fit(data.X, data.y)
            found[str(weight)] = quality(fitted, fitted.decision_function(data.X_test), data.y_test)
    return found, watch.seconds


def write_report(results: Results, pinned: str, arguments: argparse.Namespace) -> None:
    parts = []
    for name, _ in results.pairs():
        rounds = results.rounds(name, 50)
        choices = list(rounds[0]["found"])
        means = [np.mean([entry["found"][choice] for entry in rounds]) for choice in choices]
        parts += [f"### {name}", report.table(["", *choices], [["held out", *(f"{value:.4f}" for value in means)]])]
    facts = [
        f"Four fifths of the training documents (at most {MOST_DOCUMENTS:,} in all) for training, a fifth held out; no "
        "test document is looked at. Accuracy, or micro-F1 with at least the best label of each document.",
        "c = 1.6, α = 6.4/K, β = 0.01; K = 50 where not said, 100 for `positive_weight` (40 sweeps); one seed each.",
        f"{pinned}.",
    ]
    body = "\n\n".join([*parts, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "How settings were chosen", body, has_plot=False)


if __name__ == "__main__":
    main()
