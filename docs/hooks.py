"""For the site alone: files that live outside `docs/` become pages, and links follow.

In the repository every link goes from file to file, so that it works there too. Here each link is read as the file of
the repository that it names, and written as the page of that file: once, so that no link is taken for another.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Any

ROOT = Path(__file__).parent.parent
# Files of the repository outside `docs/`, and the pages that they become.
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "benchmarks/README.md": "benchmarks/running.md",
    "reproduce/README.md": "reproduce/running.md",
}
SOURCES = {page: source for source, page in PAGES.items()}
LINK = re.compile(r"\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")  # with a colon it is an address


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at the pages."""
    return relinked(markdown, page.file.src_uri)


def relinked(markdown: str, page: str) -> str:
    """The text of a page, its links between files of the repository written as links between pages of the site."""
    source = SOURCES.get(page, f"docs/{page}")

    def link(match: re.Match[str]) -> str:
        target = page_of(normpath(join(dirname(source), match["target"])))
        if target is None:
            return match[0]
        return f"]({relpath(target, dirname(page) or '.')}{match['anchor'] or ''})"

    return LINK.sub(link, markdown)


def page_of(file: str) -> str | None:
    """The page of a file or folder of the repository; None where there is no such file, or it is not on the site."""
    if (ROOT / file).is_dir():
        file += "/README.md"
    if file in PAGES:
        return PAGES[file]
    return file.removeprefix("docs/") if file.startswith("docs/") and (ROOT / file).is_file() else None
