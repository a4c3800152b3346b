"""Files of counts: columns in place of words. Their names, if any, stand in a vocabulary file beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from sys import getsizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk.compressed import compression_of
from topoi.corpus import Corpus
from topoi.corpus.checks import MAX_COUNT, read_vocabulary
from topoi.corpus.text.limits import Limits
from topoi.corpus.text.tokens import PIECE, UNKNOWN, WORD, Tokens
from topoi.errors import CorpusError, ParameterError
from topoi.readers._faults import Faults, fault
from topoi.readers._memory import ROW, Memory
from topoi.readers._request import Request
from topoi.readers._source import Source

BAD_COUNT = f"counts are whole numbers up to {MAX_COUNT}, not negative."


class CountTokens:
    """Gathers documents that are columns with counts."""

    def __init__(self, memory: Memory) -> None:
        self.tokens = Tokens(memory)
        self._columns: list[int] = []
        self._counts: list[int] = []
        self._lengths: list[int] = []
        self._n_tokens = 0
        self.largest = -1

    def add(self, columns: list[int], counts: list[int]) -> None:
        """Append a document; the columns, from 0, may come in any order and more than once."""
        self._columns += columns
        self._counts += counts
        self._lengths.append(sum(counts))
        self._n_tokens += self._lengths[-1]
        if columns:
            self.largest = max(self.largest, max(columns))
        if len(self._columns) + self._n_tokens >= PIECE or len(self._lengths) >= PIECE:
            self.flush()

    def flush(self) -> None:
        """Move what was added to the tokens."""
        columns, counts = np.array(self._columns, np.int64), np.array(self._counts, np.int64)
        self.tokens.extend_counted(columns, counts, np.array(self._lengths, np.int64))
        self._columns, self._counts, self._lengths, self._n_tokens = [], [], [], 0

    def finish(self) -> tuple[Tokens, int]:
        """All tokens, and the number of columns."""
        self.flush()
        return self.tokens, self.largest + 1


def fit_vocabulary(
    tokens: Tokens,
    names: NDArray[np.object_] | None,
    n_columns: int,
    vocabulary: NDArray[np.object_] | None,
    limits: Limits,
    ignored: frozenset[str],
) -> Corpus:
    """A corpus from tokens over columns with names or without.

    If both have names, the columns are matched with the vocabulary by word; else they are taken to be in its order.
    Without a vocabulary, stop words and words beyond the limits are dropped, which needs names.
    """
    if vocabulary is not None:
        if names is None:
            if n_columns > len(vocabulary):
                raise CorpusError(
                    f"there are {n_columns} columns, but the vocabulary has {len(vocabulary)} words; name the columns "
                    "by a vocabulary file."
                )
            return Corpus(*tokens.arrays(), len(vocabulary), vocabulary)
        place = {word: i for i, word in enumerate(vocabulary)}
        n_tokens = len(tokens.words)
        tokens.renumber(np.array([place.get(name, UNKNOWN) for name in names], np.int32), sort=True)
        return Corpus(*tokens.arrays(), len(vocabulary), vocabulary, n_tokens - len(tokens.words))
    if names is None:
        if not limits.absent or ignored:
            raise ParameterError(
                "stop_words" if ignored else "min_df",
                "words can be dropped only if they have names; there is no vocabulary file",
            )
        return Corpus(*tokens.arrays(), n_columns)
    wanted = np.array([name not in ignored for name in names], bool)
    if not wanted.all():
        tokens.renumber(np.where(wanted, np.cumsum(wanted) - 1, UNKNOWN).astype(np.int32), sort=False)
        names = names[wanted]
    names = names[tokens.prune(len(names), limits).kept]
    return Corpus(*tokens.arrays(), len(names), names)


def column_names(request: Request, candidates: Iterable[Path]) -> NDArray[np.object_] | None:
    """The words of the vocabulary file that was named, or of the first of the candidates that exists."""
    if request.vocabulary_file is not None:
        return read_vocabulary_file(request.vocabulary_file, request.max_memory)
    path = next((path for path in candidates if path.is_file()), None)
    return None if path is None else read_vocabulary_file(path, request.max_memory)


def beside(request: Request) -> list[Path]:
    """Where the vocabulary file may be: `posts.vocab.txt` for `posts.svm.gz`."""
    path = request.source.path
    return [] if path is None else [vocabulary_path(path)]


def vocabulary_path(path: Path) -> Path:
    """The name of the vocabulary file of a file of counts; for UCI's `docword.posts.txt` it is `vocab.posts.txt`."""
    name = path.name[: len(path.name) - len(compression_of(path.name))]
    if name.lower().startswith("docword."):
        return path.with_name("vocab." + name[len("docword.") :])
    return path.with_name(Path(name).stem + ".vocab.txt")


def read_vocabulary_file(path: Any, max_memory: Any = None) -> NDArray[np.object_]:
    """The words of a file, one a line."""
    source = Source(path)
    memory = Memory(source.name, lambda: source.n_bytes, max_memory)
    words: dict[str, int] = {}
    blank, n_bytes = None, 0
    for number, word in source.lines(Faults()):
        n_bytes += WORD + getsizeof(word)
        memory.ask(n_bytes, f"It has {len(words)} words or more")
        if not word:
            blank = blank or number
            continue
        if blank:
            raise fault(source.name, "a blank line; a vocabulary file has one word a line.", line=blank)
        if (first := words.setdefault(word, number)) != number:
            raise fault(source.name, f"the word {word!r} stands in line {first} already.", line=number)
    if not words:
        raise fault(source.name, "has no words; a vocabulary file has one word a line.")
    return read_vocabulary(list(words))


def check_unused(request: Request, n_columns: int, n_tokens: int) -> None:
    """Raise if there are so many more columns without names than tokens that a model of them would be too large.

    Words that are hashed leave many columns empty: 2**20, as scikit-learn has it, are no problem.
    """
    what = f"It claims {n_columns} columns, but holds only {n_tokens} words"
    request.memory.ask(ROW * (n_columns - n_tokens), what)


def check_empty(request: Request, n_documents: int, n_cells: int) -> None:
    """Raise if there are so many more documents than counts that a model of them would be too large."""
    what = f"It claims {n_documents} documents, but holds only {n_cells} counts"
    request.memory.ask(ROW * (n_documents - n_cells), what)
