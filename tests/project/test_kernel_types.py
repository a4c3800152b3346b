"""Kernels say what they take and give (`topoi._machine.arrays`): mypy then checks every call of them."""

import ast
from pathlib import Path

import topoi


def kernels(path):
    """The functions of a file that `@kernel` compiles, or `@inlined` pastes into them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(d) in ("kernel", "inlined") for d in node.decorator_list
        ):
            yield node


def test_no_kernel_takes_any():
    found, vague = 0, []
    for path in sorted(Path(topoi.__file__).parent.rglob("*.py")):
        for function in kernels(path):
            found += 1
            types = {a.arg: a.annotation for a in function.args.args} | {"return": function.returns}
            vague += [
                f"{path.name}: {function.name}: {name}"
                for name, kind in types.items()
                if kind is None or "Any" in {n.id for n in ast.walk(kind) if isinstance(n, ast.Name)}
            ]
    assert found > 100
    assert not vague
