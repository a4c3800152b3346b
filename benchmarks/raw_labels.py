"""Predicting the newsgroup of raw posts: `fit(texts, labels)` beside five lines of scikit-learn.

    TOPOI_DATA=… python -m benchmarks.raw_labels [--topics 100] [--seeds 3]

Everybody gets the posts as they are, headers and all. topoi is run with its defaults; with the words of topics alone
(`Corpus.from_texts(texts)`, which counts no other words); and without words beside the topics. The linear support
vector machine is scikit-learn's, C = 1, on its tf-idf: as it comes, without English stop words, and with sublinear
counts.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from topoi import Corpus, MedLDAClassifier


def posts(part: str) -> tuple[list[str], list[str]]:
    """Texts and newsgroups."""
    path = Path(os.environ["TOPOI_DATA"]) / "20news_raw" / f"{part}.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf8") as file:
        found = [json.loads(line) for line in file]
    return [post["text"] for post in found], [str(post["label"]) for post in found]


def main() -> None:
    """Print the accuracy of everybody on the test posts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    (texts, labels), (new, truth) = posts("train"), posts("test")
    for name, options in (
        ("as it comes", {}),
        ('stop_words="english"', {"stop_words": "english"}),
        ("sublinear_tf=True", {"sublinear_tf": True}),
    ):
        linear = make_pipeline(TfidfVectorizer(**options), LinearSVC()).fit(texts, labels)
        print(f"tf-idf ({name}) and LinearSVC: {linear.score(new, truth):.4f}", flush=True)
    corpus = Corpus.from_texts(texts)
    ways: dict[str, tuple[Any, dict[str, Any], Callable[[Any], Any]]] = {
        "fit(texts, labels)": (texts, {}, lambda model: new),
        "words of topics alone": (corpus, {}, lambda model: Corpus.from_texts(new, like=model)),
        "topics alone": (texts, {"word_features": None}, lambda model: new),
    }
    for name, (X, settings, read) in ways.items():
        scores = []
        for seed in range(given.seeds):
            model = MedLDAClassifier(given.topics, random_state=seed, **settings).fit(X, labels)
            scores.append(model.score(read(model), truth))
        spread = f" ± {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else ""
        print(f"topoi, {name}: {np.mean(scores):.4f}{spread}", flush=True)


if __name__ == "__main__":
    main()
