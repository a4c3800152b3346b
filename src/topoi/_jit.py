"""The decorator for kernels, and their compile cache. Only this module, `_simd` and `_lanes` know numba.

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
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
# The cache belongs to the user alone: numba's index files are pickles, so a folder that others can write
# (a shared temporary folder, say) is never used.
USER_CACHE = {
    "win32": Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")),
    "darwin": Path("~/Library/Caches"),
}.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache"))


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
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def cache_dir() -> Path | None:
    """First folder that can be written for machine code, or None when there is none (then nothing is cached)."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    # A home that cannot be told ("~" stays) must not become a folder of that name in the working directory.
    bases = [Path(given)] if given else [PACKAGE / "__pycache__", USER_CACHE.expanduser() / "topoi"]
    for base in bases:
        if not base.is_absolute() and not given:
            continue
        folder = base / f"kernels-{source_stamp()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".probe-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        _prune(base)
        return folder
    return None


def _prune(base: Path, keep: int = 3) -> None:
    """Remove the code of all but the newest few states of the source; another process may be doing the same."""
    with contextlib.suppress(OSError):
        for folder in sorted(base.glob("kernels-*"), key=lambda path: path.stat().st_mtime)[:-keep]:
            shutil.rmtree(folder, ignore_errors=True)


class _PackageLocator(_CacheLocator):
    """Where numba keeps the code of one function, and when that code is out of date."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        module = py_func.__module__
        self._key = f"{module}-{py_func.__code__.co_firstlineno}"

    def ensure_cache_path(self) -> None:
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)

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
    _locator_classes = [_PackageLocator]  # noqa: RUF012 (numba's name and type)


class _PackageCache(FunctionCache):
    _impl_class = _PackageCacheImpl


def kernel(function: F) -> F:
    """Compile `function` on its first call; cached on disk, without the GIL, division as in NumPy."""
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    compiled = numba.njit(nogil=True, error_model="numpy")(function)
    # Only this package's own source is in the stamp: a kernel defined elsewhere (in a test) is not cached.
    if function.__module__.split(".")[0] == "topoi" and cache_dir() is not None:
        compiled._cache = _PackageCache(function)
    return compiled


def _interpreted(function: F) -> F:
    """The plain function, silent where 64-bit integers wrap around or a zero divides: machine code does the same."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
            return function(*args)

    return run  # type: ignore[return-value]
