"""Documents in batches that have few different words: a table with a row for each of them stays small."""

from __future__ import annotations

import numpy as np

from topoi.corpus.corpus import Corpus

#: Numbers of a table with a row for each word of some documents, at most.
TABLE = 2**26


def batches_by_words(corpus: Corpus, width: int) -> list[tuple[int, int]]:
    """First block and end of batches of consecutive blocks with few enough words for a table of so many columns.

    A block is never cut, whatever its table.
    """
    ptr, most = corpus.block_ptr, max(TABLE // width, 1)
    n_blocks = len(ptr) - 1
    if min(corpus.n_words, corpus.n_tokens) <= most or np.count_nonzero(corpus.word_counts) <= most:
        return [(0, n_blocks)]
    cuts, seen, n_seen = [0], np.zeros(corpus.n_words, np.bool_), 0
    for block in range(n_blocks):
        words = np.unique(corpus.words[corpus.doc_ptr[ptr[block]] : corpus.doc_ptr[ptr[block + 1]]])
        n_new = int(np.count_nonzero(~seen[words]))
        if n_seen + n_new > most and block > cuts[-1]:
            cuts.append(block)
            seen[:] = False
            n_seen, n_new = 0, len(words)
        seen[words] = True
        n_seen += n_new
    return list(zip(cuts, [*cuts[1:], n_blocks], strict=True))
