"""`topoi convert`: documents from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from topoi.cli._app import note, waiting
from topoi.cli._output import check_output, resolved
from topoi.cli._reading import Reading, read
from topoi.cli.predict import say_skipped
from topoi.errors import FileError, ParameterError


def convert(
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    output: Annotated[
        str, typer.Argument(metavar="OUTPUT", help=".jsonl, .mallet, .svm, .npz or docword.*, also .gz; - is stdout.")
    ],
    reading: Reading,
    to: Annotated[
        str | None, typer.Option("--to", help="jsonl, mallet, svmlight, uci or npz, if the name does not tell.")
    ] = None,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Write labels and ids.")] = True,
    words_to: Annotated[
        str | None, typer.Option("--words-to", help="File for the words of counts; beside OUTPUT by default.")
    ] = None,
) -> None:
    """Write documents as words or counts in another format. All words are kept unless --min-df or the like says so.

    \b
      topoi convert posts.csv posts.svm --text body --min-df 2
      topoi convert docword.nips.txt.gz nips.npz
    """
    if reading.topic_labels is not None:
        raise ParameterError("topic_labels", "are not written by convert: it writes words, labels and ids")
    if reading.covariate:
        raise ParameterError("covariates", "are not written by convert: it writes words, labels and ids")
    if reading.ngrams is not None:
        raise ParameterError("ngrams", "are not written by convert: it writes words, labels and ids")
    sources = (documents, reading.vocabulary_file, reading.stop_words)
    check_output(output, *sources)
    from topoi.writers import write_documents
    from topoi.writers._documents import words_file

    with waiting("reading …"):
        data = read(documents, reading, limits=False)
    say_skipped(data)
    _check_words(words_file(data.corpus, output, to, words_to), output, sources)
    with waiting("writing …"):
        write_documents(data, output, to, labels=labels, vocabulary_file=words_to)
    corpus = data.corpus
    note(f"{len(data):,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words.")


def _check_words(found: tuple[Any, bytes] | None, output: str, sources: tuple[str | None, ...]) -> None:
    """Raise if the words of the counts would go to a file that is read, or to that of the counts."""
    if found is None or str(found[0]) == "-":
        return
    path = Path(found[0])
    if resolved(str(path)) == resolved(output):
        raise ParameterError("words_to", f"names the same file as OUTPUT: {output}")
    try:
        check_output(str(path), *sources)
    except FileError:
        if not path.is_file() or path.read_bytes() != found[1]:  # the same words again do no harm
            raise
