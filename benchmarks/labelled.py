"""The labelled data sets of TOPOI_DATA as the supervised benchmarks use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import f1_score

from benchmarks.data import data_folder

SERVICE = 4  # column of the aspect ratings
LEAST_DOCUMENTS = 5  # a word in fewer training documents is left out


@dataclass(frozen=True)
class Labelled:
    """Counts and targets of training and test documents: class ids, an indicator matrix, or numbers."""

    X: sparse.csr_array
    y: NDArray[Any]
    X_test: sparse.csr_array
    y_test: NDArray[Any]
    about: str

    @property
    def kind(self) -> str:
        """What is predicted: "two" classes, one of "many", "several" labels, or "numbers"."""
        if self.y.dtype.kind == "f":
            return "numbers"
        return "several" if self.y.ndim == 2 else "two" if len(np.unique(self.y)) == 2 else "many"

    def sample(self, n: int) -> Labelled:
        """At most so many documents of either part, to see that something works."""
        rows, rows_test = (
            np.sort(np.random.default_rng(0).permutation(matrix.shape[0])[:n]) for matrix in (self.X, self.X_test)
        )
        parts = (self.X[rows], self.y[rows], self.X_test[rows_test], self.y_test[rows_test])
        return Labelled(*parts, f"{self.about} (a sample)")


def _counts(folder: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    if not folder.is_dir():
        raise SystemExit(f"TOPOI_DATA has no folder {folder.name}.")
    train, test = (sparse.csr_array(sparse.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
    return train, test


def _indicators(folder: Path) -> list[NDArray[np.int8]]:
    return [
        sparse.csr_array(sparse.load_npz(folder / f"{part}_labels.npz")).toarray().astype(np.int8)
        for part in ("train", "test")
    ]


def _newsgroups() -> tuple[Labelled, list[str]]:
    folder = data_folder() / "20ng"
    train, test = _counts(folder)
    words = (folder / "vocab.txt").read_text("utf-8").split("\n")[: train.shape[1]]
    y, y_test = (np.load(folder / f"{part}_y.npy") for part in ("train", "test"))
    return Labelled(train, y, test, y_test, "20 Newsgroups, all words"), words


@cache
def newsgroups() -> Labelled:
    """20 Newsgroups, 20 classes, stop words removed."""
    every, words = _newsgroups()
    long_enough = np.array([len(word) > 1 and word not in ENGLISH_STOP_WORDS for word in words])
    kept = long_enough & (np.bincount(every.X.indices, minlength=len(words)) >= LEAST_DOCUMENTS)
    return Labelled(every.X[:, kept], every.y, every.X_test[:, kept], every.y_test, "20 Newsgroups, stop words removed")


@cache
def newsgroups_all_words() -> Labelled:
    """20 Newsgroups, 20 classes, all words of the training documents."""
    every, _ = _newsgroups()
    occurs = np.unique(every.X.indices)
    return Labelled(every.X[:, occurs], every.y, every.X_test[:, occurs], every.y_test, every.about)


def _pair(first: int, second: int, names: str) -> Labelled:
    every = newsgroups()
    rows, rows_test = (np.flatnonzero(np.isin(y, (first, second))) for y in (every.y, every.y_test))
    return Labelled(
        every.X[rows], every.y[rows], every.X_test[rows_test], every.y_test[rows_test],
        f"20 Newsgroups, {names}, stop words removed",
    )  # fmt: skip


@cache
def two_newsgroups() -> Labelled:
    """alt.atheism against talk.religion.misc."""
    return _pair(0, 19, "alt.atheism against talk.religion.misc")


@cache
def two_hardware_groups() -> Labelled:
    """comp.sys.ibm.pc.hardware against comp.sys.mac.hardware."""
    return _pair(3, 4, "comp.sys.ibm.pc.hardware against comp.sys.mac.hardware")


def _several(folder: str, about: str) -> Labelled:
    train, test = _counts(data_folder() / folder)
    y, y_test = _indicators(data_folder() / folder)
    return Labelled(train, y, test, y_test, about)


@cache
def reuters() -> Labelled:
    """Reuters ModApte, the 20 most frequent labels, several per document."""
    return _several("reuters_modapte20", "Reuters ModApte, 20 labels")


@cache
def arxiv() -> Labelled:
    """120,000 arXiv abstracts, 150 labels, several per document."""
    return _several("arxiv_120k", "arXiv, 120,000 abstracts, 150 labels")


@cache
def arxiv_large() -> Labelled:
    """538,000 arXiv abstracts, 150 labels, several per document."""
    return _several("arxiv_588k", "arXiv, 537,875 abstracts for training and 49,983 for the test, 150 labels")


@cache
def hotels() -> Labelled:
    """Hotel reviews and their overall rating."""
    folder = data_folder() / "hotel_reviews"
    train, test = _counts(folder)
    y, y_test = (np.load(folder / f"{part}_y.npy").astype(float) for part in ("train", "test"))
    return Labelled(train, y, test, y_test, "hotel reviews, overall rating")


@cache
def hotels_service() -> Labelled:
    """Hotel reviews and their rating of the service, where it is given."""
    every, folder = hotels(), data_folder() / "hotel_reviews"
    ratings = [np.load(folder / f"{part}_aspects.npy")[:, SERVICE].astype(float) for part in ("train", "test")]
    rows, rows_test = (np.flatnonzero(given > 0) for given in ratings)
    return Labelled(
        every.X[rows], ratings[0][rows], every.X_test[rows_test], ratings[1][rows_test], "hotel reviews, service rating"
    )


def with_top_label(scores: NDArray[np.float64]) -> NDArray[np.int8]:
    """Labels with a positive score, and at least the best of each document."""
    chosen = (scores > 0).astype(np.int8)
    chosen[np.arange(len(scores)), scores.argmax(1)] = 1
    return chosen


def quality(classifier: Any, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Accuracy of a fitted classifier's scores, or micro-F1 with at least the top label of each document."""
    if y.ndim == 2:
        return float(f1_score(y, with_top_label(scores), average="micro"))
    chosen = scores.argmax(1) if scores.ndim == 2 else (scores > 0).astype(int)
    return float(np.mean(classifier.classes_[chosen] == y))


DATA: dict[str, Callable[[], Labelled]] = {
    "20ng": newsgroups, "20ng, all words": newsgroups_all_words, "binary": two_newsgroups,
    "hardware": two_hardware_groups, "reuters": reuters, "arxiv": arxiv, "hotels": hotels,
    "hotels, service": hotels_service,
}  # fmt: skip
