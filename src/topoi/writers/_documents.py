"""Documents as word counts or words: SVMlight, UCI, npz, MALLET or JSON lines. `read_documents` reads them back.

The texts are gone, so words come in the order of the vocabulary. What a format cannot hold is an error, not a loss:

| format   | words             | labels                               | ids | read back with                         |
|----------|-------------------|--------------------------------------|-----|----------------------------------------|
| jsonl    | any that are used | all kinds                            | yes | label="label" or target=True, id="id"  |
| mallet   | used, no blanks   | no blanks; joined by a comma         | yes | tokenized=True, label_separator=","    |
| svmlight | in a file         | whole numbers, several, or targets   | no  | target=True for targets                |
| uci, npz | in a file         | none                                 | no  |                                        |
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from topoi.corpus import Corpus
from topoi.errors import FileError, ParameterError
from topoi.readers import Dataset
from topoi.readers._counts import vocabulary_path
from topoi.readers.mallet import UNKNOWN_LABEL
from topoi.writers._output import choose, name_of, output, path_of
from topoi.writers._tables import json_line

DOCUMENT_FORMATS: dict[str, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "mallet": (".mallet",),
    "svmlight": (".svmlight", ".libsvm", ".svm"),
    "uci": (".uci",),
    "npz": (".npz",),
}

DOCUMENTS = 1024  # written together


def write_documents(
    dataset: Dataset | Corpus,
    target: Any,
    format: str | None = None,
    *,
    labels: bool = True,
    vocabulary_file: str | os.PathLike[str] | None = None,
) -> None:
    """Write documents to a path, standard output (`"-"`) or a binary stream, in one of `DOCUMENT_FORMATS`.

    ``labels=False`` leaves out labels and ids, which UCI and npz cannot hold. Files of counts get their words in a file
    beside them, or in `vocabulary_file`: `posts.vocab.txt` for `posts.svm`, `vocab.posts.txt` for `docword.posts.txt`.
    """
    if isinstance(dataset, Corpus):
        dataset = Dataset(dataset)
    if not labels:
        dataset = replace(dataset, labels=None, ids=None)
    kind = choose(target, format, DOCUMENT_FORMATS, None)
    write = _WRITERS[kind]
    words = dataset.corpus.vocabulary
    if kind in ("jsonl", "mallet") and words is None:
        raise FileError(f"{name_of(target)}: the documents have no vocabulary; write svmlight, uci or npz.")
    beside = words_file(dataset.corpus, target, kind, vocabulary_file)
    with output(target) as stream:
        write(dataset, stream, name_of(target))
    if beside is not None:  # last: not where the documents cannot be written
        with output(beside[0]) as stream:
            stream.write(beside[1])


def words_file(
    corpus: Corpus, target: Any, format: str | None, vocabulary_file: str | os.PathLike[str] | None
) -> tuple[Any, bytes] | None:
    """Where `write_documents` writes the words of a file of counts, and what; None where there are none to write."""
    kind = choose(target, format, DOCUMENT_FORMATS, None)
    if kind in ("jsonl", "mallet") or corpus.vocabulary is None:
        return None
    path = path_of(target)
    if vocabulary_file is None and path is None:
        raise ParameterError("vocabulary_file", f"is needed for the words: {kind} on a stream cannot hold them")
    beside = vocabulary_file if vocabulary_file is not None or path is None else vocabulary_path(path)
    return beside, _lines_of(corpus.vocabulary.tolist(), beside)


def _lines_of(words: list[str], path: Any) -> bytes:
    """A vocabulary as a file has it, a word a line."""
    for column, word in enumerate(words):
        if not word or "\n" in word or "\0" in word or word.endswith("\r") or (not column and word[0] == "\ufeff"):
            raise FileError(f"{path}: the word {word!r} cannot stand on a line of its own; write jsonl.", str(path))
    try:
        return "".join(f"{word}\n" for word in words).encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"{error.object[error.start]!a} in a word is no character of Unicode"
        raise FileError(f"{path}: cannot be written: {what}.", str(path)) from error


def _counts(corpus: Corpus) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Number, words and their counts of every document."""
    for first in range(0, corpus.n_documents, DOCUMENTS):
        piece = corpus.take(slice(first, first + DOCUMENTS)).to_counts()
        for i, (start, end) in enumerate(pairwise(piece.indptr.tolist())):
            yield first + i, piece.indices[start:end], piece.data[start:end]


def _svmlight(dataset: Dataset, stream: BinaryIO, name: str) -> None:
    n_words = dataset.corpus.n_words
    for d, words, counts in _counts(dataset.corpus):
        label = "" if dataset.labels is None else _svmlight_label(dataset.labels[d], d, name)
        pairs = [f"{word + 1}:{count}" for word, count in zip(words.tolist(), counts.tolist(), strict=True)]
        if d == 0 and n_words - 1 not in words:
            pairs.append(f"{n_words}:0")  # else nobody would know of words at the end that no document has
        if not label and not pairs:
            pairs.append("1:0")  # a blank line is no document
        stream.write((" ".join([label, *pairs] if label else pairs) + "\n").encode("ascii"))


def _svmlight_label(label: Any, d: int, name: str) -> str:
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, list):
        return ",".join(_svmlight_label(one, d, name) for one in label)
    if isinstance(label, float):
        return "" if math.isnan(label) else repr(label)
    if label is None:
        return ""
    if not isinstance(label, int):
        what = f"the label of document {d} is {label!r}, but SVMlight holds numbers only"
        raise FileError(f"{name}: {what}; write jsonl or mallet, or leave labels out by labels=False.", name, row=d)
    return str(int(label))


def _uci(dataset: Dataset, stream: BinaryIO, name: str) -> None:
    _check_no_labels(dataset, name, "UCI")
    corpus = dataset.corpus
    n_cells = sum(len(words) for _, words, _ in _counts(corpus))
    stream.write(f"{corpus.n_documents}\n{corpus.n_words}\n{n_cells}\n".encode("ascii"))
    for d, words, counts in _counts(corpus):
        cells = zip(words.tolist(), counts.tolist(), strict=True)
        stream.write("".join(f"{d + 1} {word + 1} {count}\n" for word, count in cells).encode("ascii"))


def _npz(dataset: Dataset, stream: BinaryIO, name: str) -> None:
    from scipy import sparse

    _check_no_labels(dataset, name, "npz")
    sparse.save_npz(stream, dataset.corpus.to_counts())


def _check_no_labels(dataset: Dataset, name: str, format: str) -> None:
    if dataset.labels is not None or dataset.ids is not None:
        what = "labels" if dataset.labels is not None else "ids"
        raise FileError(
            f"{name}: {format} cannot hold {what}; write jsonl or mallet, or leave them out by labels=False.", name
        )


def _mallet(dataset: Dataset, stream: BinaryIO, name: str) -> None:
    corpus = dataset.corpus
    words = _used_words(corpus)
    for word in words:
        if word is not None and (word.split() != [word] or word[0] == "," or "\0" in word):
            raise FileError(f"{name}: the word {word!r} has a blank or begins with a comma; write jsonl.", name)
    for d in range(corpus.n_documents):
        label = UNKNOWN_LABEL if dataset.labels is None else _mallet_label(dataset.labels[d], d, name)
        document_id = str(d) if dataset.ids is None else _field(dataset.ids[d], "id", d, name)
        line = "\t".join([document_id, label, " ".join(words[w] or "" for w in corpus.document(d))])
        stream.write(f"{line}\n".encode())


def _mallet_label(label: Any, d: int, name: str) -> str:
    if label is None or (isinstance(label, float) and math.isnan(label)):
        return UNKNOWN_LABEL
    if not isinstance(label, list):
        return _field(label, "label", d, name)
    if not label:
        raise FileError(f"{name}: document {d} has no labels, which MALLET cannot hold; write jsonl.", name, row=d)
    return ",".join(_field(one, "label", d, name) for one in label)


def _field(value: Any, what: str, d: int, name: str) -> str:
    text = str(value)
    if text.split() != [text] or "," in text or "\0" in text or text == UNKNOWN_LABEL:
        raise FileError(
            f"{name}: the {what} of document {d} is {text!r}; MALLET takes no blanks or commas, and ? is not known. "
            "Write jsonl, or leave labels and ids out by labels=False.", name, row=d
        )  # fmt: skip
    return text


def _jsonl(dataset: Dataset, stream: BinaryIO, name: str) -> None:
    corpus, key = dataset.corpus, "target" if dataset.label_kind == "numbers" else "label"
    words = _used_words(corpus)
    for d in range(corpus.n_documents):
        record: dict[str, Any] = {}
        if dataset.ids is not None:
            record["id"] = _plain(dataset.ids[d])
        if dataset.labels is not None:
            record[key] = _plain(dataset.labels[d])
        record["tokens"] = [words[w] for w in corpus.document(d)]
        stream.write(json_line(record).encode("utf-8"))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _used_words(corpus: Corpus) -> list[str | None]:
    """The vocabulary, None in place of words that no document has: they need not be written."""
    assert corpus.vocabulary is not None
    used = corpus.word_counts > 0
    return [word if seen else None for word, seen in zip(corpus.vocabulary.tolist(), used.tolist(), strict=True)]


_WRITERS: dict[str, Callable[[Dataset, BinaryIO, str], None]] = {
    "jsonl": _jsonl,
    "mallet": _mallet,
    "svmlight": _svmlight,
    "uci": _uci,
    "npz": _npz,
}
