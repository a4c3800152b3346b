"""What reading documents gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoi.corpus import Corpus
from topoi.corpus.target import Kind, Target
from topoi.errors import FileError, ParameterError


@dataclass(frozen=True)
class Dataset:
    """Documents with what is known of them; row n of everything is document n.

    `labels` is None, an array of one label per document (None where it is not known), a list of lists of labels (or
    None), or a float array of numbers to predict (NaN where not known). `ids` is None or an array. `covariates` is None
    or has an array for each column by name, of numbers or texts, as `fit` of the estimators takes it; `topic_labels` is
    None or has a list of names for each document, None where they are not known, for `fit` too. `groups` is None or has
    an array of texts for each column by name, None where there is no value, for `topics_by`. `n_skipped` documents were
    broken and left out; `skipped` has the messages of the first few.
    """

    corpus: Corpus
    labels: NDArray[Any] | list[list[Any] | None] | None = None
    ids: NDArray[Any] | None = None
    n_skipped: int = 0
    skipped: list[str] = field(default_factory=list)
    kept_texts: list[str] = field(default_factory=list, repr=False)
    _reread: Callable[[], Iterable[str]] | None = field(default=None, repr=False)
    covariates: dict[str, NDArray[Any]] | None = None
    topic_labels: list[list[str] | None] | None = None
    groups: dict[str, NDArray[Any]] | None = None

    def __len__(self) -> int:
        return self.corpus.n_documents

    def __repr__(self) -> str:
        parts = [f"{len(self)} documents", f"{self.corpus.n_words} words", f"{self.corpus.n_tokens} tokens"]
        parts += [] if self.label_kind is None else [f"labels: {self.label_kind}"]
        parts += [f"covariates: {', '.join(self.covariates)}"] if self.covariates else []
        parts += [f"{self.n_skipped} skipped"] if self.n_skipped else []
        return f"Dataset({', '.join(parts)})"

    @property
    def label_kind(self) -> Kind | None:
        """None without labels, `"one"` or `"several"` per document, or `"numbers"`."""
        if self.labels is None:
            return None
        if isinstance(self.labels, list):
            return "several"
        return "numbers" if self.labels.dtype.kind == "f" else "one"

    @property
    def target(self) -> Target:
        """What there is to learn: the kind of the labels, and in order those that there are."""
        kind = self.label_kind
        if self.labels is None or kind is None:
            return Target()
        if kind == "numbers":
            return Target(kind, [0], ["target"])
        if isinstance(self.labels, list):
            values = sorted({label for labels in self.labels for label in labels or ()})
        else:
            values = sorted(set(self.labels[~self.unlabelled].tolist()))
        return Target(kind, values, [str(value) for value in values])

    @property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Which documents have no known label, as `MedLDAClassifier.fit` wants it; all, if there are no labels."""
        if self.labels is None:
            return np.ones(len(self), bool)
        if isinstance(self.labels, list) or self.labels.dtype == object:
            return np.array([label is None for label in self.labels], bool)
        return np.isnan(self.labels) if self.labels.dtype.kind == "f" else np.zeros(len(self), bool)

    def take(self, rows: ArrayLike) -> Dataset:
        """Some of the documents, by their numbers, in this order."""
        try:
            wanted = np.arange(len(self))[np.asarray(rows, np.int64)]
        except IndexError as error:
            raise ParameterError("rows", f"there are documents 0 to {len(self) - 1}: {error}") from error
        labels = self.labels
        if labels is not None:
            labels = [labels[row] for row in wanted.tolist()] if isinstance(labels, list) else labels[wanted]
        ids = None if self.ids is None else self.ids[wanted]
        reread = None if self._reread is None and not self.kept_texts else lambda: self.texts(wanted.tolist())
        covariates = self.covariates and {name: values[wanted] for name, values in self.covariates.items()}
        groups = self.groups and {name: values[wanted] for name, values in self.groups.items()}
        names = self.topic_labels and [self.topic_labels[row] for row in wanted.tolist()]
        return replace(
            self, corpus=self.corpus.take(wanted), labels=labels, ids=ids, kept_texts=[], _reread=reread,
            covariates=covariates, topic_labels=names, groups=groups,
        )  # fmt: skip

    def texts(self, rows: Iterable[int]) -> list[str]:
        """The texts of some documents. They are not in memory: the file is read again, up to the last one asked for.

        Raises FileError if there is no text, if it came from a stream (see `keep_texts`), or if the file has changed.
        """
        wanted = [_row(row, len(self)) for row in rows]
        last = max(wanted, default=-1)
        if last < len(self.kept_texts):
            return [self.kept_texts[row] for row in wanted]
        if self._reread is None:
            raise FileError(
                f"the text of document {last} is gone: a stream cannot be read twice, and files of counts have no text."
                " Read from a file, or keep the first n texts by keep_texts=n."
            )
        needed = set(wanted)
        found: dict[int, str] = {}
        for row, text in enumerate(self._reread()):
            if row in needed:
                found[row] = text
            if row == last:
                break
        if last not in found:
            raise FileError(f"the file has changed: document {last} is not there any more.")
        return [found[row] for row in wanted]


def _row(row: Any, n: int) -> int:
    try:
        return int(range(n)[row])  # the rules of a list
    except (IndexError, TypeError) as error:
        raise ParameterError("rows", f"has {row!r}; there are documents 0 to {n - 1}") from error
