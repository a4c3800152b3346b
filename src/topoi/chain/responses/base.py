"""What a response is: a loss that, with an auxiliary variable, becomes a Gaussian in the score.

    ψ(y | f) = ∫ exp(κ f − ½ ω f²) (…) d(auxiliary),      f_dl = Σ_k η_kl n_dk / N_d

so that given (κ, ω) topics and weights see the same thing whatever the loss. A response owns all that depends on its
loss: the draw of (κ, ω), the loss itself, which targets it takes, its settings with their limits and the defaults that
suit a corpus, parameters that are part of the chain, and how the scores of posterior samples become an answer. No other
module names a loss. Targets are a matrix (documents, tasks); NaN says that a document has no label for a task, and
gives κ = ω = 0: no tilt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats
from topoi.chain.responses.settings import STRONGEST, check_setting, check_strength, setting
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.corpus import Corpus

Scores = NDArray[np.float64]
#: Parameters of a loss of its own, or None if it has none.
Own = NDArray[np.float64] | None


@dataclass(frozen=True)
class Response:
    """Base of all responses; `cost` is c, the weight of the loss against the likelihood of the words."""

    name: ClassVar[str]
    #: The pseudo-likelihood, in words.
    loss_formula: ClassVar[str]
    #: What it is for: "labels" or "numbers" (kinds.py).
    predicts: ClassVar[str]
    #: Some targets that it takes. Tests draw with them.
    examples: ClassVar[tuple[float, ...]]

    #: Whether parameters of its own make the answer, so that a linear score must be linked to them (`fit_link`).
    linked: ClassVar[bool] = False

    #: The regression that tells what covariates add to targets: "linear", "log_odds" or "log_ratio".
    family: ClassVar[str]
    #: What these effects are in, in words.
    effect_unit: ClassVar[str]

    cost: float = setting(1.0)

    # ---- Inside the chain ----------------------------------------------------------------------------------

    def draw(
        self,
        y: Floats,
        f: Floats,
        weight: Floats,
        kappa: Floats,
        omega: Floats,
        seed: int,
        sweep: int,
        first: int,
        last: int,
        origin: int = 0,
        own: Own = None,
    ) -> None:
        """Fill rows first … last − 1 of κ and ω given targets and scores; `weight` (documents, tasks) scales c.

        The stream of a document is (seed, RESPONSE, sweep, document): blocks may run in any order. `origin` is the
        number of the document in row 0. `own` (tasks, …) are the parameters of `first_own`.
        """
        raise NotImplementedError

    def camps(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Camps (documents, …) that documents are of by their targets: each begins with topics of its own.

        A document may be of several, or of none: then its topics are drawn from all. Which those are depends on its
        own targets alone: documents in other processes have no say.
        """
        return np.zeros((len(y), 0), np.bool_)

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f), up to a constant: what the augmentation must marginalise to."""
        raise NotImplementedError

    def first_own(self, n_tasks: int) -> Own:
        """Where parameters of the loss that are part of the chain begin, a row for each task; None if it has none."""
        return None

    def draw_own(
        self, own: NDArray[np.float64], y: NDArray[Any], f: NDArray[Any], weight: NDArray[Any], seed: int, sweep: int,
        first_task: int,
    ) -> None:  # fmt: skip
        """Draw these parameters anew, in place, given targets and scores of all documents.

        After the weights of a sweep; κ and ω, which are drawn next, must play no role. The stream of a task is (seed,
        OWN, sweep, task), and `first_task` the number of the first.
        """
        raise NotImplementedError

    # ---- Targets and settings ------------------------------------------------------------------------------

    def check_targets(self, y: Floats) -> None:
        """Raise, and name the row, if there is a target that the loss has no meaning for; NaN is none at all."""
        raise NotImplementedError

    @classmethod
    def setting_names(cls) -> list[str]:
        """The names of its settings: the fields made by `setting`. Other fields follow from the targets (`suited`)."""
        return [field.name for field in fields(cls) if "zero" in field.metadata]

    @classmethod
    def check_settings(cls, given: Mapping[str, Any]) -> None:
        """Raise if one of its settings, among all that a user has given, is not what it may be."""
        for field in fields(cls):
            if field.name in given and field.metadata:
                check_setting(field.name, given[field.name], **field.metadata)

    @classmethod
    def suited(cls, corpus: Corpus, targets: Floats) -> dict[str, float]:
        """Fields that adapt to documents and targets where a user gives none; the others have fixed defaults."""
        return {}

    @classmethod
    def adapted(cls, given: Mapping[str, Any], corpus: Corpus, targets: Floats) -> Self:
        """The response with its settings among all that a user has given; where there is none, or None, what suits."""
        chosen = {name: float(given[name]) for name in cls.setting_names() if given.get(name) is not None}
        return cls(**(cls.suited(corpus, targets) | chosen))

    def check_limits(self, largest_weight: float) -> None:
        """Raise if a setting, or the cost times the largest weight of a document, is too large."""
        for name in self.setting_names():
            check_strength(name, getattr(self, name))
        if not self.cost * largest_weight <= STRONGEST:
            what = f"{self.cost:g} times the largest weight of a document, {largest_weight:g}"
            raise ParameterError(
                "cost", f"{what}, must be at most {STRONGEST:g}; take smaller weights, or a smaller cost"
            )

    # ---- Answers -------------------------------------------------------------------------------------------

    @property
    def unit(self) -> float:
        """What users call a score of 1, in the scores of the chain; a loss with a `link` leaves it at 1."""
        return 1.0

    def average(self, samples: Scores, own: Own = None) -> Scores:
        """One answer (documents, tasks) from the scores (samples, documents, tasks) of the posterior samples.

        `own` (samples, tasks, …) are the parameters of the loss in these samples.
        """
        raise NotImplementedError

    def as_numbers(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers that stand for the targets of a linked loss where a linear score is fitted to them."""
        raise NotImplementedError

    def regressed(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Targets as that regression takes them."""
        return y

    def fit_link(self, y: NDArray[np.float64], f: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """For a linked loss the slope of linear scores f, and parameters of its own, that make targets y likeliest.

        Both are those of one task, (documents,), and of documents that the scores were not fitted to.
        """
        raise NotImplementedError


def check_rows(wrong: NDArray[np.bool_], why: str) -> None:
    """Raise if a target is wrong (documents, …), and name the first."""
    if wrong.any():
        row = int(np.flatnonzero(wrong.reshape(len(wrong), -1).any(1))[0])
        raise ParameterError("y", f"target {row} {why}")
