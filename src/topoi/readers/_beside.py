"""What is known of documents beside their words: labels or targets, ids, and columns that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getsizeof
from typing import Any, NamedTuple

from topoi.readers._covariates import GROUP, TOPIC_LABELS, CovariateColumn, GroupColumn
from topoi.readers._labels import LabelColumn, NumberColumn, TopicLabelColumn, one_kind
from topoi.readers._request import Request


class Known(NamedTuple):
    """The same as `Dataset` has it."""

    labels: Any
    ids: Any
    covariates: dict[str, Any] | None
    topic_labels: list[Any] | None
    groups: dict[str, Any] | None


class Beside:
    """Gathers it, document by document."""

    def __init__(self, request: Request) -> None:
        self._asked = request.answer is not None
        self._answers = new_answers(request)
        self._ids: list[Any] = []
        self._n_ids = 0
        self._columns = {
            name: _new_column(name, kind, request.label_separator) for name, kind in request.covariates.items()
        }

    def add(self, answer: Any, document_id: Any, values: Sequence[Any]) -> None:
        """What is known of the next document."""
        self._answers.add(answer)
        if document_id is not None:
            self._ids.append(document_id)
            self._n_ids += getsizeof(document_id)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.add(value)

    @property
    def n_bytes(self) -> int:
        """How much memory it takes so far."""
        return self._answers.n_bytes + self._n_ids + sum(column.n_bytes for column in self._columns.values())

    def finish(self) -> Known:
        """All of it."""
        by_kind: dict[Any, dict[str, Any]] = {TopicLabelColumn: {}, CovariateColumn: {}, GroupColumn: {}}
        for name, column in self._columns.items():
            by_kind[type(column)][name] = column.finish()
        return Known(
            finished(self._answers, self._asked),
            one_kind(self._ids) if self._ids else None,
            by_kind[CovariateColumn] or None,
            next(iter(by_kind[TopicLabelColumn].values()), None),
            by_kind[GroupColumn] or None,
        )


def new_answers(request: Request, none_is_known: bool = False) -> LabelColumn | NumberColumn:
    """A column for labels or targets."""
    return NumberColumn() if request.numeric else LabelColumn(request.label_separator, none_is_known)


def finished(answers: LabelColumn | NumberColumn, asked: bool) -> Any:
    """Labels or targets; None where none were asked for, and there are none."""
    return answers.finish() if answers.n_known or asked else None


def _new_column(name: str, kind: str | None, label_separator: str | None) -> TopicLabelColumn | CovariateColumn:
    if kind == TOPIC_LABELS:
        return TopicLabelColumn(label_separator)
    return GroupColumn() if kind == GROUP else CovariateColumn(kind, name)
