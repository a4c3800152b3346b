"""A fitted model as one HTML page that opens from disk: topics, labels, documents, convergence and scores.

`write_report` collects the numbers, one module for each part of the page, and puts them into the page as JSON. What the
page looks like and does is in `page/`, in plain HTML, CSS and JavaScript.
"""

from __future__ import annotations

from topoi.report.write import write_report

__all__ = ["write_report"]
