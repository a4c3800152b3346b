"""`topoi demo`: topics of Python's own documentation, from texts to a table.

One function per step, each of which returns what the next one needs: `read`, `compile_kernels`, `fit`, `describe`,
`show`. `run` puts them together. A second model on the same documents needs a `fit` and a `show` of its own.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from topoi import datasets
from topoi._jit import cache_dir
from topoi.corpus import Corpus
from topoi.diagnostics import unigram_completion
from topoi.estimators import LDA, InterruptedFitWarning

if TYPE_CHECKING:
    from rich.console import Console

HELD_OUT = 10  # every tenth document is kept for the test
WORD = r"(?u)\b[^\W\d_]{2,}\b"
LEAST_DOCUMENTS = 3  # a word in fewer documents says nothing about a topic


@dataclass(frozen=True)
class Documents:
    """Documents to learn from, with the module that each is from, and documents to be tested on."""

    train: Corpus
    labels: list[str]
    test: Corpus
    test_labels: list[str]


@dataclass(frozen=True)
class Fit:
    """A fitted model, how long its sweeps took, and the warning if it was stopped by Ctrl-C."""

    lda: LDA
    seconds: float
    warning: str | None


@dataclass(frozen=True)
class Topic:
    """A topic in words: its number, its share of the tokens, its first words, and (module, share of the topic)."""

    number: int
    share: float
    words: list[str]
    modules: list[tuple[str, float]]


def read() -> Documents:
    """Docstrings of the standard library, cut into words; every tenth document is set apart."""
    data = datasets.python_docs()
    places = range(len(data.texts))
    train = [i for i in places if i % HELD_OUT != HELD_OUT - 1]
    test = [i for i in places if i % HELD_OUT == HELD_OUT - 1]
    vectorizer = CountVectorizer(stop_words=datasets.STOP_WORDS, token_pattern=WORD, min_df=LEAST_DOCUMENTS)
    counts = vectorizer.fit_transform([data.texts[i] for i in train])
    test_counts = vectorizer.transform([data.texts[i] for i in test])
    vocabulary = vectorizer.get_feature_names_out()
    return Documents(
        Corpus.from_counts(counts, vocabulary),
        [data.labels[i] for i in train],
        Corpus.from_counts(test_counts, vocabulary, allow_empty=True),
        [data.labels[i] for i in test],
    )


def is_compiled() -> bool:
    """Whether an earlier run has left machine code of these very sources."""
    folder = cache_dir()
    return folder is not None and any(folder.glob("*.nbi"))


def compile_kernels(documents: Documents, n_topics: int) -> None:
    """Use all that the demo needs for a few sweeps, so that the progress bar does not stand still later."""
    lda = LDA(n_topics, doc_topic_prior="learn", n_sweeps=12, random_state=0)  # α is learned at the tenth
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedFitWarning)
        try:
            lda.fit(documents.train)
        except InterruptedFitWarning:
            raise KeyboardInterrupt from None
    lda.perplexity(documents.test)


def fit(documents: Documents, n_topics: int, n_sweeps: int, seed: int, n_jobs: int) -> Fit:
    """Learn topics, with a progress bar where standard error is a terminal. Ctrl-C ends it early."""
    lda = LDA(
        n_topics,
        doc_topic_prior="learn",
        n_sweeps=n_sweeps,
        random_state=seed,
        n_jobs=n_jobs,
        progress=sys.stderr.isatty(),
    )
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InterruptedFitWarning)
        lda.fit(documents.train)
    stopped = [str(w.message) for w in caught if issubclass(w.category, InterruptedFitWarning)]
    return Fit(lda, time.perf_counter() - start, stopped[0] if stopped else None)


def describe(lda: LDA, documents: Documents, n_words: int = 10, n_modules: int = 3) -> list[Topic]:
    """The topics, from the most frequent to the rarest."""
    names, label_of = np.unique(documents.labels, return_inverse=True)
    tokens = lda.doc_topic_ * documents.train.doc_lengths[:, None]  # expected tokens (documents, topics)
    by_module = np.zeros((len(names), lda.n_topics))
    np.add.at(by_module, label_of, tokens)
    share = by_module.sum(0) / by_module.sum()
    within = by_module / np.maximum(by_module.sum(0), 1e-300)
    words = lda.top_words(n_words)
    return [
        Topic(int(k), float(share[k]), words[k], _largest(names, within[:, k], n_modules))
        for k in np.argsort(-share, kind="stable")
    ]


def _largest(names: NDArray[np.str_], share: NDArray[np.float64], n: int) -> list[tuple[str, float]]:
    return [(str(names[j]), float(share[j])) for j in np.argsort(-share, kind="stable")[:n] if share[j] >= 0.05]


def show(result: Fit, documents: Documents, console: Console) -> None:
    """Print the topics as a table, and how well they predict documents that they have not seen."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    # Wide enough to fill the terminal, but no line so long that the eye loses it.
    table = Table(box=SIMPLE_HEAD, pad_edge=False, width=min(console.width, 120))
    table.add_column("topic", justify="right", style="cyan")
    table.add_column("share", justify="right")
    table.add_column("most probable words", ratio=3)
    table.add_column("strongest in", style="green", ratio=2)
    for topic in describe(result.lda, documents):
        modules = ", ".join(f"{name} {share:.0%}" for name, share in topic.modules)
        table.add_row(str(topic.number), f"{topic.share:.1%}", " ".join(topic.words), modules)
    console.print(table)

    train, lda = documents.train, result.lda
    rate = train.n_tokens * lda.n_sweeps_ / result.seconds
    console.print(
        f"{train.n_tokens:,} tokens, {lda.n_sweeps_} sweeps in {result.seconds:.1f} s: {rate / 1e6:.1f} M tokens/s.",
        highlight=False,
    )
    if documents.test.n_tokens:
        topics, unigram = lda.perplexity(documents.test), unigram_completion(train, documents.test).perplexity
        console.print(
            f"Perplexity (lower is better) of {documents.test.n_documents} held-out documents: "
            f"[bold]{topics:,.0f}[/bold]; unigram: {unigram:,.0f}.",
            highlight=False,
        )


def run(n_topics: int, n_sweeps: int, seed: int, n_jobs: int, console: Console, log: Console) -> bool:
    """The demo: results to `console`, what is going on to `log`. Returns whether it ran to its end."""
    with log.status("reading the docstrings of the standard library …"):
        documents = read()
    train = documents.train
    modules = len(set(documents.labels))
    log.print(
        f"{train.n_documents:,} docstrings of {modules} modules ({documents.test.n_documents} more held out): "
        f"{train.n_tokens:,} tokens, {train.n_words:,} words",
        highlight=False,
    )
    if not is_compiled():
        start = time.perf_counter()
        with log.status("first run: compiling once, ~20 s …"):
            compile_kernels(documents, n_topics)
        log.print(f"first run: compiled once, in {time.perf_counter() - start:.0f} s", highlight=False)
    result = fit(documents, n_topics, n_sweeps, seed, n_jobs)
    if result.warning:
        log.print(result.warning, style="yellow", markup=False, highlight=False)
    show(result, documents, console)
    return result.warning is None
