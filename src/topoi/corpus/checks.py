"""What may become a corpus: count matrices, lists of tokens and stored arrays, each checked as it is read.

A matrix of any kind first becomes `Counts`, the arrays of a CSR matrix with its cells in order. Nothing given
is ever modified. Where scikit-learn has a message for the same fault, ours begins with its words, which its
estimator checks look for, and then says which cell is to blame and what to do.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from topoi._machine.arrays import Ints
from topoi.errors import CorpusError

Words = npt.NDArray[np.int32]
Vocabulary = npt.NDArray[np.object_]

MAX_COUNT = 2**24 - 1  # of one word in one document: whole numbers up to here are exact in float32
MAX_TOKENS = 2**40
MAX_WORDS = 2**31 - 1  # words are int32
CHUNK = 2**18  # cells looked at together: temporaries stay in the cache, however large the input

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample (here: one document)."
)


class Parts(NamedTuple):
    """What `Corpus` is made of, in the order of its parameters."""

    words: Words
    doc_ptr: npt.NDArray[np.int64]
    n_words: int
    vocabulary: Vocabulary | None
    n_dropped: int


class Counts(NamedTuple):
    """A document-word matrix in CSR form: the columns of a row ascend, each at most once."""

    indptr: Ints
    indices: Ints
    data: npt.NDArray[Any]


def read_counts(X: Any, vocabulary: Iterable[str] | None, allow_empty: bool) -> Parts:
    """The parts of a corpus from a matrix; a data frame may bring its own vocabulary."""
    X, names = _unframe(X)
    if not sparse.issparse(X):
        X = _as_array(X)
    _check_kind(X)
    _check_shape(X, allow_empty)
    chosen = names if vocabulary is None else vocabulary
    checked = None if chosen is None else read_vocabulary(chosen, X.shape[1])
    counts = _from_sparse(X) if sparse.issparse(X) else _from_dense(X)
    _check_cells(counts, checked)
    doc_ptr = running_total(_row_sums(counts))
    if doc_ptr[-1] > MAX_TOKENS:
        raise CorpusError(f"X holds {doc_ptr[-1]} tokens in all; at most {MAX_TOKENS} are supported.")
    _check_not_empty(doc_ptr, allow_empty)
    return Parts(_expand(counts, int(doc_ptr[-1])), doc_ptr, X.shape[1], checked, 0)


def read_tokens(documents: Iterable[Iterable[str]], vocabulary: Iterable[str] | None, allow_empty: bool) -> Parts:
    """The parts of a corpus from lists of tokens, read once; without a vocabulary, every token is a word."""
    if isinstance(documents, str | bytes):
        raise CorpusError("documents is a single string; give an iterable of lists of tokens.")
    given = None if vocabulary is None else read_vocabulary(vocabulary)
    index: _WordIndex = _NewWords() if given is None else _KnownWords({w: i for i, w in enumerate(given)})
    numbers, lengths = array("i"), array("q")
    for row, document in enumerate(documents):
        known = [word for word in index.look_up(document, row) if word >= 0]
        numbers.extend(known)
        lengths.append(len(known))
    words, doc_ptr = np.array(numbers, np.int32), running_total(np.array(lengths, np.int64))
    if given is None:
        given, words = _sort_vocabulary(index, words)
    _check_size(len(lengths), len(given), allow_empty)
    _check_not_empty(doc_ptr, allow_empty)
    for start, end in pairwise(doc_ptr.tolist()):
        words[start:end].sort()
    return Parts(words, doc_ptr, len(given), given, index.n_dropped)


def read_vocabulary(vocabulary: Iterable[str], n_words: int | None = None) -> Vocabulary:
    """The words in order of their columns, as an array of str; a mapping is read as word → column."""
    if isinstance(vocabulary, str | bytes | set | frozenset):
        kind = type(vocabulary).__name__
        raise CorpusError(f"vocabulary is a {kind}; give a list of words, one for each column, in order.")
    if isinstance(vocabulary, Mapping):
        words = sorted(vocabulary, key=vocabulary.__getitem__)
        if [vocabulary[word] for word in words] != list(range(len(words))):
            raise CorpusError("vocabulary is a mapping, but its values are not the columns 0, 1, 2, …, each once.")
    else:
        words = list(vocabulary)
    if n_words is not None and len(words) != n_words:
        raise CorpusError(
            f"vocabulary has {len(words)} words, but there are {n_words} columns; give one word for each."
        )
    _check_words(words)
    result = np.empty(len(words), dtype=object)
    result[:] = [str(word) for word in words]
    return result


def check_layout(words: Words, doc_ptr: npt.NDArray[np.int64], n_words: int) -> None:
    """Raise unless `words` and `doc_ptr` are the arrays of a corpus over `n_words` words."""
    if words.ndim != 1 or words.dtype != np.int32:
        raise CorpusError(f"words must be a 1-d int32 array, not {words.ndim}-d {words.dtype}.")
    if doc_ptr.ndim != 1 or doc_ptr.dtype != np.int64 or len(doc_ptr) == 0:
        raise CorpusError(
            f"doc_ptr must be a 1-d int64 array that starts with 0, not {doc_ptr.ndim}-d {doc_ptr.dtype}."
        )
    if not 0 <= n_words <= MAX_WORDS:
        raise CorpusError(f"n_words must be from 0 to {MAX_WORDS}, not {n_words}.")
    if doc_ptr[0] != 0 or doc_ptr[-1] != len(words):
        raise CorpusError(
            f"doc_ptr runs from {doc_ptr[0]} to {doc_ptr[-1]}; it must run from 0 to {len(words)} (tokens)."
        )
    if (falls := doc_ptr[1:] < doc_ptr[:-1]).any():
        row = int(falls.argmax())
        raise CorpusError(f"doc_ptr falls after document {row}: no document has fewer than 0 tokens.", row)
    for start in range(0, len(words), CHUNK):
        _check_tokens(words, doc_ptr, n_words, start)


def _check_tokens(words: Words, doc_ptr: npt.NDArray[np.int64], n_words: int, start: int) -> None:
    """Raise unless the tokens of one chunk are words of the vocabulary, in order within each document."""
    chunk = words[start : start + CHUNK]
    outside = (chunk < 0) | (chunk >= n_words)
    if outside.any():
        token = start + int(outside.argmax())
        row = _row_of(token, doc_ptr)
        raise CorpusError(f"document {row} has word {words[token]}; words are 0 to {n_words - 1}.", row)
    after = words[start + 1 : start + 1 + CHUNK]
    falls = start + 1 + np.flatnonzero(after < chunk[: len(after)])
    within = doc_ptr[np.searchsorted(doc_ptr, falls)] != falls
    if within.any():
        row = _row_of(int(falls[within.argmax()]), doc_ptr)
        raise CorpusError(f"the words of document {row} are not in ascending order; sort them.", row)


def _check_words(words: list[Any]) -> None:
    """Raise unless every entry is a str and none comes twice."""
    seen: dict[str, int] = {}
    for column, word in enumerate(words):
        if not isinstance(word, str):
            raise CorpusError(
                f"vocabulary[{column}] is {word!r}, a {type(word).__name__}; words must be str.",
                column=column,
            )
        if (first := seen.setdefault(word, column)) != column:
            raise CorpusError(
                f"vocabulary has {word!r} twice, for columns {first} and {column}; "
                "make the words distinct, or sum the two columns.",
                column=column,
            )


def _unframe(X: Any) -> tuple[Any, list[str] | None]:
    """The values of a data frame and the names of its columns, if all are str; anything else as it is."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return X, None
    columns = list(X.columns)
    names = columns if columns and all(isinstance(name, str) for name in columns) else None
    if columns and hasattr(X, "sparse"):  # pandas, every column sparse
        return X.sparse.to_coo(), names
    values = X.to_numpy()
    if values.dtype.kind in "OUT":
        _check_no_texts(X, columns)
    if values.dtype == object and all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes):
        values = X.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable integers with a gap
    return values, names


def _check_no_texts(X: Any, columns: list[Any]) -> None:
    """Raise if columns of a data frame have texts, and say how one or several of them are given."""
    from topoi.corpus.text import as_texts

    texts = {name: found for name in columns if (found := as_texts(X[name])) is not None}
    if not texts:
        return
    names = list(texts)
    few = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
    # Those with the longest values, in their order: dates, names and labels are texts too.
    longest = sorted(
        names, key=lambda name: -sum(len(value) for value in texts[name][:1000] if isinstance(value, str))
    )[:2]
    told = f"X is a data frame with texts in {few}, not counts. Give one column, as X[{longest[0]!r}]"
    if len(names) > 1:
        fill = "fillna" if hasattr(X, "iloc") else "fill_null"  # of pandas and of polars
        joined = sorted(longest, key=names.index)
        told += ", or join several: " + " + ' ' + ".join(f"X[{name!r}].{fill}('')" for name in joined)
    raise CorpusError(f"{told}.")


def _as_array(X: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(X)
    except (ValueError, TypeError) as error:
        raise CorpusError(
            f"X is not a matrix of counts ({error}); its rows must be equally long. "
            "For lists of tokens use Corpus.from_tokens."
        ) from error


def _check_kind(X: Any) -> None:
    """Raise unless the dtype of `X` is one that counts can have."""
    kind = X.dtype.kind
    if kind == "c":
        raise CorpusError("Complex data not supported: X must hold counts 0, 1, 2, …")
    if kind in "USOT":
        raise CorpusError(
            f"X has dtype {X.dtype}, not counts. For raw texts use Corpus.from_texts, for lists of tokens "
            "Corpus.from_tokens; for numbers stored as objects use X.astype(int) first."
        )
    if kind not in "biuf":
        raise CorpusError(f"X has dtype {X.dtype}; counts must be integers, or floats that are whole numbers.")


def _check_shape(X: Any, allow_empty: bool) -> None:
    """Raise unless `X` is a matrix with words and, but for `allow_empty`, documents."""
    if X.ndim != 2:
        raise CorpusError(
            f"Expected 2D array, got {X.ndim}D array instead (shape={X.shape}): one row for each document, "
            f"one column for each word. {_RESHAPE}"
        )
    _check_size(X.shape[0], X.shape[1], allow_empty)


def _check_size(n_documents: int, n_words: int, allow_empty: bool) -> None:
    """Raise unless there are words and, but for `allow_empty`, documents."""
    found = f"(shape=({n_documents}, {n_words})) while a minimum of 1 is required."
    if n_documents == 0 and not allow_empty:
        raise CorpusError(f"Found array with 0 sample(s) {found} There are no documents.")
    if n_words == 0:
        raise CorpusError(f"Found array with 0 feature(s) {found} There are no words.")
    if n_words > MAX_WORDS:
        raise CorpusError(f"X has {n_words} columns; a vocabulary has at most {MAX_WORDS} words.")


def _check_not_empty(doc_ptr: npt.NDArray[np.int64], allow_empty: bool) -> None:
    if doc_ptr[-1] == 0 and not allow_empty:
        raise CorpusError(
            f"every document is empty: none of {len(doc_ptr) - 1} has a word of the vocabulary. "
            "Was the right matrix given, or the right vocabulary?"
        )


def _from_dense(X: npt.NDArray[Any]) -> Counts:
    flat = X.ravel()
    cells = np.flatnonzero(flat)
    indptr = np.zeros(len(X) + 1, np.int64)
    np.cumsum(np.count_nonzero(X, axis=1), out=indptr[1:])
    return Counts(indptr, (cells % X.shape[1]).astype(np.int32), flat[cells])


def _from_sparse(X: Any) -> Counts:
    """Equivalent to ``X.tocsr()`` with duplicates summed, but small integers do not wrap around."""
    try:
        X = _rows_first(X)
    except (ValueError, IndexError) as error:
        raise CorpusError(f"X is not a well-formed sparse matrix: {error}") from error
    if not X.has_canonical_format:
        X = sparse.csr_array((X.data.astype(np.float64), X.indices, X.indptr), shape=X.shape, copy=True)
        X.sum_duplicates()
    return Counts(X.indptr, X.indices, X.data)


def _rows_first(X: Any) -> Any:
    """`X` as a CSR array of our own, with its structure checked; it may share the arrays of `X`."""
    if X.format in ("csr", "csc", "bsr"):
        _check_pointers(X.indptr, len(X.indices))
    if X.format in ("csr", "csc"):
        # The wrapper forgets what X says of itself: such flags go stale when its arrays are edited.
        wrap = sparse.csr_array if X.format == "csr" else sparse.csc_array
        X = wrap((X.data, X.indices, X.indptr), shape=X.shape, copy=False)
        X.check_format(full_check=True)
        return X.tocsr()
    if X.format == "bsr":
        X.check_format(full_check=True)
    return sparse.csr_array(X.astype(np.float64).tocsr())  # float64: duplicates are summed here


def _check_pointers(indptr: Ints, n: int) -> None:
    """Raise unless rows begin and end where there are cells: SciPy's compiled code reads from there without a check.

    SciPy's own check leaves the pointers out if the last one is 0.
    """
    if indptr.ndim != 1 or len(indptr) == 0 or indptr[0] != 0 or indptr[-1] > n or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"index pointers must rise from 0 to at most {n}, the number of indices")


def _check_cells(counts: Counts, vocabulary: Vocabulary | None) -> None:
    """Raise for the first cell that is not a count; what is worst comes first."""
    data = counts.data
    chunks = (data[start : start + CHUNK] for start in range(0, len(data), CHUNK))
    if all(_are_counts(chunk) for chunk in chunks):
        return
    for is_bad, lead, advice in _FAULTS:
        bad = is_bad(data)
        if bad.any():
            _blame(int(bad.argmax()), counts, vocabulary, lead, advice)


def _are_counts(data: npt.NDArray[Any]) -> bool:
    if data.dtype.kind == "f":
        data = data.astype(np.float64)  # in float16 the largest count would be infinite
        return bool(((data >= 0) & (data <= MAX_COUNT) & (data == np.floor(data))).all())
    return bool(((data >= 0) & (data <= MAX_COUNT)).all())


# How a cell can fail to be a count: a test of all cells, how the message begins, and what to do.
_FAULTS: list[tuple[Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]], str, str]] = [
    (np.isnan, "Input X contains NaN", "Fill in or drop missing values: a word that is absent has count 0."),
    (np.isinf, "Input X contains infinity", "Counts must be finite."),
    (
        lambda data: data < 0,
        "Negative values in data passed to Corpus.from_counts",
        "Counts are 0, 1, 2, …: undo any centring or scaling of the matrix.",
    ),
    (
        lambda data: data != np.floor(data),
        "X holds a fraction",
        "Topic models need whole counts: use CountVectorizer instead of TfidfVectorizer; do not normalise.",
    ),
    (
        lambda data: data.astype(np.float64) > MAX_COUNT,
        "X holds a huge count",
        f"One word in one document counts at most {MAX_COUNT}: is there a column of identifiers?",
    ),
]


def _blame(cell: int, counts: Counts, vocabulary: Vocabulary | None, lead: str, advice: str) -> NoReturn:
    row, column = _row_of(cell, counts.indptr), int(counts.indices[cell])
    word = "" if vocabulary is None else f" (word {vocabulary[column]!r})"
    value = counts.data[cell].item()
    raise CorpusError(f"{lead}: row {row}, column {column}{word} is {value!r}. {advice}", row, column)


def _row_sums(counts: Counts) -> npt.NDArray[np.int64]:
    sums = np.zeros(len(counts.indptr) - 1, np.int64)
    filled = np.diff(counts.indptr) > 0
    if filled.any():  # reduceat would give an empty row the first cell of the next
        wide = np.float64 if counts.data.dtype.kind == "f" else np.int64
        sums[filled] = np.add.reduceat(counts.data, counts.indptr[:-1][filled], dtype=wide)
    return sums


def _expand(counts: Counts, n_tokens: int) -> Words:
    """Each word as often as it counts; equivalent to ``np.repeat(indices, data)``, a piece at a time."""
    words = np.empty(n_tokens, np.int32)
    end = 0
    for start in range(0, len(counts.data), CHUNK):
        repeats = counts.data[start : start + CHUNK].astype(np.int64)
        piece = np.repeat(counts.indices[start : start + CHUNK], repeats)
        words[end : end + len(piece)] = piece
        end += len(piece)
    return words


def running_total(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where each piece starts, and at the end the total."""
    ptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ptr[1:])
    return ptr


def _row_of(position: int, indptr: Ints) -> int:
    """The row in which the entry at `position` stands."""
    return int(np.searchsorted(indptr, position, side="right")) - 1


class _WordIndex(dict[str, int]):
    """The number of each word; a subclass says what becomes of a token that has none (−1: it is left out)."""

    n_dropped = 0

    def look_up(self, document: Iterable[str], row: int) -> list[int]:
        if isinstance(document, str | bytes):
            raise CorpusError(
                f"document {row} is a string, not a list of tokens; split it, or use Corpus.from_texts.", row
            )
        try:
            return [self[token] for token in document]
        except TypeError as error:  # not iterable, cannot be hashed, or refused by __missing__
            raise CorpusError(f"document {row} is not a list of str tokens: {error}.", row) from error

    def __missing__(self, token: str) -> int:
        if not isinstance(token, str):
            raise TypeError(f"it holds {token!r}, a {type(token).__name__}")
        return self.number_new(token)

    def number_new(self, token: str) -> int:
        raise NotImplementedError


class _NewWords(_WordIndex):
    """Gives every new token the next number."""

    def number_new(self, token: str) -> int:
        self[token] = len(self)
        return self[token]


class _KnownWords(_WordIndex):
    """Leaves new tokens out and counts them."""

    def number_new(self, token: str) -> int:
        self.n_dropped += 1
        return -1


def _sort_vocabulary(index: dict[str, int], words: Words) -> tuple[Vocabulary, Words]:
    """The words of `index` in ascending order, and `words` numbered accordingly."""
    vocabulary = read_vocabulary(sorted(index))
    rank = np.empty(len(vocabulary), np.int32)
    rank[[index[word] for word in vocabulary]] = np.arange(len(vocabulary))
    return vocabulary, rank[words]
