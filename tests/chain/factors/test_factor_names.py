"""No module outside `chain/factors` asks which factor it has: what depends on it is the factor's own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import topoi
from topoi.chain.factors import FACTORS

SOURCE = Path(topoi.__file__).parent
HOME = SOURCE / "chain" / "factors"
#: A sampler says which factor it has; all others know factors by the registry and by what a factor is.
MAY_IMPORT = SOURCE / "chain" / "samplers"
NAMES = {*FACTORS, "collapsed"}
CLASSES = {factor.__name__ for factor in FACTORS.values()}


def asked(text):
    """Lines of source text in which something is compared with the name of a factor, or looked up by it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare | ast.MatchValue | ast.Subscript):
            found = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)} & NAMES
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            found = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)} & CLASSES
        else:
            continue
        if found:
            yield node.lineno if hasattr(node, "lineno") else node.value.lineno


def imported(text):
    """Modules of single factors that source text imports."""
    members = {factor.__module__ for factor in FACTORS.values()}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            found = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found = {alias.name for alias in node.names}
        else:
            continue
        yield from found & members


FILES = [path for path in SOURCE.rglob("*.py") if HOME not in path.parents]


def test_no_module_asks_which_factor_it_has():
    assert len(FILES) > 100
    found = {str(path.relative_to(SOURCE)): list(asked(path.read_text("utf-8"))) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}, "ask the factor itself"


def test_only_samplers_import_a_factor():
    files = [path for path in FILES if MAY_IMPORT not in path.parents]
    found = {str(path.relative_to(SOURCE)): set(imported(path.read_text("utf-8"))) for path in files}
    assert {name: modules for name, modules in found.items() if modules} == {}, "use the registry FACTORS"


@pytest.mark.parametrize(
    "text",
    [
        'if factor == "urn": pass',
        'if kind.factor != "collapsed": pass',
        'x = factor in ("delayed", "dirichlet")',
        'match factor:\n    case "urn":\n        pass',
        'FACTORS["live"](state)',
        'how = {"urn": 1, "delayed": 2}[factor.name]',
        "isinstance(factor, UrnFactor)",
        "issubclass(kind, (DirichletFactor, int))",
    ],
)
def test_it_sees_who_asks(text):
    assert list(asked(text))


@pytest.mark.parametrize(
    "text",
    [
        "from topoi.chain.factors.urn import UrnFactor",
        "import topoi.chain.factors.dirichlet",
        "from topoi.chain.factors import delayed",
    ],
)
def test_it_sees_an_import(text):
    assert len(list(imported(text))) == 1


def test_it_lets_names_of_samplers_pass():
    assert not list(asked('plan = Plan("delayed", "partial")\nif factor.fixed: pass\nisinstance(f, FixedFactor)'))
