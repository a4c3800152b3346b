"""Which source a figure's numbers were made with: the functions that ran, and what is made old by an edit of them.

A figure measures with a few hundred functions of topoi. `traced` notes which Python functions ran. What these use by
name is added from the source: compiled functions, which no trace sees, constants, and what stands in the bodies of
classes. Each is kept as its name with a digest of what it says. A result is old where one of them is no longer to be
found. The package that its module lies in does not count, and neither do comments, layout and docstrings.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

import topoi
from benchmarks.harness import parsed, statements

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
#: Packages whose source counts, and the folders that they are in. `support` has the slow twins that figures enumerate.
HOMES = {
    "topoi": Path(topoi.__path__[0]),
    "reproduce": ROOT / "reproduce",
    "benchmarks": ROOT / "benchmarks",
    "support": ROOT / "tests" / "support",
}
COMPILED = ("kernel", "inlined", "overload", "njit", "intrinsic")
COMPILER = "topoi._machine.jit"  # runs in some processes, and in others finds what it has kept
REGISTRIES = "topoi"  # where an entry that is added to a dictionary changes nothing for those who use the others


@dataclass
class Named:
    """Something that a module defines at its top level, or a method of its classes."""

    said: list[str]  # name and digest; of a dictionary in topoi one for each entry
    uses: list[tuple[str, ...]]  # names, and (name, attribute)
    compiled: bool = False
    plain: bool = False  # a function that a trace sees


@dataclass
class Module:
    """What a file defines, and where the names come from that it imports."""

    named: dict[str, Named] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: module, and what of it ("" for itself)


# ---- What the source says ------------------------------------------------------------------------------------------


def read(path: Path, module: str, registry: bool) -> Module:
    """The definitions of one file."""
    found = Module()
    tree = parsed(path.read_text("utf-8"))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):  # within functions too
        if isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                home = ".".join([*base, *([home] if home else [])])
            found.imported |= {alias.asname or alias.name: (home, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found.imported |= {alias.asname: (alias.name, "") for alias in node.names if alias.asname}
    for node in tree.body:
        _define(node, "", found, registry)
    return found


def _define(node: ast.stmt, prefix: str, found: Module, registry: bool) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        compiled = any(_called(decorator) in COMPILED for decorator in node.decorator_list)
        name = prefix + node.name
        before = found.named.get(name)  # an overload or a property's setter goes under the same name
        now = Named([_digest(name, node)], _uses(node), compiled, not compiled)
        found.named[name] = now if before is None else Named(before.said + now.said, before.uses + now.uses, compiled)
    elif isinstance(node, ast.ClassDef):
        inner = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
        for part in inner:
            _define(part, f"{prefix}{node.name}.", found, registry)
        node.body = [part for part in node.body if part not in inner] or [ast.Pass()]
        found.named[prefix + node.name] = Named([_digest(prefix + node.name, node)], _uses(node))
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    said = _entries(part.id, node.value) if registry else [_digest(part.id, node)]
                    found.named[prefix + part.id] = Named(said, _uses(node))
    elif isinstance(node, ast.If | ast.Try):  # what stands under a condition
        for part in [*node.body, *node.orelse]:
            _define(part, prefix, found, registry)


def _entries(name: str, value: ast.expr | None) -> list[str]:
    if not isinstance(value, ast.Dict):
        return [_digest(name, value)] if value is not None else []
    pairs = zip(value.keys, value.values, strict=True)
    return [_digest(name, ast.Tuple([key, of], ast.Load()) if key else of) for key, of in pairs]


def _called(decorator: ast.expr) -> str:
    of = decorator.func if isinstance(decorator, ast.Call) else decorator
    return of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")


def _uses(node: ast.AST) -> list[tuple[str, ...]]:
    """Names that are read, but for annotations; of attributes of names both."""
    found: dict[tuple[str, ...], None] = {}
    annotations = [part.annotation for part in ast.walk(node) if isinstance(part, ast.arg | ast.AnnAssign)]
    annotations += [part.returns for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
    told = {id(part) for annotation in annotations if annotation for part in ast.walk(annotation)}
    for part in ast.walk(node):
        if id(part) in told:
            continue
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            found[part.value.id, part.attr] = None
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found[(part.id,)] = None
    return list(found)


def _digest(name: str, node: ast.AST) -> str:
    of_value = "value = " if isinstance(node, ast.expr) else ""  # by itself it could be a docstring, which says nothing
    text = "\n".join(statements(of_value + ast.unparse(node)))
    return f"{name} {hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"


class Source:
    """All that some packages say, by module."""

    def __init__(self, homes: dict[str, Path]) -> None:
        self.homes = homes
        self.modules: dict[str, Module] = {}
        self.files: dict[str, str] = {}  # path: module
        for package, folder in homes.items():
            for path in sorted(folder.rglob("*.py")):
                parts = [package, *path.relative_to(folder).with_suffix("").parts]
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = read(path, name, package == REGISTRIES)
                self.files[str(path)] = name

    @cached_property
    def everything(self) -> set[str]:
        """Every definition, as results keep it: "module.name digest"."""
        return {
            said for module, held in self.modules.items() for name in held.named for said in self.said(module, name)
        }

    def said(self, module: str, name: str) -> list[str]:
        """What a definition says. Its module counts, not the packages that this lies in."""
        return [f"{module.rpartition('.')[2]}.{said}" for said in self.modules[module].named[name].said]

    def find(self, module: str, name: str) -> tuple[str, str] | None:
        """The module that defines what is called `name` in `module`, and its name there."""
        for _ in range(9):  # imports of imports
            here = self.modules.get(module)
            if here is None:
                return None
            if name in here.named:
                return module, name
            if name not in here.imported:
                return None
            module, name = here.imported[name]
        return None

    def with_what_they_use(self, ran: Iterable[tuple[str, str]]) -> list[str]:
        """The definitions of functions (module, name) that ran, and of what they use without a trace of it."""
        todo, done, said = list(ran), set(), set()
        while todo:
            module, name = todo.pop()
            if (module, name) in done or name not in self.modules[module].named:
                continue
            done.add((module, name))
            named = self.modules[module].named[name]
            said |= set(self.said(module, name))
            if "." in name:  # a method: the body of its class
                todo.append((module, name.rpartition(".")[0]))
            for use in named.uses:
                place = self._place(module, use)
                if place and not self.modules[place[0]].named[place[1]].plain:
                    todo.append(place)
        return sorted(said)

    def _place(self, module: str, use: tuple[str, ...]) -> tuple[str, str] | None:
        if len(use) == 1:
            return self.find(module, use[0])
        name, attribute = use
        home, what = self.modules[module].imported.get(name, ("", ""))
        inner = f"{home}.{what}" if what else home  # a module: imported whole, or from its package
        return self.find(inner, attribute) if inner in self.modules else None


@cache
def source() -> Source:
    """The present one."""
    return Source(HOMES)


def add_home(package: str, folder: Path) -> None:
    """Let the source of another package of figures count too."""
    if package not in HOMES:
        HOMES[package] = folder
        source.cache_clear()


# ---- What ran ------------------------------------------------------------------------------------------------------


def traced(function: Callable[..., T], *arguments: Any) -> tuple[T, list[str]]:
    """function(*arguments), and the definitions of all that ran."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, _event: str, _argument: Any) -> None:
        codes.add(frame.f_code)

    before = sys.gettrace()
    threading.settrace(note)
    sys.settrace(note)
    try:
        found = function(*arguments)
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]
    return found, definitions(codes, source())


def definitions(codes: Iterable[CodeType], among: Source) -> list[str]:
    """What code objects are of; of those inside a function, the function."""
    places = {(among.files.get(code.co_filename, ""), code.co_qualname.split(".<")[0]) for code in codes}
    return among.with_what_they_use(place for place in places if place[0] not in ("", COMPILER))


def edited(ran: Iterable[str]) -> list[str]:
    """Names of what is no longer as it was when it ran."""
    there = source().everything
    return sorted({said.rpartition(" ")[0] for said in ran if said not in there})
