"""A figure that takes no time, for tests of the harness of reproduce/, and edits of its source."""

from __future__ import annotations

import sys

from reproduce import ran

TINY = '''
"""A figure of numbers that are known."""
import os
import sys
from reproduce.harness import Figure, Verdict

LEVEL = 10.0

def measure(scale, seed):
    if not sys.gettrace():  # seeds are measured, and before that what runs is looked for
        with open(os.environ["TINY_LOG"], "a", encoding="utf-8") as log:
            log.write(f"{seed} {scale}\\n")
    if os.environ.get("TINY_FAILS") == str(seed):
        raise RuntimeError("out of luck")
    return [{"method": m, "K": k, "score": level(k) + 2 * seed} for m in ("a", "b|c") for k in (1, 2)]

def level(k):
    return LEVEL * k

def judge(table):
    top = table.mean("score", method="a", K=2)
    return Verdict("yes" if top > 10 else "no", f"the score | is {top:.1f} ± {table.sd('score', method='a', K=2):.2f}")

def draw(table, figure):
    axis = figure.subplots()
    axis.errorbar(*table.curve("K", "score", method="a"))

FIGURE = Figure("tiny", "Paper, Fig. 10", "Scores", "the score | is above 10", "", ("small.", "large."), (3, 4),
                measure, ("method", "K"), judge, draw, fits=("middling.", 2))
'''


def edit(path, before, after):
    """Edit a source file, as somebody does between two runs."""
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")
    ran.source.cache_clear()
    sys.modules.pop(f"{path.parent.name}.{path.stem}", None)  # what is measured in this process is measured anew
