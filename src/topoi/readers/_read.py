"""Reading documents: from a source, by its format, to a dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.corpus import Corpus, Ngrams
from topoi.corpus.checks import read_vocabulary
from topoi.corpus.ngrams import NgramCounter, known_by, new_counter
from topoi.corpus.text import Preparation, TextOptions
from topoi.corpus.text.gather import Gathering
from topoi.corpus.text.limits import Limits
from topoi.corpus.text.preparation import prepared_by
from topoi.corpus.text.stop_words import languages_in, stop_words_of
from topoi.errors import CorpusError, FileError, ParameterError
from topoi.readers._counts import CountTokens, beside, check_unused, column_names, fit_vocabulary, read_vocabulary_file
from topoi.readers._covariates import GROUP, TOPIC_LABELS, CovariateColumn, GroupColumn, read_groups, read_wanted
from topoi.readers._dataset import Dataset
from topoi.readers._faults import Faults, fault
from topoi.readers._formats import Format, check_columns, choose_format
from topoi.readers._labels import LabelColumn, NumberColumn, TopicLabelColumn, one_kind
from topoi.readers._memory import Memory
from topoi.readers._request import Documents, Request
from topoi.readers._source import Source


def read_documents(
    source: Any,
    *,
    format: str | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    id: str | None = None,
    target: str | bool | None = None,
    covariates: Sequence[str] | Mapping[str, str | None] | None = None,
    topic_labels: str | None = None,
    groups: Sequence[str] | None = None,
    label_separator: str | None = None,
    encoding: str = "utf-8",
    on_error: str = "raise",
    vocabulary: Any = None,
    vocabulary_file: str | os.PathLike[str] | None = None,
    clean: str = "auto",
    lowercase: bool = True,
    token_pattern: str | None = None,
    stop_words: str | Iterable[str] | None = "auto",
    tokenized: bool = False,
    min_df: float | str = "auto",
    max_df: float | str = "auto",
    max_features: int | None = None,
    phrases: bool = False,
    stem: bool = False,
    lemmas: Any = None,
    ngrams: int | Ngrams | None = None,
    like: Any = None,
    delimiter: str | None = None,
    quotes: bool = True,
    header: bool = True,
    first_index: int = 1,
    keep_texts: int = 0,
    max_memory: int | str | None = None,
) -> Dataset:
    """Read documents from a path, from standard input (`"-"`) or from a binary stream.

    The file may be compressed: .gz, .xz, .bz2 or .zst, told from its first bytes. Texts are never in memory together.

    Parameters
    ----------
    format
        One of `FORMATS`; None tells it from the name. A stream has none, so it must be given.
    text, label, id
        Names of columns (CSV, TSV, JSON lines, Parquet). The text is by default `text`, or the only column; texts of
        several columns, as `["title", "body"]`, are joined. Other formats have their labels and ids in a fixed place.
    target
        The column with a number to predict, in place of a label. True: the label, in formats without columns, is one.
    covariates
        Columns with what else is known of the documents, as `["price", "brand"]`, for `Dataset.covariates`. A column is
        of numbers if every value of it is one, else of categories. A mapping says what they are, for new documents that
        must be as those before: `{"price": "number", "brand": "category"}`.
    topic_labels
        The column with names of topics that a document may have, for `Dataset.topic_labels`: one, several divided by
        `label_separator`, or a list (JSON lines, Parquet). An empty field says that they are not known.
    groups
        Columns to group documents by afterwards (`topoi.topics_by`), as `["date", "section"]`, for `Dataset.groups`.
        They may have anything in them; an empty field is None.
    label_separator
        What divides the labels of a document, as in `"red;green"`; each document then has a list of labels.
    encoding
        The encoding of the text.
    on_error
        What to do about a document that cannot be read: `"raise"`, or `"skip"` and count it.
    vocabulary
        The words to know, in order, or the path of a file with one a line: other words are dropped, and documents that
        become empty are kept. Limits do not apply. Without one, the vocabulary is every word there is, sorted.
    vocabulary_file
        The words of the columns of a file of counts (UCI, SVMlight, npz), if they are not in a file beside it.
    clean, lowercase, token_pattern, stop_words, min_df, max_df, max_features, phrases, stem, lemmas
        How texts become words: as for `Corpus.from_texts`, with the same result. Files of counts keep all words unless
        they are asked not to.
    ngrams
        1 to count the words that topics do not count as well, 2 pairs of neighbouring words, 3 also triples, for
        supervised models to predict from; they are then in `corpus.ngrams`. Or those of a corpus or a model, to count
        the same. Files of counts have none.
    like
        A fitted estimator, or a corpus: its vocabulary, phrases and n-grams are used, and texts are cleaned and cut as
        its own were, by the `token_pattern` and the spaCy pipeline (`lemmas`) that are given, if they are.
    tokenized
        The texts are words divided by blanks: they are not cleaned, nor cut by the pattern, nor made lower case, and
        keep their stop words unless these are named. So it is where texts are lists of words.
    delimiter, quotes, header
        CSV and TSV: the character between fields; whether quotes have a meaning; whether the first line has names, else
        the columns are `"1"`, `"2"`, ….
    first_index
        SVMlight: the number of the first column, 1 or 0.
    keep_texts
        How many texts, of the first documents, to keep for `Dataset.texts`: a stream cannot be read twice.
    max_memory
        The most that the file may ask for, in memory or for a temporary copy on the disk: bytes, or text as `"8GB"`.
        None is 64 times the size of the file, and at least 1 GiB, which only files that are made to harm exceed.

    Raises
    ------
    FileError
        A file that cannot be read; it says the line and what to do.
    ParameterError
        An option that cannot be used.
    """
    wanted = read_wanted(covariates)
    _check(label, target, first_index, label_separator, wanted)
    if topic_labels is not None:
        if not isinstance(topic_labels, str) or not topic_labels or topic_labels in wanted:
            raise ParameterError("topic_labels", f"is {topic_labels!r}; name a column that is no covariate")
        wanted[topic_labels] = TOPIC_LABELS
    grouped_by = read_groups(groups, wanted)
    wanted |= {name: GROUP for name in grouped_by if name not in wanted}
    origin = Source(source, encoding)
    faults = Faults(on_error)
    request = Request(
        origin,
        faults,
        Memory(origin.name, lambda: origin.n_bytes, max_memory),
        _text_columns(text),
        label,
        target,
        id,
        label_separator,
        delimiter,
        quotes,
        header,
        first_index,
        vocabulary_file,
        max_memory,
        wanted,
    )
    chosen = choose_format(origin, format)
    check_columns(chosen, request)
    options = TextOptions(
        clean, lowercase, token_pattern, stop_words, tokenized, min_df, max_df, max_features, phrases, stem, lemmas
    )  # fmt: skip
    prepared: Preparation | None = None
    if like is not None:
        vocabulary, ngrams = known_by(like)
        prepared = prepared_by(like)
        options = prepared.options_with(token_pattern, lemmas)
    known = _known_words(vocabulary, max_memory)
    counter = new_counter(ngrams)
    if counter is not None and chosen.documents is None:
        raise ParameterError("ngrams", f"{origin.name} has counts of words, which do not tell n-grams; give texts")
    for name in ("stem", "lemmas"):
        if getattr(options, name) and chosen.documents is None:
            raise ParameterError(name, f"{origin.name} has counts of words, which stay as they are; give texts")
    try:
        if chosen.documents is not None:
            dataset = _read_texts(chosen.documents, request, options, known, prepared, keep_texts, counter)
        else:
            dataset = _read_counts(chosen, request, options, known)
    except MemoryError as error:
        raise fault(origin.name, "does not fit into memory.") from error
    return replace(dataset, groups=_groups(dataset, grouped_by)) if grouped_by else dataset


def _groups(dataset: Dataset, names: list[str]) -> dict[str, NDArray[Any]]:
    """The columns to group by, of which some may have been read as covariates."""
    return {name: ((dataset.groups or {}) | (dataset.covariates or {}))[name] for name in names}


def _new_column(name: str, kind: str | None, label_separator: str | None) -> TopicLabelColumn | CovariateColumn:
    if kind == TOPIC_LABELS:
        return TopicLabelColumn(label_separator)
    return GroupColumn() if kind == GROUP else CovariateColumn(kind, name)


def _read_texts(
    documents: Callable[[Request], Documents],
    request: Request,
    options: TextOptions,
    vocabulary: NDArray[np.object_] | None,
    prepared: Preparation | None,
    keep_texts: int,
    counter: NgramCounter | None,
) -> Dataset:
    gathering: Gathering | None = None
    before = _state(request.source)
    answers = _answers(request)
    ids: list[Any] = []
    kept: list[str] = []
    beside = {name: _new_column(name, kind, request.label_separator) for name, kind in request.covariates.items()}
    columns = list(beside.values())
    are_lists, n_documents, n_kept = False, 0, 0
    for text, answer, document_id, *covariates in documents(request):
        if gathering is None:
            are_lists = isinstance(text, list)
            gathering = Gathering(options, vocabulary, prepared, counter, request.memory, are_lists)
        if isinstance(text, list) is not are_lists:
            what = "some texts are strings, others lists of words; make them one or the other."
            raise fault(request.name, what)
        answers.add(answer)
        if document_id is not None:
            ids.append(document_id)
            n_kept += getsizeof(document_id)
        if n_documents < keep_texts:
            kept.append(_as_text(text))
            n_kept += getsizeof(kept[-1])
        n_beside = 0
        for column, value in zip(columns, covariates, strict=True):
            column.add(value)
            n_beside += column.n_bytes
        gathering.add(text, n_kept + n_beside + answers.n_bytes)
        n_documents += 1
    if gathering is None:
        raise _no_documents(request)
    corpus = Corpus.gathered(gathering, counter)
    if not corpus.n_words:
        raise fault(
            request.name, f"no word is left of {n_documents} documents: see token_pattern, stop_words and min_df."
        )
    found = _dataset(
        request, corpus, answers, ids, kept,
        partial(_texts, documents, request, before) if request.source.again else None,
    )  # fmt: skip
    by_kind: dict[Any, dict[str, Any]] = {TopicLabelColumn: {}, CovariateColumn: {}, GroupColumn: {}}
    for name, column in beside.items():
        by_kind[type(column)][name] = column.finish()
    return replace(
        found,
        covariates=by_kind[CovariateColumn] or None,
        topic_labels=next(iter(by_kind[TopicLabelColumn].values()), None),
        groups=by_kind[GroupColumn] or None,
    )


def _read_counts(
    chosen: Format, request: Request, options: TextOptions, vocabulary: NDArray[np.object_] | None
) -> Dataset:
    answers = _answers(request, none_is_known=True)
    if chosen.rows is not None:
        cells = CountTokens(request.memory)
        for columns, counts, answer in chosen.rows(request):
            cells.add(columns, counts)
            answers.add(answer)
        tokens, n_columns = cells.finish()
    else:
        assert chosen.tokens is not None
        tokens, n_columns = chosen.tokens(request)
    if not len(tokens.lengths):
        raise _no_documents(request)
    names = column_names(request, beside(request))
    if names is not None:
        if n_columns > len(names) or (chosen.rows is None and n_columns < len(names)):
            raise fault(request.name, f"has {n_columns} columns, but its vocabulary file has {len(names)} words.")
        n_columns = len(names)
    check_unused(request, n_columns, len(tokens.words))
    tokens.renumber(np.arange(n_columns, dtype=np.int32), sort=True)
    try:
        # Counts were made by somebody who chose the words: nothing is left out by default.
        least = 1 if options.min_df == "auto" else options.min_df
        most = 1.0 if options.max_df == "auto" else options.max_df
        limits = Limits(least, most, options.max_features)
        corpus = fit_vocabulary(tokens, names, n_columns, vocabulary, limits, _named_stop_words(options))
    except CorpusError as error:
        raise fault(request.name, str(error)) from error
    if not corpus.n_words:
        raise fault(request.name, "no word is left: see stop_words and min_df.")
    return _dataset(request, corpus, answers, [], [], None)


def _named_stop_words(options: TextOptions) -> frozenset[str]:
    """Stop words that are asked for by name."""
    asked = options.stop_words
    if isinstance(asked, str):
        return frozenset().union(*map(stop_words_of, languages_in(asked)))
    return frozenset(asked or ())


def _dataset(
    request: Request,
    corpus: Corpus,
    answers: LabelColumn | NumberColumn,
    ids: list[Any],
    kept: list[str],
    reread: Callable[[], Iterator[str]] | None,
) -> Dataset:
    faults = request.faults
    return Dataset(
        corpus,
        answers.finish() if answers.n_known or request.answer is not None else None,
        one_kind(ids) if ids else None,
        faults.n_skipped,
        faults.messages,
        kept,
        reread,
    )


def _answers(request: Request, none_is_known: bool = False) -> LabelColumn | NumberColumn:
    return NumberColumn() if request.numeric else LabelColumn(request.label_separator, none_is_known)


def _texts(documents: Callable[[Request], Documents], request: Request, before: Any) -> Iterator[str]:
    """The texts once more, without those that were skipped."""
    if _state(request.source) != before:
        raise fault(request.name, "the file has changed since it was read; read it again.")
    for text, *_ in documents(replace(request, faults=Faults("skip"))):
        yield _as_text(text)


def _state(source: Source) -> Any:
    """Size and time of a file, by which a change shows."""
    try:
        stat = os.stat(source.path) if source.path is not None else None
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    return None if stat is None else (stat.st_size, stat.st_mtime_ns)


def _as_text(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


def _no_documents(request: Request) -> FileError:
    if request.faults.n_skipped:
        what = f"none of {request.faults.n_skipped} documents could be read. The first: {request.faults.messages[0]}"
        return fault(request.name, what)
    return fault(request.name, "has no documents: it is empty.")


def _text_columns(text: Any) -> tuple[str, ...]:
    """The columns of the text: none if they are not named."""
    if text is None:
        return ()
    names = (text,) if isinstance(text, str) else tuple(text) if isinstance(text, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError("text", f"must be the name of a column, or a list of different names, not {text!r}")
    return names


def _known_words(vocabulary: Any, max_memory: Any) -> NDArray[np.object_] | None:
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str | os.PathLike):
        return read_vocabulary_file(vocabulary, max_memory)
    return read_vocabulary(vocabulary)


def _check(label: Any, target: Any, first_index: Any, label_separator: Any, covariates: dict[str, str | None]) -> None:
    if label is not None and target:
        raise ParameterError("target", "and label were both given; a document has a label or a number, not both")
    for name, value in (("label", label), ("target", target)):
        if isinstance(value, str) and value in covariates:
            raise ParameterError("covariates", f"has {value!r}, which is the {name} too: it would tell the answer")
    if first_index not in (0, 1):
        raise ParameterError("first_index", f"must be 0 or 1, not {first_index!r}")
    if label_separator is not None and (not isinstance(label_separator, str) or not label_separator):
        raise ParameterError("label_separator", f"must be a character or more, as ';', not {label_separator!r}")
