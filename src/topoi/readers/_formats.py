"""All formats, and how the name of a file tells which it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi._disk.compressed import NAMES, compression_of
from topoi._registry import imported
from topoi.corpus.text.tokens import Tokens
from topoi.errors import ParameterError
from topoi.readers._covariates import GROUP
from topoi.readers._faults import fault
from topoi.readers._request import Documents, Request, listed
from topoi.readers._source import Source, missing

if TYPE_CHECKING:
    from topoi.readers.svmlight import Row


@dataclass(frozen=True)
class Format:
    """A format: what it holds, the suffixes of its files, and how to read it, in one of three ways."""

    summary: str
    suffixes: tuple[str, ...]
    documents: Callable[[Request], Documents] | None = None  # texts
    rows: Callable[[Request], Iterator[Row]] | None = None  # columns, counts and label of each document
    tokens: Callable[[Request], tuple[Tokens, int]] | None = None  # all documents at once, and the number of columns
    columns: bool = False  # whether text, label and id are columns with names
    labels: bool = True  # whether there are any
    by_line: bool = False  # whether a line can be read without those before it


SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")  # people try


def late(target: str) -> Callable[[Request], Any]:
    """The function `"module:name"` of this room; the module is imported when it is called."""

    def read(request: Request) -> Any:
        return imported("topoi.readers", target)(request)

    return read


FORMATS = {
    "folder": Format("a folder of text files; the subfolder is the label", (), documents=late("folder:documents")),
    "txt": Format(
        "one document a line", (".txt", ".text"), documents=late("lines:documents"), labels=False, by_line=True
    ),
    "jsonl": Format(
        "a JSON object a line",
        (".jsonl", ".ndjson", ".json"),
        documents=late("jsonl:documents"),
        columns=True,
        by_line=True,
    ),
    "csv": Format("comma-separated, with a header", (".csv",), documents=late("delimited:documents"), columns=True),
    "tsv": Format(
        "tab-separated, with a header", (".tsv", ".tab"), documents=late("delimited:tab_documents"), columns=True
    ),
    "parquet": Format("Parquet columns", (".parquet", ".pq"), documents=late("parquet:documents"), columns=True),
    "mallet": Format("name, label and text a line", (".mallet",), documents=late("mallet:documents")),
    "svmlight": Format(
        "label and index:count pairs a line", (".svmlight", ".libsvm", ".svm"), rows=late("svmlight:rows")
    ),
    "uci": Format("UCI bag of words: docword and vocab", (".uci",), tokens=late("uci:read"), labels=False),
    "npz": Format("a SciPy sparse matrix of counts", (".npz",), tokens=late("npz:read"), labels=False),
}


def format_of(name: str) -> str | None:
    """The format that a file's name tells, compressed or not: `posts.jsonl.gz` is jsonl."""
    base = Path(name[: len(name) - len(compression_of(name))]).name.lower()
    if base.startswith("docword."):
        return "uci"
    return next((key for key, kind in FORMATS.items() if base.endswith(kind.suffixes or "\0")), None)


def choose_format(source: Source, format: Any) -> Format:
    """The format that was asked for, or that the name tells."""
    if format is not None:
        key = str(format).lower().lstrip(".")
        key = next((name for name, kind in FORMATS.items() if key == name or f".{key}" in kind.suffixes), "")
        if not key:
            raise ParameterError("format", f"must be one of {listed(list(FORMATS))}, not {format!r}")
        return FORMATS[key]
    name = source.file_name
    if name is None:
        raise ParameterError("format", f"of {source.name} is not known; give one of {listed(list(FORMATS))}")
    if source.path is not None and source.path.is_dir():
        return FORMATS["folder"]
    if source.path is not None and not source.path.exists():
        raise missing(source.name)
    found = format_of(name)
    if found is None and Path(name).suffix.lower() in SPREADSHEETS:
        raise fault(source.name, "is a spreadsheet, which is not read. Save it as CSV in that program, and read that.")
    if found is None:
        raise ParameterError(
            "format",
            f"of {source.name} cannot be told from its name; give one of {listed(list(FORMATS))}. "
            f"Names may end in {', '.join(NAMES)} if the file is compressed",
        )
    return FORMATS[found]


def check_columns(chosen: Format, request: Request) -> None:
    """Raise if a column was named for a format that has none, or labels asked for where there are none."""
    if chosen.columns:
        return
    text = request.text[0] if request.text else None
    for option, value in (("text", text), ("label", request.label), ("id", request.id)):
        if value is not None:
            where = " Labels are read anyway." if chosen.labels and option == "label" else ""
            raise ParameterError(
                option, f"names the column {value!r}, but this format has no columns: {chosen.summary}.{where}"
            )
    if request.covariates:
        name, kind = next(iter(request.covariates.items()))
        raise ParameterError(
            "groups" if kind == GROUP else "covariates",
            f"names the column {name!r}, but this format has no columns: {chosen.summary}.",
        )
    if request.numeric and not chosen.labels:
        raise ParameterError("target", f"this format has none: {chosen.summary}")
