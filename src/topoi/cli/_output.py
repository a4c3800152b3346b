"""Files that commands write: never in the place of one that they read, or of a file of a model.

Any other file that is there is replaced, when the new one is complete: the user has named it.
"""

from __future__ import annotations

import os
from pathlib import Path

from topoi.cli._folder import ABOUT, CARD, CHECKPOINTS, ESTIMATOR, UNFINISHED, named
from topoi.errors import FileError


def check_output(path: str, *sources: str | None) -> None:
    """Raise, before any work is done, if a file cannot be written, or must not be since it is one of the sources."""
    if path == "-":
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise FileError(f"{path}: cannot be written: there is no folder {folder}; make it first.", path)
    if Path(path).is_dir():
        raise FileError(f"{path}: cannot be written: it is a folder.", path)
    if is_of_model(path):
        raise FileError(f"{path}: is a file of a model, which is not replaced; choose another name.", path)
    for source in sources:
        if source is not None and is_part(path, source):
            raise FileError(f"{path}: is read by this command, and not replaced; choose another name.", path)


def check_output_folder(path: str) -> None:
    """Raise, before any work is done, if tables cannot be written to a folder: a file is there, or a model."""
    folder = named(path)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{path}: is a file; -o names the folder of the tables.", path)
    if is_model(folder):
        raise FileError(f"{path}: is the folder of a model; choose another name.", path)


def is_part(path: str, source: str) -> bool:
    """Whether a file that is there is a source, in it, or the file of its words beside it; by whatever name."""
    from topoi.readers._counts import vocabulary_path

    output, given = Path(path), Path(source)
    if source == "-" or not output.is_file() or not given.exists():
        return False
    if given.is_dir():
        return resolved(path).is_relative_to(resolved(source)) and not is_model(given)
    return any(other.is_file() and output.samefile(other) for other in (given, vocabulary_path(given)))


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model, or a fit that is not finished."""
    return (folder / ABOUT).is_file() or (folder / UNFINISHED).is_file()


def is_of_model(path: str) -> bool:
    """Whether a path is that of a file in the folder of a model that topoi has put there, or would."""
    for place in {Path(path).absolute(), resolved(path)}:
        if is_model(place.parent) and place.name.casefold() in (ESTIMATOR, ABOUT, CARD, UNFINISHED, CHECKPOINTS):
            return True
        if any(above.name.casefold() == CHECKPOINTS and is_model(above.parent) for above in place.parents):
            return True
    return False


def resolved(path: str) -> Path:
    """Where links lead to; those that go in circles lead nowhere, of which `Path.resolve` makes a RuntimeError."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise FileError(f"{path!r}: is not the name of a file ({error}).", path) from error


def check_sources(folder: str, *sources: str | None) -> None:
    """Raise if a fit would replace what it reads: files of the model that is in its folder now."""
    for source in sources:
        if source is None or source == "-" or not is_of_model(source):
            continue
        if resolved(folder) in resolved(source).parents:
            what = "is a file of the model that is to be replaced"
            raise FileError(f"{source}: {what}; choose another folder by -o.", source)
