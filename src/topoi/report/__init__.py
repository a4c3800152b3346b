"""A fitted model as one HTML page that opens from disk: topics, labels, documents, convergence and scores.

`write_report` asks every section in `sections/` for its numbers and puts them into the page as JSON. A section is one
Python file, which makes its data, and one JavaScript file of the same name, which draws them. What sections share is in
`subject.py` and, in plain HTML, CSS and JavaScript, in `page/`.
"""

from __future__ import annotations

from topoi.report.card import ModelCard
from topoi.report.inline import Report
from topoi.report.write import write_report

__all__ = ["ModelCard", "Report", "write_report"]
