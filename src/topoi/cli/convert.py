"""`topoi convert`: documents from one format to another, or to the folder of a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from topoi.cli._app import console, note, waiting
from topoi.cli._output import check_output, resolved
from topoi.cli._reading import Reading, read
from topoi.cli.predict import say_skipped
from topoi.errors import FileError, ParameterError

CORPUS = "corpus"  # in place of a format


def convert(
    documents: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENTS",
            help="A file or folder, a pattern in quotes ('posts-*.csv'), or a URL of these; - is standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT",
            help=".jsonl, .mallet, .svm, .npz or docword.*, also .gz; - is stdout. A name that ends in / is the "
            "folder, or the URL, of a corpus.",
        ),
    ],
    reading: Reading,
    to: Annotated[
        str | None,
        typer.Option("--to", help="jsonl, mallet, svmlight, uci, npz or corpus, if the name does not tell."),
    ] = None,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Write labels and ids.")] = True,
    words_to: Annotated[
        str | None, typer.Option("--words-to", help="File for the words of counts; beside OUTPUT by default.")
    ] = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", help="Processes that read parts of the files together; -1: all cores."),
    ] = 1,
    dask: Annotated[
        str | None,
        typer.Option("--dask", help="Address of a Dask scheduler, as tcp://host:8786, whose workers read the parts."),
    ] = None,
) -> None:
    """Write documents as words or counts in another format. All words are kept unless --min-df or the like says so.

    The folder of a corpus is what models are fitted on: lda.fit("corpus"). Its words are chosen as by topoi fit, and it
    holds no labels. It is made in bounded memory, and the same for any number of processes: docs/howto/big_corpora.md.

    \b
      topoi convert posts.csv posts.svm --text body --min-df 2
      topoi convert docword.nips.txt.gz nips.npz
      topoi convert 's3://bucket/posts/*.parquet' corpus/ --text body --jobs 8
    """
    if reading.topic_labels is not None:
        raise ParameterError("topic_labels", "are not written by convert: it writes words, labels and ids")
    if reading.covariate:
        raise ParameterError("covariates", "are not written by convert: it writes words, labels and ids")
    if reading.ngrams is not None:
        raise ParameterError("ngrams", "are not written by convert: it writes words, labels and ids")
    if _is_corpus(output, to):
        _to_corpus(documents, output, reading, jobs, dask)
        return
    sources = (documents, reading.vocabulary_file, reading.stop_words)
    check_output(output, *sources)
    from topoi.writers import write_documents
    from topoi.writers._documents import words_file

    with _in_parts("reading …", jobs, dask) as how:
        data = read(documents, reading, limits=False, **how)
    say_skipped(data)
    _check_words(words_file(data.corpus, output, to, words_to), output, sources)
    with waiting("writing …"):
        write_documents(data, output, to, labels=labels, vocabulary_file=words_to)
    corpus = data.corpus
    note(f"{len(data):,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words.")


def _is_corpus(output: str, to: str | None) -> bool:
    """Whether the folder of a corpus is asked for."""
    if to is not None:
        return to.lower() == CORPUS
    return output.endswith(("/", os.sep)) or (output != "-" and (Path(output) / "corpus.json").is_file())


def _to_corpus(documents: str, output: str, reading: Reading, jobs: int, dask: str | None) -> None:
    for name in ("label", "target", "id"):
        if getattr(reading, name) is not None:
            raise ParameterError(name, "is not written to a corpus, which holds words only; leave it out")
    from topoi._disk.remote import is_url

    if not is_url(output):
        folder = resolved(output)
        if Path(documents).exists() and resolved(documents).is_relative_to(folder):
            raise FileError(f"{output}: is read by this command, and not replaced; choose another name.", output)
    with _in_parts("reading …", jobs, dask) as how:
        data = read(documents, reading, save_to=output, **how)
    say_skipped(data)
    corpus = data.corpus
    for sentence in corpus.preparation.sentences() if corpus.preparation is not None else ():
        note(sentence)
    note(f"{len(data):,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words.")


@contextmanager
def _in_parts(what: str, jobs: int, dask: str | None) -> Iterator[dict[str, Any]]:
    """How parts are read, and on a terminal how far that is."""
    log = console(stderr=True)
    with log.status(what) as status:

        def progress(doing: str, done: int, of: int) -> None:
            status.update(f"{doing}: {done} of {of} parts …")

        how: dict[str, Any] = {"n_jobs": jobs, "progress": progress}
        if dask is None:
            yield how
            return
        from topoi.chain.engines.cluster import connect, meet_workers

        def say(line: str) -> None:
            log.say(line, "yellow")

        with connect(dask, say) as client:
            meet_workers(client, say)
            yield how | {"engine": client}


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
