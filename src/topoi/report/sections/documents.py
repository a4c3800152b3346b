"""Documents for the page: their topics, the topic of each of their words, and why they are predicted as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.model import TopicModel
from topoi.corpus import Corpus
from topoi.corpus.target import Target
from topoi.errors import ParameterError
from topoi.report.beside import take_covariates
from topoi.report.explained import reasons_of
from topoi.report.predictions import NOT_KNOWN, Predictions
from topoi.report.subject import Subject
from topoi.report.words import WordTable

MOST_CHARACTERS = 4000  # of a text
MOST_TEXT = 2_000_000  # bytes of all texts together: a page of many documents opens quickly, and can be mailed
MOST_TOPICS = 8  # of a document
LEAST_SHARE = 0.02  # of a topic that is named


def data(subject: Subject) -> dict[str, Any] | None:
    """The documents that are shown, and of how many they are; None where there are none."""
    if subject.corpus is None or len(subject.rows) == 0:
        return None
    return {
        "n": subject.corpus.n_documents,
        "n_chains": max(len(one.traces_) for one in subject.estimator.estimators_),
        "shown": _shown(subject, subject.corpus),
    }


def _shown(subject: Subject, corpus: Corpus) -> list[dict[str, Any]]:
    """Everything that the page shows of the documents."""
    estimator, target, found = subject.estimator, subject.target, subject.predictions
    models, rows, words = subject.models, subject.rows, subject.words
    some = corpus.take(rows)
    first = np.cumsum([0, *(model.n_topics for model in models)]).tolist()
    shares = np.asarray(estimator.transform(some), np.float64)
    chosen = _model_of(target, found, rows, len(models))
    most = _most_characters(subject.texts, rows)
    out = []
    for d, row in enumerate(rows.tolist()):
        number = int(chosen[d])
        model, start = models[number], first[number]
        theta = shares[d, start : start + model.n_topics]
        own, counts = np.unique(some.document(d), return_counts=True)
        document = {
            "id": str(row) if subject.ids is None else str(subject.ids[row]),
            "tokens": int(counts.sum()),
            "model": number,
            "words": [words.add(model, w) for w in own.tolist()],
            "counts": counts.tolist(),
            "of": (start + word_topics(model, theta, own)).tolist(),
            **_shares(theta, start),
            **_text(subject.texts, row, most),
            **_labels(target, found, row),
        }
        out.append(document)
    beside = take_covariates(subject.covariates, rows)
    reasons = reasons_of(estimator, target, some, found, rows, chosen, first, beside, subject.refitted)
    for document, why in zip(out, reasons, strict=True):
        number_of = {words.names[w]: w for w in document["words"]}
        document["why"] = [
            reason | {name: _numbered(reason[name], number_of, words) for name in ("words", "own_words")}
            for reason in why
        ]
    return out


def _numbered(parts: list[list[Any]], number_of: dict[str, int], words: WordTable) -> list[list[Any]]:
    """Parts of a score by numbers of words in place of their names; what is no word of the document is an n-gram."""
    return [[number_of[name] if name in number_of else words.add_ngram(name), part] for name, part in parts]


def word_topics(model: TopicModel, theta: NDArray[np.float64], words: NDArray[Any]) -> NDArray[np.int64]:
    """The most probable topic of each word in a document with topic shares θ: argmax of φ θ."""
    if len(words) == 0:
        return np.zeros(0, np.int64)
    best: NDArray[np.int64] = (model.word_probabilities(words) * theta).argmax(1)
    return best


def _model_of(target: Target, found: Predictions | None, rows: NDArray[np.int64], n_models: int) -> NDArray[np.int64]:
    """Of several models, the one whose topics a document is shown with: that of the label with the highest score, or
    of the pair with the two highest."""
    if n_models == 1 or found is None:
        return np.zeros(len(rows), np.int64)
    order = np.argsort(-found.scores[rows], axis=1, kind="stable")
    if not target.pairs:
        best: NDArray[np.int64] = order[:, 0]
        return best
    number = {pair: i for i, pair in enumerate(target.pairs)}
    two = np.sort(order[:, :2], axis=1)
    return np.array([number[i, j] for i, j in two.tolist()], np.int64)


def _shares(theta: NDArray[np.float64], start: int) -> dict[str, Any]:
    order = np.argsort(-theta, kind="stable")[:MOST_TOPICS]
    kept = order[theta[order] >= min(LEAST_SHARE, theta.max())]
    return {"topics": (start + kept).tolist(), "shares": theta[kept].tolist()}


def _most_characters(texts: Sequence[str] | None, rows: NDArray[np.int64]) -> int:
    """Characters of a text, at most: as many as may be so that all texts together have `MOST_TEXT` bytes or fewer."""
    shown = [] if texts is None else [texts[row] for row in rows.tolist()]
    given = [text[:MOST_CHARACTERS] for text in shown if isinstance(text, str)]
    lengths = np.sort([len(text) for text in given])
    per_character = sum(len(text.encode("utf-8", "replace")) for text in given) / max(int(lengths.sum()), 1)
    room, left = MOST_TEXT / max(per_character, 1.0), len(lengths)
    for length in lengths.tolist():  # short texts leave more to long ones
        if length * left > room:
            return int(room / left)
        room, left = room - length, left - 1
    return MOST_CHARACTERS


def _text(texts: Sequence[str] | None, row: int, most: int) -> dict[str, Any]:
    if texts is None:
        return {}
    text = texts[row]
    if not isinstance(text, str):
        raise ParameterError("texts", f"text {row} is {text!r}, a {type(text).__name__}; texts must be str")
    return {"text": text[:most], "cut": len(text) > most}


def _labels(target: Target, found: Predictions | None, row: int) -> dict[str, Any]:
    """Predicted and true labels as lists of numbers into the names; or the numbers themselves."""
    if found is None:
        return {}
    said = found.predicted[row]
    true = None if found.truth is None else found.truth[row]
    if target.kind == "numbers":
        known = None if true is None or np.isnan(true).all() else true.tolist()
        return {"predicted": said.tolist(), "truth": known}
    if target.kind == "several":
        known = None if true is None or (true == NOT_KNOWN).any() else np.flatnonzero(true).tolist()
        predicted = np.flatnonzero(said).tolist()
    else:
        known = None if true is None or true == NOT_KNOWN else [int(true)]
        predicted = [int(said)]
    return {"predicted": predicted, "truth": known, "wrong": known is not None and known != predicted}
