"""The different rows of a table of documents: few where it has categories, however many documents there are."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.corpus import Corpus


class Distinct(NamedTuple):
    """The different `rows` of a table, in the order in which they are first met, and the row of every document."""

    rows: sparse.csr_array
    row_of: NDArray[np.int64]


#: Found once for a corpus, which never changes.
_found: WeakKeyDictionary[Corpus, dict[str, Distinct]] = WeakKeyDictionary()


def distinct_of(corpus: Corpus, name: str) -> Distinct:
    """The different rows of a table that is known about the documents of a corpus."""
    known = _found.setdefault(corpus, {})
    if name not in known:
        known[name] = distinct(corpus.about[name])
    return known[name]


def distinct(table: sparse.csr_array) -> Distinct:
    """The different rows of a table."""
    table = sparse.csr_array(table, dtype=np.float64, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    start = table.indptr.tolist()
    numbers: dict[tuple[bytes, bytes], int] = {}
    row_of = np.empty(table.shape[0], np.int64)
    first = []
    for d in range(table.shape[0]):
        own = slice(start[d], start[d + 1])
        key = (table.indices[own].tobytes(), table.data[own].tobytes())
        if key not in numbers:
            numbers[key] = len(numbers)
            first.append(d)
        row_of[d] = numbers[key]
    return Distinct(sparse.csr_array(table[first]), row_of)
