"""Values in a file: arrays as safetensors, all else as JSON. Nothing in a file can run.

A value is a tree of plain Python values, arrays, sparse matrices, and objects of a few known classes. An object is
written as its class's name and its fields; what stands in a file is believed only after each field has been checked
against what the class declares (schema.py). An object that is met again, or an equal array, is written once. A digest
covers all of it, so that a file that was damaged can be told from one that is whole but not understood.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.mapped import give_back, is_mapped, limits, map_tensors, pieces
from topoi._disk.remote import Remote, locate, shown
from topoi._disk.safetensors import write_safetensors
from topoi._disk.schema import Field
from topoi._disk.whole import local_copy, writing_whole
from topoi._registry import Registry
from topoi._version import __version__
from topoi.errors import TopoiError

T = TypeVar("T")

FORMAT = "topoi"
VERSION = 1
PARTS = ("data", "indices", "indptr")
#: Dtypes that stand in a file as bytes; times stand there as whole numbers.
PLAIN = "biuf"
TIMES = "mM"


class ModelError(TopoiError, ValueError):
    """A file that is not a model, or is damaged, or cannot be read by this version."""


class UnreadableError(ModelError):
    """A file that is whole, but holds what this version of topoi does not understand. Another one may."""


class StoreError(TopoiError, TypeError):
    """A value that cannot be written to a file."""


class Stored:
    """How a class is written: what its fields may hold, the fields of an object, and an object from fields.

    `old` are fields that earlier versions wrote, for `make` to know what to do with. `spare` fields have a default, and
    stand in a file only where they hold something: most files never know of them.
    """

    def __init__(
        self,
        cls: type[Any],
        fields: Mapping[str, Field],
        old: Mapping[str, Field] | None = None,
        spare: Collection[str] = (),
    ) -> None:
        self.cls = cls
        self.fields = dict(fields)
        self.old = dict(old or {})
        self.spare = spare

    def values(self, thing: Any) -> dict[str, Any]:
        """The fields of an object."""
        values = {name: getattr(thing, name) for name in self.fields}
        return {name: value for name, value in values.items() if name not in self.spare or _holds_something(value)}

    def make(self, values: dict[str, Any]) -> Any:
        """An object from checked fields."""
        thing = self.cls(**values)
        if hasattr(thing, "check"):
            thing.check()
        return thing


def _holds_something(value: Any) -> bool:
    return bool(value.size if isinstance(value, np.ndarray) else value)


Classes = Mapping[str, Stored]


class StoredMembers(Classes):
    """How the members of a registry are written, by the names of their classes; those that are met are imported."""

    def __init__(self, registry: Registry[type[T]], how: Callable[[type[T]], Stored]) -> None:
        self._registry = registry
        self._how = how

    def __getitem__(self, class_name: str) -> Stored:
        return self._how(self._registry[self._registry.class_names()[class_name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._registry.class_names())

    def __len__(self) -> int:
        return len(self._registry)


def known(own: dict[str, Stored], *others: Classes) -> ChainMap[str, Stored]:
    """All classes together; one that is added is among the own ones."""
    return ChainMap(own, *others)  # type: ignore[arg-type]  # it changes the first mapping alone


# ---- Files -------------------------------------------------------------------------------------------------


def save(path: str | Path | Remote, thing: Any, classes: Classes, follow: bool = True) -> None:
    """Write an object of a known class to one file, all of it or nothing; `follow` as for `writing_whole`."""
    writer = _Writer(classes)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "written_by": __version__}
    header["root"] = writer.value(thing, "")
    header["digest"] = _digest(header, writer.arrays)
    with writing_whole(path, follow=follow) as file:
        write_safetensors(file, writer.arrays, {"topoi": json.dumps(header)})


def load(path: str | Path | Remote, classes: Classes, mapped: bool = False) -> Any:
    """Read what `save` wrote; a file that is anything else, or was changed by a byte, is a ModelError.

    Where it may be `mapped`, large parts of sparse matrices stay in the file, and cannot be written to.
    """
    if isinstance(locate(path), Remote) and os.name == "nt":
        mapped = False  # the copy of an object goes when it has been read, and Windows removes no file that is mapped
    with local_copy(path) as file:
        return _load(file, shown(path), classes, mapped)


def _load(file: Path, path: str, classes: Classes, mapped: bool) -> Any:
    """Read a file, which is called `path` in errors."""
    header, arrays = _read(file, path, mapped)
    if header.get("format") != FORMAT:
        raise ModelError(f"{path}: not a topoi model")
    written_by = header.get("written_by", "of another version")
    if header.get("version") != VERSION:
        raise UnreadableError(
            f"{path}: written by topoi {written_by}, in a format that this version, {__version__}, cannot read; "
            "use the version that wrote it, or a newer one"
        )
    if header.pop("digest", None) != _digest(header, arrays):
        raise ModelError(f"{path}: damaged, its contents are not those that were saved")
    try:
        return _Reader(classes, arrays).value(header["root"])
    except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError, RecursionError, TopoiError) as error:
        raise UnreadableError(
            f"{path}: not damaged, but topoi {__version__} cannot read what topoi {written_by} wrote there: {error}"
        ) from error


def _read(file: Path, path: str, mapped: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file, not yet believed."""
    from safetensors import SafetensorError, safe_open

    if not stat.S_ISREG(os.stat(file).st_mode):  # a pipe would be waited for
        inside = sorted(file.glob("*.topoi"))
        hint = f", but a folder; a model is in it: {os.path.join(path, inside[0].name)}" if len(inside) == 1 else ""
        raise ModelError(f"{path}: not a topoi model: it is not a file{hint}")
    with open(file, "rb"):  # safetensors says of a file that may not be read that there is none
        pass
    try:
        with safe_open(str(file), framework="numpy") as found:
            metadata = found.metadata() or {}
            arrays = map_tensors(file) if mapped else {}
            arrays |= {name: found.get_tensor(name) for name in found.keys() if name not in arrays}  # noqa: SIM118
        header = json.loads(metadata.get("topoi", "{}"))
    except (FileNotFoundError, PermissionError):
        raise
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ModelError(f"{path}: not a topoi model, or damaged ({error})") from error
    if not isinstance(header, dict):
        raise ModelError(f"{path}: not a topoi model")
    return header, arrays


def _digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """A hash of all that a file holds: a byte changed in the counts would show nowhere else."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        for piece in pieces(np.ascontiguousarray(array)):
            digest.update(piece.data)
    return digest.hexdigest()


# ---- Values ------------------------------------------------------------------------------------------------
# What is not a plain JSON value is a dict with the key "is".


class _Writer:
    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.arrays: dict[str, NDArray[Any]] = {}
        self.known: dict[Any, str] = {}
        self.met: dict[int, int] = {}
        self.kept: list[Any] = []  # objects met, so that none is freed and its id given to another

    def value(self, value: Any, path: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"is": "float", "text": repr(value)}
        if isinstance(value, list | tuple):
            items = [self.value(item, f"{path}.{number}") for number, item in enumerate(value)]
            return items if isinstance(value, list) else {"is": "tuple", "items": items}
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"is": "dict", "items": [[self.value(k, path), self.value(v, f"{path}.{n}")] for n, (k, v) in pairs]}
        if isinstance(value, np.ndarray):
            return self.array(value, path)
        if isinstance(value, sparse.csr_array):
            parts = {part: self.array(getattr(value, part), f"{path}.{part}") for part in PARTS}
            return {"is": "csr", "shape": list(value.shape), **parts}
        if id(value) in self.met:
            return {"is": "again", "number": self.met[id(value)]}
        self.met[id(value)] = len(self.met)
        self.kept.append(value)
        name = type(value).__name__
        stored = self.classes.get(name)
        if stored is None or stored.cls is not type(value):
            raise StoreError(f"{path.lstrip('.')}: {name} {value!r} cannot be written to a file")
        fields = stored.values(value)
        return {"is": name, "fields": {f: self.value(v, f"{path}.{f}") for f, v in fields.items()}}

    def array(self, value: NDArray[Any], path: str) -> dict[str, Any]:
        kind = value.dtype.kind
        if kind in "UO":
            items = [self.value(item, path) for item in value.ravel().tolist()]
            return {"is": "list", "dtype": kind, "shape": list(value.shape), "items": items}
        if kind not in PLAIN + TIMES or value.dtype.itemsize > 8:
            raise StoreError(f"{path.lstrip('.')}: an array of {value.dtype} cannot be written to a file")
        plain = value.view(np.int64) if kind in TIMES else value
        plain = np.ascontiguousarray(plain, plain.dtype.newbyteorder("="))
        # Equal arrays are written once, be they one object or two: equal models are equal files.
        digest = hashlib.blake2b()
        for piece in pieces(plain):
            digest.update(piece.data)
        name = self.known.setdefault((plain.dtype.str, plain.shape, digest.digest()), path.lstrip("."))
        self.arrays[name] = plain
        return {"is": "array", "name": name} | ({"time": value.dtype.str} if kind in TIMES else {})


class _Reader:
    def __init__(self, classes: Classes, arrays: dict[str, NDArray[Any]]) -> None:
        self.classes = classes
        self.arrays = arrays
        self.met: list[Any] = []

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        what = value["is"]
        if what == "float":
            return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["text"]]
        if what == "tuple":
            return tuple(self.value(item) for item in value["items"])
        if what == "dict":
            return {self.value(k): self.value(v) for k, v in value["items"]}
        if what == "again":
            return self.met[value["number"]]
        if what in ("array", "list", "csr"):
            return self.thing(what, value)
        place = len(self.met)
        self.met.append(None)
        self.met[place] = self.thing(what, value)
        return self.met[place]

    def thing(self, what: str, value: dict[str, Any]) -> Any:
        if what == "array":
            array = self.arrays[value["name"]]
            if is_mapped(array):  # a part of a sparse matrix may stay in the file, but kernels write to other arrays
                array, there = np.array(array), array
                give_back(there)
            return array.view(np.dtype(value["time"])) if "time" in value else array
        if what == "list":
            items = [self.value(item) for item in value["items"]]
            out = np.empty(len(items), object)
            out[:] = items
            return (out.astype(str) if value["dtype"] == "U" else out).reshape(value["shape"])
        if what == "csr":
            return csr_of(tuple(value["shape"]), *(self.arrays[value[part]["name"]] for part in PARTS))
        stored = self.classes.get(what)
        if stored is None:
            raise ModelError(f"holds a {what!r}, which is not expected there")
        fields = {name: self.value(field) for name, field in value["fields"].items()}
        known = stored.fields | stored.old
        for name, field in fields.items():
            if name not in known:
                raise ModelError(f"{what} has no field {name!r}")
            if not known[name].holds(field):
                raise ModelError(f"{what}.{name} is a {type(field).__name__}, not {known[name].name}")
        return stored.make(fields)


def _all_below(indices: NDArray[Any], n: int) -> bool:
    least, greatest = limits(indices)
    return not len(indices) or bool(least >= 0 and greatest < n)


def csr_of(shape: tuple[Any, ...], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> sparse.csr_array:
    """A sparse matrix of parts that are not trusted: SciPy itself takes pointers that are negative or fall."""
    sound = (
        len(shape) == 2
        and all(type(n) is int for n in shape)  # a file may say anything
        and data.shape == indices.shape == (len(data),)
        and indptr.shape == (shape[0] + 1,)
        and all(index.dtype in (np.int32, np.int64) for index in (indices, indptr))
        and indptr[0] == 0
        and indptr[-1] == len(data)
        and (np.diff(indptr) >= 0).all()
        and _all_below(indices, shape[1])
    )
    if not sound:
        raise ModelError("a sparse matrix has parts that do not fit together")
    return sparse.csr_array((data, indices, indptr), shape=shape)
