"""Memory that was freed is kept for the next array, as glibc does it unless told otherwise.

Dask starts its workers with MALLOC_TRIM_THRESHOLD_=65536, so that they return memory soon. This has a side effect:
glibc no longer learns how large the arrays are that come and go, so every array of 128 KB or more is fetched from the
system, page by page, and given back. A task of ours makes a dozen such arrays, and workers spent a tenth to a fifth of
their time on this (docs/cluster.md). So a worker that is set up in this way is told to reuse freed memory, within a
limit.
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache

DASK_SETTING = "65536"
LARGEST = 2**25  # bytes of an array whose memory is reused; older versions of glibc take no more
KEPT = 2**28  # bytes that are kept at most
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as <malloc.h> numbers them


@cache
def keep_freed_memory() -> bool:
    """Let this process reuse freed memory where Dask has told glibc not to; returns whether it was told now."""
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != DASK_SETTING or platform.libc_ver()[0] != "glibc":
        return False  # what anyone else has set is meant
    libc = ctypes.CDLL(None)
    return bool(libc.mallopt(MMAP_THRESHOLD, LARGEST) and libc.mallopt(TRIM_THRESHOLD, KEPT))
