"""Values in a file: arrays as safetensors, all else as JSON. Nothing in a file can run.

A value is a tree of plain Python values, arrays, sparse matrices, and objects of a few known classes. An object is
written as its class's name and its fields; what stands in a file is believed only after its types have been checked
against those that the class declares. An object that is met again, or an equal array, is written once. A digest covers
all of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._files import writing_whole
from topoi._safetensors import write_safetensors
from topoi._version import __version__
from topoi.errors import TopoiError

FORMAT = "topoi"
VERSION = 1
PARTS = ("data", "indices", "indptr")
#: Dtypes that stand in a file as bytes; times stand there as whole numbers.
PLAIN = "biuf"
TIMES = "mM"


class ModelError(TopoiError, ValueError):
    """A file that is not a model, or is damaged."""


class StoreError(TopoiError, TypeError):
    """A value that cannot be written to a file."""


class Stored:
    """How a class is written: the types of its fields, the fields of an object, and an object from fields."""

    def __init__(self, cls: type[Any], fields: Mapping[str, Any] | None = None) -> None:
        self.cls = cls
        self.fields = dict(typing.get_type_hints(cls) if fields is None else fields)
        self.fields = {
            name: kind for name, kind in self.fields.items() if typing.get_origin(kind) is not typing.ClassVar
        }

    def values(self, thing: Any) -> dict[str, Any]:
        """The fields of an object."""
        return {name: getattr(thing, name) for name in self.fields}

    def make(self, values: dict[str, Any]) -> Any:
        """An object from checked fields."""
        thing = self.cls(**values)
        if hasattr(thing, "check"):
            thing.check()
        return thing


Classes = Mapping[str, Stored]


# ---- Files -------------------------------------------------------------------------------------------------


def save(path: str | Path, thing: Any, classes: Classes) -> None:
    """Write an object of a known class to one file, all of it or nothing."""
    writer = _Writer(classes)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "written_by": __version__}
    header["root"] = writer.value(thing, "")
    header["digest"] = _digest(header, writer.arrays)
    with writing_whole(path) as file:
        write_safetensors(file, writer.arrays, {"topoi": json.dumps(header)})


def load(path: str | Path, classes: Classes) -> Any:
    """Read what `save` wrote; a file that is anything else, or was changed by a byte, is a ModelError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        header = json.loads(metadata.get("topoi", "{}"))
        if header.get("format") != FORMAT:
            raise ModelError(f"{path}: not a topoi model")
        if header.get("version") != VERSION:
            writer = header.get("written_by", "another version")
            raise ModelError(f"{path}: written by topoi {writer} in a format that this version cannot read")
        if header.pop("digest") != _digest(header, arrays):
            raise ModelError(f"{path}: damaged, its contents are not those that were saved")
        return _Reader(classes, arrays).value(header["root"])
    except (FileNotFoundError, PermissionError):
        raise
    except ModelError as error:
        raise error if str(error).startswith(str(path)) else ModelError(f"{path}: {error}") from error
    except (SafetensorError, OSError, LookupError, ArithmeticError, ValueError, TypeError, AttributeError,
            RecursionError, TopoiError) as error:  # fmt: skip
        raise ModelError(f"{path}: not a topoi model, or damaged ({error})") from error


def _digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """A hash of all that a file holds: a byte changed in the counts would show nowhere else."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


# ---- Values ------------------------------------------------------------------------------------------------
# What is not a plain JSON value is a dict with the key "is".


class _Writer:
    def __init__(self, classes: Classes) -> None:
        self.names = {stored.cls: name for name, stored in classes.items()}
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
        name = self.names.get(type(value))
        if name is None:
            raise StoreError(f"{path.lstrip('.')}: {type(value).__name__} {value!r} cannot be written to a file")
        fields = self.classes[name].values(value)
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
        key = (plain.dtype.str, plain.shape, hashlib.blake2b(plain.data).digest())
        name = self.known.setdefault(key, path.lstrip("."))
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
            return array.view(np.dtype(value["time"])) if "time" in value else array
        if what == "list":
            items = [self.value(item) for item in value["items"]]
            out = np.empty(len(items), object)
            out[:] = items
            return (out.astype(str) if value["dtype"] == "U" else out).reshape(value["shape"])
        if what == "csr":
            return csr_of(tuple(value["shape"]), *(self.thing("array", value[part]) for part in PARTS))
        stored = self.classes.get(what)
        if stored is None:
            raise ModelError(f"holds a {what!r}, which is not expected there")
        fields = {name: self.value(field) for name, field in value["fields"].items()}
        for name, field in fields.items():
            if name not in stored.fields:
                raise ModelError(f"{what} has no field {name!r}")
            if not fits(field, stored.fields[name]):
                raise ModelError(f"{what}.{name} is a {type(field).__name__}, not what it must be")
        return stored.make(fields)


def csr_of(shape: tuple[int, int], data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any]) -> sparse.csr_array:
    """A sparse matrix of parts that are not trusted: SciPy itself takes pointers that are negative or fall."""
    sound = (
        data.shape == indices.shape == (len(data),)
        and indptr.shape == (shape[0] + 1,)
        and all(index.dtype in (np.int32, np.int64) for index in (indices, indptr))
        and indptr[0] == 0
        and indptr[-1] == len(data)
        and (np.diff(indptr) >= 0).all()
        and (not len(data) or (indices.min() >= 0 and indices.max() < shape[1]))
    )
    if not sound:
        raise ModelError("a sparse matrix has parts that do not fit together")
    return sparse.csr_array((data, indices, indptr), shape=shape)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the type that an annotation says; arrays also of its dtype."""
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is None:
        return isinstance(value, type(None) if kind is None else kind)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is np.ndarray:
        (dtype,) = typing.get_args(arguments[1]) or (Any,)
        return isinstance(value, np.ndarray) and (dtype is Any or value.dtype == np.dtype(dtype))
    if origin is list:
        return isinstance(value, list) and all(fits(item, arguments[0]) for item in value)
    raise TypeError(f"the type {kind} is not one that files have")
