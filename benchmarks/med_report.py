"""The page of `med_quality`: tables, how it was measured, and two pictures."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import calibration, linear, report
from benchmarks.harness import Results
from benchmarks.labelled import DATA
from benchmarks.med_tasks import LEVEL, MEASURE, OURS, TASKS, TUNED, USUAL, Task, key

NAME, CALIBRATION = "med_quality", "med_calibration"

HEADERS = {
    "labels": ["accuracy", "macro-F1", "ECE", "log loss"],
    "several": ["micro-F1", "macro-F1", "ECE", "log loss"],
    "numbers": ["R²", "RMSE", "coverage of 90 % intervals", "their width"],
}
COLUMNS = {
    "labels": ["score", "macro", "ece", "log_loss"],
    "several": ["score", "macro", "ece", "log_loss"],
    "numbers": ["score", "rmse", "coverage", "width"],
}
TITLES = {"labels": "One label per document", "several": "Several labels per document", "numbers": "Numbers"}


@dataclass(frozen=True)
class Row:
    """All seeds of a model on a task."""

    task: str
    model: str
    n_topics: int
    seeds: list[dict[str, Any]]

    @property
    def ours(self) -> bool:
        """Whether it is a topic model."""
        return self.model in OURS

    def values(self, name: str) -> list[float]:
        """A measure, of every seed."""
        return [entry[name] for entry in self.seeds if entry.get(name) is not None]

    def mean(self, name: str) -> float:
        """Its mean, NaN if there is none."""
        found = self.values(name)
        return float(np.mean(found)) if found else float("nan")

    def least(self, name: str) -> float:
        """Its least, NaN if there is none."""
        return min(self.values(name), default=float("nan"))


def rows_of(results: Results) -> list[Row]:
    """What was measured, in the order of tasks and models; a tuned threshold is a row of its own."""
    found = []
    for name, task in TASKS.items():
        for model in (*linear.models_for(task.kind), *task.ours):
            for row, n_topics in results.pairs():
                seeds = results.rounds(row, n_topics) if row == key(name, model) else []
                if seeds:
                    found.append(Row(name, model, n_topics, seeds))
                if seeds and "tuned" in seeds[0]:
                    tuned = [entry | entry["tuned"] for entry in seeds]
                    found.append(Row(name, model + TUNED, n_topics, tuned))
    return found


def best(rows: Iterable[Row]) -> Row | None:
    """The row with the best score."""
    return max(rows, key=lambda row: row.mean("score"), default=None)


def write_report(results: Results, pinned: str, arguments: argparse.Namespace) -> None:
    """Write the page and its pictures."""
    rows = rows_of(results)
    if not rows:
        raise SystemExit("nothing was measured")
    sections = [INTRO, summary(rows), f"![Reliability]({CALIBRATION}.png)", HOW_TO_READ]
    for group, title in TITLES.items():
        if chosen := [row for row in rows if group_of(row) == group]:
            sections += [f"## {title}", details(chosen, group)]
    sections += ["## Training with words and without", costs(rows)]
    sections += ["## How", report.provenance(results, facts(rows, pinned))]
    draw(rows, arguments)
    draw_calibration(rows, arguments)
    report.write(arguments.output, NAME, "Supervised topic models: quality", "\n\n".join(sections))


def group_of(row: Row) -> str:
    """Which table it is in."""
    kind = TASKS[row.task].kind
    return kind if kind in TITLES else "labels"


def summary(rows: list[Row]) -> str:
    """A line for each task: the best linear model, and ours, with the K that was set beforehand, and what to reach."""
    header = ["data", "measure", "best linear", "topics + words", "to reach", "topics alone", "to reach"]
    lines = []
    for name in dict.fromkeys(row.task for row in rows):
        task, of_task = TASKS[name], [row for row in rows if row.task == name]
        found = best(row for row in of_task if not row.ours)
        ours = {row.model: _spread(row) for row in of_task if row.ours and row.n_topics == task.n_topics}
        words, alone, *others = (ours.get(model, "–") for model in OURS)
        linear_cell = "–" if found is None else f"{found.mean('score'):.4f} ({found.model})"
        line = [name, MEASURE[task.kind], linear_cell, words if words == "–" else f"**{words}**", _reach(task.reach)]
        lines.append([*line, alone, _reach(task.reach_alone), *others])
    return report.table([*header, *list(OURS)[2:]], lines)


def details(rows: list[Row], group: str) -> str:
    """Every model on every task of a kind, with all measures."""
    header = [
        "data",
        "model",
        *HEADERS[group],
        "NPMI",
        "training, CPU s",
        "of it choosing",
        "test, CPU s",
        "seeds",
        "setting",
    ]
    lines = []
    for row in rows:
        values = [_spread(row) if name == "score" else report.number(row.mean(name)) for name in COLUMNS[group]]
        setting = (
            f"K = {row.n_topics}"
            if row.ours
            else row.seeds[0]["setting"] + " (end of the grid)" * row.seeds[0]["at_end"]
        )
        if row.model.endswith(TUNED):
            setting += f", threshold {row.seeds[0]['threshold']:.2f}"
        coherence = report.number(row.mean("npmi"))
        times = [report.number(row.least(name)) for name in ("train", "choosing", "test")]
        lines.append([row.task, row.model, *values, coherence, *times, str(len(row.seeds)), setting])
    return report.table(header, lines)


def costs(rows: list[Row]) -> str:
    """Training time and coherence with words against those without."""
    header = [
        "data",
        "K",
        "training, with words / topics alone",
        "with words / the chain",
        "NPMI with words",
        "without",
    ]
    lines = []
    for name, n_topics in dict.fromkeys((row.task, row.n_topics) for row in rows if row.ours):
        found = {row.model: row for row in rows if (row.task, row.n_topics) == (name, n_topics)}
        words, alone, chain = (found.get(model, Row(name, model, n_topics, [])) for model in USUAL)
        ratios = [report.number(words.least("train") / other.least("train")) for other in (alone, chain)]
        lines.append([name, str(n_topics), *ratios, *(report.number(row.mean("npmi"), 4) for row in (words, alone))])
    return report.table(header, lines)


def _spread(row: Row) -> str:
    scores = row.values("score")
    return f"{np.mean(scores):.4f}" + (f" ± {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else "")


def _reach(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


INTRO = (
    "Test quality: mean and standard deviation over seeds. Linear models and topic models have the same training "
    "documents and words. What a fit or a cross-validation chooses here, it chooses on training documents. The "
    "defaults of topoi were chosen on held-out parts of training documents, but some of them after test results had "
    "been seen: docs/supervised.md says which. The best linear model is the best *by its test result*, which favours "
    "it. The last three data sets have no number to reach; their documents are those of the others, with other words, "
    "classes or ratings, so they are no independent check."
)
HOW_TO_READ = (
    "In the first picture further right is better. Grey lines are linear models, the black one the best of them; "
    "points are seeds, and a stroke is their mean. In the second a line below the diagonal is too sure of itself, one "
    "above it not sure enough."
)


def facts(rows: list[Row], pinned: str) -> list[str]:
    """How it was measured."""
    grids = "; ".join(f"{name}: {_grid(model)}" for name, model in linear.MODELS.items())
    many, few = f"{linear.MANY:,}", f"{linear.HELD_OUT:,}"
    seen = {row.task for row in rows}
    tasks = {name: task for name, task in TASKS.items() if name in seen}
    return [
        "CPU seconds are those of fits that had the machine to themselves; – where none had.",
        *(
            f"{name}: {DATA[task.data]().about}; beyond topoi's defaults: {_settings(task)}."
            for name, task in tasks.items()
        ),
        "K = 20 for two newsgroups was asked for. The others are the largest of earlier versions of this page, which "
        "had test results for two values of K.",
        "Beyond topoi's defaults: " + "; ".join(f"{name}: {_shown(own)}" for name, own in OURS.items()) + ".",
        "topoi chooses inside `fit`, on training documents, how much say topics and words have, the power of the idf, "
        "the calibration and the threshold. Its labels are those of `predict`.",
        "Linear models: scikit-learn's sublinear tf-idf, then `LinearSVC`, `LogisticRegression` (multinomial for one "
        "of many labels, else one for each) or `Ridge`. NB-SVM: words weighted by naive Bayes' log ratios, then a "
        "linear SVM and the interpolation of Wang & Manning (2012), with 0/1 for words or tf-idf. Taken is the setting "
        f"with the best accuracy, micro-F1 or R² in {linear.FOLDS} folds of the training documents ({grids}). With "
        f"more than {many} documents it is chosen on {many} of them in {linear.FOLDS_OF_MANY} folds.",
        "Several labels: those with a positive score, and at least the best. A tuned threshold, one number for all "
        "labels, takes the place of 0: the one with the best micro-F1 on scores of training documents that the fits "
        f"had not seen (those of the folds; with more than {many} documents, of {few} held out).",
        "Probabilities: topoi's `predict_proba`; of SVMs by a sigmoid for each label on the same unseen scores, "
        "normalised to sum 1 where one label is right; of logistic regression its own. ECE: expected calibration error "
        "in 15 bins, of the likeliest label; where several may be right, of all labels of all documents. Most of these "
        "probabilities are near 0, which makes it small for every model.",
        f"Intervals of ridge: quantiles of its errors in the folds; all have the level {LEVEL:g}.",
        "NPMI: mean over topics, ten words each, counted in training documents. Words are columns of the final weights "
        "alone, and do not move topics, so that NPMI is the same with and without. It differs only in rows "
        "of before chains of three or more labels began alike in both (arXiv, and all words of 20 Newsgroups).",
        f"Time: `time.process_time`, one thread, {pinned}, least of the seeds; compiling is not counted. Training "
        "includes the choice of settings. Test time is that of `predict`, or of the scores.",
    ]


def _settings(task: Task) -> str:
    return _shown({"K": task.n_topics} | task.settings)


def _shown(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "nothing"


def _grid(model: linear.Model) -> str:
    names = {"alpha": "α"}
    first = next(iter(model.settings[0]))
    values = sorted({setting[first] for setting in model.settings})
    return f"{names.get(first, first)} from " + ", ".join(f"{value:g}" for value in values)


def draw(rows: list[Row], arguments: argparse.Namespace) -> None:
    """A panel for each task: seeds as points, linear models as lines."""
    tasks = list(dict.fromkeys(row.task for row in rows))
    figure, axes = report.panels(len(tasks), 4.2, 2.1, columns=2)
    for axis, name in zip(axes, tasks, strict=True):
        of_task = [row for row in rows if row.task == name]
        theirs, ours = [row for row in of_task if not row.ours], [row for row in of_task if row.ours]
        first = best(theirs)
        for row in theirs:
            look = {"color": "#000000", "linewidth": 1.6} if row is first else {"color": "#aaaaaa", "linewidth": 0.9}
            axis.axvline(row.mean("score"), zorder=1, **look)
        for position, row in enumerate(ours):
            scores = row.values("score")
            axis.plot(scores, [position] * len(scores), "o", color=_look(row.model)["color"], alpha=0.5, markersize=4)
            axis.plot(np.mean(scores), position, "|", color=_look(row.model)["color"], markersize=14)
        axis.set_yticks(range(len(ours)), [f"{row.model}, K = {row.n_topics}" for row in ours])
        axis.set_ylim(len(ours) - 0.5, -0.5)
        axis.set_title(name if first is None else f"{name}\nline: {first.model}", fontsize=9)
        axis.set_xlabel(MEASURE[TASKS[name].kind])
    report.save(figure, arguments.output, NAME)


def draw_calibration(rows: list[Row], arguments: argparse.Namespace) -> None:
    """A reliability diagram for each task with labels."""
    rows = [row for row in rows if "bins" in row.seeds[0] and not row.model.endswith(TUNED)]
    tasks = list(dict.fromkeys(row.task for row in rows))
    if not tasks:
        return
    figure, axes = report.panels(len(tasks), 3.6, 3.4, columns=3)
    looks = {row.model: _look(row.model) for row in rows}
    for axis, name in zip(axes, tasks, strict=True):
        chosen = [row for row in rows if row.task == name and row.n_topics in (0, TASKS[name].n_topics)]
        lines = {row.model: [entry["bins"] for entry in row.seeds] for row in chosen}
        calibration.draw(axis, lines, looks, name)
    handles = {label: line for axis in axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    report.save(figure, arguments.output, CALIBRATION)


def _look(model: str) -> dict[str, Any]:
    return report.styles([*OURS, *linear.MODELS], list(linear.MODELS))[model]
