"""The predictor that a supervised fit ends with: a convex fit of weights on topics, words and covariates of documents.

    f_dl = Σ_k v_kl √θ_dk + Σ_w u_wl x_dw + Σ_j c_jl z_dj + b_l

θ are the label-free topics of the training documents (label_free.py), x their tf-idf (word_features.py), z covariates.
Each part has a prior precision of its own, told as the scale that its columns are multiplied by: rows of √θ and of x
have length 1, so that a scale of 0.2 gives topics a fifth of the say of words. N-grams are among the words, with a
scale of their own. These scales, the strength C of the fit and the power of the idf are chosen on training documents
(choice.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.store import ModelError
from topoi._machine.arrays import Floats
from topoi._machine.pool import Pool
from topoi.predict.descent import Table, fit_weights
from topoi.predict.label_ratios import LEAST, label_ratios
from topoi.predict.word_features import inverse_document_frequency, tf_idf

#: Passes of a fit that predicts, at most.
FINAL_PASSES = 40

NONE = np.empty(0)
#: Label ratios are 1 on average, and no vocabulary has as many words: a file that says more lies.
LARGEST_RATIO = 2.0**31

#: One plus the logarithm of a number of documents is never as large: a file that says so lies, and squares overflow.
LARGEST_IDF = 100.0


@dataclass(frozen=True)
class Aim:
    """What is to be predicted: targets (documents, tasks; NaN where not known), which count by `weight`."""

    one_sided: ClassVar[bool]  # labels: no document is pulled back to its margin

    targets: Floats
    weight: Floats

    def loss(self, scores: NDArray[np.float64]) -> float:
        """How bad scores of all its documents are, when the best is made of them."""
        raise NotImplementedError

    def telling(self) -> NDArray[np.int64]:
        """The tasks that settings are chosen on: all of them."""
        return np.arange(self.targets.shape[1])

    def of(self, tasks: NDArray[np.int64]) -> Self:
        """Some of the tasks."""
        return replace(self, targets=self.targets[:, tasks], weight=self.weight[:, tasks])


@dataclass(frozen=True)
class Settings:
    """What is chosen: the power of the idf, C, the scales of topics, covariates and n-grams against words, and the
    power of label ratios.
    """

    power: float = 1.0
    strength: float = 0.4
    topics: float = 0.2
    covariates: float = 0.1
    ngrams: float = 0.0  # there are none
    ratio: float = 0.0  # they are not used


@dataclass(frozen=True)
class ScoreParts:
    """Parts of the score of documents: counts of words, √θ, and covariates; one that is not there has no columns.

    The last `n_ngrams` columns of the bag of words are n-grams.
    """

    bag: sparse.csr_array
    roots: NDArray[np.float32]
    covariates: sparse.csr_array
    n_ngrams: int = 0

    def take(self, rows: NDArray[np.int64]) -> ScoreParts:
        """Some of the documents."""
        return ScoreParts(self.bag[rows], self.roots[rows], self.covariates[rows], self.n_ngrams)

    def words(self, idf: NDArray[np.float64], ratios: NDArray[np.float64], settings: Settings) -> sparse.csr_array:
        """The columns of words and n-grams; `ratios` are those of labels, looked at where the settings have a power."""
        factor = ratios**settings.ratio if settings.ratio else None
        return tf_idf(self.bag, idf, settings.power, self.n_ngrams, settings.ngrams, factor)

    def table(self, idf: NDArray[np.float64], ratios: NDArray[np.float64], settings: Settings) -> Table:
        """The columns of the fit: words and covariates, then topics and a constant."""
        words = self.words(idf, ratios, settings)
        if self.covariates.shape[1]:
            words = sparse.csr_array(sparse.hstack([words, self.covariates * np.float32(settings.covariates)], "csr"))
        rest = np.ones((len(self.roots), self.roots.shape[1] + 1), np.float32)
        np.multiply(self.roots, np.float32(settings.topics), out=rest[:, :-1])
        return Table(words, rest)


def parts_of(
    bag: sparse.csr_array, thetas: list[NDArray[Any]], columns: sparse.csr_array | None, n_ngrams: int = 0
) -> ScoreParts:
    """Parts from the topic shares that several chains give the documents; rows of all √θ together have length 1."""
    roots = np.sqrt(np.concatenate(thetas, axis=1) / len(thetas)).astype(np.float32)
    none = sparse.csr_array((bag.shape[0], 0), dtype=np.float32)
    return ScoreParts(bag, roots, none if columns is None else columns, n_ngrams)


@dataclass(frozen=True)
class Head:
    """Fitted weights of all parts: of words (V, tasks), of √θ (topics, tasks), of covariates, and constants.

    The scales are in the weights, but for that of n-grams, the last `n_ngrams` of the words, which is in their columns.
    `idf` is that of the training documents, empty where words have no part; `ratios` are empty where they are not used.
    """

    settings: Settings
    idf: NDArray[np.float64]
    words: NDArray[np.float32]
    topics: NDArray[np.float64]
    covariates: NDArray[np.float64]
    constant: NDArray[np.float64]
    n_ngrams: int = 0
    ratios: NDArray[np.float64] = field(default_factory=lambda: NONE)

    def words_of(self, parts: ScoreParts) -> sparse.csr_array:
        """The columns of words and n-grams."""
        return parts.words(self.idf, self.ratios, self.settings)

    def score(self, parts: ScoreParts) -> NDArray[np.float64]:
        """Scores (documents, tasks)."""
        scores = parts.roots.astype(np.float64) @ self.topics + self.constant
        if self.covariates.size:
            scores += parts.covariates @ self.covariates
        if self.words.size:
            scores += self.words_of(parts) @ self.words.astype(np.float64)
        return np.asarray(scores, np.float64)

    def check_fits(self, n_words: int, n_topics: int, n_columns: int, n_tasks: int, n_ngrams: int = 0) -> None:
        """Raise unless the weights, which may come from a file, are those of so many words, topics and tasks."""
        n_words = n_words + n_ngrams if self.words.size else 0
        if self.n_ngrams != n_ngrams or (n_ngrams and not n_words):
            raise ModelError(f"there must be weights of {n_ngrams} n-grams, not of {self.n_ngrams}")
        for name in ("ngrams", "ratio"):
            if not 0 <= getattr(self.settings, name) <= 10:
                raise ModelError(f"the setting {name} of the head cannot be {getattr(self.settings, name)!r}")
        if self.ratios.size and not LEAST <= self.ratios.min() <= self.ratios.max() <= LARGEST_RATIO:
            raise ModelError(f"label ratios must be from {LEAST:g} to {LARGEST_RATIO:g}")
        shapes = {
            "idf": (n_words,), "words": (n_words, n_tasks), "topics": (n_topics, n_tasks),
            "covariates": (n_columns, n_tasks), "constant": (n_tasks,),
            "ratios": (n_words if self.settings.ratio else 0,),
        }  # fmt: skip
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise ModelError(f"the weights of {name} must be {shape}, and finite")
        if (self.idf <= 0).any() or (self.idf > LARGEST_IDF).any():
            raise ModelError(f"the idf of a word must be positive, and at most {LARGEST_IDF:g}")
        if not 0 <= self.settings.power <= 10:
            raise ModelError(f"the power of the idf cannot be {self.settings.power!r}")


def fit_head(parts: ScoreParts, aim: Aim, settings: Settings, seed: int, pool: Pool) -> Head:
    """The head of all documents that have a target."""
    rows, idf = with_targets(aim), inverse_document_frequency(parts.bag)
    n_words = parts.bag.shape[1]
    ratios = ratios_for(parts, aim) if settings.ratio else NONE
    table = parts.take(rows).table(idf, ratios, settings)
    weights = fit_weights(
        table, aim.targets[rows], aim.weight[rows], settings.strength, aim.one_sided, seed, pool, FINAL_PASSES
    )
    return Head(
        settings,
        idf,
        weights.words[:n_words].astype(np.float32),
        weights.rest[:-1] * settings.topics,
        weights.words[n_words:] * settings.covariates,
        weights.rest[-1],
        parts.n_ngrams,
        ratios,
    )


def ratios_for(parts: ScoreParts, aim: Aim) -> NDArray[np.float64]:
    """Label ratios of the words of the documents that have a target, of which there are two."""
    rows = with_targets(aim)
    return label_ratios(parts.bag[rows], aim.targets[rows, 0])


def usual_settings(has_words: bool, has_ngrams: bool = False) -> Settings:
    """Where the choice begins, and what is used where there are too few documents to choose."""
    return Settings(ngrams=0.6 if has_ngrams else 0.0) if has_words else Settings(topics=1.0)


def with_targets(aim: Aim) -> NDArray[np.int64]:
    """The documents that have a target, and count."""
    return np.flatnonzero((~np.isnan(aim.targets) & (aim.weight > 0)).any(1))
