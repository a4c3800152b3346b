"""The two kinds of responses: of labels, −1 and +1, and of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats
from topoi.chain.responses.base import Own, Response, Scores, check_rows
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.corpus import Corpus

# The pull of a label that suits a corpus grows with its documents' length: a token's pull is that of the whole document
# over its length. Where few documents have a label, a strong pull would give them topics of their own, which documents
# without labels, and new ones, never use (docs/supervised.md has measurements).
PULL_PER_TOKEN = 0.2
SMALLEST_PULL = 1.0

LARGEST_TARGET = 1e100


@dataclass(frozen=True)
class LabelResponse(Response):
    """A loss of labels: a positive score speaks for the label of a task."""

    predicts = "labels"
    family = "log_odds"
    effect_unit = "log odds of the label"
    examples: ClassVar[tuple[float, ...]] = (-1.0, 1.0)
    #: Whether the loss is a likelihood, so that `link` makes probabilities of scores. Where it is none, samples vote;
    #: and rare labels are given more weight, which would shift probabilities.
    probabilistic: ClassVar[bool]
    #: Whether the tasks of a document are one likelihood together, of which exactly one label is right. Then there is
    #: one model for all labels, and a document has one weight.
    joint: ClassVar[bool] = False
    #: Whether labels are ordered: then there is one task, whose targets are the numbers 0, 1, … of the classes.
    ordered: ClassVar[bool] = False

    @classmethod
    def check_use(cls, strategy: str, several: bool, class_weight: Any, positive_weight: Any) -> None:
        """Raise if the loss has no meaning for such labels, shared out so, and with such weights."""
        if not cls.joint:
            return
        if several:
            raise ParameterError(
                "loss",
                f'"{cls.name}" is for documents that have one label each; an indicator matrix needs another loss',
            )
        if strategy != "multitask":
            raise ParameterError(
                "strategy", f'must be "multitask" for loss="{cls.name}", which is one model of all classes together'
            )
        if positive_weight is not None:
            raise ParameterError(
                "positive_weight", f'must be None for loss="{cls.name}", which has no task for each label by itself'
            )

    def check_targets(self, y: Floats) -> None:
        """Raise unless targets are −1 and +1."""
        check_rows(~(np.isnan(y) | (np.abs(y) == 1)), "must be −1 or +1; use NaN for a label that is not known")

    def camps(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Those of each label; none where there is one task, whose sides would have half of the topics each."""
        return np.asarray(y > 0) if y.shape[1] > 1 else super().camps(y)

    def regressed(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """0 and 1."""
        return (y + 1) / 2

    def link(self, f: Scores, own: Own = None) -> Scores:
        """The probability of a task's label, from scores (…, documents, tasks) and parameters (…, tasks, …)."""
        raise NotImplementedError

    def average(self, samples: Scores, own: Own = None) -> Scores:
        """One score from those of the samples, so that the likeliest label has the highest."""
        mean: Scores = samples.mean(0)
        return mean

    def chosen(self, samples: Scores, own: Own = None) -> NDArray[np.int64]:
        """The number of the class that is predicted for each document, where one is right."""
        answer = self.average(samples, own)
        chosen: NDArray[np.int64] = (answer[:, 0] > 0).astype(np.int64) if answer.shape[1] == 1 else answer.argmax(1)
        return chosen


@dataclass(frozen=True)
class NumberResponse(Response):
    """A loss of numbers: targets are standardised, scores are near them."""

    predicts = "numbers"
    family = "linear"
    effect_unit = "standard deviations of the target"
    examples: ClassVar[tuple[float, ...]] = (-1.3, 0.0, 2.2)
    #: Whether the loss is a likelihood of targets whose quantiles are bounds for them. Else errors are measured.
    predictive: ClassVar[bool] = False
    #: What scores are, in words.
    score_unit: ClassVar[str] = "standard deviations from the mean"

    def check_targets(self, y: Floats) -> None:
        """Raise unless targets are finite, and so are their squares."""
        check_rows(np.isinf(y), "is infinite (inf); use NaN for a target that is not known")
        check_rows(
            np.abs(y) > LARGEST_TARGET, f"is beyond ±{LARGEST_TARGET:g}, where squares overflow; scale the targets"
        )

    def units(self, y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What is taken off the targets (documents, outputs), and what they are then divided by, for each output."""
        spread = np.nanstd(y, axis=0)
        return np.nanmean(y, axis=0), np.where(spread > 0, spread, 1.0)

    def link(self, f: Scores, own: Own = None) -> Scores:
        """The expected target, in the units of the chain, from scores (…, documents, tasks) and parameters likewise."""
        return f

    def average(self, samples: Scores, own: Own = None) -> Scores:
        """The expected target over the samples."""
        mean: Scores = self.link(samples, own).mean(0)
        return mean

    def variance(self, f: Scores, own: Own = None) -> Scores:
        """Variance of a target around `link`, for a predictive loss."""
        raise NotImplementedError

    def quantiles(self, samples: Scores, own: Own, p: float) -> Scores:
        """The p-quantile (documents, tasks) of the targets over samples of scores, for a predictive loss."""
        raise NotImplementedError


def suited_pull(corpus: Corpus, targets: Floats) -> float:
    """The pull of labels that suits a corpus: by the mean length of its documents, and the share that has a label."""
    labelled = float(np.mean(~np.isnan(targets[:, 0])))
    mean_length = corpus.n_tokens / max(int(np.count_nonzero(corpus.doc_lengths)), 1)
    return max(PULL_PER_TOKEN * labelled * mean_length, SMALLEST_PULL)
