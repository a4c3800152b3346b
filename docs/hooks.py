"""For the site alone: files that live outside `docs/` become pages, and links to them follow.

In the repository the links go to the files themselves, so that they work there too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "benchmarks/README.md": "benchmarks/running.md",
    "reproduce/README.md": "reproduce/running.md",
}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages. Their links count from the root of the repository, in which the site is a folder."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text("utf-8").replace("](docs/", "](").replace("](../docs/", "](../")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at the pages."""
    for source, target in PAGES.items():
        markdown = markdown.replace(f"](../{source})", f"]({target})")
        markdown = markdown.replace(f"](../../{source})", f"](../{target})")
    return markdown.replace("](benchmarks/)", "](benchmarks/README.md)")
