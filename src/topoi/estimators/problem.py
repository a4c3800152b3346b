"""What one model is to learn, described once: `fit` makes it, a strategy shares it out, and the chains get it whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._machine.rng import CHAIN, bits, new_stream
from topoi.chain.counts.shares import Design
from topoi.chain.priors import Priors, Seeds
from topoi.chain.responses import Response
from topoi.chain.responses.settings import STRONGEST
from topoi.chain.responses.signs import Targets, TargetWeights, largest
from topoi.chain.responses.supervision import Supervision, new_supervision
from topoi.chain.samples import Watch
from topoi.chain.state import Start
from topoi.corpus import Corpus
from topoi.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The topics of documents; `seed` is that of the chains.

    `priors` are those of a model that goes on; without them, those that the estimator's parameters ask for are used,
    with the `seeds` that were found in the vocabulary. `start` is where its chain goes on.
    `watch` is on documents that it does not learn from. `topic_names` are those of the first topics, "" if one has
    none.
    """

    corpus: Corpus
    seed: int
    priors: Priors | None = None
    watch: Watch | None = None
    topic_names: Sequence[str] = ()
    seeds: Seeds | None = None
    start: Start | None = None

    def supervision(self, priors: Priors) -> Supervision | None:
        """The supervised half of the state of a chain: there is none."""
        return None


@dataclass(frozen=True, kw_only=True)
class SupervisedProblem(Problem):
    """The topics of documents, and what is to be predicted of them.

    `targets` (documents, tasks) are −1 and +1, or standardised numbers; NaN where one is not known. `weight` multiplies
    the cost of each. `nu` is the prior precision of the weights of topics, which `n_gibbs` passes move in a sweep.
    `part` tokens of a document share a table of tilts. With `init_by_targets` topics begin with those targets that put
    documents into camps (`Response.camps`). `columns` (documents, J) are covariates, which are part of the score as
    topics are. `rows` are the numbers of the documents in the whole that they were taken from, None if all.
    """

    targets: Targets
    weight: TargetWeights
    response: Response
    nu: float
    n_gibbs: int
    part: int = 8
    init_by_targets: bool = True
    columns: sparse.csr_array | None = None
    rows: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Self:
        """The same of some of the documents."""
        return replace(
            self,
            corpus=self.corpus.take(rows),
            targets=self.targets[rows],
            weight=self.weight[rows],
            columns=None if self.columns is None else self.columns[rows],
            rows=rows,
        )

    def task(self, number: int) -> Self:
        """One of the tasks alone, in the layout that kernels are compiled for."""
        one = slice(number, number + 1)
        targets, weight = (np.ascontiguousarray(values[:, one]) for values in (self.targets, self.weight))
        return replace(self, targets=targets, weight=weight)

    def adapted(self, settings: Mapping[str, Any]) -> Self:
        """The same with the settings of the loss that a user has given, or else those that suit the documents."""
        return replace(self, response=self.response.adapted(settings, self.corpus, self.targets[:]))

    def check_limits(self) -> None:
        """Raise if the loss, the weights of documents or the prior have numbers too large to compute with."""
        if not 1 / STRONGEST <= self.nu <= STRONGEST:  # a wider prior lets weights leave float32
            raise ParameterError("weight_prior", f"must be from {1 / STRONGEST:g} to {STRONGEST:g}, not {self.nu:g}")
        self.response.check_limits(largest(self.weight))

    def supervision(self, priors: Priors) -> Supervision:
        """The supervised half of the state of a chain, with the targets as they are and weights 0.

        Topics do not begin with the targets where they have a meaning already, by seeds or an earlier fit, or where not
        all documents may have them.
        """
        given = (self.response, self.targets, priors.n_topics, self.weight, self.nu, self.n_gibbs, self.part)
        free = priors.words.pseudo_counts is None and not priors.topics.forbids
        by_targets = self.init_by_targets and free
        if self.columns is None:
            return new_supervision(*given, init_by_targets=by_targets)
        found = self.columns.tocsc()
        start, rows = found.indptr.astype(np.int64), found.indices.astype(np.int32)
        design = Design(start, rows, found.data.astype(np.float32), found.shape[0])
        return new_supervision(*given, columns=design, columns_nu=self.nu, init_by_targets=by_targets)


def model_seed(seed: int, model: int) -> int:
    """Seed of model number `model` of a fit; the first has that of the fit."""
    return chain_seed(seed, 0, model) if model else seed


def chain_seed(seed: int, number: int, batch: int = 0) -> int:
    """Seed of chain `number` of a fit, or of a later `batch` of documents, or of model number `batch` of the fit."""
    return int(bits(new_stream(seed, CHAIN, batch, number)) >> np.uint64(33))
