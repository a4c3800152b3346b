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

# In this order: later files use what earlier ones define.
SCRIPTS = (
    "state.js", "elements.js", "map.js", "words.js", "weights.js", "text.js", "documents.js", "charts.js",
    "convergence.js", "quality.js", "settings.js", "main.js",
)  # fmt: skip
DIGITS = 5  # significant ones of a number: more than can be seen


def render(title: str, data: dict[str, Any]) -> bytes:
    """The page as UTF-8."""
    style = _read("style.css")
    script = '(() => {\n"use strict";\n' + "\n".join(map(_read, SCRIPTS)) + "\n})();\n"
    parts = {
        # Nothing but what is in this file may run, and nothing may be fetched.
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        "title": html.escape(title),
        "style": style,
        "data": to_json(data),
        "script": script,
    }
    # One pass over the template alone: braces in the data stay as they are.
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("page.html"))
    return page.encode("utf-8", "replace")  # of the title; in the data they are escaped


def _read(name: str) -> str:
    return files("topoi.report").joinpath("page", name).read_text("utf-8").replace("\r\n", "\n")


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
