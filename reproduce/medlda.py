"""The papers' supervised models as settings of topoi's estimators, and how the figures fit, time and test them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import r2_score

import reproduce.gibbs_scalar  # noqa: F401  (makes the sampler known by its name)
from benchmarks.harness import Stopwatch
from benchmarks.labelled import Labelled, quality
from reproduce.pieces import piece
from reproduce.settled import with_gibbs
from reproduce.table import SCORE_GIBBS, Row
from topoi import MedLDAClassifier, MedLDARegressor

LIGHT, PUBLISHED = "LightMedLDA", "LightMedLDA, as published"
PASSES_8, EXACT = "LightMedLDA, 8 passes", "LightMedLDA, exact weights"
GIBBS, SCALAR = "Gibbs MedLDA, SIMD", "Gibbs MedLDA, scalar"
OURS = "topoi's default"
#: Light: the exact form and the papers' own. Gibbs: sixteen topics at a time, and one at a time as in the papers' code;
#: either way every token is weighed by its own tilt, where the default lets eight share a table and corrects for it.
#: They begin with random topics and predict with the weights of the chain, as the papers do.
AS_PUBLISHED = {"init": "random", "refit": False}
TWO_PASSES = {"n_gibbs": 2}  # over the weights, LightMedLDA's
METHODS: dict[str, dict[str, Any]] = {
    LIGHT: {"sampler": "light_med"} | TWO_PASSES | AS_PUBLISHED,
    PUBLISHED: {"sampler": "light_med_published"} | TWO_PASSES | AS_PUBLISHED,
    PASSES_8: {"sampler": "light_med", "n_gibbs": 8} | AS_PUBLISHED,
    EXACT: {"sampler": "light_med", "n_gibbs": 0} | AS_PUBLISHED,
    GIBBS: {"sampler": "collapsed", "n_gibbs": 0, "part": 1} | AS_PUBLISHED,
    SCALAR: {"sampler": "gibbs_scalar", "n_gibbs": 0} | AS_PUBLISHED,
    OURS: {"sampler": "auto"},
}
COMMON = {"topic_word_prior": 0.01, "n_jobs": 1}  # β of all papers
SAMPLES = 5  # of the weights, from the last sweeps: "in practice we keep a few samples and use their average"
WARM_UP = 60  # documents, for a fit that compiles


@dataclass(frozen=True)
class Fit:
    """A fitted model, the CPU seconds of training and of the test documents, and accuracy, micro-F1 or R² on these.

    `gibbs` are score and seconds by the test procedure of the papers (`reproduce.settled`), in place of mean field.
    """

    model: Any
    train: float
    test: float
    score: float
    gibbs: dict[str, float]

    @property
    def row(self) -> dict[str, float]:
        """What a figure measures of it."""
        return {"score": self.score, "train": self.train, "test": self.test} | self.gibbs


def fit(
    method: str, data: Labelled, n_topics: int, n_sweeps: int, seed: int, by_gibbs: bool = True, **settings: Any
) -> Fit:  # fmt: skip
    """Train a method on the training documents and test it; compiling is not timed.

    `by_gibbs`: also by the test procedure of the papers, where the method predicts as they do.
    """
    given = {"n_samples": SAMPLES, "burn_in": max(n_sweeps - SAMPLES, 0), "n_topics": n_topics, "n_sweeps": n_sweeps}
    regression = data.y.dtype.kind == "f"
    kind, given = estimator(method, regression, **given | settings, random_state=seed)
    _compile(kind, given, method, data)
    with (training := Stopwatch()):
        model = kind(**given).fit(data.X, data.y)
    score, seconds = tested(model, data)
    gibbs: dict[str, float] = {}
    if by_gibbs and not model.refitted_:
        before = {name: model.get_params()[name] for name in ("infer_method", "infer_sweeps")}
        again, took = tested(with_gibbs(model, data.X_test), data)
        gibbs = {SCORE_GIBBS: again, "test_gibbs": took, "sweeps_gibbs": float(model.infer_sweeps)}
        model.set_params(**before)
    return Fit(model, training.seconds, seconds, score, gibbs)


def scores(row: Mapping[str, float]) -> dict[str, float]:
    """Of a figure's row, the scores by both test procedures."""
    return {name: value for name, value in row.items() if name in ("score", SCORE_GIBBS)}


def tested(model: Any, data: Labelled) -> tuple[float, float]:
    """Accuracy, micro-F1 or R² on the test documents, and the CPU seconds of their predictions."""
    regression = data.y.dtype.kind == "f"
    with (testing := Stopwatch()):
        scores = model.predict(data.X_test) if regression else model.decision_function(data.X_test)
    score = float(r2_score(data.y_test, scores)) if regression else quality(model, scores, data.y_test)
    return score, testing.seconds


def estimator(method: str, regression: bool, **settings: Any) -> tuple[type[Any], dict[str, Any]]:
    """The class that fits a method to numbers or labels, and its parameters."""
    given = COMMON | METHODS[method] | settings
    if regression:
        given.pop("init", None)  # there are no topics of numbers to begin with: chains are random in any case
    return MedLDARegressor if regression else MedLDAClassifier, given


_compiled: set[tuple[Any, ...]] = set()


def _compile(kind: Any, given: dict[str, Any], method: str, data: Labelled) -> None:
    """Fit a few documents with every kernel that a fit may need, once a process."""
    which = (kind, method, given.get("loss"))
    if which in _compiled:
        return
    _compiled.add(which)
    some = slice(None, None, max(data.X.shape[0] // WARM_UP, 1))
    samplers = ("delayed", "partial", "collapsed") if given["sampler"] == "auto" else (given["sampler"],)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that none of the few has
        for sampler in samplers:
            small = given | {"sampler": sampler, "n_topics": 4, "n_sweeps": 2, "burn_in": 1, "callbacks": None}
            small.pop("strategy", None)
            kind(**small).fit(data.X[some], data.y[some]).predict(data.X_test[:5])


def over_topics(
    methods: Iterable[str], data: Labelled, topics: Iterable[int], sweeps: Mapping[str, int] | int, seed: int,
    alpha_sum: float, **settings: Any,
) -> list[Row]:  # fmt: skip
    """A row for every method and K, with α = `alpha_sum` / K and so many sweeps (of each method)."""
    rows: list[Row] = []
    for n_topics in topics:
        for method in methods:
            n_sweeps = sweeps if isinstance(sweeps, int) else sweeps[method]
            given = {"doc_topic_prior": alpha_sum / n_topics, **settings}
            of = (method, n_topics, sorted(settings.items()))
            rows.append(
                {"method": method, "K": n_topics, **piece(of, row, method, data, n_topics, n_sweeps, seed, **given)}
            )
    return rows


def row(method: str, data: Labelled, n_topics: int, n_sweeps: int, seed: int, **settings: Any) -> dict[str, float]:
    """What a figure measures of a fit."""
    return fit(method, data, n_topics, n_sweeps, seed, **settings).row
