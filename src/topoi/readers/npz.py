"""SciPy's .npz: a sparse matrix of counts, documents in rows, as `scipy.sparse.save_npz` writes it.

Nothing is unpickled: a file with pickled objects is refused. The names of the columns are looked for in
`counts.vocab.txt` beside `counts.npz`.
"""

from __future__ import annotations

import numpy as np

from topoi.corpus import Corpus
from topoi.errors import CorpusError
from topoi.readers._counts import check_empty
from topoi.readers._faults import fault
from topoi.readers._request import Request
from topoi.readers._tokens import Tokens


def read(request: Request) -> tuple[Tokens, int]:
    """The tokens of every document, and the number of columns."""
    from scipy import sparse

    with request.source.seekable() as file:
        try:
            matrix = sparse.load_npz(file)  # with allow_pickle=False
        except (MemoryError, Exception) as error:  # zipfile, zlib, NumPy and SciPy have errors of many kinds
            raise fault(request.name, f"is not a sparse matrix saved by scipy.sparse.save_npz: {error}") from error
    if matrix.ndim != 2:
        raise fault(request.name, f"has {matrix.ndim} dimensions; give a matrix, documents in rows, words in columns.")
    check_empty(request, matrix.shape[0], matrix.nnz)
    tokens = Tokens()
    if matrix.shape[0] and matrix.shape[1]:
        try:
            corpus = Corpus.from_counts(matrix, allow_empty=True)
        except CorpusError as error:
            raise fault(request.name, str(error)) from error
        tokens.extend(corpus.words, np.diff(corpus.doc_ptr))
    else:
        tokens.extend(np.zeros(0, np.int32), np.zeros(matrix.shape[0], np.int64))
    return tokens, matrix.shape[1]
