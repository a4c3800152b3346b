"""Linear models on the words of documents, which supervised topic models are to beat; settings by cross-validation.

A model is a function of counts, targets and a setting that gives scores (documents, tasks) of new documents: one task
for two classes and for numbers, else one for each label. Targets are −1 and 1, or numbers. Whatever is learned (idf
included) is learned from the documents that the function is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.labelled import Labelled, with_top_label

Array = NDArray[Any]
Scorer = Callable[[sparse.csr_array], Array]
Setting = dict[str, Any]

FOLDS = 5
#: With more training documents, settings are chosen on so many of them, with fewer folds; and probabilities and the
#: threshold on a quarter of all (at most HELD_OUT) which a fit with the chosen setting goes without.
MANY, FOLDS_OF_MANY, HELD_OUT = 20_000, 3, 10_000
#: Share of the learned weights in the interpolation of NB-SVM; the paper has 0.25, and 1 is none.
BETAS = (0.25, 0.5, 1.0)
#: Score of an SVM, whose margin is 1, where all training documents agree.
AGREED = 2.0


# ---- Models ------------------------------------------------------------------------------------------------


def _tf_idf(X: sparse.csr_array) -> tuple[sparse.csr_array, Scorer]:
    """Sublinear tf-idf of documents, and the function for new ones."""
    learned = TfidfTransformer(sublinear_tf=True).fit(X)
    return learned.transform(X), learned.transform


def _one_vs_rest(
    Y: Array, n_words: int, fit: Callable[[int], tuple[Array, float]], log_odds: bool = False
) -> tuple[Array, Array]:
    """Weights (V, tasks) and intercepts of each task; of one that all documents agree on, an intercept alone.

    That must be on the scale of the other scores, or a label that no document has would be the best of many.
    """
    weights, intercepts = np.zeros((n_words, Y.shape[1])), AGREED * Y[0]
    if log_odds:
        intercepts = Y[0] * np.log(2.0 * len(Y) + 1)
    for j in np.flatnonzero((Y[0] != Y).any(0)):
        weights[:, j], intercepts[j] = fit(j)
    return weights, intercepts


def svm(X: sparse.csr_array, Y: Array, kind: str, C: float) -> dict[Any, Scorer]:
    """Linear SVM (squared hinge loss) on tf-idf, one against the rest."""
    A, words = _tf_idf(X)

    def fit(j: int) -> tuple[Array, float]:
        found = LinearSVC(C=C).fit(A, Y[:, j])
        return found.coef_[0], found.intercept_[0]

    weights, intercepts = _one_vs_rest(Y, X.shape[1], fit)
    return {None: lambda new: words(new) @ weights + intercepts}


def logistic(X: sparse.csr_array, Y: Array, kind: str, C: float) -> dict[Any, Scorer]:
    """Logistic regression on tf-idf: multinomial where one of many labels is right, else one for each label."""
    A, words = _tf_idf(X)
    if kind == "many":
        # With the usual tolerance it stops before large C have had their say.
        found = LogisticRegression(C=C, max_iter=1000, tol=1e-5).fit(A, Y.argmax(1))
        absent = np.full((1, Y.shape[1]), -np.inf)  # classes that these documents do not have

        def scores(new: sparse.csr_array) -> Array:
            out = np.repeat(absent, new.shape[0], 0)
            out[:, found.classes_] = found.decision_function(words(new))
            return out

        return {None: scores}

    def fit(j: int) -> tuple[Array, float]:
        found = LogisticRegression(C=C, solver="liblinear").fit(A, Y[:, j])
        return found.coef_[0], found.intercept_[0]

    weights, intercepts = _one_vs_rest(Y, X.shape[1], fit, log_odds=True)
    return {None: lambda new: words(new) @ weights + intercepts}


def nb_svm(X: sparse.csr_array, Y: Array, kind: str, C: float, values: str) -> dict[Any, Scorer]:
    """NB-SVM (Wang & Manning 2012): words weighted by naive Bayes' log ratios; a scorer for each of BETAS.

    A word that a document has counts 1, as in the paper, or its tf-idf.
    """
    occurs = _occurs(X)
    A, words = (occurs, _occurs) if values == "0/1" else _tf_idf(X)
    ratios = np.zeros((X.shape[1], Y.shape[1]))
    means = np.zeros(Y.shape[1])

    def fit(j: int) -> tuple[Array, float]:
        has = Y[:, j] > 0
        p, q = (1.0 + occurs[rows].sum(0) for rows in (np.flatnonzero(has), np.flatnonzero(~has)))
        ratios[:, j] = np.log(p / p.sum()) - np.log(q / q.sum())
        weighted = sparse.csr_array((A.data * ratios[A.indices, j], A.indices, A.indptr), shape=A.shape)
        found = LinearSVC(C=C, dual=False).fit(weighted, Y[:, j])
        means[j] = np.abs(found.coef_[0]).mean()
        return found.coef_[0], found.intercept_[0]

    weights, intercepts = _one_vs_rest(Y, X.shape[1], fit)

    def scorer(beta: float) -> Scorer:
        both = ratios * ((1 - beta) * means + beta * weights)
        return lambda new: words(new) @ both + intercepts

    return {beta: scorer(beta) for beta in BETAS}


def _occurs(X: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array(((X.data > 0).astype(np.float64), X.indices, X.indptr), shape=X.shape)


def ridge(X: sparse.csr_array, Y: Array, kind: str, alpha: float) -> dict[Any, Scorer]:
    """Ridge regression on tf-idf."""
    A, words = _tf_idf(X)
    found = Ridge(alpha=alpha).fit(A, Y[:, 0])
    return {None: lambda new: found.predict(words(new))[:, None]}


@dataclass(frozen=True)
class Model:
    """A linear model, the settings to choose from, and whether its scores are log odds."""

    fit: Callable[..., dict[Any, Scorer]]
    settings: tuple[Setting, ...]
    probabilistic: bool = False


MODELS = {
    "linear SVM": Model(svm, tuple({"C": C} for C in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0))),
    "logistic regression": Model(logistic, tuple({"C": C} for C in (1.0, 10.0, 30.0, 100.0, 300.0, 1000.0)), True),
    "NB-SVM": Model(
        nb_svm,
        (
            *({"C": C, "values": "0/1"} for C in (0.0001, 0.001, 0.01, 0.1)),
            *({"C": C, "values": "tf-idf"} for C in (0.03, 0.3, 3.0, 30.0)),
        ),
    ),
    "ridge": Model(ridge, tuple({"alpha": alpha} for alpha in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0))),
}


def models_for(kind: str) -> list[str]:
    """Names of the models for what is predicted."""
    return ["ridge"] if kind == "numbers" else [name for name in MODELS if name != "ridge"]


# ---- Choosing settings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A setting, and scores of documents that the fits which gave them had not seen, with their targets."""

    setting: Setting
    beta: float | None
    scores: Array
    Y: Array

    @property
    def shown(self) -> str:
        """The setting in words."""
        names = {"alpha": "α", "values": "values"}
        parts = [f"{names.get(name, name)} = {value}" for name, value in self.setting.items()]
        return ", ".join(parts + ([] if self.beta is None else [f"β = {self.beta:g}"]))

    def at_end(self, model: Model) -> bool:
        """Whether C or α is the smallest or the largest there was: a better one may lie beyond."""
        name = next(iter(self.setting))
        rest = {key: value for key, value in self.setting.items() if key != name}
        same = [other[name] for other in model.settings if rest.items() <= other.items()]
        return self.setting[name] in (min(same), max(same))


def as_targets(y: Array, kind: str) -> Array:
    """Targets (documents, tasks)."""
    if kind == "numbers":
        return y[:, None]
    if kind == "several":
        return 2 * y.astype(np.int8) - 1
    signs = np.where(y[:, None] == np.unique(y), 1, -1).astype(np.int8)
    return signs[:, 1:] if kind == "two" else signs


def goodness(scores: Array, Y: Array, kind: str) -> float:
    """R², accuracy, or micro-F1 of positive scores and at least the best."""
    if kind == "numbers":
        return float(r2_score(Y, scores))
    if kind == "several":
        return float(f1_score(Y > 0, with_top_label(scores), average="micro"))
    if kind == "two":
        return float(np.mean((scores > 0) == (Y > 0)))
    return float(np.mean(scores.argmax(1) == Y.argmax(1)))


def choose(model: Model, data: Labelled) -> Choice:
    """The setting that is best for training documents by cross-validation."""
    kind, n = data.kind, data.X.shape[0]
    Y = as_targets(data.y, kind)
    many = n > MANY
    rows = np.sort(np.random.default_rng(0).permutation(n)[:MANY]) if many else np.arange(n)
    found: dict[tuple[int, Any], Array] = {}
    for number, setting in enumerate(model.settings):
        for learned, judged in _folds(Y[rows], kind, FOLDS_OF_MANY if many else FOLDS):
            for beta, scorer in quietly(model.fit, data.X[rows[learned]], Y[rows[learned]], kind, **setting).items():
                scores = found.setdefault((number, beta), np.zeros((len(rows), Y.shape[1])))
                scores[judged] = scorer(data.X[rows[judged]])
    best = max(found, key=lambda key: goodness(found[key], Y[rows], kind))
    setting, beta = model.settings[best[0]], best[1]
    if not many:
        return Choice(setting, beta, found[best], Y)
    order = np.random.default_rng(1).permutation(n)
    n_out = min(n // 4, HELD_OUT)
    out, rest = np.sort(order[:n_out]), np.sort(order[n_out:])
    scorer = quietly(model.fit, data.X[rest], Y[rest], kind, **setting)[beta]
    return Choice(setting, beta, scorer(data.X[out]), Y[out])


def _folds(Y: Array, kind: str, n_folds: int) -> Iterator[tuple[Array, Array]]:
    if kind in ("two", "many"):
        classes = Y.argmax(1) if kind == "many" else Y[:, 0]
        return StratifiedKFold(n_folds, shuffle=True, random_state=0).split(Y, classes)
    return KFold(n_folds, shuffle=True, random_state=0).split(Y)


def quietly(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Call it, without warnings of solvers that stopped at their last iteration: large C are tried to be refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*args, **settings)


def best_threshold(scores: Array, Y: Array) -> float:
    """The score beyond which labels are predicted, beside the best of each document, that maximises micro-F1."""
    top = scores.argmax(1)[:, None] == np.arange(scores.shape[1])
    others, right = scores[~top], (Y > 0)[~top]
    order = np.argsort(-others)
    hits = np.concatenate(([0], np.cumsum(right[order]))) + (Y > 0)[top].sum()
    n_predicted = np.arange(len(others) + 1) + top.sum()
    best = int(np.argmax(2 * hits / (n_predicted + (Y > 0).sum())))
    ends = np.concatenate(([np.inf], others[order], [-np.inf]))[best : best + 2]
    return float(np.mean(np.clip(ends, scores.min(), scores.max())))
