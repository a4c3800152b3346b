"""fastText's lines, a document each: `__label__sport The match was …`. A line without a label is one without it.

A skeleton to copy to src/topoi/readers/<name>.py. This one is complete. A reader gives documents one by one and keeps
none of them: `read_documents` cuts each into words and forgets its text before it asks for the next.
"""

from __future__ import annotations

from topoi.readers._request import Documents, Request, short

MARK = "__label__"


def documents(request: Request) -> Documents:
    """Every line that is not blank: its text, its label or target, and its id, which this format has not."""
    # The source decompresses, decodes and limits the length of a line; what is no text it tells by itself.
    for number, line in request.source.lines(request.faults):
        if not line or line.isspace():
            continue
        label, _, text = line.removeprefix(MARK).partition(" ") if line.startswith(MARK) else (None, "", line)
        if label == "" or text.startswith(MARK):
            # A document that cannot be read ends the reading, or is counted and left out: as the user wishes.
            what = f"expected one name after {MARK}, a blank and a text, not {short(line)}."
            request.faults.document(request.name, what, line=number)
            continue
        answer, problem = request.read_answer(label)  # with target=True the label is a number to predict
        if problem:
            request.faults.document(request.name, problem, line=number)
            continue
        yield text, answer, None
