"""Reading documents: from a source, by its format, to a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import resolve_n_jobs
from topoi.corpus import Corpus, Ngrams
from topoi.corpus.building import build_corpus
from topoi.corpus.checks import read_vocabulary
from topoi.corpus.ngrams import NgramCounter, known_by, new_counter
from topoi.corpus.text import Preparation, TextOptions
from topoi.corpus.text.gather import Gathering
from topoi.corpus.text.limits import Limits
from topoi.corpus.text.parts import Built, Notes, Order, Tell, mixed
from topoi.corpus.text.preparation import prepared_by
from topoi.corpus.text.stop_words import languages_in, stop_words_of
from topoi.errors import CorpusError, FileError, ParameterError, warn_user
from topoi.readers._beside import Beside, finished, new_answers
from topoi.readers._counts import CountTokens, beside, check_unused, column_names, fit_vocabulary, read_vocabulary_file
from topoi.readers._covariates import GROUP, TOPIC_LABELS, read_groups, read_wanted
from topoi.readers._dataset import Dataset
from topoi.readers._faults import FEW, Faults, fault
from topoi.readers._formats import Format
from topoi.readers._parts import FileReader, MemoryOfPart, cut_parts
from topoi.readers._request import Request
from topoi.readers._several import Files, files_of_table, found_sources, new_template, open_files


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
    ngrams: int | tuple[int, int] | Ngrams | None = None,
    like: Any = None,
    delimiter: str | None = None,
    quotes: bool = True,
    header: bool = True,
    first_index: int = 1,
    keep_texts: int = 0,
    max_memory: int | str | None = None,
    n_jobs: int | None = None,
    engine: Any = None,
    progress: Tell | None = None,
    save_to: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read documents from a path, from standard input (`"-"`) or from a binary stream; or from several files in turn.

    The file may be compressed: .gz, .xz, .bz2 or .zst, told from its first bytes. Texts are never in memory together.

    Parameters
    ----------
    source
        A path, a URL of an object store, as `"s3://bucket/posts.csv"`, `"-"`, or a binary stream. Several files with
        texts are read as one: a list of paths, or a pattern, as `"posts-*.csv"`, whose files come in the order of their
        names.
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
        1 to count the words that topics do not count as well, 2 pairs of neighbouring words, 3 also triples, (1, 2) the
        former and pairs, for supervised models to predict from; they are then in `corpus.ngrams`. Or those of a corpus
        or a model, to count the same. Files of counts have none.
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
    n_jobs, engine
        How many processes read parts of the files at the same time (−1: one for each core), or the Dask `Client` whose
        workers do. The dataset is the same; the tokens of its corpus are then on the disk, in a temporary folder.
        Texts only; neither `phrases` nor `ngrams` can be found in parts.
    progress
        A function that is told, while parts are read, what is being done, how many parts are done, and of how many.
    save_to
        The folder, or the URL, at which to save the corpus: it is read in parts, and written as they are done. Labels,
        ids and covariates that are asked for are not saved with it, but returned.

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
    template = new_template(
        text=_text_columns(text),
        label=label,
        target=target,
        id=id,
        label_separator=label_separator,
        delimiter=delimiter,
        quotes=quotes,
        header=header,
        first_index=first_index,
        vocabulary_file=vocabulary_file,
        max_memory=max_memory,
        covariates=wanted,
        encoding=encoding,
    )
    files = open_files(found_sources(source), template, format, Faults(on_error))
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
    if counter is not None and not files.texts:
        raise ParameterError("ngrams", f"{files.name} has counts of words, which do not tell n-grams; give texts")
    for name in ("stem", "lemmas"):
        if getattr(options, name) and not files.texts:
            raise ParameterError(name, f"{files.name} has counts of words, which stay as they are; give texts")
    in_parts = engine is not None or save_to is not None or resolve_n_jobs(1 if n_jobs is None else n_jobs) > 1
    if in_parts:
        _check_parts(files, counter)
    try:
        if in_parts:
            told = save_to is None or bool(label or target or id or wanted)
            reader = FileReader(template, on_error, told, elsewhere=engine is not None)
            order = Order(reader, options, known, prepared, MemoryOfPart(max_memory))
            dataset = _read_parts(files, order, n_jobs, engine, save_to, progress)
        elif files.texts:
            dataset = _read_texts(files, options, known, prepared, keep_texts, counter)
        else:
            dataset = _read_counts(files.formats[0], files.requests[0], options, known)
    except MemoryError as error:
        raise fault(files.name, "does not fit into memory.") from error
    return replace(dataset, groups=_groups(dataset, grouped_by)) if grouped_by else dataset


def parquet_corpus(source: Any, **options: Any) -> Corpus:
    """The corpus of Parquet files; see `Corpus.from_parquet`."""
    data = read_documents(files_of_table(source), format="parquet", **options)
    if data.n_skipped:
        warn_user(f"{data.n_skipped:,} rows could not be read and are left out; the first: {data.skipped[0]}")
    return data.corpus


def _groups(dataset: Dataset, names: list[str]) -> dict[str, NDArray[Any]]:
    """The columns to group by, of which some may have been read as covariates."""
    return {name: ((dataset.groups or {}) | (dataset.covariates or {}))[name] for name in names}


def _read_texts(
    files: Files,
    options: TextOptions,
    vocabulary: NDArray[np.object_] | None,
    prepared: Preparation | None,
    keep_texts: int,
    counter: NgramCounter | None,
) -> Dataset:
    gathering: Gathering | None = None
    before = files.states
    beside = Beside(files.requests[0])
    kept: list[str] = []
    are_lists, n_documents, n_kept = False, 0, 0
    for text, answer, document_id, *covariates in files.documents():
        if gathering is None:
            are_lists = isinstance(text, list)
            gathering = Gathering(options, vocabulary, prepared, counter, files.memory, are_lists)
        if isinstance(text, list) is not are_lists:
            raise fault(files.name, str(mixed()))
        beside.add(answer, document_id, covariates)
        if n_documents < keep_texts:
            kept.append(_as_text(text))
            n_kept += getsizeof(kept[-1])
        gathering.add(text, n_kept + beside.n_bytes)
        n_documents += 1
    if gathering is None:
        raise _no_documents(files.name, files.faults)
    corpus = Corpus.gathered(gathering, counter)
    if not corpus.n_words:
        raise _no_words(files.name, n_documents)
    return _dataset(files, corpus, beside, kept, before)


def _read_parts(
    files: Files, order: Order, n_jobs: int | None, engine: Any, save_to: Any, tell: Tell | None
) -> Dataset:
    """The same in parts: what is noted of them comes in their order."""
    before = files.states if save_to is None else None
    beside = Beside(files.requests[0])

    def note(notes: Notes) -> None:
        for answer, document_id, *covariates in notes.beside:
            beside.add(answer, document_id, covariates)
        files.memory.ask(beside.n_bytes, "Ids, labels and columns of its documents are kept")
        files.faults.n_skipped += notes.n_skipped
        files.faults.messages += notes.messages[: FEW - len(files.faults.messages)]

    def check(built: Built) -> None:
        if not built.n_documents:
            raise _no_documents(files.name, files.faults)
        if not len(built.vocabulary):
            raise _no_words(files.name, built.n_documents)

    parts = cut_parts(files, elsewhere=engine is not None)
    corpus = build_corpus(parts, order, check, n_jobs=n_jobs, engine=engine, save_to=save_to, tell=tell, note=note)
    return _dataset(files, corpus, beside, [], before)


def _dataset(files: Files, corpus: Corpus, beside: Beside, kept: list[str], before: list[Any] | None) -> Dataset:
    known, faults = beside.finish(), files.faults
    return Dataset(
        corpus,
        known.labels,
        known.ids,
        faults.n_skipped,
        faults.messages,
        kept,
        partial(_texts, files, before) if files.again and before is not None else None,
        known.covariates,
        known.topic_labels,
        known.groups,
    )


def _read_counts(
    chosen: Format, request: Request, options: TextOptions, vocabulary: NDArray[np.object_] | None
) -> Dataset:
    answers = new_answers(request, none_is_known=True)
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
        raise _no_documents(request.name, request.faults)
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
    faults = request.faults
    return Dataset(corpus, finished(answers, request.answer is not None), None, faults.n_skipped, faults.messages)


def _named_stop_words(options: TextOptions) -> frozenset[str]:
    """Stop words that are asked for by name."""
    asked = options.stop_words
    if isinstance(asked, str):
        return frozenset().union(*map(stop_words_of, languages_in(asked)))
    return frozenset(asked or ())


def _texts(files: Files, before: list[Any]) -> Iterator[str]:
    """The texts once more, without those that were skipped."""
    if files.states != before:
        raise fault(files.name, "the file has changed since it was read; read it again.")
    for text, *_ in files.documents(Faults("skip")):
        yield _as_text(text)


def _as_text(text: str | list[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)


def _no_documents(name: str, faults: Faults) -> FileError:
    if faults.n_skipped:
        what = f"none of {faults.n_skipped} documents could be read. The first: {faults.messages[0]}"
        return fault(name, what)
    return fault(name, "has no documents: it is empty.")


def _no_words(name: str, n_documents: int) -> FileError:
    return fault(name, f"no word is left of {n_documents} documents: see token_pattern, stop_words and min_df.")


def _text_columns(text: Any) -> tuple[str, ...]:
    """The columns of the text: none if they are not named."""
    if text is None:
        return ()
    names = (text,) if isinstance(text, str) else tuple(text) if isinstance(text, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError("text", f"must be the name of a column, or a list of different names, not {text!r}")
    return names


def _check_parts(files: Files, counter: NgramCounter | None) -> None:
    """Raise unless files can be read in parts."""
    if counter is not None:
        raise ParameterError(
            "ngrams", "are counted in all texts together, which cannot be done in parts; leave them out"
        )
    if not files.texts:
        raise FileError(f"{files.name}: has counts of words, which are not read in parts.", files.name)
    if not files.again:
        raise FileError(f"{files.name}: cannot be read in parts, only files can.", files.name)


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
