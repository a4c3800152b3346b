"""The page as an object: a notebook shows it inline, and `save` writes it to a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from topoi._disk.whole import write_whole
from topoi.report.write import as_page, report_data

HEIGHT = 720  # pixels of the frame in a notebook


@dataclass(frozen=True)
class Report:
    """A page about a fitted model. Its text is `html`; in a notebook it is shown in a frame of its own."""

    html: str = field(repr=False)
    title: str

    def save(self, path: str | Path) -> None:
        """Write the page to a file, whole or not at all: the same bytes as `topoi.report.write_report`."""
        write_whole(path, self.html.encode("utf-8"))

    def _repr_html_(self) -> str:
        """The page in a frame; it is kept apart from the notebook: scripts of the page can read nothing around it."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.title)}" '
            'sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid;border-radius:4px" loading="lazy"></iframe>'
        )


def make_report(estimator: Any, title: str | None = None, **given: Any) -> Report:
    """The page of an estimator; `given` are parameters of `write_report`."""
    data = report_data(estimator, **given)
    page = as_page(data, title).decode("utf-8")
    return Report(page, data["title"].encode("utf-8", "replace").decode("utf-8"))
