"""`topoi export`: a model for other programs."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import note, told_warnings, waiting
from topoi.cli._documents import allowed
from topoi.cli._folder import Model, open_model
from topoi.cli._output import check_output, check_output_folder
from topoi.cli._reading import Delimiter, Encoding, Id, LemmasOfModel, NewReading, Text, TokenPattern, read_new
from topoi.cli.predict import names_of, say_skipped
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.chain.model import TopicModel
    from topoi.readers import Dataset

PIECE = 1000  # documents written together


class Form(StrEnum):
    """What to write."""

    TABLES = "tables"
    PYLDAVIS = "pyldavis"
    MALLET_STATE = "mallet-state"
    TOPIC_WORD = "topic-word"
    DOC_TOPIC = "doc-topic"


def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; of tables, a folder.")],
    form: Annotated[Form, typer.Option("--format", "-f", help="What to write.")],
    documents: Annotated[
        str | None, typer.Argument(metavar="DOCUMENTS", help="Documents; all but tables and topic-word need them.")
    ] = None,
    text: Text = None,
    id: Id = None,
    documents_format: Annotated[str | None, typer.Option("--from", help="Format of DOCUMENTS.")] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    token_pattern: TokenPattern = None,
    lemmas: LemmasOfModel = None,
) -> None:
    """Write a model for spreadsheets and other programs.

    `tables` is a folder of CSV files that spreadsheets open: topics.csv (words, shares), words.csv (probabilities),
    effects.csv if topics depend on covariates, and of DOCUMENTS documents.csv (predictions, strongest topics) and
    shares.csv (all topics); model_card.md says what the model is.

    `topic-word` and `doc-topic` are tables (.csv, .tsv, .jsonl, .parquet). `pyldavis` is JSON whose entries are the
    arguments of pyLDAvis's `prepare`. `mallet-state` is a gzip file as MALLET's --output-state: the topic of a token is
    the most probable one given the shares of its document, found by fold-in; it is no state of the sampler.

    \b
      topoi export model posts.csv -f tables -o tables
      topoi export model -f topic-word -o topics.csv
      topoi export model posts.csv -f pyldavis -o vis.json

    In Python, the last is then for pyLDAvis.prepare(**json.load(open("vis.json"))).
    """
    if form is Form.TABLES:
        check_output_folder(output)
    else:
        check_output(output, model, documents)
    new = NewReading(text, id, documents_format, encoding, "raise", delimiter, token_pattern, lemmas)
    with waiting("loading …"):
        opened = open_model(model)
        data = None
        if form not in (Form.TABLES, Form.TOPIC_WORD):
            if documents is None:
                raise ParameterError("documents", f"{form.value} needs them: topoi export {model} DOCUMENTS …")
            data = read_new(documents, new, opened.reading, opened)
            say_skipped(data)
    if form is Form.TABLES:
        _write_tables(opened, documents, new, output)
        return
    from topoi.writers import write_table

    with waiting("writing …"):
        if data is None:
            write_table(_topic_word(opened), output)
        elif form is Form.DOC_TOPIC:
            from topoi.cli.transform import with_shares

            shares = opened.estimator.transform(data.corpus)
            write_table(with_shares(names_of(data), opened, shares, None), output)
        elif form is Form.PYLDAVIS:
            _write_pyldavis(opened, data, output)
        else:
            _write_state(opened, data, output)
    note(f"Written: {output}")


def _write_tables(model: Model, documents: str | None, reading: NewReading, output: str) -> None:
    from topoi.cli._tables import write_tables

    data = None
    if documents is not None:
        needed = model.covariates if model.target.kind is not None else model.topic_covariates
        with waiting("reading …"):
            found = read_new(documents, reading, model.reading, model, covariates=needed, ngrams=model.ngrams)
            data = allowed(model, found)
        say_skipped(data)
    with told_warnings(), waiting("writing …"):
        written = write_tables(model, data, Path(output))
    note(f"Written to {output}: {', '.join(written)}")


def _topic_word(model: Model) -> dict[str, Any]:
    """A row per word, a column per topic."""
    from topoi.chain.names import AS_COLUMN, topic_labels

    models = model.estimator.topic_models_
    words = {"word": [model.words.word(w) for w in range(model.words.n_words)]}
    columns = [_Column(rows, k) for rows in map(_Rows, models) for k in range(rows.model.n_topics)]
    return words | dict(zip(topic_labels(models, AS_COLUMN, words), columns, strict=True))


class _Rows:
    """φ of those words of a model that are being written: of a large model not all are in memory at a time."""

    def __init__(self, model: TopicModel) -> None:
        self.model = model
        self.part: slice | None = None
        self.phi: Any = None

    def __call__(self, part: slice) -> Any:
        """φ of a part of the words, made once for all topics."""
        import numpy as np

        if part != self.part:
            self.phi = self.model.word_probabilities(np.arange(*part.indices(self.model.n_words)))
            self.part = part
        return self.phi


class _Column:
    """φ of a topic, of which `write_table` takes a part after the other."""

    def __init__(self, rows: _Rows, topic: int) -> None:
        self.rows = rows
        self.topic = topic
        self.dtype = rows.model.scale.dtype

    def __len__(self) -> int:
        return self.rows.model.n_words

    def __getitem__(self, part: slice) -> Any:
        return self.rows(part)[:, self.topic]


def _one(model: Model, form: Form) -> Any:
    if len(model.estimator.topic_models_) > 1:
        raise ParameterError("format", f"{form.value} holds one topic model, but --strategy ovr or ovo made several")
    return model.words


def _write_pyldavis(model: Model, data: Dataset, output: str) -> None:
    from topoi.writers._output import output as writing

    words = _one(model, Form.PYLDAVIS)
    corpus = data.corpus
    if (corpus.doc_lengths == 0).any():  # pyLDAvis divides by their lengths
        corpus = corpus.take(corpus.doc_lengths > 0)
    record = {
        "topic_term_dists": words.topic_word().tolist(),
        "doc_topic_dists": model.estimator.transform(corpus).tolist(),
        "doc_lengths": corpus.doc_lengths.tolist(),
        "vocab": [words.word(w) for w in range(words.n_words)],
        "term_frequency": corpus.word_counts.tolist(),
    }
    with writing(output) as stream:
        stream.write(json.dumps(record).encode("ascii"))


def _write_state(model: Model, data: Dataset, output: str) -> None:
    import gzip

    import numpy as np

    from topoi.report.sections.documents import word_topics
    from topoi.writers._output import output as writing

    words, corpus = _one(model, Form.MALLET_STATE), data.corpus
    names = next(iter(names_of(data).values()))
    with writing(output) as stream:
        # A name in .gz is compressed by the writer; MALLET reads no other state, so that any other is as well.
        plain = output.endswith((".gz", ".xz", ".bz2", ".zst"))
        file: Any = stream if plain else gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)
        beta = words.priors.words.total(words.n_words) / words.n_words  # MALLET has one for all words
        alpha = " ".join(f"{value:.6g}" for value in words.alpha.tolist())
        file.write(f"#doc source pos typeindex type topic\n#alpha : {alpha}\n#beta : {beta:.6g}\n".encode())
        for first in range(0, corpus.n_documents, PIECE):
            piece = corpus.take(slice(first, first + PIECE))
            shares = model.estimator.transform(piece)
            for d in range(piece.n_documents):
                tokens = piece.document(d)
                own, where = np.unique(tokens, return_inverse=True)
                topics = word_topics(words, shares[d], own)[where].tolist()
                source = "_".join(str(names[first + d]).split()) or "NA"
                lines = [
                    f"{first + d} {source} {position} {w} {words.word(w)} {k}\n"
                    for position, (w, k) in enumerate(zip(tokens.tolist(), topics, strict=True))
                ]
                file.write("".join(lines).encode("utf-8"))
        if not plain:
            file.close()
