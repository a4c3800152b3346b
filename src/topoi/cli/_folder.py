"""The folder of a model: `estimator.topoi`, what was learned, and `topoi.json`, how documents are read and what came of
it. The second is written last: a folder with it is whole. Beside them is `model_card.md`, for people."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi._disk import strict_json
from topoi._disk.remote import Location, Remote, is_url, locate
from topoi._version import __version__
from topoi.errors import FileError

if TYPE_CHECKING:
    from topoi.corpus.target import Target
    from topoi.corpus.text import Preparation

ESTIMATOR = "estimator.topoi"
ABOUT = "topoi.json"
CARD = "model_card.md"
UNFINISHED = "unfinished.json"  # of a fit in hand: see _order.py
CHECKPOINTS = "checkpoints"
#: Files that a process was writing when it was killed.
LEFT = r"\.(estimator\.topoi|topoi\.json|model_card\.md|unfinished\.json)(\.[0-9a-f]{32}\.new)?\.[0-9a-f]{32}\.new"
FORMAT = "topoi model"
VERSION = 1
AGAIN = "Fit the model again."
#: Types of the options of reading that are believed from a file; all may be null.
READING: dict[str, type] = {
    **dict.fromkeys(
        ("label", "target", "topic_labels", "id", "format", "label_separator", "encoding", "on_error", "clean"), str
    ),
    **dict.fromkeys(
        ("token_pattern", "stop_words", "min_df", "max_df", "vocabulary_file", "delimiter", "max_memory", "lemmas"), str
    ),
    **dict.fromkeys(("lowercase", "tokenized", "quotes", "header", "phrases", "stem"), bool),
    **dict.fromkeys(("max_features", "first_index", "ngrams"), int),
    **dict.fromkeys(("covariate", "text"), list),
}


def is_reading(name: str, value: Any) -> bool:
    """Whether an option of reading, which may come from a stranger's file, has a value that it can have."""
    if name == "text" and isinstance(value, str):  # of version 0.1.0, which read one column
        return True
    if name == "ngrams" and isinstance(value, list):  # the fewest words and the most
        return len(value) == 2 and all(type(number) is int for number in value)
    if name not in READING or not (value is None or type(value) is READING[name]):
        return False
    return not isinstance(value, list) or all(isinstance(entry, str) for entry in value)


@dataclass(frozen=True)
class Model:
    """A fitted estimator, and what is known about it."""

    path: Location
    estimator: Any
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def reading(self) -> dict[str, Any]:
        """How its documents were read."""
        reading: dict[str, Any] = self.about.get("reading", {})
        return reading

    @property
    def covariates(self) -> dict[str, str]:
        """The columns that predictions need beside the text: each a "number" or a "category"."""
        known: dict[str, str] = getattr(self.estimator, "covariates_", {})
        return known

    @property
    def ngrams(self) -> Any:
        """The n-grams that predictions need beside the words; None if they need none."""
        return self.estimator.ngrams_

    @property
    def preparation(self) -> Preparation:
        """How texts became words: as the estimator has it, or as `topoi.json` of version 0.1.0 does."""
        from topoi.corpus.text import Preparation
        from topoi.corpus.text.tokenizer import TOKEN_PATTERN

        if isinstance(known := self.estimator.preparation_, Preparation):
            return known
        pattern, tokenized = self.reading.get("token_pattern") or TOKEN_PATTERN, bool(self.reading.get("tokenized"))
        return Preparation(
            lowercase=self.reading.get("lowercase") is not False, token_pattern=pattern, tokenized=tokenized
        )

    @property
    def topic_covariates(self) -> dict[str, str]:
        """The columns that topics depend on: each a "number" or a "category"."""
        known: dict[str, str] = getattr(self.estimator, "prevalence_covariates_", {})
        return {name: "category" if kind == "category" else "number" for name, kind in known.items()}

    @property
    def words(self) -> Any:
        """The (first) topic model, which knows the vocabulary."""
        return self.estimator.topic_models_[0]

    @cached_property
    def target(self) -> Target:
        """What it predicts; columns of an indicator matrix, and a number, have the names that they had in the file."""
        target: Target = self.estimator.target_
        names = self.about.get("labels", {}).get("names")
        if target.kind == "several" and names is not None:
            return replace(target, values=names).named(names)
        if target.kind == "numbers" and len(target.names) == 1:
            return target.named([self.reading.get("target") or "target"])
        return target


def named(path: str) -> Path:
    """The folder or file that was named; an empty name, which is the current folder to a Path, is an error."""
    _check_name(path)
    if is_url(path):
        place = locate(path)
        what = "is a URL, and models are made in folders; make it in one, and copy that there"
        raise FileError(f"{place}: {what}, as by `aws s3 cp --recursive model {place}`.", str(place))
    return Path(path)


def to_read(path: str) -> Location:
    """The folder or file of a model that is to be read, here or in an object store."""
    _check_name(path)
    return locate(path)


def _check_name(path: str) -> None:
    if not path or "\0" in path:
        raise FileError(f"{path!r} is not the name of a folder; name that of the model.", path)


def open_model(path: str) -> Model:
    """A model from its folder, or from a file that an estimator's `save` wrote."""
    import topoi

    place = to_read(path)
    if place.is_file():
        return Model(place, topoi.load(place))
    about = read_about(place)
    model = Model(place, topoi.load(place / ESTIMATOR), about)
    own, names = model.estimator.target_, about.get("labels", {}).get("names")
    if own.kind == "several" and (not isinstance(names, list) or len(names) != len(own.values)):
        raise FileError(
            f"{place / ABOUT}: the names of the labels do not fit the estimator; fit the model again.", path
        )
    return model


def read_about(folder: Location) -> dict[str, Any]:
    """What `topoi.json` says, checked."""
    from topoi._disk.whole import local_copy

    path = folder / ABOUT
    if isinstance(folder, Remote) and not path.is_file():
        raise FileError(
            f"{folder}: there is no such model: neither a file that `save` wrote, nor a folder with {ABOUT}.",
            str(folder),
        )
    if isinstance(folder, Path) and not folder.exists():
        raise FileError(f"{folder}: there is no such model; make one: topoi fit documents -o {folder}", str(folder))
    if not path.is_file():
        raise FileError(f"{folder}: is not the folder of a whole model: it has no {ABOUT}. Fit it again.", str(folder))
    try:
        with local_copy(path) as file:
            about = strict_json.read(file)
    except ValueError as error:
        raise FileError(f"{path}: is damaged: {error}. {AGAIN}", str(path)) from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise FileError(f"{path}: is not about a model of topoi.", str(path))
    if about.get("version") != VERSION:
        raise FileError(
            f"{path}: has version {about.get('version')!r}; this topoi reads {VERSION}. Update it.", str(path)
        )
    for name in ("reading", "settings", "labels", "counts", "held_out"):
        if not isinstance(about.get(name), dict):
            raise FileError(f"{path}: has no {name!r}. {AGAIN}", str(path))
    if not all(type(about["counts"].get(name)) is int for name in ("documents", "learned_from", "words", "tokens")):
        raise FileError(f"{path}: does not count the documents. {AGAIN}", str(path))
    share, seed, names = about["held_out"].get("share"), about["settings"].get("seed"), about["labels"].get("names")
    if type(share) not in (float, int) or not 0 <= share < 1 or type(seed) is not int:
        raise FileError(f"{path}: does not say which documents were kept out. {AGAIN}", str(path))
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str | int) for name in names)):
        raise FileError(f"{path}: the names of the labels are {names!r:.60}, which cannot be. {AGAIN}", str(path))
    reading = about["reading"]
    for name, value in reading.items():
        if not is_reading(name, value):
            raise FileError(
                f"{path}: reading has {name!r}: {value!r:.60}, which cannot be. Fit the model again.", str(path)
            )
    return about


@contextlib.contextmanager
def new_folder(path: str, force: bool) -> Iterator[Path]:
    """The folder of a model to come. What is there already is an error unless `force`, before any work is done."""
    from topoi._disk.folders import make_folder, remove_empty
    from topoi._disk.locks import check_free

    folder = named(path)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: is a file; -o names the folder of the model.", path)
    made = not folder.exists()
    if not made:
        check_free(folder)
        _check_replaceable(folder, path, force)
    make_folder(folder)
    try:
        with only_we(folder):
            _check_replaceable(folder, path, force)  # another fit may have ended since
            forget(folder)
            yield folder
    finally:
        if made:
            remove_empty(folder)  # it stays if there is anything in it


@contextlib.contextmanager
def only_we(folder: Path) -> Iterator[None]:
    """Be the only process that fills the folder of a model, in which nothing leads elsewhere."""
    from topoi._disk.folders import check_no_links, remove_files
    from topoi._disk.locks import locked

    with locked(folder):
        check_no_links(folder.resolve() / CHECKPOINTS)
        remove_files(folder.resolve(), LEFT)
        yield


def forget(folder: Path) -> None:
    """Remove what a fit in hand has noted: it is done, or another takes its place."""
    from topoi._disk.folders import CHECKPOINT_NAMES, clear, remove_file

    remove_file(folder.resolve() / UNFINISHED)
    clear(folder.resolve() / CHECKPOINTS, CHECKPOINT_NAMES)


def _check_replaceable(folder: Path, path: str, force: bool) -> None:
    """Raise if the folder holds a model, a fit or other things that must stay."""
    from topoi._disk.locks import LOCK

    if not force and any(name != LOCK and not re.fullmatch(LEFT, name) for name in os.listdir(folder)):
        if (folder / UNFINISHED).is_file():
            raise FileError(
                f"{folder}: holds a fit that is not finished: go on with it by `topoi resume {folder}`, choose another "
                "folder by -o, or replace it by --force.", path,
            )  # fmt: skip
        what = "a model" if (folder / ABOUT).is_file() else "other things"
        raise FileError(f"{folder}: holds {what} already; choose another by -o, or replace it by --force.", path)
    ours = (folder / UNFINISHED).is_file() or (folder / ABOUT).is_file()
    if (folder / CHECKPOINTS).exists() and not ours:
        raise FileError(
            f"{folder / CHECKPOINTS}: is there already, and not of topoi's making; choose another folder by -o.", path
        )


def save_model(model: Model) -> None:
    """Write both files. A model that was there stays until the new estimator is on the disk."""
    from topoi._disk.folders import remove_file, rename
    from topoi._disk.whole import new_name

    folder = own_folder(model)
    waiting = folder / new_name(ESTIMATOR)
    try:
        model.estimator.save(waiting, documents=False)
        remove_file(folder / ABOUT)  # never the one with the other's
        rename(waiting, ESTIMATOR)
    finally:
        remove_file(waiting)
    save_about(model)


def own_folder(model: Model) -> Path:
    """The folder of a model that is made, which is one of this machine (`named`)."""
    assert isinstance(model.path, Path)
    return model.path.resolve()


def save_about(model: Model) -> None:
    """Write `topoi.json`."""
    from topoi._disk.whole import write_whole
    from topoi.cli._app import plain

    head = {"format": FORMAT, "version": VERSION, "written_by": __version__}
    text = json.dumps(head | plain(model.about), indent=2, ensure_ascii=False, allow_nan=False)
    # A path that is not UTF-8 has half a surrogate pair for each such byte. Its escape is that of JSON, and reads back.
    data = (text + "\n").encode("utf-8", "backslashreplace")
    write_whole(own_folder(model) / ABOUT, data, follow=False)
