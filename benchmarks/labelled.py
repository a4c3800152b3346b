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

from benchmarks.data import data_folder

LEAST_DOCUMENTS = 5  # a word in fewer training documents is left out


@dataclass(frozen=True)
class Labelled:
    """Counts and targets of training and test documents: class ids, an indicator matrix, or numbers."""

    X: sparse.csr_array
    y: NDArray[Any]
    X_test: sparse.csr_array
    y_test: NDArray[Any]
    about: str


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


@cache
def newsgroups() -> Labelled:
    """20 Newsgroups, 20 classes, stop words removed."""
    folder = data_folder() / "20ng"
    train, test = _counts(folder)
    words = (folder / "vocab.txt").read_text("utf-8").split("\n")[: train.shape[1]]
    long_enough = np.array([len(word) > 1 and word not in ENGLISH_STOP_WORDS for word in words])
    kept = long_enough & (np.bincount(train.indices, minlength=train.shape[1]) >= LEAST_DOCUMENTS)
    y, y_test = (np.load(folder / f"{part}_y.npy") for part in ("train", "test"))
    return Labelled(train[:, kept], y, test[:, kept], y_test, "20 Newsgroups, stop words removed")


@cache
def two_newsgroups() -> Labelled:
    """alt.atheism against talk.religion.misc."""
    every = newsgroups()
    rows, rows_test = (np.flatnonzero(np.isin(y, (0, 19))) for y in (every.y, every.y_test))
    return Labelled(
        every.X[rows], every.y[rows], every.X_test[rows_test], every.y_test[rows_test],
        "20 Newsgroups, alt.atheism against talk.religion.misc, stop words removed",
    )  # fmt: skip


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


def with_top_label(scores: NDArray[np.float64]) -> NDArray[np.int8]:
    """Labels with a positive score, and at least the best of each document."""
    chosen = (scores > 0).astype(np.int8)
    chosen[np.arange(len(scores)), scores.argmax(1)] = 1
    return chosen


DATA: dict[str, Callable[[], Labelled]] = {
    "20ng": newsgroups, "binary": two_newsgroups, "reuters": reuters, "arxiv": arxiv, "hotels": hotels,
}  # fmt: skip
