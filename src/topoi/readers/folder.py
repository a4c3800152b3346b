"""A folder of text files, a document each. The subfolder is the label, the path within the folder the id.

Files are read in order of their paths, the same on every system and in every locale; a byte of a name that is not UTF-8
stands in labels and ids as its escape, \\xe9. Names that begin with a dot are left out. A symbolic
link to a folder is not followed; one to a file is, unless it leads out of the folder: then it is a document that cannot
be read, since whoever made the folder would otherwise choose which files of the reader's are taken for documents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from topoi.errors import FileError
from topoi.readers._faults import fault
from topoi.readers._request import Documents, Request
from topoi.readers._source import Source

OF_A_CORPUS = ("corpus.json", "doc_ptr.npy", "words.npy")  # files that it has


def documents(request: Request) -> Documents:
    """Every file."""
    root = request.source.path
    if root is None or not root.is_dir():
        raise fault(request.name, "is not a folder.")
    if all((root / name).is_file() for name in OF_A_CORPUS):
        what = "is a saved corpus, not a folder of texts; fit a model on it in Python, as"
        raise fault(request.name, f"{what} topoi.LDA(50).fit({os.fspath(root)!r}).")
    real_root = os.path.realpath(root)
    for parts, found in sorted((tuple(map(_as_text, found)), found) for found in _files(root)):
        path = root.joinpath(*found)
        if path.is_symlink() and os.path.commonpath([real_root, os.path.realpath(path)]) != real_root:
            request.faults.document(str(path), "is a link that leads out of the folder; copy the file itself there.")
            continue
        try:
            source = Source(path, request.source.encoding)
            text = source.whole()
            request.source.n_read += source.n_read
        except FileError as error:
            request.faults.skip(error)
            continue
        answer, problem = request.read_answer(parts[0] if len(parts) > 1 else None)
        if problem:
            request.faults.document(str(path), f"the subfolder {parts[0]!r}: {problem}")
            continue
        yield text, answer, "/".join(parts)


def _as_text(name: str) -> str:
    """The name of a file as text that can be written anywhere."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _files(root: Path) -> Iterator[tuple[str, ...]]:
    """Paths of the files below `root`, in parts."""
    problems: list[OSError] = []
    for parent, folders, names in os.walk(root, onerror=problems.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        above = Path(parent).relative_to(root).parts
        for name in names:
            if not name.startswith(".") and (Path(parent) / name).is_file():  # no sockets, pipes, broken links
                yield (*above, name)
    if problems:
        raise fault(str(cast(str, problems[0].filename)), f"cannot be listed: {problems[0].strerror}.")
