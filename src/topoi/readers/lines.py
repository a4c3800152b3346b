"""Plain text, one document a line. A blank line is an empty document, so that line n is document n."""

from __future__ import annotations

from topoi.readers._request import Documents, Request


def documents(request: Request) -> Documents:
    """Every line."""
    for _, line in request.source.lines(request.faults):
        yield line, None, None
