"""A skeleton of a section: the longest of the documents given. Copy it to src/topoi/report/sections/<name>.py.

This one is complete. `data` is all that a section needs; section.js beside it draws what `data` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.report.subject import Subject

N_LONGEST = 10


def data(subject: Subject) -> list[dict[str, Any]] | None:
    """Names and numbers of tokens, the longest document first; None without documents: then there is no section."""
    if subject.corpus is None:
        return None
    lengths = subject.corpus.doc_lengths
    longest = np.argsort(-lengths, kind="stable")[:N_LONGEST].tolist()
    return [
        {"name": str(d) if subject.ids is None else str(subject.ids[d]), "tokens": int(lengths[d])} for d in longest
    ]
