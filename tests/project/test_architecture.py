"""docs/architecture.md: every module, function, folder and file that it names is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import topoi
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
