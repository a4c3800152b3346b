"""No module outside `chain/responses` names a loss: what depends on one is the response's, or is in the registry."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import topoi
from topoi.chain.responses import RESPONSES

SOURCE = Path(topoi.__file__).parent
HOME = SOURCE / "chain" / "responses"
NAMED = re.compile(rf"\b({'|'.join(RESPONSES)})\b(?! error)")  # "mean squared error" is a measure


def docstrings(tree):
    """The docstrings of a module: they may tell people which losses there are."""
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, places) and node.body and isinstance(node.body[0], ast.Expr):
            yield node.body[0].value


def named_losses(text):
    """Where source text names a loss: (line, name) of strings with the name in them, and of imports of its module."""
    tree = ast.parse(text)
    told = set(docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told:
            found = NAMED.search(node.value)
        elif isinstance(node, ast.ImportFrom):
            found = NAMED.search(f"{node.module} {' '.join(alias.name for alias in node.names)}")
        elif isinstance(node, ast.Import):
            found = NAMED.search(" ".join(alias.name for alias in node.names))
        else:
            continue
        if found:
            yield node.lineno, found[1]


def test_no_module_names_a_loss():
    files = [path for path in SOURCE.rglob("*.py") if HOME not in path.parents]
    assert len(files) > 100
    found = {
        f"{path.relative_to(SOURCE)}:{line}": name
        for path in files
        for line, name in named_losses(path.read_text("utf-8"))
    }
    assert not found, "ask the response, or take the names from topoi.chain.responses"


def test_no_script_of_the_report_names_a_loss():
    scripts = [*(SOURCE / "report").rglob("*.js"), *(SOURCE / "report").rglob("*.html")]
    assert len(scripts) > 5
    assert not [path.name for path in scripts if NAMED.search(path.read_text("utf-8"))]


@pytest.mark.parametrize(
    "text",
    [
        'def f(loss="hinge"): pass',
        'x = 1 if loss == "logistic" else 2',
        'message = f"try loss=squared, {x}"',
        'HELP = "the hinge loss"',
        "from topoi.chain.responses.hinge import Hinge",
        "import topoi.chain.responses.squared",
    ],
)
def test_it_sees_what_names_a_loss(text):
    assert list(named_losses(text))


@pytest.mark.parametrize(
    "text",
    [
        '"""The hinge loss."""\nclass A:\n    """Squared: "squared"."""\n    def f(self):\n        """logistic"""',
        "from sklearn.metrics import root_mean_squared_error\n# hinge",
        "from topoi.chain.responses import RESPONSES",
    ],
)
def test_it_lets_documentation_pass(text):
    assert not list(named_losses(text))
