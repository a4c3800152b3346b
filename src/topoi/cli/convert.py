"""`topoi convert`: documents from one format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from topoi.cli._app import check_output, note, waiting
from topoi.cli._reading import Reading, read
from topoi.cli.predict import say_skipped


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
    check_output(output)
    from topoi.writers import write_documents

    with waiting("reading …"):
        data = read(documents, reading, limits=False)
    say_skipped(data)
    with waiting("writing …"):
        write_documents(data, output, to, labels=labels, vocabulary_file=words_to)
    corpus = data.corpus
    note(f"{len(data):,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words.")
