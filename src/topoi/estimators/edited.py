"""`apply`: a fitted estimator with edited topics.

What a part of it becomes follows from where tokens go. F (old topics, new topics) has the share of the tokens of each
old topic that each new one has, n_k the tokens of the old ones:

| part | becomes | is exact |
|---|---|---|
| counts of words | the sum of the columns; those of a split topic are shared out, whole | always |
| α | α F | always; with covariates, of an average document |
| topic shares of the training documents | θ F; of a split topic by its tokens in the document | always, in sum |
| weights of the samples, η | Σ_k n_k F_kj η_k / n_j | for the sum over all tokens that were learned from |
| weights of the refit, v of √θ | Σ_k √n_k F_kj v_k / √n_j | for documents in which merged topics are as in the whole |

Words by themselves, covariates, constants and calibration stay. So do the other chains of a model with several: the
edits are about the topics of the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.chain.model import TopicModel
from topoi.errors import ParameterError
from topoi.estimators.edits import Arrangement, as_edits
from topoi.estimators.number_of_topics import AUTO
from topoi.estimators.problem import chain_seed
from topoi.predict.splitting import Halves, split_topic, topics_of_tokens

if TYPE_CHECKING:
    from topoi._machine.pool import Pool
    from topoi.corpus import Corpus

#: The number of the model that a chain which splits a topic stands for, where seeds are made: no fit has as many.
SPLIT = 2**30


@dataclass(frozen=True)
class Moved:
    """A model whose topics have been rearranged; `flow` and `tokens` are F and n of the old topics.

    `halves` are, by number, those of topics that were split.
    """

    model: TopicModel
    flow: NDArray[np.float64]
    tokens: NDArray[np.float64]
    halves: dict[int, Halves]

    def weights(self, eta: NDArray[Any]) -> NDArray[np.float64]:
        """Weights (…, new topics) of shares of topics, from those of the old ones."""
        moved = self.tokens[:, None] * self.flow
        weights: NDArray[np.float64] = eta.astype(np.float64) @ (moved / moved.sum(0))
        return weights

    def root_weights(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights (new topics, tasks) of roots of shares, from those of the old ones."""
        n = self.tokens @ self.flow
        weights: NDArray[np.float64] = (np.sqrt(self.tokens[:, None] / n) * self.flow).T @ v
        return weights

    def shares(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Topic shares (documents, new topics); of documents other than those that topics were split by, as F says."""
        shares = theta.astype(np.float64) @ self.flow
        for k, half in self.halves.items():
            if len(half.documents) == len(theta):
                j = np.flatnonzero(self.flow[k])  # its two parts, which nothing else is in
                shares[:, j[0]] = theta[:, k] * half.documents
                shares[:, j[1]] = theta[:, k] * (1.0 - half.documents)
        return shares.astype(theta.dtype)


def rearrange(model: TopicModel, wanted: Arrangement, halves: dict[int, Halves]) -> Moved:
    """A model with its topics as wanted; `halves` say how those divide that are to be split."""
    divided, share = model, np.eye(model.n_topics)
    for k in reversed(wanted.splits):  # from the last on, so that the numbers of the others stay
        divided = divided.divided(k, halves[k].words)
        first, second = divided.topic_counts[k : k + 2]
        share = np.insert(share, k + 1, share[:, k] * (second / (first + second)), axis=1)
        share[:, k] *= first / (first + second)
    joined = divided.joined(wanted.number)
    joined.topic_names = wanted.names if any(wanted.names) else None
    joined.hidden = wanted.hidden
    joined.check()
    n = len(wanted.number)
    flow = share @ sparse.csr_array((np.ones(n), (np.arange(n), wanted.number)), (n, joined.n_topics)).toarray()
    return Moved(joined, flow, np.maximum(model.topic_counts, np.finfo(float).tiny), halves)


def move_topics(
    model: TopicModel, wanted: Arrangement, corpus: Corpus | None, n_sweeps: int, seed: int, pool: Pool
) -> Moved:
    """A model with its topics as wanted; those that are to be split are, by their tokens in the documents of a corpus.

    `n_sweeps` are those that find the topics of the tokens.
    """
    halves = {}
    if wanted.splits and corpus is not None:
        z = topics_of_tokens(model, corpus, n_sweeps, seed, pool)
        for k in wanted.splits:
            halves[k] = split_topic(model, k, corpus, z, chain_seed(seed, k, SPLIT), pool)
    return rearrange(model, wanted, halves)


def same_topics(model: TopicModel) -> Moved:
    """Nothing moved."""
    return Moved(model, np.eye(model.n_topics), np.ones(model.n_topics), {})


class HasEdits:
    """An estimator whose topics can be edited."""

    saved_attributes: ClassVar[dict[str, Any]]
    model_: TopicModel
    doc_topic_: NDArray[np.float32]
    # Of the estimator that it is part of.
    topic_models_: Any
    estimators_: Any
    get_params: Any
    restore: Any
    _pool: Any
    _known: Any

    def apply(self, edits: Any, X: Any = None, covariates: Any = None, topic_labels: Any = None) -> Self:
        """A new fitted estimator with edited topics: named, merged, hidden, split or in another order.

        `edits` is the file that the report has downloaded, or what stands in it: see docs/howto/edit_topics.md. Merged
        topics are the sum of their parts: counts, shares and α. This estimator stays as it is.

        A split needs the documents of the fit, `X`, and their `covariates` or `topic_labels` if the topics depend on
        them: the tokens of the topic are drawn again, and a chain of two topics shares them out. The result depends on
        the seed of the fit, and not on the number of threads.

        Examples
        --------
        >>> from topoi import LDA
        >>> lda = LDA(4, n_sweeps=20, random_state=0).fit([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]])
        >>> merge = [{"edit": "merge", "topics": [0, 2]}, {"edit": "name", "topic": 0, "name": "both"}]
        >>> lda.apply({"format": "topoi edits", "version": 1, "edits": merge}).topic_names_
        ['both', 'topic 1', 'topic 2']
        """
        check_is_fitted(self)
        wanted = as_edits(edits).arrangements(self.topic_models_)
        corpus = None
        if any(one.splits for one in wanted):
            if X is None:
                raise ParameterError(
                    "X", "is needed to split a topic: give the documents that the model has learned from"
                )
            corpus = self._known(X, covariates, topic_labels)
        with self._pool() as pool:
            moved = [
                move_topics(one.model_, own, corpus, one.infer_sweeps, one.seed_, pool)
                for one, own in zip(self.estimators_, wanted, strict=True)
            ]
        return self.rearranged(moved)

    def rearranged(self, moved: Sequence[Moved]) -> Self:
        """A new fitted estimator whose models, one after the other, have the topics moved; `apply` makes it."""
        changed = self._edited(moved)
        parameters = self.get_params(deep=False)
        if "model_" in changed:  # those that have a value for each topic; several models have each its own number
            model = changed["model_"]
            if parameters["n_topics"] != AUTO:
                parameters["n_topics"] = model.n_topics
            if np.ndim(parameters["doc_topic_prior"]) == 1:
                parameters["doc_topic_prior"] = model.alpha
        new = type(self)(**parameters)
        kept = {name: value for name, value in vars(self).items() if name in self.saved_attributes}
        new.restore(kept | changed, trusted=True)
        return new

    @property
    def hidden_topics_(self) -> list[int]:
        """Topics that tables and reports leave out, by their numbers in `components_`."""
        hidden, first = [], 0
        for model in self.topic_models_:
            hidden += [first + k for k in model.hidden]
            first += model.n_topics
        return hidden

    def _edited(self, moved: Sequence[Moved]) -> dict[str, Any]:
        """Fitted attributes that change, given how the topics of each of the models have moved."""
        (one,) = moved
        changed: dict[str, Any] = {
            "model_": one.model,
            "chains_": [one.model if chain is self.model_ else chain for chain in getattr(self, "chains_", [])],
            "doc_topic_prior_": one.model.alpha,
        }
        if "doc_topic_" in vars(self):
            changed["doc_topic_"] = one.shares(self.doc_topic_)
        return changed


def edited_chains(chains: Sequence[Any], old: TopicModel, moved: Moved) -> list[Any]:
    """Chains with weights of topics, of which the one of the model has the topics moved."""
    return [
        replace(chain, model=moved.model, weights=moved.weights(chain.weights).astype(np.float32))
        if chain.model is old
        else chain
        for chain in chains
    ]
