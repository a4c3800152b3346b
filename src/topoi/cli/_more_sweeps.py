"""`topoi resume MODEL --sweeps N`: sampling goes on from a model that is finished, edited or not."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from topoi.cli._app import INTERRUPTED, console, note, print_json, waiting
from topoi.cli._card import save_card
from topoi.cli._documents import documents_of_fit
from topoi.cli._folder import UNFINISHED, Model, named, new_folder, only_we, open_model, save_about, save_model
from topoi.cli._outcome import Speed, outcome, summarise
from topoi.cli._reading import NewReading
from topoi.cli._stop import Stop
from topoi.errors import FileError, ParameterError

if TYPE_CHECKING:
    from topoi.readers import Dataset


def more_sweeps(
    path: str, source: str | None, sweeps: int, output: str | None, reading: NewReading, json: bool, quiet: bool
) -> None:
    """Read the documents of a fit again, go on for so many sweeps, and write the model: in its place, or elsewhere."""
    if (named(path) / UNFINISHED).is_file():
        raise FileError(f"{path}: its fit is not finished; go on with it first: topoi resume {path}", path)
    with _place(path, output) as folder:
        with waiting("reading …", quiet):
            opened = open_model(path)
            if not opened.about:
                raise FileError(f"{path}: is a file; topoi resume takes the folder that topoi fit has made.", path)
            if opened.target.kind is not None:
                raise ParameterError(
                    "sweeps", "sampling goes on for models without labels and targets only; fit this one again with "
                    "more of them"
                )  # fmt: skip
            reading = replace(reading, topic_labels=opened.reading.get("topic_labels"))
            usage = f"topoi resume {path} DOCUMENTS --sweeps {sweeps}"
            documents = documents_of_fit(opened, path, source, reading, "to go on", usage)
        model, pressed = _go_on(opened, documents.learned_from, sweeps, folder, quiet)
        if len(documents.kept_out) and not pressed:
            from topoi.cli._scores import held_out_scores

            with waiting("scoring held-out documents …", quiet):
                model.about["held_out"] |= held_out_scores(model, documents.every, documents.kept_out)
            save_about(model)
        save_card(model)
    if json:
        print_json({"model": str(folder), **model.about})
    elif not quiet:
        summarise(model, documents.every, console())
    if pressed:
        note(f"Stopped early; the model so far is in {folder}.", quiet)
        raise typer.Exit(INTERRUPTED)


@contextlib.contextmanager
def _place(path: str, output: str | None) -> Iterator[Path]:
    """The folder that is written: the model's own, which nobody else may fill meanwhile, or a new one."""
    if output is not None and named(output).resolve() != named(path).resolve():
        with new_folder(output, force=False) as folder:
            yield folder
        return
    folder = named(path)
    if not folder.is_dir():
        raise FileError(f"{path}: there is no such model; name the folder that topoi fit has made.", path)
    with only_we(folder):
        yield folder


def _go_on(opened: Model, data: Dataset, sweeps: int, folder: Path, quiet: bool) -> tuple[Model, bool]:
    """Sample, and save the model; also whether it was stopped."""
    from topoi.estimators.base import InterruptedFitWarning

    speed = Speed()
    with Stop() as stop:
        opened.estimator.set_params(callbacks=[stop, speed], progress=sys.stderr.isatty() and not quiet)
        begin = time.perf_counter()
        covariates = data.covariates if opened.topic_covariates else None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stop.gentle = True  # from here on there is something to save
            estimator = opened.estimator.resume(data.corpus, sweeps, covariates=covariates)
        seconds = time.perf_counter() - begin
    pressed = stop.requested or any(issubclass(one.category, InterruptedFitWarning) for one in caught)
    estimator.set_params(callbacks=None, progress=False)  # of this run, not of the model
    # Scores of documents that were kept out are those of the model as it was.
    kept_out = {name: opened.about["held_out"].get(name) for name in ("share", "documents")}
    model = Model(folder, estimator, opened.about | outcome(estimator, seconds, speed) | {"held_out": kept_out})
    save_model(model)
    return model, pressed
