"""In which order to show the words of a topic: mean NPMI of ten words, by documents that were not fitted.

    TOPOI_DATA=… python -m benchmarks.word_orders

Of the raw training posts of 20 Newsgroups and of the docstrings of Python's library a third is held out; of the
training documents of hotel reviews, Reuters and 16,000 arXiv abstracts half. No test documents are read. Prints a
table: the most probable words, and what other orders of the words of the same topics change. docs/experiments.md has
it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.raw_text import posts
from topoi import LDA, Corpus
from topoi.chain.telling import POOL
from topoi.datasets import STOP_WORDS, python_docs
from topoi.evaluate import npmi
from topoi.readers import read_documents

N_TOPICS, N_WORDS = 20, 10
FOLDERS = {"hotel reviews": "hotel_reviews", "Reuters": "reuters_modapte20", "arXiv": "arxiv_120k"}
N_ARXIV = 16_000
Matrix = NDArray[np.float64]


def halves(name: str) -> tuple[Corpus, Corpus]:
    """Documents to fit, and others in the same words."""
    rng = np.random.default_rng(7)
    if name not in FOLDERS:
        texts = posts("train") if name == "20 Newsgroups" else list(python_docs().texts)
        order = rng.permutation(len(texts))
        cut = len(texts) * 2 // 3
        fitted = Corpus.from_texts([texts[d] for d in order[:cut]])
        return fitted, Corpus.from_texts([texts[d] for d in order[cut:]], like=fitted)
    folder = Path(os.environ["TOPOI_DATA"]) / FOLDERS[name]
    X = read_documents(folder / "train.npz").corpus.to_counts()
    words = np.array((folder / "vocab.txt").read_text("utf-8").split("\n"))[: X.shape[1]]
    X = X[rng.permutation(X.shape[0])[: N_ARXIV if name == "arXiv" else None]]
    in_documents = np.bincount(X.indices, minlength=X.shape[1])
    kept = (in_documents >= 3) & (in_documents <= X.shape[0] / 2) & ~np.isin(words, list(STOP_WORDS))
    kept &= np.array([word.isalpha() and len(word) > 1 for word in words])
    X, cut = X[:, kept], X.shape[0] // 2
    return tuple(Corpus.from_counts(part, words[kept], allow_empty=True) for part in (X[:cut], X[cut:]))  # type: ignore


def ranks(values: Matrix) -> Matrix:
    """Of each row, from near 0 for the least to 1 for the largest."""
    return np.asarray((values.argsort(1).argsort(1) + 1) / values.shape[1])


def scores(phi: Matrix, corpus: Corpus) -> dict[str, Matrix]:
    """What every order sorts by, the largest first."""
    log_phi = np.log(phi)
    share = np.maximum(corpus.word_counts, 1e-12) / corpus.n_tokens
    in_documents = np.bincount(corpus.to_counts().indices, minlength=phi.shape[1])
    of_topic = phi / phi.sum(0)
    telling = phi * (log_phi - log_phi.mean(0))
    rank = (-log_phi).argsort(1, kind="stable").argsort(1)
    found = {
        "most probable words": log_phi,
        "relevance, λ = 0.9": log_phi - 0.1 * np.log(share),
        "relevance, λ = 0.6": log_phi - 0.4 * np.log(share),
        "FREX, half and half": 1 / (0.5 / ranks(of_topic) + 0.5 / ranks(phi)),
        "φ · log N/df": phi * np.log(corpus.n_documents / np.maximum(in_documents, 1)),
        "telling words, of all words": telling,
        "telling words, of the 20 most probable": np.where(rank < POOL, telling, -np.inf),
        "telling words, of the 15 most probable": np.where(rank < 15, telling, -np.inf),
        "share of φ in the topic, of the 20 most probable": np.where(rank < POOL, of_topic, -np.inf),
    }
    return {name: np.where(corpus.word_counts > 0, score, -np.inf) for name, score in found.items()}


def main() -> None:
    """Fit each corpus with several seeds, and measure every order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6)
    n_seeds = parser.parse_args().seeds
    names = ["20 Newsgroups", "docstrings", *FOLDERS]
    worth: dict[str, dict[str, list[float]]] = {}
    for name in names:
        fitted, held_out = halves(name)
        words = np.asarray(fitted.vocabulary)
        for seed in range(n_seeds):
            phi = np.asarray(LDA(N_TOPICS, random_state=seed).fit(fitted).components_, np.float64)
            for order, score in scores(phi, fitted).items():
                tops = [words[np.argsort(-row, kind="stable")[:N_WORDS]].tolist() for row in score]
                worth.setdefault(order, {}).setdefault(name, []).append(float(npmi(tops, held_out).mean()))
    print("| | " + " | ".join(names) + " |\n|---|" + "--:|" * len(names))
    first = next(iter(worth.values()))
    for order, found in worth.items():
        base = 0 if found is first else 1
        sign = "+" if base else ""
        cells = [f"{np.mean(found[name]) - base * np.mean(first[name]):{sign}.3f}" for name in names]
        print(f"| {order} | " + " | ".join(cells).replace("-", "−") + " |")


if __name__ == "__main__":
    main()
