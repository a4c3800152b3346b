"""docs/architecture.md: what it names is there, and documents go the way that it tells."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import topoi
from support.cli_files import QUICK, done, write_csv
from support.places import ROOT

PACKAGE = Path(topoi.__file__).parent
ROOMS = {path.stem for path in PACKAGE.iterdir()}
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\s]+)`", re.sub(r"^ *```.*?^ *```$", "", PAGE, flags=re.MULTILINE | re.DOTALL))))
PATHS = [name for name in QUOTED if re.fullmatch(r"[\w./]+/|[\w./]*\w+\.(py|js|md|json|svg|toml)", name)]
NAMES = [name for name in QUOTED if name.split(".")[0] in ROOMS and name not in PATHS]


def there(name):
    """What a dotted name below topoi names: as much of it as can be imported, then attributes."""
    parts = ["topoi", *name.split(".")]
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    return None


def test_names_are_found():
    assert len(PATHS) > 20
    assert len(NAMES) > 40
    with pytest.raises(AttributeError):
        there("chain.loop.nothing")


@pytest.mark.parametrize("path", PATHS)
def test_path(path):
    assert (ROOT / path).exists() or (PACKAGE / path).exists()


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    assert there(name) is not None


# ---- The way of one document -------------------------------------------------------------------------------


def functions(name):
    """The code behind a name: a function, a method in all classes that have one of their own, or what makes a class."""
    owner, _, last = name.rpartition(".")
    found, owner = there(name), there(owner)
    if inspect.isclass(found):
        return functions(f"{name}.__init__")
    if inspect.isclass(owner):
        found = [vars(kind)[last] for kind in kinds(owner) if last in vars(kind)]
    return {one.__code__ for one in (found if isinstance(found, list) else [found]) if inspect.isfunction(one)}


def kinds(owner):
    yield owner
    for kind in owner.__subclasses__():
        yield from kinds(kind)


def way(title, end):
    """The names in the list below a title, of what is no module and is not compiled."""
    text = PAGE.split(f"### {title}")[1].split(end)[0]
    return [name for name in dict.fromkeys(re.findall(r"`([\w.]+)`", text)) if name in NAMES and functions(name)]


def called(*arguments):
    """The code that a command runs."""
    codes = set()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code))
    try:
        done(*arguments)
    finally:
        sys.setprofile(None)
    return codes


def test_documents_go_this_way(tmp_path):
    posts, model = write_csv(tmp_path / "posts.csv"), tmp_path / "model"
    fit, predict = way("Fit:", "\nWith `engine=`"), way("Predict:", "\n## ")
    assert len(fit) > 15
    assert len(predict) > 6
    options = ("--text", "body", "--label", "subject", "--alpha", "learn", "--strategy", "ovr")
    codes = called("fit", posts, *options, *QUICK, "-o", model)
    assert [name for name in fit if not functions(name) & codes] == []
    codes = called("predict", model, posts)
    assert [name for name in predict if not functions(name) & codes] == []
