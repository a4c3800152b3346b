"""What a reader is asked for: the source, what to do about faults, the columns, and the options of the format."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from topoi.corpus.text.clean import Joined
from topoi.readers._covariates import GROUP, TOPIC_LABELS, check_covariate
from topoi.readers._faults import Faults, fault
from topoi.readers._labels import check_label, read_target
from topoi.readers._memory import Memory
from topoi.readers._source import Source

# A document: its text, or its words if they are listed; its label or target; its id; the values of its covariates, in
# the order in which they are asked for (formats without columns have none).
Document = tuple[str | list[str], Any, Any, *tuple[Any, ...]]
Documents = Iterator[Document]

TEXT_COLUMNS = ("text", "tokens")  # looked for in this order if none is named


@dataclass(frozen=True)
class Columns:
    """Names of the columns to read."""

    texts: tuple[str, ...]  # one, or several whose texts are joined
    answer: str | None
    id: str | None
    covariates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """Everything a reader needs to know; see `read_documents` for the meaning of the options."""

    source: Source
    faults: Faults
    memory: Memory
    text: tuple[str, ...] = ()
    label: str | None = None
    target: str | bool | None = None
    id: str | None = None
    label_separator: str | None = None
    delimiter: str | None = None
    quotes: bool = True
    header: bool = True
    first_index: int = 1
    vocabulary_file: str | os.PathLike[str] | None = None
    max_memory: int | str | None = None
    covariates: Mapping[str, str | None] = field(default_factory=dict)  # names, and what each is said to be
    encoding: str = "utf-8"
    row_groups: tuple[int, int] | None = None  # groups of rows of a Parquet file, from … to; None are all

    @property
    def name(self) -> str:
        """The name of the source, for messages."""
        return self.source.name

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers to predict."""
        return self.target is not None and self.target is not False

    @property
    def answer(self) -> str | None:
        """The column with the labels or targets."""
        return ("target" if self.target is True else str(self.target)) if self.numeric else self.label

    def columns(self, names: Sequence[str], hint: str = "") -> Columns:
        """The columns to read among those that there are; raise if one is missing or comes twice.

        The only column is the text, unless a `hint` says that it may be several columns in truth.
        """
        texts = self.text
        if not texts:
            candidates = texts_among(names)
            if not candidates and (len(names) != 1 or hint):
                raise fault(self.name, f"has no column 'text'; it has {listed(names)}. Name one: text=….{hint}")
            texts = (candidates[0] if candidates else names[0],)
        for name in (*texts, self.answer, self.id, *self.covariates):
            if name is not None and name not in names:
                raise fault(self.name, f"has no column {name!r}; it has {listed(names)}.{hint}")
            if name is not None and list(names).count(name) > 1:
                raise fault(self.name, f"has the column {name!r} more than once; rename one of them.")
        return Columns(texts, self.answer, self.id, tuple(self.covariates))

    def read_answer(self, value: Any) -> tuple[Any, str | None]:
        """A label or target as it is kept, and what is wrong with it, if anything."""
        if self.numeric:
            return read_target(value)
        return value, check_label(value)

    def wrong_covariate(self, values: Sequence[Any]) -> str | None:
        """What is wrong with the covariates of a document, which are in the order asked for; None if nothing is."""
        for (name, kind), value in zip(self.covariates.items(), values, strict=True):
            if kind == TOPIC_LABELS:
                if problem := check_label(value):
                    return f"{name!r}: {problem}"
            elif problem := check_covariate(value, kind):
                return f"the {'column' if kind == GROUP else 'covariate'} {name!r} {problem}"
        return None


def joined(values: Sequence[Any]) -> str | list[str]:
    """The text of several columns, which are all texts or all lists of words; one that is missing adds nothing."""
    there = [value for value in values if value is not None]
    if there and isinstance(there[0], list):
        return [word for value in there for word in value]
    return Joined.of(there) if len(there) > 1 else "".join(there)


def texts_among(names: Sequence[str]) -> list[str]:
    """Columns that may be the text where none is named, the likeliest first: "Text" is one where there is no "text"."""
    exact = [name for name in TEXT_COLUMNS if name in names]
    return exact or [name for wanted in TEXT_COLUMNS for name in names if name.strip().lower() == wanted]


def listed(names: Sequence[str]) -> str:
    """Some names, for a message."""
    if not names:
        return "none"
    return ", ".join(map(repr, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def short(value: Any, length: int = 60) -> str:
    """A value, for a message."""
    shown = repr(value)
    return shown if len(shown) <= length else shown[: length - 1] + "…"
