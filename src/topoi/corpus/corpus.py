"""Corpus: documents as bags of words, in three arrays that kernels can read and that may be memory-mapped.

Tokens stand document after document in `words`, 4 bytes each; those of document `d` are
``words[doc_ptr[d]:doc_ptr[d + 1]]``, in ascending order, so equal words are neighbours. The order in which
they were written is not kept: no model here looks at it. Empty documents are kept: rows out are rows in.

A corpus does not change. All its arrays are read-only, memory-mapped or not, so a kernel is compiled for one
type of array.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from topoi._machine.arrays import Ints
from topoi.corpus.checks import (
    CHUNK,
    Vocabulary,
    Words,
    check_layout,
    read_counts,
    read_tokens,
    read_vocabulary,
    running_total,
)
from topoi.corpus.ngrams import NgramCounter, Ngrams, check_counts, known_by, new_counter
from topoi.corpus.on_disk import OnDisk
from topoi.corpus.text.given import checked_texts
from topoi.corpus.text.preparation import Preparation, TextOptions, prepared_by
from topoi.corpus.text.vectorizer import check_vectorizer, cutter, vectorize
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.text.gather import Gathering
    from topoi.corpus.text.parts import Tell

T = TypeVar("T", bound=np.generic)

WORD_COST = 16  # what a word costs beside its tokens, in tokens, when the vocabulary is cut into blocks


class Corpus(OnDisk):
    """Documents as bags of words over a vocabulary of `n_words` words; see the module for the layout.

    Made with `from_counts`, `from_tokens`, `from_texts` or `load`. `n_dropped` says how many tokens
    `from_tokens` left out because a given vocabulary lacks them. `folder` is where `load` found it, on this
    machine, and `origin` where its files are in an object store, if it came from there. `about` has tables
    of what else is known of the documents, by name: see `with_about`. `ngrams` is the vocabulary of n-grams, if they
    were counted: their counts are ``about["ngrams"]``. `preparation` says how texts became these words, and what was
    left out of them; None if the corpus is not made from texts.
    """

    about: Mapping[str, sparse.csr_array] = MappingProxyType({})
    ngrams: Ngrams | None = None
    preparation: Preparation | None = None
    # Random streams go by the numbers of documents and blocks. In a part of a corpus (on a cluster) they are counted
    # from here on, so that the part has the draws that it has in the whole.
    first_document = 0
    first_block = 0
    first_word_block = 0

    def __init__(
        self,
        words: Words,
        doc_ptr: npt.NDArray[np.int64],
        n_words: int,
        vocabulary: Iterable[str] | None = None,
        n_dropped: int = 0,
    ) -> None:
        check_layout(words, doc_ptr, n_words)
        self.words = _frozen(words)
        self.doc_ptr = _frozen(doc_ptr)
        self.n_words = int(n_words)
        self.vocabulary: Vocabulary | None = None
        if vocabulary is not None:
            self.vocabulary = _frozen(read_vocabulary(vocabulary, self.n_words))
        self.n_dropped = n_dropped

    @classmethod
    def from_counts(cls, X: Any, vocabulary: Iterable[str] | None = None, *, allow_empty: bool = False) -> Corpus:
        """A corpus from a document-word matrix: sparse of any format, array, nested list or data frame.

        Cells given more than once are summed. Column names that are strings become the vocabulary unless one
        is given. With `allow_empty`, a matrix without rows or without any count is accepted.
        """
        return cls(*read_counts(X, vocabulary, allow_empty))

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Iterable[str]],
        vocabulary: Iterable[str] | None = None,
        *,
        ngrams: int | tuple[int, int] | Ngrams | None = None,
        like: Any = None,
        allow_empty: bool = False,
    ) -> Corpus:
        """A corpus from tokenised documents, read once: an iterable of lists of str.

        Without a `vocabulary`, it is every token there is, sorted. With one, other tokens are dropped and
        counted in `n_dropped`. `ngrams` and `like` as for `from_texts`; documents should have all their tokens, in the
        order of the text, and the vocabulary says which of them are words.
        """
        if like is not None:
            vocabulary, ngrams = known_by(like)
            allow_empty = True
        counter = new_counter(ngrams)
        if counter is not None and not isinstance(documents, str | bytes):
            documents = _told(documents, counter)
        corpus = cls(*read_tokens(documents, vocabulary, allow_empty))
        return corpus if counter is None else corpus.with_ngrams(*counter.finish(corpus.vocabulary))

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        vectorizer: Any = None,
        *,
        clean: str = "auto",
        lowercase: bool = True,
        token_pattern: str | None = None,
        stop_words: str | Iterable[str] | None = "auto",
        min_df: float | str = "auto",
        max_df: float | str = "auto",
        max_features: int | None = None,
        phrases: bool = False,
        stem: bool = False,
        lemmas: Any = None,
        ngrams: int | tuple[int, int] | Ngrams | None = None,
        like: Any = None,
        allow_empty: bool = False,
    ) -> Corpus:
        """A corpus from raw texts: a list, an array, a column of a data frame. A missing text is an empty document.

        By default words are two letters or more, in lower case; stop words of the language of the texts are left out,
        and so is what is no language. `corpus.preparation` says what was left out.

        Parameters
        ----------
        texts
            The texts; None and NaN are empty documents, with a warning.
        vectorizer
            A scikit-learn vectoriser, which then does it all: a fitted one is used as it is, another is fitted.
        clean
            "auto" leaves out web and e-mail addresses, HTML and encoded files, and of texts that begin with the headers
            of a message all but what its author wrote: no headers, quoted replies or signatures. "email" takes every
            text for a message, "none" cleans nothing.
        lowercase
            Make texts lower case.
        token_pattern
            The regular expression of a word; None is two letters or more.
        stop_words
            "auto" recognises the language; or a language, as "german" or "de", several ("german,english"), a list of
            words, or None.
        min_df, max_df
            In how many documents a word must be, and may be: a number, or a share of them with a point (0.5). "auto"
            suits the number of documents: all words below 50 of them, from there on words of 2 documents or more (3
            from 1,000, 5 from 5,000) and of half of them or fewer.
        max_features
            Keep so many words, the most frequent ones.
        phrases
            Find words that mostly come together, as "machine_learning", and take them as one: topoi.corpus.text.phrases
            has the score.
        stem
            Take words of the same stem as one, "file" and "files", and show it as the form that comes most often. The
            stems are those of Snowball for the language of the texts, or for the first one that `stop_words` names.
        lemmas
            Put the lemma in the place of each word, "city" for "cities", by a pipeline of spaCy: the name of one that
            is installed, as "en_core_web_sm", its folder, or the pipeline itself. Stop words are compared with lemmas.
        ngrams
            What to count beside the words of topics, for supervised models to predict from: see docs/supervised.md.
            1: words that topics do not count (stop words, rare words, numbers, and what was cleaned away), if two
            documents have them. 2: pairs of neighbouring words, 3: also triples; they are made of all words of a text,
            stop words among them, and kept if two documents have them and one of their words is in the vocabulary.
            (1, 2), as scikit-learn's `ngram_range`: the former and pairs; (1, 3), (3, 3).
        like
            A fitted estimator, or a corpus: the texts are read in its words, phrases and n-grams, and cleaned and cut
            as its own texts were. Give the vectoriser too if it had one, the `token_pattern` if that of a model is not
            to be believed, and as `lemmas` the folder of its spaCy pipeline if that is not installed as a package.
        allow_empty
            Whether there may be no documents, or none with a word.
        """
        texts = checked_texts(texts) if vectorizer is None or isinstance(texts, str | bytes) else list(texts)
        if not texts and not allow_empty:
            raise CorpusError("Found 0 sample(s) while a minimum of 1 is required. There are no documents.")
        if vectorizer is not None:
            return cls._vectorized(texts, vectorizer, ngrams, like, allow_empty)
        from topoi.corpus.text.gather import Gathering

        options = TextOptions(
            clean, lowercase, token_pattern, stop_words, False, min_df, max_df, max_features, phrases, stem, lemmas
        )  # fmt: skip
        vocabulary, known = None, None
        if like is not None:
            vocabulary, ngrams = known_by(like)
            known, allow_empty = prepared_by(like), True
            options = known.options_with(token_pattern, lemmas)
        counter = new_counter(ngrams)
        gathering = Gathering(options, vocabulary, known, counter)
        for text in texts:
            gathering.add(text)
        corpus = cls.gathered(gathering, counter)
        if corpus.n_tokens == 0 and not allow_empty:
            raise CorpusError(
                f"every document is empty: no word is left of {len(texts)}. See stop_words, min_df, max_df and clean."
            )
        return corpus

    @classmethod
    def from_parquet(
        cls,
        source: Any,
        text: str | list[str] | None = None,
        *,
        n_jobs: int | None = None,
        engine: Any = None,
        save_to: str | os.PathLike[str] | None = None,
        progress: Tell | None = None,
        on_error: str = "raise",
        **options: Any,
    ) -> Corpus:
        """A corpus from Parquet files: a path, a folder, a pattern as "posts/*.parquet", a list, or URLs of these.

        Parameters
        ----------
        source
            The files. Those of a folder are all below it whose names end in .parquet, in the order of their names, but
            what has a name with an underscore or a dot first: that is not of the table.
        text
            The column of the texts, or several, which are joined; by default `text`, or the only one.
        n_jobs, engine, save_to, progress
            Processes or a Dask `Client` that read parts at the same time, the folder or URL at which to save the
            corpus, and who is told how far it is: as for `read_documents`. The corpus has the same bytes. With any of
            the first three its tokens are on the disk, and memory holds the vocabulary and some 50 bytes a document.
        on_error
            "raise", or "skip" documents that cannot be read; a warning counts them.
        options
            How texts become words, as for `from_texts`: clean, stop_words, min_df, … and like.
        """
        from topoi.readers import parquet_corpus

        return parquet_corpus(
            source, text=text, n_jobs=n_jobs, engine=engine, save_to=save_to, progress=progress, on_error=on_error,
            **options,
        )  # fmt: skip

    @classmethod
    def from_dask(
        cls,
        collection: Any,
        text: str | None = None,
        *,
        n_jobs: int | None = None,
        engine: Any = None,
        save_to: str | os.PathLike[str] | None = None,
        progress: Tell | None = None,
        like: Any = None,
        **options: Any,
    ) -> Corpus:
        """A corpus from a collection of Dask: a bag of texts, or a Series or DataFrame. Each partition is read once.

        Texts stay where they are: workers cut and number those of a partition, and the documents come here one
        partition at a time, as numbers, to be written to the disk. The corpus has the bytes that `from_texts` gives it.

        Parameters
        ----------
        collection
            A `dask.bag.Bag` of texts, of lists of words, or of dictionaries; a `dask.dataframe.Series` or `DataFrame`.
        text
            The column, or the key of the dictionaries, that has the texts.
        engine, n_jobs
            The Dask `Client` whose workers do it; without one, the client of this process, if there is one; else
            `n_jobs` processes.
        save_to, progress
            The folder or URL at which to save the corpus, and who is told how far it is, as for `read_documents`.
        like, options
            As for `from_texts`; phrases and n-grams of a whole corpus cannot be found in parts.
        """
        from topoi.corpus.partitions import read_partitions

        return read_partitions(collection, text, n_jobs, engine, save_to, progress, like, options)

    @classmethod
    def gathered(cls, gathering: Gathering, counter: NgramCounter | None = None) -> Corpus:
        """The corpus of texts that were gathered, and n-grams if they were counted."""
        (words, doc_ptr, vocabulary), made, n_dropped = gathering.finish()
        corpus = cls(words, doc_ptr, len(vocabulary), vocabulary, n_dropped)
        corpus.preparation = made
        return corpus if counter is None else corpus.with_ngrams(*counter.finish(vocabulary))

    @classmethod
    def _vectorized(cls, texts: list[str], vectorizer: Any, ngrams: Any, like: Any, allow_empty: bool) -> Corpus:
        """A corpus from texts, cut into words by a vectoriser of scikit-learn."""
        check_vectorizer(vectorizer)
        if like is not None:
            _, ngrams = known_by(like)
            allow_empty = True
        counter = new_counter(ngrams)
        cut = None if counter is None else cutter(vectorizer)
        X = vectorize(texts, vectorizer)
        names = getattr(vectorizer, "get_feature_names_out", None)
        corpus = cls.from_counts(X, names and names(), allow_empty=allow_empty)
        if counter is None or cut is None:
            return corpus
        for text in texts:
            counter.add(cut(text))
        return corpus.with_ngrams(*counter.finish(corpus.vocabulary))

    def take(self, rows: Any) -> Corpus:
        """The documents `rows` (index array, slice or boolean mask), in that order; same vocabulary."""
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows if rows.size else rows.astype(np.int64)
            if rows.ndim != 1:
                raise CorpusError(f"rows must be a 1-d array, a list or a slice, not {rows.ndim}-d; for one use [d].")
        chosen = np.arange(self.n_documents)[rows]
        doc_ptr = running_total(self.doc_lengths[chosen])
        words = np.empty(doc_ptr[-1], np.int32)
        for (start, end), d in zip(pairwise(doc_ptr.tolist()), chosen.tolist(), strict=True):
            words[start:end] = self.document(d)
        same = {name: table[chosen] for name, table in self.about.items()}
        return self._same_about(Corpus(words, doc_ptr, self.n_words, self.vocabulary), same)

    def with_about(self, **tables: Any) -> Corpus:
        """The same documents, of which these tables (documents, columns) are known besides those known before.

        A table goes where its documents go: into a part of the corpus, to `take`, to the workers of a cluster. It is
        not saved with the corpus, unless it is that of n-grams.
        """
        for name, table in tables.items():
            if table.shape[0] != self.n_documents:
                raise CorpusError(f"{name} has {table.shape[0]} rows, but there are {self.n_documents} documents.")
        if not tables:
            return self
        same = object.__new__(Corpus)
        same.__dict__.update({name: value for name, value in vars(self).items() if name != "_in_memory"})
        same.about = MappingProxyType({**self.about, **{name: sparse.csr_array(t) for name, t in tables.items()}})
        return same

    def with_ngrams(self, ngrams: Ngrams, counts: Any) -> Corpus:
        """The same documents, of which n-grams are counted (documents, n-grams); `from_texts` does it by itself."""
        ngrams.check()
        table = sparse.csr_array(counts)
        check_counts(table, self.n_documents, len(ngrams))
        same = self.with_about(ngrams=table)
        same.ngrams = ngrams
        return same

    def _same_about(self, other: Corpus, tables: Mapping[str, sparse.csr_array]) -> Corpus:
        """Documents of this corpus, of which the same is known."""
        other = other.with_about(**tables)
        for name in ("ngrams", "preparation"):
            if getattr(self, name) is not None:
                setattr(other, name, getattr(self, name))
        return other

    def to_counts(self) -> sparse.csr_array:
        """The document-word matrix of counts, int32."""
        is_first = np.ones(self.n_tokens, dtype=bool)
        np.not_equal(self.words[1:], self.words[:-1], out=is_first[1:])
        is_first[self.doc_ptr[:-1][self.doc_lengths > 0]] = True
        first = np.flatnonzero(is_first)
        data = np.diff(first, append=self.n_tokens).astype(np.int32)
        indptr = np.searchsorted(first, self.doc_ptr)
        return sparse.csr_array((data, self.words[first], indptr), shape=(self.n_documents, self.n_words))

    def document(self, d: int) -> Words:
        """The words of document `d`, ascending; a view."""
        d = range(self.n_documents)[d]  # the rules of a list for negative and impossible numbers
        return self.words[self.doc_ptr[d] : self.doc_ptr[d + 1]]

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return len(self.doc_ptr) - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all documents."""
        return len(self.words)

    @property
    def in_memory(self) -> Corpus:
        """The same documents with their tokens in memory, for all that looks at them: a file may be cut meanwhile."""
        return self if self._mapped is None else self._in_memory

    @functools.cached_property
    def _in_memory(self) -> Corpus:
        words = self._read_words(0, self.n_tokens)
        same = Corpus(words, self.doc_ptr, self.n_words, self.vocabulary, self.n_dropped)
        return self._same_about(same, self.about)

    @functools.cached_property
    def doc_lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each document."""
        return _frozen(np.diff(self.doc_ptr))

    @functools.cached_property
    def word_counts(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each word."""
        counts = np.zeros(self.n_words, np.int64)
        step = max(CHUNK, self.n_words)  # bincount copies its input to 8 bytes a token: a piece at a time
        for start in range(0, self.n_tokens, step):
            piece = self.words[start : start + step]
            if self._mapped is not None:
                piece = self._read_words(start, start + len(piece))
            counts += np.bincount(piece, minlength=self.n_words)
        return _frozen(counts)

    @functools.cached_property
    def by_word(self) -> tuple[Ints, npt.NDArray[np.int64]]:
        """`order`, `word_ptr`: tokens ``order[word_ptr[w]:word_ptr[w + 1]]``, ascending, have word `w`."""
        word_ptr = running_total(self.word_counts)
        order: Ints = np.empty(self.n_tokens, np.int32 if self.n_tokens < 2**31 else np.int64)
        from topoi.corpus.layout import place_by_word  # not above: importing a corpus does not load numba

        place_by_word(self.words, word_ptr[:-1].copy(), order)
        return _frozen(order), _frozen(word_ptr)

    @functools.cached_property
    def block_ptr(self) -> npt.NDArray[np.int64]:
        """Where the documents are cut into blocks: by the corpus alone, so no result depends on threads."""
        return _frozen(_cut(self.doc_ptr, self._block_size))

    @functools.cached_property
    def word_block_ptr(self) -> npt.NDArray[np.int64]:
        """Where the vocabulary is cut into blocks, likewise; a word costs its tokens and WORD_COST more."""
        cost = running_total(self.word_counts + WORD_COST)
        return _frozen(_cut(cost, self._block_size))

    @property
    def _block_size(self) -> int:
        return max(2**12, min(2**16, self.n_tokens // 64))

    @functools.cached_property
    def document_keys(self) -> npt.NDArray[np.uint64]:
        """A 64-bit hash of each document's bag of words, the same wherever the document stands."""
        keys = np.empty(self.n_documents, np.uint64)
        from topoi.corpus.layout import hash_documents

        hash_documents(self.words, self.doc_ptr, keys)
        return _frozen(keys)

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        return f"Corpus({self.n_documents} documents, {self.n_words} words, {self.n_tokens} tokens)"

    def __reduce__(self) -> tuple[Any, ...]:
        made = (Corpus, (self.words, self.doc_ptr, self.n_words, self.vocabulary, self.n_dropped))
        beside = {"about": dict(self.about), "ngrams": self.ngrams, "preparation": self.preparation}
        return (*made, beside) if self.about or self.preparation is not None else made


def _told(documents: Iterable[Iterable[str]], counter: NgramCounter) -> Iterator[Any]:
    """The documents one by one; n-grams are counted in each once whoever asks for them has looked at it."""
    for document in documents:
        words = list(document) if isinstance(document, Iterable) and not isinstance(document, str | bytes) else document
        yield words
        counter.add(words)  # if it is no list of words, whoever asked has raised an error


def _cut(ptr: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Cut points of 0 … len(ptr) − 1: each piece is as short as it can be with at least `size` by `ptr`."""
    n = len(ptr) - 1
    cuts = [0]
    while cuts[-1] < n:
        cuts.append(min(n, int(np.searchsorted(ptr, ptr[cuts[-1]] + size))))
    return np.array(cuts if n else [0, 0], np.int64)


def _frozen(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """A contiguous, read-only view of `values`, as a plain array also when they are memory-mapped."""
    view = np.ascontiguousarray(values).view()
    view.flags.writeable = False
    return view
