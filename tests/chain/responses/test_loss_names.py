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
WORDS = {"counts"}  # names that are words of ours: named only where a loss is compared with one, imported or asked for
NAMED = re.compile(rf"\b({'|'.join(RESPONSES.keys() - WORDS)})\b(?! error)")  # "mean squared error" is a measure
MODULES = {response.__module__.rpartition(".")[2] for response in RESPONSES.values()}
IMPORTED = re.compile(rf"responses[. ]({'|'.join(WORDS | MODULES)})\b")
ASKED = re.compile(rf"\bloss\b[\s:=!]*(?:str\s*=\s*)?[\"']?({'|'.join(WORDS)})\b")


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
    told_lines = {line for node in told for line in range(node.lineno, node.end_lineno + 1)}
    for number, line in enumerate(text.splitlines(), 1):
        if number not in told_lines and (found := ASKED.search(line)):
            yield number, found[1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told:
            found = NAMED.search(node.value)
        elif isinstance(node, ast.ImportFrom):
            imported = f"{node.module} {' '.join(alias.name for alias in node.names)}"
            found = NAMED.search(imported) or IMPORTED.search(imported)
        elif isinstance(node, ast.Import):
            imported = " ".join(alias.name for alias in node.names)
            found = NAMED.search(imported) or IMPORTED.search(imported)
        else:
            continue
        if found:
            yield node.lineno, found[0]


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
        "import topoi.chain.responses.negative_binomial",
        "from topoi.chain.responses.negative_binomial import Counts",
        "from topoi.chain.responses import counts",
        'x = 1 if self.loss != "counts" else 2',
        'def f(loss: str = "counts"): pass',
        "message = 'try loss=counts'",
        'x = fit(loss="counts")',
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
        'path = job.path(sweep, "counts", group)',
        "from topoi.chain import counts",
        '"""A loss: counts."""',
    ],
)
def test_it_lets_documentation_pass(text):
    assert not list(named_losses(text))
