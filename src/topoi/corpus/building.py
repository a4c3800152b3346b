"""A corpus of parts: built where it is to be saved, or in a temporary folder, by whoever is to do the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topoi._disk.folders import make_new, remove_tree, remove_with, replacing, temporary_folder
from topoi._disk.mapped import mapping_of
from topoi._disk.published import PublishedError, check_publishable, publish
from topoi._disk.remote import Remote, locate
from topoi._machine.workers import open_workers
from topoi.corpus.corpus import Corpus
from topoi.corpus.files import check_replaceable, write_built
from topoi.corpus.text.parts import Built, Order, TakeNotes, Tell, build
from topoi.errors import CorpusError

SaveTo = str | os.PathLike[str] | None


def build_corpus(
    parts: Sequence[Any],
    order: Order,
    check: Callable[[Built], None],
    *,
    n_jobs: int | None = None,
    engine: Any = None,
    save_to: SaveTo = None,
    tell: Tell | None = None,
    note: TakeNotes | None = None,
) -> Corpus:
    """The corpus of all parts, with its tokens on the disk; `check` may refuse what came of them.

    Nothing is saved unless all of it is. A corpus that is saved nowhere is in a temporary folder, which goes with it.
    """
    with _place(save_to) as (new, scratch):
        make_new(scratch)
        with open_workers(n_jobs, engine, scratch) as workers:
            built = build(parts, order, workers, tell, note)
            check(built)
            write_built(new, built)
        remove_tree(scratch)
        if save_to is None:
            corpus = Corpus.load(new)
            remove_with_tokens(corpus, new.parent)
    if save_to is not None:
        corpus = Corpus.load(save_to)
    corpus.n_dropped = built.n_dropped
    return corpus


def remove_with_tokens(corpus: Corpus, folder: Path) -> None:
    """Remove a temporary folder when nobody can look any more at the tokens of the corpus that is in it.

    Corpora that are made of it (`with_about`) have the same tokens and the same folder, and may be there for longer.
    And Windows removes no file that is mapped: the corpus goes before its mapping does.
    """
    remove_with(mapping_of(corpus.words), folder)


@contextmanager
def _place(save_to: SaveTo) -> Iterator[tuple[Path, Path]]:
    """A new folder for the corpus, which gets to where it is to be saved, and the name of one for what is kept."""
    place = None if save_to is None else locate(save_to)
    if isinstance(place, Path):
        folder = Path(os.path.realpath(place))
        check_replaceable(folder)
        with replacing(folder) as new:
            yield new, new.parent / "kept"
        return
    folder = temporary_folder("topoi-corpus-")
    try:
        if isinstance(place, Remote):
            check_publishable(place, "corpus")
        make_new(folder / "corpus")
        yield folder / "corpus", folder / "kept"
        if isinstance(place, Remote):
            publish(folder / "corpus", place, "corpus")
    except PublishedError as error:
        remove_tree(folder)
        raise CorpusError(str(error)) from error
    except BaseException:
        remove_tree(folder)
        raise
    if isinstance(place, Remote):
        remove_tree(folder)
