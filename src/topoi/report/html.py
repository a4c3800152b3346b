"""One HTML page out of its parts and the data: nothing in the data can become markup or code."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from importlib.resources import files
from typing import Any

import numpy as np

#: What sections are drawn with.
TOOLS = ("state.js", "edits.js", "elements.js", "charts.js", "map.js", "text.js", "sections.js")
DIGITS = 5  # significant ones of a number: more than can be seen


def render(title: str, data: dict[str, Any]) -> bytes:
    """The page as UTF-8, with the sections that the data has, in their order."""
    sections = list(data["sections"])
    style = _read("page/style.css")
    script = _script(sections)
    parts = {
        # Nothing but what is in this file may run, and nothing may be fetched.
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        "title": html.escape(title),
        "style": style,
        "sections": "\n".join(map(_place, sections)),
        "data": to_json(data),
        "script": script,
    }
    # One pass over the template alone: braces in the data stay as they are.
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("page/page.html"))
    return page.encode("utf-8", "replace")  # of the title; in the data they are escaped


def _script(sections: list[str]) -> str:
    """One function around all; braces around a section, so that what it defines is its own."""
    tools = [_read(f"page/{name}") for name in TOOLS]
    drawn = ["{\n" + _read(f"sections/{name}.js") + "\n}" for name in sections]
    return "\n".join(['(() => {\n"use strict";', *tools, *drawn, _read("page/main.js"), "})();\n"])


def _place(name: str) -> str:
    """Where a section is drawn: empty and hidden until then."""
    return (
        f'  <section id="{name}" aria-labelledby="{name}-title" hidden>\n'
        f'    <h2 id="{name}-title"></h2>\n'
        f'    <p class="lead" id="{name}-lead" hidden></p>\n'
        f'    <div id="{name}-body"></div>\n'
        "  </section>"
    )


def _read(name: str) -> str:
    return files("topoi.report").joinpath(name).read_text("utf-8").replace("\r\n", "\n")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def to_json(data: Any) -> str:
    """JSON that may stand inside a script element: no markup can begin in it, and every text can be encoded."""
    text = json.dumps(_rounded(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # All of these occur inside strings only, where the escape means the same. A half of a surrogate pair has no UTF-8.
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _rounded(value: Any) -> Any:
    """Numbers of a few digits; what is no number is null."""
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return None
        if number.is_integer() and abs(number) < 2**53:  # counts stay exact
            return int(number)
        return float(f"{number:.{DIGITS}g}")
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return value
