"""`topoi demo`: topics of Python's own documentation, from texts to a table.

One function per step, each of which returns what the next one needs: `read`, `compile_kernels`, `fit`, `describe`,
`show` for the topics; `classify` and `show_labels` for the second half, a classifier that predicts the module of a
docstring. `run` puts them together.
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
from topoi.chain.diagnostics import unigram_completion
from topoi.corpus import Corpus
from topoi.estimators.base import InterruptedFitWarning
from topoi.estimators.classifier import MedLDAClassifier
from topoi.estimators.lda import LDA

if TYPE_CHECKING:
    from rich.console import Console

HELD_OUT = 10  # every tenth document is kept for the test
WORD = r"(?u)\b[^\W\d_]{2,}\b"
LEAST_DOCUMENTS = 3  # a word in fewer documents says nothing about a topic
LONG = 5.0  # seconds: kernels that take longer than this to get ready had to be compiled
MODULES = 10  # those with the most docstrings take part in the classifier's half


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
    classify(documents, n_topics, 4, 0, 1)


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
    by_module = np.zeros((len(names), lda.n_topics_))
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
    table.add_column("most telling words", ratio=3)
    table.add_column("strongest in", style="green", ratio=2)
    for topic in describe(result.lda, documents):
        modules = ", ".join(f"{name} {share:.0%}" for name, share in topic.modules)
        table.add_row(str(topic.number), f"{topic.share:.1%}", " ".join(topic.words), modules)
    console.print(table)

    train, lda = documents.train, result.lda
    rate = train.n_tokens * lda.n_sweeps_ / result.seconds
    console.print(
        f"{train.n_tokens:,} tokens, {lda.n_sweeps_} sweeps in {result.seconds:.1f} s: {rate / 1e6:.1f} M tokens/s."
    )
    if documents.test.n_tokens:
        topics, unigram = lda.perplexity(documents.test), unigram_completion(train, documents.test).perplexity
        console.print(
            f"Perplexity (lower is better) of {documents.test.n_documents} held-out documents: "
            f"[bold]{topics:,.0f}[/bold]; unigram: {unigram:,.0f}.",
            markup=True,
        )


@dataclass(frozen=True)
class Labelled:
    """A classifier of modules, with the held-out documents of the modules that it knows."""

    classifier: MedLDAClassifier
    test: Corpus
    test_labels: NDArray[np.str_]
    accuracy: float
    guess: float  # accuracy of always saying the most frequent module
    seconds: float


def classify(documents: Documents, n_topics: int, n_sweeps: int, seed: int, n_jobs: int) -> Labelled | None:
    """Learn to tell the module of a docstring from its words; None if there are fewer than three modules."""
    labels, test_labels = np.array(documents.labels), np.array(documents.test_labels)
    names, sizes = np.unique(labels, return_counts=True)
    known = names[np.argsort(-sizes, kind="stable")[:MODULES]]
    keep, keep_test = np.isin(labels, known), np.isin(test_labels, known)
    if len(known) < 3 or not keep_test.any():  # two classes have one score, not one each
        return None
    train, test = documents.train.take(keep), documents.test.take(keep_test)
    start = time.perf_counter()
    classifier = MedLDAClassifier(
        max(n_topics, 3 * len(known)), n_sweeps=n_sweeps, random_state=seed, n_jobs=n_jobs, progress=sys.stderr.isatty()
    )
    classifier.fit(train, labels[keep])
    seconds = time.perf_counter() - start
    accuracy = float((classifier.predict(test) == test_labels[keep_test]).mean())
    commonest = names[np.argmax(sizes)]
    guess = float((test_labels[keep_test] == commonest).mean())
    return Labelled(classifier, test, test_labels[keep_test], accuracy, guess, seconds)


def show_labels(result: Labelled, console: Console) -> None:
    """Print how well modules are predicted, the words that speak for each, and one prediction explained."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    classifier = result.classifier
    console.print(
        f"\nPredicting the module of a docstring (MedLDA, {len(classifier.classes_)} modules, {result.seconds:.1f} s): "
        f"[bold]{result.accuracy:.0%}[/bold] of {result.test.n_documents} held-out docstrings right; "
        f"always guessing the commonest module: {result.guess:.0%}.",
        markup=True,
    )
    table = Table(box=SIMPLE_HEAD, pad_edge=False, width=min(console.width, 120))
    table.add_column("module", style="green")
    table.add_column("weight", justify="right")
    table.add_column("words of the topic that speaks most for it", ratio=1)
    words = classifier.top_words(9)
    for label, weight in zip(classifier.classes_, classifier.topic_weights_, strict=True):
        best = int(weight.argmax())
        table.add_row(str(label), f"{weight[best]:+.1f}", " ".join(words[best]))
    console.print(table)
    console.print(*explanation(result), sep="\n", markup=True)


def explanation(result: Labelled) -> list[str]:
    """The surest right prediction among the held-out documents of some length, in words."""
    classifier, scores = result.classifier, result.classifier.decision_function(result.test)
    right = classifier.classes_[scores.argmax(1)] == result.test_labels
    usable = right & (result.test.doc_lengths >= 12)
    if not usable.any():
        return []
    d = int(np.argmax(np.where(usable, scores.max(1), -np.inf)))
    label = int(scores[d].argmax())
    reason = classifier.explain(result.test.take([d]), n_topics=3, n_words=8)[0][label]
    topics = "; ".join(f"topic {k} {part:+.2f} ({' '.join(top[:4])})" for k, part, top in reason.topics)
    through = ", ".join(f"{word} {part:+.2f}" for word, part in reason.words)
    by_themselves = ", ".join(f"{word} {part:+.2f}" for word, part in reason.own_words)
    words, counts = np.unique(result.test.document(d), return_counts=True)
    frequent = words[np.argsort(-counts, kind="stable")[:10]]
    text = " ".join(classifier.model_.word(w) for w in frequent)
    return [
        f"A held-out docstring with the words [italic]{text} …[/italic]",
        f"is predicted to be of [green]{reason.label}[/green]: log odds {reason.score:+.2f}, of which topics add "
        f"{reason.parts['topics']:+.2f} and words by themselves {reason.parts['words']:+.2f}. Topics: {topics}.",
        f"Words through topics: {through}. Words by themselves: {by_themselves}.",
    ]


def run(n_topics: int, n_sweeps: int, seed: int, n_jobs: int, console: Console, log: Console) -> bool:
    """The demo: results to `console`, what is going on to `log`. Returns whether it ran to its end."""
    with log.status("reading the docstrings of the standard library …"):
        documents = read()
    train = documents.train
    modules = len(set(documents.labels))
    log.print(
        f"{train.n_documents:,} docstrings of {modules} modules ({documents.test.n_documents} more held out): "
        f"{train.n_tokens:,} tokens, {train.n_words:,} words"
    )
    start = time.perf_counter()
    with log.status("getting the kernels ready (a first run compiles them, once) …"):
        compile_kernels(documents, n_topics)
    if time.perf_counter() - start > LONG:
        log.print(f"kernels compiled, once, in {time.perf_counter() - start:.0f} s")
    result = fit(documents, n_topics, n_sweeps, seed, n_jobs)
    if result.warning:
        log.print(result.warning, style="yellow")
    show(result, documents, console)
    if result.warning:
        return False
    labelled = classify(documents, n_topics, max(n_sweeps // 2, 2), seed, n_jobs)
    if labelled is not None:
        show_labels(labelled, console)
    return True
