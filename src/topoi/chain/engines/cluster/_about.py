"""What is known of the documents beside their words (`Corpus.about`), in files: of every group its rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from topoi._disk.remote import Location
from topoi.chain.engines.cluster._job import Job, Layout, damaged, read_arrays, write_arrays


def about_file(job: Job, group: int) -> Location:
    """Where the rows of a group are."""
    return job.root / f"about-{group:05d}"


def write_about(job: Job, layout: Layout, table: sparse.csr_array) -> None:
    """Write the rows of all documents, group by group."""
    for group, (first, last) in enumerate(pairwise(layout.documents.tolist())):
        rows = sparse.csr_array(table[first:last])
        shape = np.array(rows.shape, np.int64)
        arrays = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": shape}
        write_arrays(about_file(job, group), arrays)


def read_about(job: Job, group: int, n_documents: int) -> sparse.csr_array:
    """The rows of the documents of a group."""
    path = about_file(job, group)
    found = read_arrays(path)
    shape = tuple(found["shape"].tolist())
    if shape[0] != n_documents:
        raise damaged(path, f"it does not hold the rows of {n_documents} documents")
    return sparse.csr_array((found["data"], found["indices"], found["indptr"]), shape=shape)
