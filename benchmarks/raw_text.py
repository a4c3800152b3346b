"""Topics of raw newsgroup posts with default settings, and the mean NPMI of them and of other packages' recipes.

    TOPOI_DATA=… python -m benchmarks.raw_text

The posts of the training part are given as they are, headers and all. Each package reads them as its own documentation
does: topoi by `LDA(20).fit(texts)`; scikit-learn as its example "Topic extraction with NMF and LDA"; gensim as its
tutorial "LDA Model" (but for the lemmas, which need data of another package), and once more with the words of
`gensim.utils.simple_preprocess`, which its other tutorials cut texts by. NPMI is that of the ten first words of each
topic by the posts of the test part, as they are and without what is not their authors' ("cleaned"). Of the former note
that headers always come together, which NPMI takes for a good topic. It is computed when the page is written, from the
topics in the file of results.

The words of a topic are those that each package shows: the most probable ones, or topoi's telling ones. So that topics
can be told from the order of their words, both orders are measured for all three.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.harness import Results, measure, options, versions
from topoi import LDA, Corpus
from topoi.chain.telling import POOL
from topoi.corpus.text.clean import Cleaner
from topoi.evaluate import npmi

NAME = "raw_text"
N_TOPICS, N_WORDS = 20, 10
COLUMNS = (("", "as they are"), ("", "cleaned"), ("probability", "cleaned"), ("telling", "cleaned"))  # "": as shown
OTHER = " "  # stands for the words of a post that no topic has
ORDERS = ("probability", "telling")
Topics = list[list[str]]
Found = tuple[NDArray[np.float64], Sequence[str]]  # φ (K, V), and the words


@cache
def posts(part: str) -> list[str]:
    path = Path(os.environ["TOPOI_DATA"]) / "20news_raw" / f"{part}.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line)["text"] for line in file]


def in_order(found: Found, order: str) -> Topics:
    """The words of each topic: the most probable ones, or of these the telling ones first, as topoi has them."""
    phi, words = found
    log_phi = np.log(phi)
    telling = phi * (log_phi - log_phi.mean(0))
    topics = []
    for k, own in enumerate(np.argsort(-phi, axis=1, kind="stable")[:, :POOL]):
        chosen = own if order == "probability" else own[np.argsort(-telling[k, own], kind="stable")]
        topics.append([str(words[w]) for w in chosen[:N_WORDS]])
    return topics


def by_topoi(texts: list[str], seed: int) -> Found:
    model = LDA(N_TOPICS, random_state=seed).fit(texts)
    found = model.components_, model.vocabulary_
    assert in_order(found, "telling") == model.top_words(N_WORDS)
    return found


def by_scikit_learn(texts: list[str], seed: int) -> Found:
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(max_df=0.95, min_df=2, max_features=1000, stop_words="english")
    X = vectorizer.fit_transform(texts)
    model = LatentDirichletAllocation(
        n_components=N_TOPICS, max_iter=5, learning_method="online", learning_offset=50.0, random_state=seed
    ).fit(X)
    return model.components_ / model.components_.sum(1, keepdims=True), vectorizer.get_feature_names_out()


def by_gensim(texts: list[str], seed: int) -> Found:
    """The tutorial: words of letters, digits and underscores but no numbers, and pairs of words beside them."""
    from gensim.models import Phrases

    cut = [re.findall(r"\w+", text.lower()) for text in texts]
    documents = [[word for word in words if not word.isnumeric() and len(word) > 1] for words in cut]
    pairs = Phrases(documents, min_count=20)
    for document in documents:
        document += [word for word in pairs[document] if "_" in word]
    return _gensim_topics(documents, seed)


def by_simple_preprocess(texts: list[str], seed: int) -> Found:
    """Words as `simple_preprocess` cuts them; the rest as in the tutorial."""
    from gensim.utils import simple_preprocess

    return _gensim_topics([simple_preprocess(text) for text in texts], seed)


def _gensim_topics(documents: list[list[str]], seed: int) -> Found:
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    dictionary = Dictionary(documents)
    dictionary.filter_extremes(no_below=20, no_above=0.5)
    bags = [dictionary.doc2bow(document) for document in documents]
    model = LdaModel(
        bags, N_TOPICS, dictionary, chunksize=2000, passes=20, iterations=400, alpha="auto", eta="auto",
        eval_every=None, random_state=seed,
    )  # fmt: skip
    return model.get_topics().astype(np.float64), [dictionary[w] for w in range(len(dictionary))]


RECIPES: dict[str, Callable[[list[str], int], Found]] = {
    "topoi": by_topoi,
    "scikit-learn": by_scikit_learn,
    "gensim": by_gensim,
    "gensim, simple_preprocess": by_simple_preprocess,
}
SAID = {
    "topoi": "`LDA(20).fit(texts)`",
    "scikit-learn": 'as in "Topic extraction with NMF and LDA"',
    "gensim": 'as in its tutorial "LDA Model"',
    "gensim, simple_preprocess": "words by `simple_preprocess`, the rest as in the tutorial",
}


@cache
def references() -> dict[str, list[list[str]]]:
    """The posts of the test part in words and pairs of words, as they are and cleaned."""
    test, found = posts("test"), {}
    for which, texts in (("as they are", test), ("cleaned", list(map(Cleaner(), test)))):
        documents = [re.findall(r"\w+", text.lower()) for text in texts]
        found[which] = [words + ["_".join(pair) for pair in pairwise(words)] for words in documents]
    return found


def coherence(topics: Topics) -> dict[str, float]:
    """Mean NPMI over the topics by documents, for each of the references; words that none of them has count as rare.

    Every post that has a word counts as a document, whether or not a topic has the word among its ten: otherwise topics
    of words that are everywhere would be measured by more documents than others.
    """
    words = sorted({word for topic in topics for word in topic})
    known = set(words)
    vocabulary = [*words, OTHER]
    found = {}
    for which, documents in references().items():
        kept = [[*known.intersection(document), *([OTHER] if document else [])] for document in documents]
        kept.append(words)  # one more document has all words, so that every word is in the vocabulary
        found[which] = float(npmi(topics, Corpus.from_tokens(kept, vocabulary)).mean())
    return found


def one(name: str, seed: int) -> dict[str, Any]:
    """The topics of one seed, in both orders of their words."""
    found = RECIPES[name](posts("train"), seed)
    topics = {order: in_order(found, order) for order in ORDERS}
    return {"topics": topics, "said": " ".join(topics[_shown(name)][0]), "versions": versions()}


def _shown(name: str) -> str:
    """The order in which a package shows words."""
    return "telling" if name == "topoi" else "probability"


def main() -> None:
    parser = options(__doc__.splitlines()[0], [N_TOPICS])
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    arguments = parser.parse_args()
    results = Results(arguments.output / f"{NAME}.json", {}, arguments.fresh)
    measure(results, arguments.recipes, [N_TOPICS], arguments.rounds, lambda name, _, seed: one(name, seed))
    write_report(results, arguments)


def write_report(results: Results, arguments: argparse.Namespace) -> None:
    rows, listed = [], []
    for name in (name for name in RECIPES if results.rounds(name, N_TOPICS)):
        rounds = results.rounds(name, N_TOPICS)
        row = [f"{name}: {SAID[name]}"]
        measured = [order for order in ORDERS if all(order in entry["topics"] for entry in rounds)]
        worth = {order: [coherence(entry["topics"][order]) for entry in rounds] for order in measured}
        for order, which in COLUMNS:
            values = [found[which] for found in worth.get(order or _shown(name), ())]
            row.append(f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})" if values else "not run")
        rows.append([*row, str(len(rounds))])
        lines = "\n".join(" ".join(topic) for topic in rounds[0]["topics"][_shown(name)])
        listed.append(f"### {name}\n\n```\n{lines}\n```")
    header = [
        "", "words as shown, by posts as they are", "words as shown, by posts cleaned",
        "most probable words, by posts cleaned", "telling words, by posts cleaned", "seeds",
    ]  # fmt: skip
    facts = [
        f"20 Newsgroups, raw: {len(posts('train')):,} posts to learn from, {N_TOPICS} topics; NPMI of the "
        f"{N_WORDS} first words of each topic by documents of the {len(posts('test')):,} posts of the test part. "
        "Cleaned are posts without what their authors did not write: headers, quoted lines, signatures, addresses, "
        "encoded files. By posts as they are NPMI rates headers highly, as they always come together.",
        "Words as shown: topoi shows the telling words of a topic (`top_words`), gensim and scikit-learn's example the "
        "most probable ones. The other columns have the same topics of each package, with their words in either order; "
        "for the telling ones those of the other packages were put in order by the same formula.",
        "Mean NPMI over the topics and over the seeds 0, 1, …, with the least and the largest. Below are the topics of "
        "seed 0, in the order in which each package numbers them.",
        "gensim: no lemmas, which need data of another package; `filter_extremes(no_below=20, no_above=0.5)`, "
        "20 passes, 400 iterations, α and η learned. Its tutorial removes no stop words.",
    ]
    parts = [report.table(header, rows), "## Topics", *listed, f"## How\n\n{report.provenance(results, facts)}"]
    report.write(arguments.output, NAME, "Topics of raw posts", "\n\n".join(parts), has_plot=False)


if __name__ == "__main__":
    main()
