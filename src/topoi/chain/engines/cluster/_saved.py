"""Corpora in folders: tasks read documents from there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoi._disk.folders import check_no_links, remove_with, temporary_folder
from topoi.corpus import Corpus
from topoi.errors import CorpusError


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
        place = self.folder or temporary_folder("topoi-corpus-")
        folder = place / f"corpus-{len(self.copies)}"
        check_no_links(folder)
        copy = _as_before(corpus, folder)
        if copy is None:
            corpus.save(folder)
            copy = Corpus.load(folder)
        copy = copy.with_about(**corpus.about)  # which is not among the files of a corpus
        if self.folder is None:
            remove_with(copy, place)
        return copy


def _as_before(corpus: Corpus, folder: Path) -> Corpus | None:
    """The corpus that a fit before this one has saved, if it is the same: Windows replaces no file that is mapped."""
    try:
        there = Corpus.load(folder)
    except CorpusError:
        return None
    same = there.n_words == corpus.n_words and all(
        np.array_equal(getattr(there, name), getattr(corpus, name)) for name in ("words", "doc_ptr", "vocabulary")
    )
    return there if same else None
