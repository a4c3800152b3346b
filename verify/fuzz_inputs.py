"""What the fuzzers begin from: a few documents, finished models, killed fits, a saved corpus; all tiny."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from fuzzing import command

from topoi import Corpus
from topoi.chain.checkpoint import Journal

SUBJECTS = {"fruit": ["apple", "pear", "plum", "juice"], "metal": ["iron", "zinc", "alloy", "forge"]}
COLUMNS = ["--text", "body", "--label", "subject"]
#: Options of a fit of milliseconds.
TINY = ["--topics", "2", "--sweeps", "3", "--samples", "2", "--jobs", "1", "--max-df", "1.0", "--min-df", "1"]


class Killed(BaseException):
    """The end of a process, as by kill -9."""


def write_documents(path: Path, n: int = 8) -> None:
    """A table of posts about one subject or the other."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "body", "subject", "stars"])
        for i in range(n):
            subject = sorted(SUBJECTS)[i % 2]
            writer.writerow([f"post-{i}", " ".join(rng.choice(SUBJECTS[subject], 6)), subject, i % 2 + 0.5])


def make_all(outside: Path) -> None:
    """All of it: documents.csv and the folders lda, classifier, regressor, unfinished, blocks, corpus."""
    documents = outside / "documents.csv"
    write_documents(documents)
    fit(documents, outside / "lda", "--text", "body")
    fit(documents, outside / "classifier", *COLUMNS, "--hold-out", "0.25", "--ngrams", "2")
    fit(documents, outside / "regressor", "--text", "body", "--target", "stars", "--loss", "squared")
    kill_fit(documents, outside / "unfinished", *COLUMNS)
    kill_fit(documents, outside / "blocks", *COLUMNS, "--dask", "blocks")
    rng = np.random.default_rng(1)
    words = [word for names in SUBJECTS.values() for word in names]
    Corpus.from_tokens([rng.choice(words, 30).tolist() for _ in range(5)], words, ngrams=2).save(outside / "corpus")


def fit(documents: Path, folder: Path, *more: str) -> None:
    """A fit that ends."""
    outcome = command(["fit", str(documents), "-o", str(folder), *TINY, *more])
    if outcome != "done":
        raise RuntimeError(f"topoi fit: {outcome}")


def kill_fit(documents: Path, folder: Path, *more: str) -> None:
    """A fit that is killed once its second checkpoint is written."""
    write = Journal.write
    written: list[Any] = []

    def writing(*arguments: Any) -> None:
        write(*arguments)
        written.append(arguments)
        if len(written) == 2:
            raise Killed

    with mock.patch.object(Journal, "write", writing):
        try:
            command(["fit", str(documents), "-o", str(folder), "--checkpoint-seconds", "0", *TINY, *more])
        except Killed:
            return
    raise RuntimeError("the fit ended without checkpoints")
