"""Only `topoi._disk` creates, replaces or deletes files: every other module is read for calls that would."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import topoi

PACKAGE = Path(topoi.__file__).parent
WRITES = {
    "rmtree", "unlink", "rename", "renames", "mkdir", "makedirs", "rmdir", "removedirs", "touch",
    "write_text", "write_bytes", "symlink_to", "hardlink_to", "symlink", "chmod", "lchmod", "chown", "mkfifo",
    "mknod", "open_memmap", "memmap", "tofile", "dump", "savez", "savez_compressed", "savetxt",
}  # fmt: skip
#: Of modules, not of any object: `list.remove` is harmless.
OF_OS = {"remove", "replace", "open", "fdopen", "truncate", "link"}
TO_STREAMS = {"save", "save_npz"}  # of NumPy and SciPy, which take a path as well
MODULES = {"shutil", "tempfile"}


def writes(source: str) -> list[str]:
    """Calls, and imports, that could change the disk."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(alias.name.split(".")[0] in MODULES for alias in node.names):
            found.append(ast.unparse(node))
        if isinstance(node, ast.ImportFrom) and (
            node.module in MODULES or (node.module == "os" and {alias.name for alias in node.names} & (WRITES | OF_OS))
        ):
            found.append(ast.unparse(node))
        if isinstance(node, ast.Call) and _writes(node):
            found.append(ast.unparse(node))
    return found


def _writes(call: ast.Call) -> bool:
    function, arguments = call.func, [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(function, ast.Name):
        return function.id == "open" and _for_writing(call.args[1:], call.keywords)
    if not isinstance(function, ast.Attribute):
        return False
    owner = ast.unparse(function.value)
    if owner == "os" and function.attr in OF_OS:
        return not arguments or ast.unparse(arguments[0]) != "os.devnull"
    if function.attr in TO_STREAMS and owner in ("np", "sparse"):
        return ast.unparse(arguments[0]) not in ("file", "stream")
    if function.attr == "open":
        return _for_writing(call.args[1 if owner in ("io", "codecs", "gzip", "archive") else 0 :], call.keywords)
    if function.attr == "replace":  # of a string it has two arguments
        return len(arguments) == 1 and not call.keywords
    return function.attr in WRITES and owner not in ("json", "pickle")


def _for_writing(arguments: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    modes = [*arguments[:1], *(keyword.value for keyword in keywords if keyword.arg == "mode")]
    return any(not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wxa+") for mode in modes)


OTHERS = sorted(path for path in PACKAGE.rglob("*.py") if "_disk" not in path.relative_to(PACKAGE).parts)


def test_no_other_module_changes_the_disk():
    assert len(OTHERS) > 100
    found = {path.relative_to(PACKAGE).as_posix(): writes(path.read_text(encoding="utf-8")) for path in OTHERS}
    # A page in a browser is opened, not written.
    found["cli/report.py"] = [call for call in found["cli/report.py"] if not call.startswith("webbrowser.open(")]
    assert {name: calls for name, calls in found.items() if calls} == {}


BAD = [
    "import shutil", "from tempfile import mkdtemp", "from os import remove", "os.remove(path)", "path.unlink()",
    "os.replace(a, b)", "path.replace(other)", "path.rename(other)", "path.mkdir(parents=True)", "open(path, 'w')",
    "open(path, mode='ab')", "open(path, mode)", "path.open('r+b')", "io.open(path, 'x')", "path.write_text('a')",
    "path.write_bytes(b'a')", "os.open(path, os.O_WRONLY)", "np.save(path, array)", "np.memmap(path, mode='r+')",
    "path.touch()", "os.symlink(a, b)", "sparse.save_npz(path, X)",
]  # fmt: skip
GOOD = [
    "open(path)", "path.open('rb')", "open(path, encoding='utf-8')", "text.replace('a', 'b')", "replace(thing, a=1)",
    "items.remove(x)", "np.save(file, array)", "os.open(os.devnull, os.O_WRONLY)", "estimator.save(path)",
]  # fmt: skip


@pytest.mark.parametrize("source", BAD)
def test_calls_that_are_found(source):
    assert writes(source)


@pytest.mark.parametrize("source", GOOD)
def test_calls_that_are_not(source):
    assert not writes(source)
