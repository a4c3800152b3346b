"""α of documents: the rows that there are, the row that each document has, and the form in which kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi._machine.arrays import Floats, Ints
from topoi._machine.simd import aligned_zeros

#: To walk a topic costs as much as to weigh so many, sixteen at a time.
WALK = 8


class AlphaRows(NamedTuple):
    """What kernels get of α: its different `rows` (R, K, perhaps padded), and the row of every document.

    An α of 0 says that a document cannot have the topic, and no token of it goes there. Rows that have few others have
    these in topics[start[r] : start[r + 1]]: to walk them is quicker than to weigh all.
    """

    rows: Floats
    row_of: Ints
    start: Ints
    topics: Ints


class DocumentAlpha(NamedTuple):
    """α of the documents of a corpus: its different `rows` (R, K), and the row of each document.

    Without `row_of` all documents have the first row.
    """

    rows: NDArray[np.float64]
    row_of: NDArray[np.int64] | None = None

    def for_kernels(self, n_documents: int, dtype: Any, width: int | None = None) -> AlphaRows:
        """The same of the type of a kernel's tables, and as wide as these: padded with zeros."""
        n_rows, n_topics = self.rows.shape
        rows = aligned_zeros((n_rows, width or n_topics), dtype)
        rows[:, :n_topics] = self.rows
        row_of = np.zeros(n_documents, np.int64) if self.row_of is None else self.row_of
        allowed = self.rows > 0
        few = allowed & (WALK * allowed.sum(1, keepdims=True) <= rows.shape[1])
        start = np.concatenate(([0], np.cumsum(few.sum(1), dtype=np.int64)))
        return AlphaRows(rows, np.ascontiguousarray(row_of, np.int64), start, np.nonzero(few)[1])

    def by_document(self) -> NDArray[np.float64]:
        """α of every document (D, K), or one row that stands for all."""
        return self.rows[:1] if self.row_of is None else self.rows[self.row_of]
