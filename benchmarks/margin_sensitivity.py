"""How the hinge margin bears on quality: margins over mean document length, held-out parts of training documents."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score

from benchmarks import report
from benchmarks.harness import Results, measure, options, pin
from benchmarks.labelled import DATA, with_top_label
from topoi import MedLDAClassifier
from topoi.datasets import STOP_WORDS, python_docs

NAME = "margin_sensitivity"
SHARES = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8)
N_TOPICS = 50
LARGEST = 8_000  # documents of a problem
LEAST_OF_LABEL = 50  # docstrings of a module that takes part
FEW = 0.1  # share of the documents that keep their label where labels are few

PROBLEMS = {
    "20 Newsgroups": ("20ng", False),
    "20 Newsgroups, a label in ten": ("20ng", True),
    "two newsgroups": ("binary", False),
    "Reuters": ("reuters", False),
    "Reuters, a label in ten": ("reuters", True),
    "arXiv": ("arxiv", False),
    "docstrings": ("python_docs", False),
}


def main() -> None:
    parser = options(__doc__, [N_TOPICS])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.set_defaults(rounds=2)
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)
    names = [f"{problem} · {share:g}" for problem in arguments.problems for share in SHARES]

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        problem, share = name.split(" · ")
        return one_fit(problem, float(share), n_topics, round_, arguments.quick)

    measure(results, names, arguments.topics, arguments.rounds, job)
    write_report(results, pinned, arguments)


@cache
def problem_of(name: str) -> tuple[sparse.csr_array, NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Counts and labels of training documents, and which of them are for training and for validation.

    20 Newsgroups is split by time in its test set: so is its training set here, by the order within a class.
    """
    if name == "python_docs":
        docs = python_docs()
        y = np.asarray(docs.labels)
        labels, counts = np.unique(y, return_counts=True)
        kept = np.flatnonzero(np.isin(y, labels[counts >= LEAST_OF_LABEL]))
        texts = [docs.texts[d] for d in kept]
        X, y = CountVectorizer(stop_words=sorted(STOP_WORDS), min_df=3).fit_transform(texts).tocsr(), y[kept]
    else:
        data = DATA[name]()
        X, y = data.X, data.y
    order = np.random.default_rng(0).permutation(X.shape[0])[:LARGEST]
    last = order[3 * len(order) // 4 :]
    if name in ("20ng", "binary"):
        rows = [np.flatnonzero(y == label) for label in np.unique(y)]
        order, last = np.concatenate(rows), np.concatenate([of[3 * len(of) // 4 :] for of in rows])
    return X, y, np.setdiff1d(order, last), np.sort(last)


def one_fit(problem: str, share: float, n_topics: int, seed: int, quick: bool) -> dict[str, Any]:
    """Quality on the validation documents for a margin of `share` times the mean length."""
    name, few = PROBLEMS[problem]
    X, y, train, validation = problem_of(name)
    margin = share * X[train].sum() / len(train)
    unlabelled = np.random.default_rng(1).random(len(train)) >= FEW if few else None
    model = MedLDAClassifier(n_topics, margin=float(margin), doc_topic_prior=6.4 / n_topics, random_state=seed,
                             n_sweeps=10 if quick else 100, refit=False)  # fmt: skip
    model.fit(X[train], y[train], unlabelled)
    scores = model.decision_function(X[validation])
    if y.ndim == 2:
        quality = f1_score(y[validation], with_top_label(scores), average="micro")
    else:
        chosen = scores.argmax(1) if scores.ndim == 2 else (scores > 0).astype(int)
        quality = np.mean(model.classes_[chosen] == y[validation])
    return {"quality": float(quality), "margin": float(margin), "said": f"{quality:.4f} (margin {margin:.1f})"}


def write_report(results: Results, pinned: str, arguments: argparse.Namespace) -> None:
    problems = [name for name in PROBLEMS if any(found.startswith(f"{name} · ") for found, _ in results.pairs())]

    def mean(problem: str, share: float) -> float:
        rounds = results.rounds(f"{problem} · {share:g}", N_TOPICS)
        return float(np.mean([entry["quality"] for entry in rounds])) if rounds else np.nan

    rows = [[problem, *(f"{mean(problem, share):.3f}" for share in SHARES)] for problem in problems]
    table = report.table(["", *(f"{share:g}" for share in SHARES)], rows)
    facts = [
        f"K = {N_TOPICS}, α = 6.4/K, otherwise the defaults; mean of {arguments.rounds} seeds. At most {LARGEST:,} "
        f"documents, three quarters of them for training; no test document is looked at.",
        "Accuracy, or micro-F1 with at least the best label of each document (Reuters, arXiv).",
    ]
    figure, (axis,) = report.panels(1, 8.0, 4.6)
    for problem, style in report.styles(problems).items():
        axis.plot(SHARES, [mean(problem, share) for share in SHARES], label=problem, **style)
    axis.set(xscale="log", xlabel="margin ℓ / mean length of a document", ylabel="accuracy or micro-F1")
    report.plain_ticks(axis.xaxis, SHARES)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    report.save(figure, arguments.output, NAME)
    intro = "Quality for margins ℓ, as shares of the mean length of the documents."
    body = "\n\n".join([intro, table, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "The hinge margin", body)


if __name__ == "__main__":
    main()
