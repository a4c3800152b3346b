"""Which source a measurement was made with: what it measures counts, how it is judged and drawn does not."""

from __future__ import annotations

import ast
import hashlib
import importlib
from functools import cache
from pathlib import Path

from benchmarks.harness import parsed, statements

# Made of the rows afterwards: an edit there asks for no new measurement.
AFTERWARDS = ("FIGURE", "judge", "draw")
NOT_MEASURING = ("harness", "table", "page", "drawing", "source", "decided", "verdicts")


@cache
def stamp(package: str, name: str) -> str:
    """Hash of the module of a figure without `judge` and `draw`, and of the modules of its package that it imports."""
    folder = Path(importlib.import_module(package).__path__[0])
    digest = hashlib.blake2b(digest_size=4)
    todo, done = [name], set()
    while todo:
        module = todo.pop()
        path = folder / f"{module}.py"
        if module in done or not path.is_file():
            continue
        done.add(module)
        tree = parsed(path.read_text("utf-8"))
        todo += sorted(_imported(tree, package) - set(NOT_MEASURING))
        tree.body = [node for node in tree.body if not _is_afterwards(node)]
        digest.update("\n".join(statements(ast.unparse(tree))).encode())
    return digest.hexdigest()


def _is_afterwards(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in AFTERWARDS
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in AFTERWARDS


def _imported(tree: ast.Module, package: str) -> set[str]:
    """Modules of the package that are imported, wherever in the file."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith(f"{package}.")}
    return found
