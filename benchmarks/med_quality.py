"""How well supervised topic models predict, beside linear models of the same words, on test documents."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import calibration, linear
from benchmarks.harness import Results, Stopwatch, alone, measure, options, pin, versions
from benchmarks.labelled import DATA, Labelled, with_top_label
from benchmarks.med_report import NAME, write_report
from benchmarks.med_tasks import LEVEL, MEASURE, OURS, TASKS, Task, key, parts
from topoi import MedLDAClassifier, MedLDARegressor
from topoi.evaluate import classification_scores, npmi, regression_scores, top_columns
from topoi.evaluate.coherence import mean_coherence

QUICK_DOCUMENTS, QUICK_SWEEPS = 600, 6
TIMES = ("train", "choosing", "test")
WARM_UP = 100  # documents, for a fit that compiles


def main() -> None:
    every = [*linear.MODELS, *OURS]
    parser = options(__doc__, [])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS), metavar="TASK")
    parser.add_argument("--models", nargs="+", default=every, choices=every, metavar="MODEL")
    parser.add_argument("--untimed", action="store_true", help="keep no times: other jobs run on this machine too")
    parser.add_argument("--missing", action="store_true", help="measure what has no result; those of other source stay")
    parser.set_defaults(rounds=5)
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)
    for name in arguments.tasks:
        task = TASKS[name]

        def job(row: str, n_topics: int, seed: int) -> dict[str, Any]:
            found = alone(one_linear if n_topics == 0 else one_fit, row, n_topics, seed, arguments.quick)
            return found | dict.fromkeys(TIMES) if arguments.untimed else found

        theirs = [key(name, model) for model in linear.models_for(task.kind) if model in arguments.models]
        measure(results, theirs, [0], 1, job, arguments.missing)  # they have no randomness
        ours = [key(name, model) for model in task.ours if model in arguments.models]
        measure(results, ours, arguments.topics or [task.n_topics], arguments.rounds, job, arguments.missing)
    write_report(results, pinned, arguments)


def load(task: Task, quick: bool) -> Labelled:
    """The documents of a task."""
    data = DATA[task.data]()
    return data.sample(QUICK_DOCUMENTS) if quick else data


def one_linear(row: str, _: int, seed: int, quick: bool) -> dict[str, Any]:
    """Choose the setting of a linear model, train it and test it."""
    task, name = parts(row)
    data, model, kind = load(task, quick), linear.MODELS[name], task.kind
    choosing, training, testing = Stopwatch(), Stopwatch(), Stopwatch()
    with choosing:
        choice = linear.choose(model, data)
    with training:
        Y = linear.as_targets(data.y, kind)
        scorer = linear.quietly(model.fit, data.X, Y, kind, **choice.setting)[choice.beta]
    with testing:
        scores = scorer(data.X_test)
    if kind == "numbers":
        low, high = np.quantile(choice.Y - choice.scores, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        found = of_numbers(data, scores[:, 0], np.hstack((scores + low, scores + high)))
    else:
        log_odds = scores if model.probabilistic else calibration.platt(choice.scores, choice.Y, scores)
        p = calibration.probabilities(log_odds, kind, model.probabilistic)
        classes = np.arange(Y.shape[1]) if kind == "several" else np.unique(data.y)
        found = of_labels(data, decided(scores, classes, kind), p, classes)
        if kind == "several":
            threshold = linear.best_threshold(choice.scores, choice.Y)
            tuned = of_labels(data, with_top_label(scores - threshold), p, classes)
            found["tuned"] = {"score": tuned["score"], "macro": tuned["macro"], "threshold": threshold}
    found |= {"setting": choice.shown, "at_end": choice.at_end(model), "choosing": choosing.seconds}
    return told(found, task, choosing.seconds + training.seconds, testing.seconds)


def one_fit(row: str, n_topics: int, seed: int, quick: bool) -> dict[str, Any]:
    """Train and test a supervised topic model."""
    task, name = parts(row)
    data = load(task, quick)
    settings = {"n_topics": n_topics, "random_state": seed, "n_jobs": 1} | task.settings | OURS[name]
    settings |= {"n_sweeps": QUICK_SWEEPS} if quick else {}
    kind = MedLDARegressor if task.kind == "numbers" else MedLDAClassifier
    few = data.sample(WARM_UP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two sweeps predict nothing well
        kind(**settings | {"n_sweeps": 2}).fit(few.X, few.y).predict(few.X_test)  # compiles, or reads what was compiled
    training, testing = Stopwatch(), Stopwatch()
    with training:
        model = kind(**settings).fit(data.X, data.y)
    with testing:
        predicted = model.predict(data.X_test)
    if task.kind == "numbers":
        found = of_numbers(data, predicted, model.predict_interval(data.X_test, LEVEL))
    else:
        found = of_labels(data, predicted, model.predict_proba(data.X_test), model.classes_)
    found["npmi"] = float(mean_coherence(npmi(top_columns(model, order="probability"), data.X)))
    return told(found, task, training.seconds, testing.seconds)


def decided(scores: NDArray[Any], classes: NDArray[Any], kind: str) -> NDArray[Any]:
    """Labels by scores; where several may be right, the positive ones and at least the best."""
    if kind == "several":
        return with_top_label(scores)
    return classes[(scores[:, 0] > 0).astype(int) if kind == "two" else scores.argmax(1)]


def of_labels(data: Labelled, predicted: NDArray[Any], p: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Measures of predicted labels and of their probabilities."""
    found = classification_scores(data.y_test, predicted, p, labels=classes)
    return {
        "score": found.micro_f1 if found.several else found.accuracy, "macro": found.macro_f1,
        "ece": found.calibration_error, "log_loss": found.log_loss, "bins": calibration.bins(data.y_test, p, classes),
    }  # fmt: skip


def of_numbers(data: Labelled, predicted: NDArray[Any], interval: NDArray[Any]) -> dict[str, Any]:
    """Measures of predicted numbers and of the intervals around them."""
    found = regression_scores(data.y_test, predicted, interval, level=LEVEL).as_dict()
    return {
        "score": found["r2"], "rmse": found["rmse"], "coverage": found["coverage"], "width": found["interval_width"],
    }  # fmt: skip


def told(found: dict[str, Any], task: Task, train: float, test: float) -> dict[str, Any]:
    """The entry of a measurement."""
    score = f"{MEASURE[task.kind]} {found['score']:.4f}"
    if "tuned" in found:
        score += f" ({found['tuned']['score']:.4f} with a tuned threshold)"
    said = f"{score}, training {train:.1f} s, test {test:.2f} s"
    return found | {"train": train, "test": test, "said": said, "versions": versions()}


if __name__ == "__main__":
    main()
