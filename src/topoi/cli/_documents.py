"""Documents with labels for a model: those of a file, or of them only those that the fit kept out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._folder import Model, open_model
from topoi.cli._reading import NewReading, format_name, pattern_to_use, read_new
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.readers import Dataset

EVERY = 2**62  # texts of a stream to keep: all

NewLabel = Annotated[
    str | None, typer.Option("--label", help="Column of the labels; by default as in the fit, '' is none.")
]
NewTarget = Annotated[
    str | None, typer.Option("--target", help="Column of the numbers; by default as in the fit, '' is none.")
]
HeldOut = Annotated[
    bool, typer.Option("--held-out", help="DOCUMENTS are those of the fit: take only what it kept out (--hold-out).")
]
WithoutCovariates = Annotated[
    bool, typer.Option("--without-covariates", help="Take documents as average ones; their columns are not read.")
]
#: Ends the sentence about a column that topics depend on, and that is not there.
OR_AVERAGE = ", or take documents as average ones: --without-covariates"


@dataclass(frozen=True)
class Given:
    """A model, documents for it, and the rows of the file that they are."""

    model: Model
    data: Dataset
    rows: Any
    _whole: Dataset
    _pattern: str | None  # of a word, as given on the command line

    def texts(self, rows: Any) -> list[str]:
        """Texts of some of the documents."""
        return self._whole.texts(self.rows[rows].tolist())

    def tokens(self) -> list[list[str]]:
        """The words of every document, in the order of the text."""
        import numpy as np

        pattern = pattern_to_use(self.model.reading, self._pattern)
        known = self.model.preparation
        if pattern is not None:
            known = replace(known, token_pattern=pattern)
        vocabulary = self.model.words.vocabulary
        return known.cut(self.texts(np.arange(len(self.data))), () if vocabulary is None else vocabulary)


def open_with_labels(
    path: str,
    source: str,
    reading: NewReading,
    label: str | None,
    target: str | None,
    held_out: bool,
    keep_texts: bool = False,
    predicts: bool | None = None,
    of_topics: bool = False,
    groups: list[str] | None = None,
) -> Given:
    """A model and documents; labels are read where the file has the column.

    Columns that predictions need are read if it `predicts`; None: if there are labels to compare predictions with.
    Columns that topics depend on are read if they are asked for, by `of_topics`, and so are `groups`.
    """
    import numpy as np

    model = open_model(path)
    before = dict(model.reading)
    if label is not None or target is not None:
        if model.target.kind is None or (model.target.kind == "numbers") != (target is not None):
            wrong = "target" if target is not None else "label"
            raise ParameterError(wrong, f"{path} predicts {_what(model.target.kind)}")
        before |= {"label": label, "target": target}
    kept = EVERY if keep_texts and source == "-" else 0
    answers = _has_answers(source, reading, before)
    needs = answers if predicts is None else predicts
    needed: dict[str, Any] = {"covariates": model.covariates, "ngrams": model.ngrams} if needs else {}
    if of_topics:
        needed["otherwise"] = "" if needed.get("covariates") else OR_AVERAGE
        needed["covariates"] = model.topic_covariates | needed.get("covariates", {})
    data = allowed(model, read_new(source, reading, before, model, answers, kept, groups=groups, **needed))
    rows = np.arange(len(data))
    if held_out:
        rows = rows_kept_out(model, data)
        return Given(model, data.take(rows), rows, data, reading.token_pattern)
    return Given(model, replace(data), rows, data, reading.token_pattern)


def allowed(model: Model, data: Dataset) -> Dataset:
    """New documents with the topics that they may have, where a column says so."""
    if data.topic_labels is None:
        return data
    return replace(data, corpus=model.estimator.with_topic_labels(data.corpus, data.topic_labels))


def _has_answers(source: str, reading: NewReading, before: dict[str, Any]) -> bool:
    """Whether labels are asked for where the format can have any."""
    from topoi.readers import FORMATS

    kind = FORMATS.get(format_name(source, reading.format, before.get("format")) or "")
    return bool(before.get("label") or before.get("target")) and (kind is None or kind.labels)


def rows_kept_out(model: Model, data: Dataset) -> Any:
    """The rows that the fit kept out: found again from their numbers, so the file must be that of the fit."""
    import numpy as np

    from topoi.cli._hold_out import hold_out

    share = model.about.get("held_out", {}).get("share")
    if not share:
        raise ParameterError("held_out", "the model was fitted on all documents; see topoi fit --hold-out")
    if len(data) != model.about["counts"]["documents"]:
        n = model.about["counts"]["documents"]
        raise ParameterError("held_out", f"the fit read {n} documents, these are {len(data)}; give the file of the fit")
    every = np.arange(len(data))
    candidates = every if model.target.kind is None else every[~data.unlabelled]
    return hold_out(candidates, share, model.about["settings"]["seed"])


@dataclass(frozen=True)
class OfFit:
    """Documents of a fit: all that it read, the rows that it kept out, and those that it has learned from."""

    every: Dataset
    kept_out: Any
    learned_from: Dataset


def is_source_of_fit(model: Model, source: str) -> bool:
    """Whether documents are read from the file that the model has learned from, as its folder names it."""
    before = model.about.get("source")
    if not isinstance(before, str) or "-" in (before, source):
        return False
    return Path(before).resolve() == Path(source).resolve()


def documents_of_fit(opened: Model, path: str, source: str | None, reading: NewReading, why: str, usage: str) -> OfFit:
    """The documents that a model has learned from: where its fit had them, unless a source is named."""
    import numpy as np

    source = opened.about["source"] if source is None else source
    if not isinstance(source, str) or source == "-" or not Path(source).exists():
        raise ParameterError("documents", f"are needed {why}, but {source!r} is not here; name them: {usage}")
    depends = bool(opened.topic_covariates)
    given = open_with_labels(path, source, reading, None, None, False, predicts=False, of_topics=depends)
    data, rows = given.data, np.empty(0, np.int64)
    if opened.about["held_out"]["share"] and len(data) == opened.about["counts"]["documents"]:
        rows = rows_kept_out(given.model, data)
    return OfFit(data, rows, data.take(np.setdiff1d(np.arange(len(data)), rows)) if len(rows) else data)


def _what(kind: str | None) -> str:
    return {None: "nothing", "numbers": "a number: --target", "one": "labels: --label", "several": "labels: --label"}[
        kind
    ]
