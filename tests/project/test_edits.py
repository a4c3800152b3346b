"""Edits of source code by what it says (support/edits.py), with which the tests put bugs in."""

from __future__ import annotations

import ast

import pytest

from support.edits import edited

SOURCE = """
def move(z, n):
    for i in range(n):
        count[z[i], 0] -= one  # taken out
        new = draw(count,
                   stream, live=False) + log(a / b)
        tell(new)
    if new or stays: z[0] = new
    return stays
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("count[z[ i ],0] -= one", "count[z[i], 1] -= one", 2, "count[z[i], 1] -= one"),
        ("count[z[i], 0] -= one", "", 2, "pass"),
        ("z[i]", "z[i + 1]", 2, "count[z[i + 1], 0] -= one"),
        ("a / b", "b / a", 3, "new = draw(count, stream, live=False) + log(b / a)"),
        ("... + log(a / b)", "...", 3, "new = draw(count, stream, live=False)"),
        ("draw(..., live=False)", "draw(..., live=True)", 3, "new = draw(count, stream, live=True) + log(a / b)"),
        ("tell(new)", "tell(old)", 4, "tell(old)"),
        ("tell(new)", "", 4, "pass"),
        ("new or ...", "True", 5, "if True:"),
        ("if new or ...: ...", "if new and ...: ...", 5, "if new and stays:"),
        ("for i in range(n): ...", "for i in range(1, n): ...", 1, "for i in range(1, n):"),
        ("new = ...; tell(new)", "tell(new); new = ...", 3, "tell(new)"),
        ("return stays", "return z", 7, "return z"),
    ],
)
def test_an_edit(old, new, line, expected):
    before, after = ast.unparse(ast.parse(SOURCE)).split("\n"), edited(SOURCE, old, new).split("\n")
    assert after[line].strip() == expected
    assert before[line].strip() != expected
    assert before[:line] == after[:line]


@pytest.mark.parametrize(
    ("old", "times"), [("tell(old)", 0), ("stays", 2), ("draw(count)", 0), ("i, 0", 0), ("z[0] = new; return stays", 0)]
)
def test_a_place_that_is_not_there_once(old, times):
    with pytest.raises(AssertionError, match=f"says this {times} times"):
        edited(SOURCE, old, "x")
