"""Corpora in folders: tasks read documents from there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from topoi._disk.anywhere import as_text, check_no_links
from topoi._disk.folders import temporary_folder
from topoi._disk.remote import Location, Remote
from topoi.corpus import Corpus
from topoi.corpus.building import remove_with_tokens
from topoi.errors import CorpusError, MissingObjectError


class Saved:
    """Calling it gives a corpus as one that is in a folder: the same if it is, else a copy, saved under `folder`.

    Without a folder copies are temporary; the corpus that is returned keeps its files. Where the folder is at a URL and
    the tasks are done `elsewhere`, nobody sees the disk of this machine: the corpus must be in the store as well. Tasks
    of this process need no more than a temporary copy.
    """

    def __init__(self, folder: Location | None, elsewhere: bool) -> None:
        self.folder = None if isinstance(folder, Remote) and not elsewhere else folder
        self.published = elsewhere and isinstance(folder, Remote)
        self.copies: dict[int, tuple[Corpus, Corpus]] = {}  # by id; the corpus is kept, so that its id is

    def __call__(self, corpus: Corpus) -> Corpus:
        """The corpus in a folder."""
        if (corpus.origin if self.published else corpus.folder) is not None:
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
            corpus.save(as_text(folder))
            copy = Corpus.load(as_text(folder))
        copy = copy.with_about(**corpus.about)  # which is not among the files of a corpus
        if self.folder is None:
            assert isinstance(place, Path)
            remove_with_tokens(copy, place)
        return copy


def _as_before(corpus: Corpus, folder: Location) -> Corpus | None:
    """The corpus that a fit before this one has saved, if it is the same: Windows replaces no file that is mapped."""
    try:
        there = Corpus.load(as_text(folder))
    except (CorpusError, MissingObjectError):
        return None
    same = there.n_words == corpus.n_words and all(
        np.array_equal(getattr(there, name), getattr(corpus, name)) for name in ("words", "doc_ptr", "vocabulary")
    )
    return there if same else None
