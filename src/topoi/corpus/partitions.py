"""Collections of Dask as parts: a bag or a data frame, of which every partition is read where it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from topoi._machine.workers import is_client
from topoi.corpus.building import build_corpus
from topoi.corpus.corpus import Corpus
from topoi.corpus.ngrams import known_by
from topoi.corpus.text import TextOptions, is_missing
from topoi.corpus.text.cutting import Text
from topoi.corpus.text.given import warn_missing
from topoi.corpus.text.parts import Built, Notes, Order, Tell
from topoi.corpus.text.preparation import prepared_by
from topoi.errors import CorpusError, ParameterError


def partitions_of(collection: Any, text: str | None) -> list[Any]:
    """Its partitions with their numbers, each a Dask object of its own."""
    if not hasattr(collection, "to_delayed") or not hasattr(collection, "npartitions"):
        raise ParameterError(
            "collection", f"must be a bag, Series or DataFrame of Dask, not {type(collection).__name__}"
        )
    columns = getattr(collection, "columns", None)
    if hasattr(collection, "columns") and hasattr(collection, "dtypes") and getattr(collection, "ndim", 2) == 2:
        names = [str(name) for name in columns] if columns is not None else []
        if text is None:
            raise ParameterError("text", f"must name the column of the texts; there are {', '.join(names)}")
        if text not in names:
            raise ParameterError("text", f"there is no column {text!r}; there are {', '.join(names)}")
    from dask.delayed import delayed

    return [delayed((number, part)) for number, part in enumerate(collection.to_delayed())]


def client_at_hand() -> Any:
    """The Dask client of this process, if it has one: whoever uses Dask means it."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        found = distributed.default_client()
    except ValueError:
        return None
    return found if is_client(found) and not found.asynchronous else None


@dataclass(frozen=True)
class PartitionReader:
    """Reads the texts of a partition; those of a data frame, or of a bag of dictionaries, have the name `text`."""

    text: str | None

    def __call__(self, part: Any, notes: Notes) -> Iterator[Text]:
        """The texts; those that are missing are counted."""
        number, values = part.compute(scheduler="sync") if hasattr(part, "compute") else part
        for row, given in enumerate(self._values(values)):
            value = given.get(self.text) if isinstance(given, dict) and self.text is not None else given
            if isinstance(value, str) or (isinstance(value, list) and all(isinstance(word, str) for word in value)):
                yield value
            elif not isinstance(value, list | dict) and is_missing(value):
                notes.n_missing += 1
                yield ""
            else:
                kind = type(value).__name__
                what = f"text {row} of partition {number} is {value!r:.60}, a {kind}; texts must be str."
                if isinstance(value, dict) and value:
                    what += f" Name the key that has them, as text={next(iter(value))!r:.60}."
                raise CorpusError(what, row)

    def _values(self, values: Any) -> Iterable[Any]:
        if hasattr(values, "columns"):
            values = values[self.text]
        found: Iterable[Any] = values.tolist() if hasattr(values, "tolist") else values
        return found


def read_partitions(
    collection: Any,
    text: str | None,
    n_jobs: int | None,
    engine: Any,
    save_to: Any,
    progress: Tell | None,
    like: Any,
    options: dict[str, Any],
) -> Corpus:
    """The corpus of a collection; see `Corpus.from_dask`."""
    if options.pop("ngrams", None) is not None:
        raise ParameterError("ngrams", "are counted in all texts, which cannot be done in parts; leave them out")
    allow_empty = options.pop("allow_empty", False) or like is not None
    asked, vocabulary, known = TextOptions(**options), None, None
    if like is not None:
        vocabulary, ngrams = known_by(like)
        if ngrams is not None:
            raise ParameterError("like", "counts n-grams, which cannot be done in parts; read the texts in one go")
        known = prepared_by(like)
        asked = known.options_with(asked.token_pattern, asked.lemmas)
    n_missing = 0

    def note(notes: Notes) -> None:
        nonlocal n_missing
        n_missing += notes.n_missing

    def check(built: Built) -> None:
        if not built.n_documents and not allow_empty:
            raise CorpusError("there are no documents: no partition has a text.")
        if built.n_documents and n_missing == built.n_documents and not allow_empty:
            name = "" if text is None else f" under the name {text!r}; check it"
            raise CorpusError(f"no document of {n_missing} has a text{name}.")
        if not built.n_tokens and not allow_empty:
            raise CorpusError(
                f"every document is empty: no word is left of {built.n_documents}. See stop_words, min_df, max_df and "
                "clean."
            )

    corpus = build_corpus(
        partitions_of(collection, text),
        Order(PartitionReader(text), asked, vocabulary, known),
        check,
        n_jobs=n_jobs,
        engine=client_at_hand() if engine is None and n_jobs is None else engine,
        save_to=save_to,
        tell=progress,
        note=note,
    )
    warn_missing(n_missing, corpus.n_documents)
    return corpus
