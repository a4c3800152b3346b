"""A real corpus that every Python carries: the docstrings of its own standard library.

Nothing is downloaded and nothing is imported: the source files are parsed, so that no module runs
(`antigravity` opens a browser, `this` prints a poem).
"""

from __future__ import annotations

import ast
import gc
import os
import re
import sysconfig
import warnings
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from topoi.errors import CorpusError

__all__ = ["STOP_WORDS", "Texts", "python_docs"]


@dataclass(frozen=True)
class Texts:
    """Texts and, for each, its label."""

    texts: list[str]
    labels: list[str]


def python_docs() -> Texts:
    """Docstrings of the running Python's standard library, labelled by top-level module.

    Some 3,300 documents of more than ten words each, 200,000 words in all, in order of file and line, without
    doctests, code blocks and duplicates. The sections of the language reference, which `help("if")` shows, are
    labelled `"language reference"`. `STOP_WORDS` lists the words that say nothing about the subject.

    Only the version of Python matters. The documents come from modules that every build of CPython 3.11 to 3.14 has,
    on every system, so that a distribution that leaves out `tkinter` or IDLE gives the same ones. The texts differ a
    little from one version of Python to the next.

    Raises CorpusError where Python was installed without its source files.
    """
    folder = Path(sysconfig.get_paths()["stdlib"])
    dataset = _read_folder(folder, _MODULES)
    if len(dataset.texts) < _FEWEST_DOCUMENTS:
        raise CorpusError(
            f"python_docs() reads the docstrings of Python's standard library, but its source files (*.py) "
            f"in {folder} {_what_is_missing(folder, len(dataset.texts))}. Embedded, zipped, frozen and minimal "
            f"Pythons leave them out: use a full installation of Python, or texts of your own."
        )
    return dataset


_FEWEST_DOCUMENTS = 1000
_FEWEST_WORDS = 11

# Modules with some docstrings that every build of CPython 3.11 to 3.14 has. Left out are those that came or went in
# these versions (`cgi`, `compression`), serve one system (`pty`, `ntpath`), are applications or tests (`idlelib`,
# `test`), or are packaged apart or changed by distributions (`tkinter`, `turtle`, `venv`, `sqlite3`, `dbm`, `curses`,
# `ctypes`, `site`, `sysconfig`, `profile`, `webbrowser`).
_NAMES = """
abc argparse ast asyncio base64 bdb bisect bz2 calendar cmd code codecs codeop collections compileall
concurrent configparser contextlib copy csv dataclasses datetime decimal difflib dis doctest email enum
filecmp fileinput fnmatch fractions ftplib functools graphlib gzip heapq hmac html http imaplib importlib
inspect io ipaddress json linecache locale logging lzma mailbox mimetypes multiprocessing numbers operator
optparse os pathlib pdb pickle pkgutil platform plistlib poplib pprint pyclbr pydoc queue quopri random re
rlcompleter runpy sched secrets selectors shelve shutil smtplib socket socketserver ssl statistics subprocess
symtable tarfile tempfile textwrap threading time timeit tokenize trace traceback tracemalloc typing unittest
urllib uuid warnings weakref wsgiref xml xmlrpc zipfile zipimport
"""
_MODULES = frozenset(_NAMES.split())
# Parts of these modules that are tests, or for one system.
_SKIPPED_FOLDERS = {"__pycache__", "test", "tests"}
_SKIPPED_PREFIXES = ("popen_", "unix_", "windows_")

# The private modules that are the source of a public one.
_PUBLIC_NAME = {
    "_collections_abc": "collections",
    "_py_warnings": "warnings",
    "_pydatetime": "datetime",
    "_pydecimal": "decimal",
    "_pyio": "io",
    "_strptime": "time",
    "_threading_local": "threading",
}


def _what_is_missing(folder: Path, n_documents: int) -> str:
    if not folder.is_dir():
        return "are missing: there is no such folder"
    if n_documents == 0:
        return "are missing"
    return f"are too few: they give {n_documents} documents where at least {_FEWEST_DOCUMENTS} are expected"


def _read_folder(folder: Path, modules: Container[str]) -> Texts:
    """Every distinct document of these modules below `folder`, which is laid out as a standard library."""
    texts: dict[str, str] = {}
    with _quiet():
        for parts in _source_files(folder, modules):
            for raw in _docstrings(_parse(_read(folder.joinpath(*parts)))):
                _add(texts, raw, _public_name(parts[0]))
        for raw in _reference_sections(_parse(_read(folder / "pydoc_data" / "topics.py"))):
            _add(texts, raw, "language reference")
    return Texts(list(texts.keys()), list(texts.values()))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings about the files parsed, and without searches for garbage, a quarter of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collecting:
            gc.enable()


def _add(texts: dict[str, str], raw: str, label: str) -> None:
    if len(raw) < 3 * _FEWEST_WORDS - 1:  # a word is two letters and what divides it from the next
        return
    text = _clean(raw)
    if len(_WORD.findall(text)) >= _FEWEST_WORDS:
        texts.setdefault(text, label)


def _source_files(folder: Path, modules: Container[str]) -> list[tuple[str, ...]]:
    """Paths of the source files of these modules, as parts relative to `folder`: sorted the same on every system."""
    found = []
    for parent, folders, files in os.walk(folder):
        above = Path(parent).relative_to(folder).parts
        if above:
            folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        else:
            folders[:] = [name for name in folders if _public_name(name) in modules]
        found += [(*above, name) for name in files if name.endswith(".py") and not name.startswith(_SKIPPED_PREFIXES)]
    return sorted(parts for parts in found if _public_name(parts[0]) in modules)


def _public_name(entry: str) -> str:
    """The name by which a file or folder of the library is imported."""
    module = entry.removesuffix(".py")
    return _PUBLIC_NAME.get(module, module)


def _read(path: Path) -> bytes:
    """The bytes of a file; none if it is missing or unreadable."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _parse(source: bytes) -> ast.Module:
    """The syntax tree of a source; an empty one if it is not valid Python."""
    try:
        # As without -OO, for which Python 3.14 leaves docstrings out of the tree.
        tree = compile(source, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True, optimize=0)
        return cast(ast.Module, tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested too deeply
        return ast.Module([], [])


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Functions are not entered: those inside them seldom have a docstring, and most of a file lies there.
_ENTERED = (ast.Module, ast.ClassDef, ast.If, ast.Try, ast.ExceptHandler, ast.With)


def _docstrings(node: ast.AST) -> Iterator[str]:
    """Docstrings of a module, its classes, functions and methods, in order of line."""
    if isinstance(node, _DOCUMENTED):
        docstring = ast.get_docstring(node)
        if docstring:
            yield docstring
    if isinstance(node, _ENTERED):
        for block in ("body", "handlers", "orelse", "finalbody"):
            for child in getattr(node, block, ()):
                yield from _docstrings(child)


def _reference_sections(tree: ast.Module) -> Iterator[str]:
    """Sections of the language reference in `pydoc_data/topics.py`: one dict of texts, by subject."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            for value in statement.value.values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield from _HEADING.split(value.value)


_WORD = re.compile(r"[^\W\d_]{2,}")
_HEADING = re.compile(r"^.+\n[*=~^-]{4,}\n", re.MULTILINE)
_DOCTEST = re.compile(r"^[ \t]*>>>.*(?:\n.*\S.*)*", re.MULTILINE)  # the example, to the next blank line
_LITERAL_BLOCK = re.compile(r"::[ \t]*\n(?:[ \t]*\n)+(?:[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)+")  # `::`, then indented
_ADDRESS = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+")
_ROLE = re.compile(r":[a-z]+(?::[a-z]+)?:(?=`)")  # the part before the quote in :class:`Name`


def _clean(raw: str) -> str:
    """The prose of a docstring, on one line."""
    text = raw
    if ">>>" in text:
        text = _DOCTEST.sub("", text)
    if "::" in text:
        text = _LITERAL_BLOCK.sub("\n", text)
    if "://" in text or "@" in text:
        text = _ADDRESS.sub("", text)
    if ":`" in text:
        text = _ROLE.sub("", text)
    return " ".join(" ".join(filter(_is_prose, text.splitlines())).split())


def _is_prose(line: str) -> bool:
    """Whether letters are most of the line: in code, tables, grammar and rules, they are not."""
    n_letters = sum(map(len, _WORD.findall(line)))
    return 2 * n_letters > len("".join(line.split())) and "::=" not in line


_ENGLISH = """
a about above after again against all allow allows almost alone along already also although always am among
an and another any anything anyway are around as at away back be became because become becomes been before
being below best better between both but by came can cannot case cases come comes could did do does doing
done down due during each either else even ever every everything except far few find first following follows
for found from full further get gets getting give given gives giving go goes going good got had has have
having he hence her here him his how however if in indeed instead into is it its itself just keep kept know
known last later least less let like likely made make makes making many may maybe me mean means might more
most mostly much must my near necessarily necessary need needed needs neither never new next no nor not
nothing now of off often old on once one only onto or other others otherwise our out over own particular per
perhaps please possible possibly put quite rather really same say see seem seems seen several shall she
should show shown since so some someone something sometimes somewhere still such sure take taken takes than
that the their them themselves then there therefore these they thing things this those though three through
thus to together too toward try trying two under unless until up upon us usually various very via want wants
was way ways we well went were what whatever when whenever where whether which while who whole whose why will
with within without won would yet you your aren couldn didn doesn don hadn hasn haven isn ll mustn re shouldn
ve wasn weren wouldn eg etc ie
"""
_BOILERPLATE = """
accept accepts according actual actually additional appropriate arg args argument arguments available based
behavior bool call callable called calling calls contain contained containing contains convenience correspond
corresponding create created creates currently default defaults define defined defines depending describe
described description details different directly documentation empty equivalent example examples existing
expected explicitly false func function functions general generally handle handled implement implementation
implementations implemented implements including indicate indicates info information initialize instance
instances int internal invoked kwargs kwds main method methods named non none normally note number obj object
objects optional optionally parameter parameters params pass passed passing perform performed present provide
provided provides python raise raised raises raising reference require required requires result results
return returned returning returns self set sets setting simple simply single special specific specified
specifies specify str subclass subclasses suitable support supported supports true type types typically use
used useful user uses using usual value values version work works
"""
STOP_WORDS: list[str] = sorted({*_ENGLISH.split(), *_BOILERPLATE.split()})
"""English function words and the boilerplate of docstrings: a list, as scikit-learn's vectorizers want it."""
