"""How well supervised topic models predict: every kind of label, five seeds, on test documents."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import RidgeCV
from sklearn.metrics import f1_score

from benchmarks import report
from benchmarks.harness import Results, Stopwatch, alone, measure, options, pin, versions
from benchmarks.labelled import DATA, Labelled, with_top_label
from topoi import LDA, MedLDAClassifier, MedLDARegressor

NAME = "med_quality"


@dataclass(frozen=True)
class Task:
    """A data set, the numbers of topics, the settings beyond the defaults, what to reach, and what others do."""

    data: str
    topics: tuple[int, ...]
    reach: str
    others: str
    settings: dict[str, Any] = field(default_factory=dict)


# c, α and β are the papers'; the margin is the papers' for the binary task and adapts itself (the default) elsewhere.
PAPERS = {"cost": 1.6, "topic_word_prior": 0.01}
TASKS = {
    "binary": Task(
        "binary", (10, 20, 50, 100), "0.82",
        "papers ≈ 0.80, their C++ code 0.79–0.83, tomotopy sLDA 0.72–0.76, tf-idf + linear SVM 0.844",
        PAPERS | {"margin": 164.0, "n_sweeps": 20, "infer_sweeps": 10},
    ),
    "binary, 5 chains": Task(
        "binary", (10, 20, 50, 100), "0.82", "as above",
        PAPERS | {"margin": 164.0, "n_sweeps": 20, "infer_sweeps": 10, "n_chains": 5},
    ),
    "20 classes": Task(
        "20ng", (50, 100), "0.795 (K = 50), 0.79 (K = 100)",
        "LightMedLDA's C++ code 0.795 / 0.783, tomotopy sLDA 0.646 (22 sweeps, 120 CPU s), LDA then SVM 0.70, "
        "tf-idf + linear SVM 0.821",
        PAPERS,
    ),
    "Reuters": Task("reuters", (50, 100), "0.88", "tf-idf + linear SVM 0.936", PAPERS),
    "hotel reviews": Task("hotels", (20, 50), "0.60", "tf-idf + ridge 0.663", {"topic_word_prior": 0.01}),
    "hotel reviews, LDA then ridge": Task(
        "hotels", (20, 50), "–", "the same topics without the ratings", {"topic_word_prior": 0.01}
    ),
    "20 classes, 8 chains": Task("20ng", (100,), "0.82", "tf-idf + linear SVM 0.821", PAPERS | {"n_chains": 8}),
    "arXiv 120 k": Task("arxiv", (200,), "0.45", "tf-idf + linear SVM 0.556", PAPERS | {"n_sweeps": 30}),
}  # fmt: skip
MEASURE = {"binary": "accuracy", "20ng": "accuracy", "reuters": "micro-F1", "arxiv": "micro-F1", "hotels": "R²"}


def main() -> None:
    parser = options(__doc__, [])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.set_defaults(rounds=5)
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)
    for name in arguments.tasks:
        topics = arguments.topics or TASKS[name].topics
        measure(results, [name], topics, arguments.rounds, lambda *a: alone(one_fit, *a, arguments.quick))
    write_report(results, pinned, arguments)


def one_fit(name: str, n_topics: int, seed: int, quick: bool) -> dict[str, Any]:
    """Train and test one model."""
    task = TASKS[name]
    data = DATA[task.data]()
    settings = {"n_topics": n_topics, "doc_topic_prior": 6.4 / n_topics, "random_state": seed, "n_jobs": 1}
    settings |= task.settings | ({"n_sweeps": 4} if quick else {})
    training, testing = Stopwatch(), Stopwatch()
    if name.endswith("then ridge"):
        score = lda_then_ridge(data, settings, training, testing)
    elif task.data == "hotels":
        with training:
            regressor = MedLDARegressor(**settings).fit(data.X, data.y)
        with testing:
            score = float(regressor.score(data.X_test, data.y_test))
    else:
        with training:
            classifier = MedLDAClassifier(**settings).fit(data.X, data.y)
        with testing:
            scores = classifier.decision_function(data.X_test)
        score = quality(classifier, scores, data.y_test)
    said = f"{MEASURE[task.data]} {score:.4f}, training {training.seconds:.1f} s, test {testing.seconds:.1f} s"
    return {"score": score, "train": training.seconds, "test": testing.seconds, "said": said, "versions": versions()}


def quality(classifier: MedLDAClassifier, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Accuracy, or micro-F1 with at least the top label of each document."""
    if y.ndim == 2:
        return float(f1_score(y, with_top_label(scores), average="micro"))
    chosen = scores.argmax(1) if scores.ndim == 2 else (scores > 0).astype(int)
    return float(np.mean(classifier.classes_[chosen] == y))


def lda_then_ridge(data: Labelled, settings: dict[str, Any], training: Stopwatch, testing: Stopwatch) -> float:
    """R² of a ridge regression on the topic shares of an unsupervised model; its strength by cross-validation."""
    with training:
        lda = LDA(**settings, n_sweeps=100)
        shares = lda.fit(data.X).transform(data.X)
        ridge = RidgeCV(np.logspace(-4, 3, 15)).fit(shares, data.y)
    with testing:
        return float(ridge.score(lda.transform(data.X_test), data.y_test))


def write_report(results: Results, pinned: str, arguments: argparse.Namespace) -> None:
    rows = []
    for name, n_topics in results.pairs():
        rounds = results.rounds(name, n_topics)
        if name not in TASKS or not rounds:
            continue
        task, scores = TASKS[name], [entry["score"] for entry in rounds]
        spread = f" ± {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else ""
        rows.append([
            name, str(n_topics), f"**{np.mean(scores):.4f}**{spread}", str(len(scores)), task.reach,
            report.number(min(entry["train"] for entry in rounds)),
            report.number(min(entry["test"] for entry in rounds)), task.others,
        ])  # fmt: skip
    header = ["task", "K", "mean", "seeds", "to reach", "training, CPU s", "test, CPU s", "others on the same data"]
    facts = [
        *(f"{name}: {DATA[task.data]().about}, {MEASURE[task.data]}; beyond the defaults: {shown(task)}."
          for name, task in TASKS.items() if any(name == found for found, _ in results.pairs())),
        "α = 6.4/K everywhere. micro-F1 counts labels with a positive score and at least the best of each document.",
        f"Time: `time.process_time`, one thread, {pinned}, least of the seeds.",
    ]  # fmt: skip
    draw(results, arguments)
    intro = (
        "Test quality, mean and standard deviation over seeds. Settings were chosen on held-out parts of training "
        "documents, but some of them after test results had been seen: docs/supervised.md says which."
    )
    body = "\n\n".join([intro, report.table(header, rows), "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "Supervised topic models: quality", body)


def shown(task: Task) -> str:
    """The settings of a task, in words."""
    return ", ".join(f"{key} = {value:g}" for key, value in task.settings.items()) or "nothing"


def draw(results: Results, arguments: argparse.Namespace) -> None:
    """Every seed a point, every task and K a line."""
    pairs = [(name, k) for name, k in results.pairs() if name in TASKS and results.rounds(name, k)]
    figure, (axis,) = report.panels(1, 7.5, 0.34 * len(pairs) + 1.2)
    for position, (name, k) in enumerate(pairs):
        scores = [entry["score"] for entry in results.rounds(name, k)]
        axis.plot(scores, [position] * len(scores), "o", color=report.COLOURS[0], alpha=0.5, markersize=4)
        axis.plot(np.mean(scores), position, "|", color="#000000", markersize=14)
    axis.set_yticks(range(len(pairs)), [f"{name}, K = {k}" for name, k in pairs])
    axis.invert_yaxis()
    axis.set_xlabel("accuracy, micro-F1 or R² on test documents")
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
