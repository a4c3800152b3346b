"""The decorators for kernels, and their compile cache. Only this module, `simd` and `lanes` know numba.

`@kernel` compiles a function on its first call (never at import), releases the GIL while it runs, and keeps the
machine code on disk. Numba's own cache looks only at the file in which a function stands, so it would miss an edit
of a helper in another file; ours is keyed by the source of all files that have kernels and all that they import.

With ``NUMBA_DISABLE_JIT=1`` a kernel is the plain Python function: slow, but the same draws to the bit.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps
from numba.extending import overload

from topoi._disk.folders import remove_files
from topoi._disk.private import private_folder, prune, user_cache
from topoi._machine.arrays import Float, Floats, Int

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]


def kernel_files(package: Path = PACKAGE) -> list[Path]:
    """Source files of the package that could change the code of a kernel: where kernels stand, and what those import.

    Modules are found by their names in the text, which may take one too many (a comment) but misses none.
    """
    text = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    todo = [path for path in text if "@kernel" in text[path]]
    found: set[Path] = set()
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            for name in set(re.findall(r"\btopoi\.([\w.]+)", text[path])):
                base = package.joinpath(*name.split("."))
                todo += [file for file in (base.with_suffix(".py"), *base.rglob("*.py")) if file in text]
    return sorted(found)


@functools.cache
def source_stamp() -> str:
    """Hash of the source that kernels are made of: what the compile cache is keyed by."""
    digest = hashlib.blake2b(digest_size=8)
    for path in kernel_files():
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        _STAMPED[str(path)] = path.stat().st_mtime_ns
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMPED: dict[str, int] = {}  # when the files of the stamp were written


def _as_stamped(file: str) -> bool:
    """Whether a file with kernels is still the one of the stamp; once one is not, no other file counts as such.

    Samplers are imported when they are asked for. One that was edited since the process began must not be kept as code
    of the stamp, nor must a kernel that calls it, which is made after it.
    """
    global _edited
    written = _STAMPED.get(file)
    _edited |= written is not None and Path(file).stat().st_mtime_ns != written
    return not _edited


_edited = False


class CompileCacheWarning(RuntimeWarning):
    """Machine code is not kept, since others could write to the folder that it would be kept in."""


@functools.cache
def cache_dir() -> Path | None:
    """First folder for machine code that we, and nobody else, can write to; None if there is none: nothing is kept."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    reasons = []
    for base in [Path(given)] if given else _bases():
        folder, why = private_folder(base, f"kernels-{source_stamp()}")
        if folder is not None:
            prune(folder.parent)
            return folder
        reasons += [why] if why else []
    if reasons:
        warnings.warn(
            f"compiled code is not kept, every process compiles anew: {'; '.join(reasons)}. Set NUMBA_CACHE_DIR to a "
            "folder that only you can write to.", CompileCacheWarning, stacklevel=2,
        )  # fmt: skip
    return None


def _bases() -> list[Path]:
    """Where to keep machine code unless the user says where.

    It belongs to the user alone: numba's files are pickles and machine code, so a folder that others can write to is
    never used (`topoi._disk.private`).
    """
    users = user_cache()
    return [PACKAGE / "__pycache__", *([] if users is None else [users])]


class _PackageLocator(_CacheLocator):
    """Where numba keeps the code of one function, and when that code is out of date."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        module = py_func.__module__
        self._key = f"{module}-{py_func.__code__.co_firstlineno}"

    def ensure_cache_path(self) -> None:
        folder = Path(self.get_cache_path())
        if not folder.is_dir():  # removed since
            private_folder(folder.parent, folder.name)

    def get_cache_path(self) -> str:
        return str(cache_dir())

    def get_source_stamp(self) -> str:
        return source_stamp()

    def get_disambiguator(self) -> str:
        return self._key

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _PackageLocator:
        return cls(py_func, py_file)


class _PackageCacheImpl(CompileResultCacheImpl):
    """What stands in a file for compiled code: a digest and the bytes, since a damaged byte of it would be run.

    The digest covers whose code it is: that of another function with the same signature would be run as well.
    """

    _locator_classes = [_PackageLocator]  # noqa: RUF012 (numba's name and type)

    def reduce(self, cres: Any) -> Any:
        data = dumps(super().reduce(cres))
        return self._digest(data), data

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        digest, data = payload
        if self._digest(data) != digest:
            raise ValueError("damaged, or another function's")
        return super().rebuild(target_context, pickle.loads(data))  # noqa: S301 (in a folder that is ours)

    def _digest(self, data: bytes) -> bytes:
        return hashlib.blake2b(f"{self.filename_base}\n".encode() + data).digest()


class _PackageCache(FunctionCache):
    """A cache that can be damaged, removed or full at any time: then the function is compiled as if there were none.

    Whatever numba raises means that, be it an OSError, an error of pickle or one of LLVM.
    """

    _impl_class = _PackageCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(Exception):
            found = super().load_overload(sig, target_context)
            # Of a write that was cut short, an entry may lead to the code of another one.
            if found is None or tuple(found.signature.args) == tuple(getattr(sig, "args", sig)):
                return found
        self._drop()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:
            self._drop()

    def _drop(self) -> None:
        """Remove all that is kept of this function."""
        with contextlib.suppress(OSError):
            remove_files(Path(self._cache_path), rf"{re.escape(self._impl.filename_base)}\.(nbi|\d+\.nbc)(\.tmp\..*)?")


def kernel(function: F) -> F:
    """Compile `function` on its first call; cached on disk, without the GIL, division as in NumPy."""
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    compiled = numba.njit(nogil=True, error_model="numpy")(function)
    # Only this package's own source is in the stamp: a kernel defined elsewhere (in a test) is not cached.
    if function.__module__.split(".")[0] == "topoi" and cache_dir() and _as_stamped(function.__code__.co_filename):
        compiled._cache = _PackageCache(function)
    return compiled


def inlined(function: F) -> F:
    """A few lines that kernels share: pasted into those that call it; to compile it by itself would take longer."""
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    pasted: F = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return pasted


def of_word(values: Floats | Float, w: Int) -> float:
    """What a word has of `values`: an entry of an array, or the number that all words share.

    Kernels are compiled for the one or the other: where there is one number, nothing is looked up.
    """
    return values[w] if isinstance(values, np.ndarray) else values  # type: ignore[return-value]  # of any width


if not numba.config.DISABLE_JIT:

    @overload(of_word, inline="always", strict=False)  # strict: a lambda would need the annotations of its maker
    def _of_word(values: Any, w: Any) -> Any:
        if isinstance(values, types.Array):
            return lambda values, w: values[w]
        return lambda values, w: values


def _interpreted(function: F) -> F:
    """The plain function, silent where 64-bit integers wrap around or a zero divides: machine code does the same."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
            return function(*args)

    return run  # type: ignore[return-value]
