"""Effects of covariates on targets, among documents of the same topics, with intervals.

The chains learn weights of covariates too. But the spread of these is that of a pseudo-posterior, whose width depends
on `cost`, and topics that were learned with the targets have a share in what covariates explain. So effects are
estimated by a regression of their own, after the fit: of the targets on the label-free topics of the documents
(label_free.py) and on the covariates; linear for numbers, logistic for labels, with a logarithmic link for counts. The
variance is that of the sandwich, with errors as if each document had been left out (MacKinnon & White 1985): it holds
if errors are not normal, of unequal size, or if the regression is not quite right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from scipy.stats import norm

from topoi._disk.store import ModelError
from topoi.errors import ParameterError

Array = NDArray[np.float64]

#: Columns of covariates, at most: more are features (n-grams), not something whose effect is asked for.
MOST_COLUMNS = 1_000
#: Documents, at most, and multiplications: with many labels and topics fewer documents are taken, evenly spaced.
MOST_DOCUMENTS, MOST_WORK = 50_000, 2e11
#: Precision of the prior of standardised topics, which keeps them finite where they tell labels apart entirely, and of
#: covariates.
OF_TOPICS, OF_COVARIATES = 1.0, 1e-2
STEPS = 30
SETTLED = 1e-8
LARGEST_LOG = 30.0


class Effect(NamedTuple):
    """What a covariate adds to the score of a label or an output: an estimate, and bounds of an interval."""

    label: Any
    covariate: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Effects:
    """Estimates of the effects (tasks, covariates), and their standard errors."""

    mean: Array
    error: Array

    def listed(self, labels: list[Any], names: list[str], level: float) -> list[Effect]:
        """One effect after the other, with intervals that hold them with a probability of `level`."""
        if not 0 < level < 1:
            raise ParameterError("level", f"must be a number between 0 and 1, not {level!r}")
        width = float(norm.ppf(0.5 + level / 2)) * self.error
        bounds = (self.mean, self.mean - width, self.mean + width)
        return [
            Effect(label, name, *(float(array[task, j]) for array in bounds))
            for task, label in enumerate(labels)
            for j, name in enumerate(names)
        ]

    def check_fits(self, n_tasks: int, n_covariates: int) -> None:
        """Raise unless they, which may come from a file, are those of so many tasks and covariates."""
        for array in (self.mean, self.error):
            if array.shape != (n_tasks, n_covariates) or not np.isfinite(array).all():
                raise ModelError(f"the effects of covariates must be ({n_tasks}, {n_covariates}) finite numbers")
        if (self.error < 0).any():
            raise ModelError("the standard error of an effect must not be negative")


def estimate_effects(
    family: str, thetas: list[NDArray[Any]], columns: sparse.csr_array, targets: NDArray[Any],
    shown: Callable[[Array], Array],
) -> Effects | None:  # fmt: skip
    """Effects on targets (documents, tasks; NaN: not known), given topic shares by every chain; None if too many.

    `family` is that of the regression. `shown` makes effects of covariates from weights (…, r) of the columns.
    """
    if columns.shape[1] > MOST_COLUMNS:
        return None
    n_documents, n_tasks = targets.shape
    width = columns.shape[1] + sum(theta.shape[1] for theta in thetas) + 1
    n = int(min(n_documents, MOST_DOCUMENTS, max(MOST_WORK / (n_tasks * width**2), 10 * width)))
    rows = np.arange(n) * n_documents // n
    beside = columns[rows].toarray().astype(np.float64)
    topics = np.concatenate([theta[rows] for theta in thetas], axis=1).astype(np.float64)
    spread = topics.std(0)
    topics = (topics - topics.mean(0)) / np.where(spread > 0, spread, 1.0)
    table = np.column_stack((beside, topics, np.ones(n)))
    precision = np.repeat([OF_COVARIATES, OF_TOPICS, 0.0], [beside.shape[1], topics.shape[1], 1])
    means, errors = [], []
    for target in targets[rows].T.astype(np.float64):
        known = ~np.isnan(target)
        weights, root = regress(FAMILIES[family], table[known], target[known], precision, beside.shape[1])
        means.append(shown(weights))
        errors.append(np.sqrt((shown(root) ** 2).sum(0)))
    return Effects(np.array(means), np.array(errors))


class Family(NamedTuple):
    """A regression: expected targets, their derivative and the negative log likelihood by linear scores."""

    expected: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    loss: Callable[[Array, Array], Array]
    first: Callable[[Array], float]  # the constant to begin with


def _clipped(f: Array) -> Array:
    return np.clip(f, -LARGEST_LOG, LARGEST_LOG)


FAMILIES = {
    "linear": Family(lambda f: f, np.ones_like, lambda f, y: 0.5 * (y - f) ** 2, lambda y: float(y.mean())),
    "log_odds": Family(expit, lambda f: expit(f) * expit(-f), lambda f, y: np.logaddexp(0, f) - y * f, lambda y: 0.0),
    "log_ratio": Family(
        lambda f: np.exp(_clipped(f)), lambda f: np.exp(_clipped(f)), lambda f, y: np.exp(_clipped(f)) - y * f,
        lambda y: float(np.log(y.mean() + 1e-3)),
    ),
}  # fmt: skip


def regress(family: Family, table: Array, target: Array, precision: Array, n_wanted: int) -> tuple[Array, Array]:
    """Weights of the first columns, by Newton's method, and a root R of their covariance RᵀR from the sandwich."""
    weights = np.zeros(table.shape[1])
    weights[-1] = family.first(target)

    def loss(at: Array) -> float:
        return float(family.loss(table @ at, target).sum() + 0.5 * (precision * at**2).sum())

    now = loss(weights)
    for _ in range(STEPS):
        f = table @ weights
        factor = _curvature(table, family.slope(f), precision)
        step = cho_solve(factor, table.T @ (target - family.expected(f)) - precision * weights)
        while (new := loss(weights + step)) > now + SETTLED * abs(now) and np.abs(step).max() > SETTLED:
            step = step / 2
        weights, gain, now = weights + step, now - new, new
        if gain <= SETTLED * (1.0 + abs(now)):
            break
    f = table @ weights
    factor = _curvature(table, family.slope(f), precision)
    # The share that a document has in its own expected target: without it, its error would be so much larger.
    own = family.slope(f) * np.einsum("dj,dj->d", table, cho_solve(factor, table.T).T)
    left_out = (target - family.expected(f)) / np.maximum(1.0 - own, 1e-3)
    root = cho_solve(factor, (table * left_out[:, None]).T).T[:, :n_wanted]
    # R has a row for each document: as many as there are columns say the same.
    short: Array = np.asarray(np.linalg.qr(root, mode="r"))
    return weights[:n_wanted], short


def _curvature(table: Array, slope: Array, precision: Array) -> Any:
    hessian = (table * slope[:, None]).T @ table
    jitter = 1e-9 * max(float(np.trace(hessian)) / len(hessian), 1e-300)
    return cho_factor(hessian + np.diag(precision + jitter))
