"""Run the examples of pages and write what they print below them: `python docs/fill.py docs/tutorial.md …`.

A block that is fenced as `python` is run, in one namespace for the whole page; the next block, if it has no language
and only blank lines lie between, becomes its output; pictures that it saves go to `docs/images`. Other people's code is
fenced as `py`, and not run.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).resolve().parent / "images"
EXAMPLE = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:(?P<gap>\n*)^```\n(?P<output>.*?)^```\n)?", re.M | re.S)


def run(page: Path) -> list[tuple[re.Match[str], str]]:
    """Every example of a page with what it prints, run in the current folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    done = []
    text = page.read_text("utf-8")
    for match in EXAMPLE.finditer(text):
        line = text[: match.start("code")].count("\n")
        code = compile("\n" * line + match["code"], str(page), "exec")  # errors name the line of the page
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, namespace)
        done.append((match, out.getvalue()))
    return done


def fill(page: Path) -> None:
    """Write the output of every example that prints into the page."""
    text, filled, end = page.read_text("utf-8"), "", 0
    page = page.resolve()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for match, printed in run(page):
            example = f"```python\n{match['code']}```\n"
            if printed:
                lines = "\n".join(line.rstrip() for line in printed.rstrip("\n").split("\n"))
                example += f"\n```\n{lines}\n```\n"
            filled += text[end : match.start()] + example
            end = match.end()
        for picture in Path().glob("*.png"):
            (PICTURES / picture.name).write_bytes(picture.read_bytes())
    page.write_text(filled + text[end:], "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name))
