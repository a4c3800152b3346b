"""MALLET's text format: an instance a line, `name label text`, as `mallet import-file` reads it.

Name and label end at a blank, commas after them are dropped. The label `?` says that it is not known.
"""

from __future__ import annotations

import re

from topoi.readers._request import Documents, Request, short

_LINE = re.compile(r"^\s*(\S+)[\s,]+(\S+)[\s,]*(.*)$", re.DOTALL)
UNKNOWN_LABEL = "?"


def documents(request: Request) -> Documents:
    """Every instance."""
    for number, line in request.source.lines(request.faults):
        if not line or line.isspace():
            continue
        match = _LINE.match(line)
        if match is None:
            what = f"expected a name, a label and a text, divided by blanks, not {short(line)}."
            request.faults.document(request.name, what, line=number)
            continue
        name, label, text = match.groups()
        answer, problem = request.read_answer(None if label == UNKNOWN_LABEL else label)
        if problem:
            request.faults.document(request.name, problem, line=number)
            continue
        yield text, answer, name
