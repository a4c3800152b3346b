"""UCI bag of words: three lines with the numbers of documents, words and counts, then `document word count` a line.

Documents and words count from 1; documents come in order. The vocabulary of `docword.posts.txt.gz` is looked for in
`vocab.posts.txt` beside it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from io import BufferedReader

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.checks import MAX_COUNT, MAX_WORDS
from topoi.corpus.text.tokens import Tokens
from topoi.readers._counts import BAD_COUNT, check_empty
from topoi.readers._faults import fault
from topoi.readers._request import Request, short

BLOCK = 2**20  # bytes parsed together
_LONGEST = 2**10  # bytes of a line
_BLOCK = re.compile(rb"(?:[0-9]{1,18} [0-9]{1,18} [0-9]{1,18}\r?\n)*")
_LINE = re.compile(rb"\s*([0-9]{1,18})\s+([0-9]{1,18})\s+([0-9]{1,18})\s*")
_HEADER = ("documents", "words in the vocabulary", "lines that follow")

Triples = NDArray[np.int64]


def read(request: Request) -> tuple[Tokens, int]:
    """The tokens of every document, and the number of columns."""
    tokens = Tokens(request.memory)
    with request.source.opened() as stream:
        n_documents, n_words, n_lines = [_header(request, stream, i) for i in range(3)]
        if n_words > MAX_WORDS:
            raise fault(request.name, f"has {n_words} words; at most {MAX_WORDS} are possible.", line=2)
        current = n_seen = 0  # the document that may go on in the next block
        carried = np.zeros(1, np.int64)  # lengths from there on
        for line, triples in _blocks(request, stream, n_documents, n_words):
            n_seen += len(triples)
            documents, words, counts = triples.T
            document = documents - 1
            falls = np.flatnonzero(np.diff(document, prepend=current) < 0)
            if len(falls):
                what = f"document {documents[falls[0]]} comes too late; the lines must be in order of documents."
                raise fault(request.name, f"{what} Sort them: sort -n.", line=line + int(falls[0]))
            check_empty(request, int(document[-1]), n_seen)
            lengths = np.bincount(document - current, counts, document[-1] - current + 1).astype(np.int64)
            lengths[0] += carried[0]
            tokens.extend_counted(words - 1, counts, lengths[:-1])
            current, carried = int(document[-1]), lengths[-1:]
        check_empty(request, n_documents, n_seen)
        if n_seen + request.faults.n_skipped != n_lines:
            what = f"line 3 announces {n_lines} lines, but {n_seen + request.faults.n_skipped} follow"
            raise fault(request.name, f"{what}: the file is truncated, or its header is wrong.")
    if n_documents:
        rest = np.zeros(n_documents - current, np.int64)
        rest[0] = carried[0]
        tokens.extend(np.zeros(0, np.int32), rest)
    return tokens, n_words


def _header(request: Request, stream: BufferedReader, i: int) -> int:
    line = stream.readline(_LONGEST)
    line = line.removeprefix(codecs.BOM_UTF8) if i == 0 else line
    if not re.fullmatch(rb"\s*[0-9]{1,18}\s*", line):
        what = f"expected the number of {_HEADER[i]}, not {short(line.strip())}"
        raise fault(request.name, f"{what}. Is this a docword file?", line=i + 1)
    return int(line)


def _blocks(request: Request, stream: BufferedReader, n_documents: int, n_words: int) -> Iterator[tuple[int, Triples]]:
    """Number of the first line, and the lines, of every block; not in step if a line was skipped."""
    number = 4
    while block := stream.read(BLOCK):
        block += stream.readline(_LONGEST)
        block += b"" if block.endswith(b"\n") else b"\n"
        if _BLOCK.fullmatch(block):
            triples = np.array(block.split(), "S18").astype(np.int64).reshape(-1, 3)
            good = _in_range(triples, n_documents, n_words)
            if not good.all():
                triples = _one_by_one(request, block, number, n_documents, n_words)
        else:
            triples = _one_by_one(request, block, number, n_documents, n_words)
        if len(triples):
            yield number, triples
        number += block.count(b"\n")


def _in_range(triples: Triples, n_documents: int, n_words: int) -> NDArray[np.bool_]:
    good = (triples > 0) & (triples <= np.array([n_documents, n_words, MAX_COUNT]))
    return good[:, 0] & good[:, 1] & good[:, 2]


def _one_by_one(request: Request, block: bytes, number: int, n_documents: int, n_words: int) -> Triples:
    """The good lines of a block; each bad one is a fault."""
    triples = []
    for line_number, line in enumerate(block.split(b"\n")[:-1], number):
        match = _LINE.fullmatch(line)
        if match is None:
            if line.strip():
                what = f"expected three whole numbers, document word count, not {short(line.strip())}."
                request.faults.document(request.name, what, line=line_number)
            continue
        document, word, count = map(int, match.groups())
        if not 1 <= document <= n_documents:
            what = f"document {document}; line 1 says that there are {n_documents}, counted from 1."
        elif not 1 <= word <= n_words:
            what = f"word {word}; line 2 says that there are {n_words}, counted from 1."
        elif not 1 <= count <= MAX_COUNT:
            what = f"the count {count}; {BAD_COUNT}"
        else:
            triples.append((document, word, count))
            continue
        request.faults.document(request.name, what, line=line_number)
    return np.array(triples, np.int64).reshape(-1, 3)
