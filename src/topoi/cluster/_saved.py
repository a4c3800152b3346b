"""Corpora in folders: tasks read documents from there."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from topoi.corpus import Corpus


class Saved:
    """Calling it gives a corpus as one that is in a folder: the same if it is, else a copy, saved under `folder`.

    Without a folder copies are temporary; the corpus that is returned keeps its files.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.copies: dict[int, tuple[Corpus, Corpus]] = {}  # by id; the corpus is kept, so that its id is

    def __call__(self, corpus: Corpus) -> Corpus:
        """The corpus in a folder."""
        if corpus.folder is not None:
            return corpus
        if id(corpus) not in self.copies:
            self.copies[id(corpus)] = corpus, self._copy(corpus)
        return self.copies[id(corpus)][1]

    def _copy(self, corpus: Corpus) -> Corpus:
        place = self.folder or Path(tempfile.mkdtemp(prefix="topoi-corpus-"))
        folder = place / f"corpus-{len(self.copies)}"
        corpus.save(folder)
        copy = Corpus.load(folder)
        if self.folder is None:
            weakref.finalize(copy, shutil.rmtree, place, ignore_errors=True)
        return copy
