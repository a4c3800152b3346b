"""Draw the rooms of topoi and who imports whom, from the source: python docs/pictures/rooms.py

The layers are those of the import contracts in pyproject.toml, the imports those that grimp finds in the source (it
comes with import-linter), and what a room is for is the beginning of its docstring. Writes docs/images/rooms.svg and
docs/images/rooms_chain.svg; tests/project/test_rooms.py fails when they are not what this script makes.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PICTURES = {"topoi": "rooms.svg", "topoi.chain": "rooms_chain.svg"}  # what is drawn from the inside, and where

ROW, CELL, GAP, EDGE = 23, 21, 7, 12  # in pixels: a room, a column, between layers, around all
NAME, PURPOSE = 98, 365  # where purposes begin, and their width
LONGEST = 58  # letters of a purpose


class Room(NamedTuple):
    """A module or package."""

    name: str
    purpose: str
    imports: frozenset[str]  # rooms of the same picture


def layers_of(container: str) -> list[list[str]]:
    """The rooms of a container from the top down, those of one layer together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        entry
        for entry in settings["tool"]["importlinter"]["contracts"]
        if entry.get("containers") == [container] and entry.get("exhaustive")
    )
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def purpose_of(module: str) -> str:
    """The first sentence of its docstring; of a long one, what stands before the colon, bracket or last comma."""
    path = SOURCE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    text = " ".join(re.split(r"[.;](?=\s|$)", text.replace("`", ""), maxsplit=1)[0].split())
    if len(text) > LONGEST:
        text = re.split(r"\s*[:(]", text, maxsplit=1)[0]
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(",")[0]


def rooms_of(container: str, graph: grimp.ImportGraph) -> list[list[Room]]:
    """The rooms of a container by layer, with what they import of each other."""
    layers = layers_of(container)
    names = [name for layer in layers for name in layer]

    def imports(name: str) -> frozenset[str]:
        importer = f"{container}.{name}"
        return frozenset(
            other
            for other in names
            if other != name
            and graph.direct_import_exists(importer=importer, imported=f"{container}.{other}", as_packages=True)
        )

    return [[Room(name, purpose_of(f"{container}.{name}"), imports(name)) for name in layer] for layer in layers]


def draw(title: str, layers: list[list[Room]]) -> str:
    """Rooms as rows, layers as boxes around them, and a matrix with a dot where a row imports a column."""
    names = [room.name for layer in layers for room in layer]
    head = 8 + 7 * max(map(len, names))  # the names of the columns stand upright
    left = EDGE + NAME + PURPOSE
    width = left + len(names) * CELL + EDGE
    height = EDGE + head + len(names) * ROW + len(layers) * GAP + EDGE
    column = {name: left + (number + 0.5) * CELL for number, name in enumerate(names)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f"font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif\" font-size=\"12\">",
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="#fdfdfc"/>',
    ]
    lines, y = [], float(EDGE + head)
    for layer in layers:
        parts.append(
            f'<rect x="{EDGE}" y="{y:g}" width="{width - 2 * EDGE}" height="{len(layer) * ROW}" rx="5" '
            'fill="#eef1f6" stroke="#c9d1df"/>'
        )
        for room in layer:
            x = column[room.name]
            parts.append(f'<line x1="{x:g}" x2="{x:g}" y1="{EDGE + head}" y2="{y + ROW / 2:g}" stroke="#dbe1ec"/>')
            parts.append(
                f'<text transform="translate({x + 4:g} {EDGE + head - 8}) rotate(-90)">{escape(room.name)}</text>'
            )
            lines += row(room, y + ROW / 2, column)
            y += ROW
        y += GAP
    return "\n".join([*parts, *lines, "</svg>\n"])


def row(room: Room, y: float, column: dict[str, float]) -> list[str]:
    """A room's name and purpose, a square in its own column, and a dot in each that it imports."""
    own = column[room.name]
    return [
        f'<text x="{EDGE + 10}" y="{y + 4:g}" font-weight="600">{escape(room.name)}</text>',
        f'<text x="{EDGE + NAME}" y="{y + 4:g}" fill="#5d6167">{escape(room.purpose)}</text>',
        f'<rect x="{own - 6:g}" y="{y - 6:g}" width="12" height="12" rx="2" fill="#c9d1df"/>',
        *(
            f'<circle cx="{column[name]:g}" cy="{y:g}" r="4.5" fill="#1f5fbf">'
            f"<title>{escape(room.name)} imports {escape(name)}</title></circle>"
            for name in sorted(room.imports, key=column.__getitem__)
        ),
    ]


def pictures() -> dict[Path, str]:
    """All pictures by their files."""
    graph = grimp.build_graph("topoi", exclude_type_checking_imports=True, cache_dir=None)
    return {
        ROOT / "docs" / "images" / file: draw(f"Who imports whom in {container}", rooms_of(container, graph))
        for container, file in PICTURES.items()
    }


if __name__ == "__main__":
    sys.path.insert(0, str(SOURCE))
    for path, picture in pictures().items():
        path.write_text(picture, encoding="utf-8", newline="\n")
        print(path.relative_to(ROOT))
