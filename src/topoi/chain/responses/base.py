"""What a response is: a loss that, with an auxiliary variable, becomes a Gaussian in the score.

    ψ(y | f) = ∫ exp(κ f − ½ ω f²) (…) d(auxiliary),      f_dl = Σ_k η_kl n_dk / N_d

so that given (κ, ω) topics and weights see the same thing whatever the loss. A response is one small file: the draw of
(κ, ω), the loss itself, its link, and its default settings. Targets are a matrix (documents, tasks); NaN says that a
document has no label for a task, and gives κ = ω = 0: no tilt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Response:
    """Base of all responses; `cost` is c, the weight of the loss against the likelihood of the words."""

    name: ClassVar[str]
    #: "classification" (targets −1 and +1) or "regression" (any number).
    kind: ClassVar[str]
    #: The pseudo-likelihood, in words.
    loss_formula: ClassVar[str]

    cost: float = 1.0

    def draw(
        self,
        y: NDArray[np.float64],
        f: NDArray[np.float64],
        weight: NDArray[np.float64],
        kappa: NDArray[Any],
        omega: NDArray[Any],
        seed: int,
        sweep: int,
        first: int,
        last: int,
        origin: int = 0,
    ) -> None:
        """Fill rows first … last − 1 of κ and ω given targets and scores; `weight` (documents, tasks) scales c.

        The stream of a document is (seed, RESPONSE, sweep, document): blocks may run in any order. `origin` is the
        number of the document in row 0.
        """
        raise NotImplementedError

    def log_loss(self, y: Any, f: Any) -> Any:
        """log ψ(y | f), up to a constant: what the augmentation must marginalise to."""
        raise NotImplementedError
