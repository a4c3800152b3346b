"""Scores of predicted numbers and of the intervals around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from topoi.errors import ParameterError


@dataclass(frozen=True)
class RegressionScores:
    """How predictions compare with targets, for each output.

    `r2` is nan where fewer than two targets are known. `coverage` is the share of targets inside their intervals, to be
    compared with `level`, and `width` the mean width of those; None where no intervals were given.
    """

    r2: NDArray[np.float64]
    rmse: NDArray[np.float64]
    mae: NDArray[np.float64]
    n: NDArray[np.int64]
    level: float | None = None
    coverage: NDArray[np.float64] | None = None
    width: NDArray[np.float64] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The scores by name, averaged over outputs; with several outputs, each one's under `per_output`."""
        arrays = {"r2": self.r2, "rmse": self.rmse, "mae": self.mae}
        if self.coverage is not None and self.width is not None:
            arrays |= {"coverage": self.coverage, "interval_width": self.width}
        out: dict[str, Any] = {name: float(values.mean()) for name, values in arrays.items()}
        if self.level is not None:
            out["level"] = self.level
        if len(self.r2) > 1:
            out["per_output"] = [
                {name: float(values[j]) for name, values in arrays.items()} for j in range(len(self.r2))
            ]
        return out


def regression_scores(
    truth: Any, predicted: Any, interval: Any = None, *, level: float | None = None
) -> RegressionScores:
    """Scores of predicted numbers.

    Parameters
    ----------
    truth, predicted : (n_documents,) or (n_documents, n_outputs)
        Targets, NaN where one is not known, and predictions.
    interval : (n_documents, 2) or (n_documents, n_outputs, 2), or None
        Bounds between which the targets should be, as from `predict_interval`.
    level : float or None
        With which probability they should.
    """
    y, guess = _numbers("truth", truth), _numbers("predicted", predicted)
    if y.shape != guess.shape:
        raise ParameterError("predicted", f"has shape {guess.shape}, but the targets have {y.shape}")
    known = ~np.isnan(y)
    if not known.any(0).all():
        raise ParameterError("truth", f"output {int(np.flatnonzero(~known.any(0))[0])} has not a single known target")
    if np.isnan(guess).any():
        raise ParameterError("predicted", f"row {int(np.flatnonzero(np.isnan(guess).any(1))[0])} is NaN")
    columns = [(y[known[:, j], j], guess[known[:, j], j]) for j in range(y.shape[1])]
    r2 = [r2_score(a, b) if len(a) > 1 else np.nan for a, b in columns]
    rmse = [root_mean_squared_error(a, b) for a, b in columns]
    mae = [mean_absolute_error(a, b) for a, b in columns]
    coverage = width = None
    if interval is not None:
        bounds = np.asarray(interval, np.float64)
        if bounds.size != 2 * y.size or bounds.shape[-1] != 2:
            raise ParameterError("interval", f"has shape {bounds.shape}; it must be that of the targets, and 2")
        low, high = np.moveaxis(bounds.reshape(*y.shape, 2), -1, 0)
        inside = (low <= y) & (y <= high)
        coverage = (inside & known).sum(0) / known.sum(0)
        width = np.where(known, high - low, 0.0).sum(0) / known.sum(0)
    return RegressionScores(
        np.array(r2, np.float64), np.array(rmse, np.float64), np.array(mae, np.float64), known.sum(0),
        None if interval is None or level is None else float(level), coverage, width,
    )  # fmt: skip


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError(name, f"must be numbers: {error}") from error
    if numbers.ndim not in (1, 2) or len(numbers) == 0 or np.isinf(numbers).any():
        raise ParameterError(
            name, f"must be finite numbers of documents, or documents and outputs; it is {numbers.shape}"
        )
    return numbers.reshape(len(numbers), -1)
