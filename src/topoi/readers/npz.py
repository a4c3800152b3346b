"""SciPy's .npz: a sparse matrix of counts, documents in rows, as `scipy.sparse.save_npz` writes it.

Nothing is unpickled: a file with pickled objects is refused. What the headers of the arrays say that they need is asked
for before any is read. The names of the columns are looked for in
`counts.vocab.txt` beside `counts.npz`.
"""

from __future__ import annotations

import math
import zipfile
from typing import BinaryIO

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.text.tokens import TOKEN, Tokens
from topoi.errors import CorpusError, FileError
from topoi.readers._counts import check_empty
from topoi.readers._faults import fault
from topoi.readers._request import Request

MOST_ARRAYS = 20  # there are five or six


def read(request: Request) -> tuple[Tokens, int]:
    """The tokens of every document, and the number of columns."""
    from scipy import sparse

    with request.source.seekable(request.memory) as file:
        try:
            _check_arrays(request, file)
            file.seek(0)
            matrix = sparse.load_npz(file)  # with allow_pickle=False
        except FileError:
            raise
        except (MemoryError, Exception) as error:  # zipfile, zlib, NumPy and SciPy have errors of many kinds
            raise fault(request.name, f"is not a sparse matrix saved by scipy.sparse.save_npz: {error}") from error
    if matrix.ndim != 2:
        raise fault(request.name, f"has {matrix.ndim} dimensions; give a matrix, documents in rows, words in columns.")
    check_empty(request, matrix.shape[0], matrix.nnz)
    tokens = Tokens(request.memory)
    if matrix.shape[0] and matrix.shape[1]:
        if matrix.dtype.kind in "biuf":
            n_tokens = np.maximum(matrix.data, 0).sum(dtype=np.float64)
            if math.isfinite(n_tokens):  # else a cell is to blame, and found below
                request.memory.ask(TOKEN * int(n_tokens), f"Its counts sum to {int(n_tokens)} tokens")
        try:
            corpus = Corpus.from_counts(matrix, allow_empty=True)
        except CorpusError as error:
            raise fault(request.name, str(error)) from error
        tokens.extend(corpus.words, np.diff(corpus.doc_ptr))
    else:
        tokens.extend(np.zeros(0, np.int32), np.zeros(matrix.shape[0], np.int64))
    return tokens, matrix.shape[1]


def _check_arrays(request: Request, file: BinaryIO) -> None:
    """Raise unless every part is an array, and all fit together. What the archive says of sizes is not believed."""
    n_bytes = 0
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        if len(names) > MOST_ARRAYS:
            raise fault(request.name, f"has {len(names)} arrays; a sparse matrix saved by SciPy has fewer.")
        for name in names:
            with archive.open(name) as part:
                version = np.lib.format.read_magic(part)
                read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, _, dtype = read_header[version](part)
            n_bytes += dtype.itemsize * math.prod(map(abs, shape))
            request.memory.ask(2 * n_bytes, f"Its arrays up to {name!r} declare {n_bytes} bytes")
