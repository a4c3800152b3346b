"""Topics of raw newsgroup posts with default settings, and the mean NPMI of them and of other packages' recipes.

    TOPOI_DATA=… python benchmarks/raw_text.py topoi scikit-learn gensim

The posts of the training part are given as they are, headers and all. Each package reads them as its own documentation
does: topoi by `LDA(20).fit(texts)`; scikit-learn as its example "Topic extraction with NMF and LDA"; gensim as its
tutorial "LDA Model" (but for the lemmas, which need data of another package). NPMI is that of the ten first words of
each topic by the posts of the test part, as they are and without what is not their authors' ("cleaned"). Of the former
note that headers always come together, which NPMI takes for a good topic.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from topoi import LDA, Corpus
from topoi.evaluate import npmi

N_TOPICS, N_WORDS = 20, 10
LETTERS = r"(?u)\b\w\w+\b"


def posts(part: str) -> list[str]:
    path = Path(os.environ["TOPOI_DATA"]) / "20news_raw" / f"{part}.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line)["text"] for line in file]


def by_topoi(texts: list[str], seed: int) -> list[list[str]]:
    model = LDA(N_TOPICS, random_state=seed).fit(texts)
    print("\n".join(model.preparation_.sentences()))
    return model.top_words(N_WORDS)


def by_scikit_learn(texts: list[str], seed: int) -> list[list[str]]:
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(max_df=0.95, min_df=2, max_features=1000, stop_words="english")
    X = vectorizer.fit_transform(texts)
    model = LatentDirichletAllocation(
        n_components=N_TOPICS, max_iter=5, learning_method="online", learning_offset=50.0, random_state=seed
    ).fit(X)
    words = vectorizer.get_feature_names_out()
    return [words[np.argsort(-row)[:N_WORDS]].tolist() for row in model.components_]


def by_gensim(texts: list[str], seed: int) -> list[list[str]]:
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel, Phrases

    cut = [re.findall(r"\w+", text.lower()) for text in texts]
    documents = [[word for word in words if not word.isnumeric() and len(word) > 1] for words in cut]
    pairs = Phrases(documents, min_count=20)
    for document in documents:
        document += [word for word in pairs[document] if "_" in word]
    dictionary = Dictionary(documents)
    dictionary.filter_extremes(no_below=20, no_above=0.5)
    bags = [dictionary.doc2bow(document) for document in documents]
    model = LdaModel(
        bags, N_TOPICS, dictionary, chunksize=2000, passes=20, iterations=400, alpha="auto", eta="auto",
        eval_every=None, random_state=seed,
    )  # fmt: skip
    return [[word for word, _ in model.show_topic(k, N_WORDS)] for k in range(N_TOPICS)]


RECIPES = {"topoi": by_topoi, "scikit-learn": by_scikit_learn, "gensim": by_gensim}


def coherence(topics: list[list[str]], references: dict[str, list[str]]) -> dict[str, float]:
    """Mean NPMI over the topics by documents, for each of the references; words that none of them has count as rare."""
    words = sorted({word for topic in topics for word in topic})
    out = {}
    for name, texts in references.items():
        documents = [re.findall(r"\w+", text.lower()) for text in texts]
        for document in documents:
            document += ["_".join(pair) for pair in pairwise(document)]
        documents.append(words)  # so that every word is in the vocabulary
        out[name] = float(npmi(topics, Corpus.from_tokens(documents, words)).mean())
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    from topoi.corpus.text.clean import Cleaner

    test = posts("test")
    references = {"as they are": test, "cleaned": list(map(Cleaner(), test))}
    texts = posts("train")
    rows = ["| | " + " | ".join(f"mean NPMI by posts {which}" for which in references) + " |", "|---" * 3 + "|"]
    for name in asked.recipes:
        begin = time.perf_counter()
        topics = RECIPES[name](texts, asked.seed)
        seconds = time.perf_counter() - begin
        print(f"\n{name}: {seconds:.0f} s")
        for topic in topics:
            print("  " + " ".join(topic))
        values = [f"{value:.3f}" for value in coherence(topics, references).values()]
        rows.append(f"| {' | '.join((name, *values))} |")
        print(rows[-1], flush=True)
    print("", *rows, sep="\n")


if __name__ == "__main__":
    main()
