"""A fit in hand: `unfinished.json` says what was asked for, `checkpoints` how far it is; both go when it is done."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from topoi._disk import strict_json
from topoi.cli._folder import ABOUT, CHECKPOINTS, UNFINISHED, forget, is_reading
from topoi.cli._reading import Reading
from topoi.cli._settings import PARAMETERS, Settings
from topoi.errors import FileError

if TYPE_CHECKING:
    from topoi.chain.checkpoint import Checkpoints


@dataclass(frozen=True)
class Order:
    """All that decides what a model will be, as `topoi fit` was asked for it."""

    source: str
    reading: Reading
    settings: Settings
    hold_out: float
    checkpoint_seconds: float
    started_in: str = ""  # the folder that relative paths begin from


def can_resume(order: Order) -> bool:
    """Whether its documents can be read again; not from standard input."""
    return order.source != "-"


@contextlib.contextmanager
def begin(order: Order, folder: Path) -> Iterator[Checkpoints | None]:
    """Note the order, and say where its checkpoints go; None where they would be of no use.

    An error before the first checkpoint (a parameter, say) leaves nothing to go on with, and no note.
    """
    from topoi._disk.whole import write_whole
    from topoi.chain.checkpoint import Checkpoints

    if not can_resume(order):
        # A cluster needs a folder all the same, which `forget` removes.
        yield None if order.settings.dask is None else Checkpoints(folder / CHECKPOINTS, every_seconds=inf)
        return
    note = asdict(order) | {"started_in": order.started_in or str(Path.cwd())}
    data = (json.dumps(note, indent=2) + "\n").encode("utf-8")
    write_whole(folder.resolve() / UNFINISHED, data, follow=False)
    try:
        yield Checkpoints(folder / CHECKPOINTS, every_seconds=order.checkpoint_seconds)
    except Exception:
        if not any((folder / CHECKPOINTS).rglob("sweep-*")):
            forget(folder)
        raise


def read_order(folder: Path) -> Order:
    """The order of an unfinished fit, checked."""
    path = folder / UNFINISHED
    if not path.is_file():
        more = f"its fit is finished. To sample more from it: topoi resume {folder} --sweeps 50"
        done = more if (folder / ABOUT).is_file() else "there is no fit in it"
        raise FileError(f"{folder}: has nothing to go on with: {done}.", str(folder))
    from topoi.estimators.number_of_topics import AUTO
    from topoi.estimators.saved import check_believed

    try:
        found = strict_json.read(path)
        settings, reading = found["settings"], found["reading"]
        for name, value in reading.items():
            if not is_reading(name, value):
                raise ValueError(f"reading: {name} cannot be {value!r}")
        hints = get_type_hints(Settings) | {"topics": int | str}
        for field in fields(Settings):
            value = settings.setdefault(field.name, field.default)  # one that is newer than the note
            hint = hints[field.name]
            stray = isinstance(value, bool) and bool not in get_args(hint)  # True is an int to Python
            if stray or not isinstance(value, hint):
                raise ValueError(f"settings: {field.name} cannot be {value!r}")
        if isinstance(settings["topics"], str) and settings["topics"] != AUTO:
            raise ValueError(f"settings: topics cannot be {settings['topics']!r}")
        check_believed({parameter: settings[option] for option, parameter in PARAMETERS.items()})
        source, numbers = found["source"], [found["hold_out"], found["checkpoint_seconds"]]
        started_in = found.get("started_in", "")
        whole = isinstance(source, str) and isinstance(started_in, str)
        if not whole or not all(type(number) in (int, float) for number in numbers):
            raise ValueError("it does not say what to read")
        hold_out, seconds = map(float, numbers)
        return Order(source, Reading(**reading), Settings(**settings), hold_out, seconds, started_in)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{path}: is damaged ({error}); begin anew: topoi fit … --force", str(path)) from error
