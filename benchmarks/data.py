"""20 Newsgroups as the benchmarks use it: all words, found through the environment variable TOPOI_DATA."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.chain.diagnostics import completion
from topoi.corpus import Corpus

ALPHA_SUM = 10.0  # of the documents that are completed, whatever a model was trained with
QUICK_DOCUMENTS = 1000


@dataclass(frozen=True)
class Problem:
    """Training and test documents over the words that occur in training, and the measure of quality."""

    train: sparse.csr_array
    test: sparse.csr_array
    is_sample: bool = False

    @cached_property
    def corpus(self) -> Corpus:
        """The training documents."""
        return Corpus.from_counts(self.train)

    @cached_property
    def test_corpus(self) -> Corpus:
        """The test documents."""
        return Corpus.from_counts(self.test, allow_empty=True)

    def perplexity(self, phi: NDArray[Any]) -> float:
        """Document-completion perplexity of topics φ (K, V)."""
        alpha = np.full(len(phi), ALPHA_SUM / len(phi))
        return completion(phi, alpha, self.test_corpus).perplexity

    def describe(self) -> str:
        """Size of the problem, in words."""
        corpus = self.corpus
        return (
            f"20 Newsgroups, all words: {corpus.n_documents:,} training documents, {corpus.n_tokens:,} tokens of "
            f"{corpus.n_words:,} words; {self.test.shape[0]:,} test documents, {self.test_corpus.n_tokens:,} tokens of "
            f"those words. Words that do not occur in the training documents are left out for everybody: tomotopy "
            f"does so by itself, and a vocabulary with more words costs the others probability."
            + (" **A sample of the documents: a quick look, not a measurement.**" if self.is_sample else "")
        )


def data_set(name: str, *files: str) -> Path:
    """The folder of one data set, which has these files; ends the program with advice where it is not there."""
    given = os.environ.get("TOPOI_DATA")
    if not given:
        wanted = " and ".join(f"{name}/{file}" for file in files)
        raise SystemExit(
            f"Data is needed: set TOPOI_DATA to the folder that holds {wanted} (SciPy CSR, documents × words), "
            f"e.g.  TOPOI_DATA=~/data python -m benchmarks.lda_quality"
        )
    folder = Path(given).expanduser() / name
    if missing := [file for file in files if not (folder / file).is_file()]:
        raise SystemExit(f"TOPOI_DATA is set, but its folder {name} lacks {' and '.join(missing)}.")
    return folder


def data_folder() -> Path:
    """The folder that TOPOI_DATA names, which has 20 Newsgroups."""
    return data_set("20ng", "train.npz", "test.npz").parent


def load_20ng(quick: bool = False) -> Problem:
    """20 Newsgroups; `quick` takes a sample of the documents, to see that a script works."""
    folder = data_folder() / "20ng"
    train, test = (sparse.csr_array(sparse.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
    if quick:
        train, test = _sample(train), _sample(test)
    occurs = np.unique(train.indices)
    return Problem(train[:, occurs], test[:, occurs], quick)


def _sample(matrix: sparse.csr_array) -> sparse.csr_array:
    rows = np.random.default_rng(0).permutation(matrix.shape[0])[:QUICK_DOCUMENTS]
    return sparse.csr_array(matrix[np.sort(rows)])


def priors(n_topics: int) -> tuple[float, float]:
    """α (each topic) and β of every fit: 0.1 and 0.01, α = 50/K above 200 topics."""
    return (0.1 if n_topics <= 200 else 50.0 / n_topics), 0.01
