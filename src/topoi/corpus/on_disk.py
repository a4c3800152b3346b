"""A corpus and its folder: saved, loaded, and its tokens read from a file that others may cut short meanwhile."""

from __future__ import annotations

import mmap
import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from topoi._disk import strict_json
from topoi._disk.blocks import new_file
from topoi._disk.folders import remove_tree, replacing, temporary_folder
from topoi._disk.published import PublishedError, publish, published
from topoi._disk.remote import Remote, locate
from topoi._disk.store import PARTS as CSR_PARTS
from topoi._disk.store import csr_of
from topoi.corpus.checks import Vocabulary, Words, read_vocabulary
from topoi.corpus.files import FILES, FORMAT_VERSION, check_replaceable, write_beside
from topoi.corpus.ngrams import Ngrams
from topoi.corpus.text.preparation import Preparation
from topoi.errors import CorpusError

if TYPE_CHECKING:
    from topoi.corpus.corpus import Corpus

MAX_UNUSED = 2**24  # words that are hashed leave many numbers unused
MAX_VOCABULARY = 2**32  # bytes of its file


class Mapped(NamedTuple):
    """A file that is mapped: reading it beyond its end is an error, but looking there at the memory is SIGBUS."""

    memory: mmap.mmap
    offset: int  # of the first item
    found: os.stat_result  # which file it was

    def is_cut(self) -> bool:
        """Whether the file has become shorter than what is mapped."""
        return self.memory.size() < len(self.memory)


class OnDisk:
    """What of a corpus is about its folder. `folder` is where it was found, `origin` where that is in a store."""

    words: Words
    doc_ptr: npt.NDArray[np.int64]
    n_words: int
    vocabulary: Vocabulary | None
    n_dropped: int
    about: Mapping[str, sparse.csr_array]
    ngrams: Ngrams | None
    preparation: Preparation | None
    folder: Path | None = None
    origin: Remote | None = None
    _mapped: Mapped | None = None  # the file that `words` is mapped from

    @classmethod
    def load(cls, folder: str | os.PathLike[str], mmap: bool = True, max_unused: int = MAX_UNUSED) -> Corpus:
        """The corpus saved in `folder`; with `mmap`, its tokens stay on disk and are read when needed.

        The folder may be a URL, as "s3://bucket/corpus": it is then copied to a cache on this machine, unless it is
        there, and its files are compared with the checksums that were saved.

        A folder from a stranger can claim any number of words, for which a fit would need memory. More than
        `max_unused` words without a name and without a token are refused.
        """
        place = locate(folder)
        if isinstance(place, Path):
            return cls._load(place, str(place), mmap, max_unused)
        try:
            copy, origin = published(place, "corpus", FILES)
        except PublishedError as error:
            raise CorpusError(str(error)) from error
        corpus = cls._load(copy, str(place), mmap, max_unused)
        corpus.origin = origin
        return corpus

    @classmethod
    def _load(cls, folder: Path, called: str, mmap: bool, max_unused: int) -> Corpus:
        """The corpus in a folder, which is called so in errors."""
        try:
            header = strict_json.read(folder / "corpus.json")
            version, n_words = header["version"], operator.index(header["n_words"])
            if version != FORMAT_VERSION:
                raise CorpusError(f"its format is version {version!r}; this topoi reads version {FORMAT_VERSION}.")
            found = (folder / "words.npy").stat()
            words = _read_array(folder / "words.npy", mmap)
            doc_ptr = _read_array(folder / "doc_ptr.npy", False)
            vocabulary = None
            if not header["has_vocabulary"] and n_words > max_unused + len(words):
                raise CorpusError(
                    f"it claims {n_words} words, but holds {len(words)} tokens. If that is right: max_unused={n_words}."
                )
            if header["has_vocabulary"]:
                vocabulary = strict_json.read(folder / "vocabulary.json", MAX_VOCABULARY)
            corpus = cast("type[Corpus]", cls)(words, doc_ptr, n_words, vocabulary)
            if header.get("preparation") is not None:
                corpus.preparation = Preparation.from_json(header["preparation"])
            if header.get("ngrams") is not None:
                corpus = corpus.with_ngrams(*_read_ngrams(folder, header["ngrams"], corpus.n_documents))
        except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
            raise CorpusError(f"{called} is not a saved corpus, or is damaged: {error}") from error
        corpus.folder = Path(os.path.realpath(folder))
        corpus._mapped = _mapping(words, found)
        return corpus

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the corpus to `folder`, all of it or nothing; a corpus saved there before is replaced.

        The folder may be a URL, as "s3://bucket/corpus": see docs/howto/object_storage.md.
        """
        place = locate(folder)
        if isinstance(place, Remote):
            self._publish(place)
            return
        folder = Path(os.path.realpath(place))
        check_replaceable(folder)
        with replacing(folder) as new:
            self._write(new)

    def _publish(self, place: Remote) -> None:
        new = temporary_folder("topoi-corpus-")
        try:
            self._write(new)
            publish(new, place, "corpus")
        except PublishedError as error:
            raise CorpusError(str(error)) from error
        finally:
            remove_tree(new)

    def _write(self, folder: Path) -> None:
        with new_file(folder / "words.npy") as file:
            np.save(file, self.words, allow_pickle=False)
        counts = None if self.ngrams is None else self.about["ngrams"]
        write_beside(folder, self.doc_ptr, self.n_words, self.vocabulary, self.preparation, self.ngrams, counts)

    def check_file(self) -> None:
        """Raise if tokens that are mapped are not there any more: looking beyond the end of a file ends the process."""
        if self._mapped is not None and self._mapped.is_cut():
            raise self._cut_short()

    def _cut_short(self) -> CorpusError:
        return CorpusError(
            f"{self.folder}: words.npy has been cut short since the corpus was loaded; save the corpus anew."
        )

    def _read_words(self, start: int, stop: int) -> Words:
        """A copy of some tokens, or an error if their file does not have them any more."""
        self.check_file()
        if self._mapped is None or self.folder is None:
            return np.array(self.words[start:stop])
        try:
            with (self.folder / "words.npy").open("rb") as file:
                if os.path.samestat(os.fstat(file.fileno()), self._mapped.found):
                    file.seek(self._mapped.offset + start * self.words.itemsize)
                    words = np.fromfile(file, self.words.dtype, stop - start)
                    if len(words) < stop - start:
                        raise self._cut_short()
                    return words
        except OSError:  # it has gone
            pass
        return np.array(self.words[start:stop])  # the file has no name any more by which it could be cut


def _read_array(path: Path, mmap: bool) -> Any:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise CorpusError(f"{path.name} is not a file.")
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)  # a false length in the header asks for no memory
    except FileNotFoundError:
        raise
    except Exception as error:  # what stands in the header makes NumPy raise errors of many kinds, as of the tokenizer
        raise CorpusError(f"{path.name} is not an array: {error}") from error
    if not isinstance(values, np.ndarray):
        raise CorpusError(f"{path.name} is not a single array.")
    return values if mmap else np.array(values)


def _read_ngrams(folder: Path, sizes: Any, n_documents: int) -> tuple[Ngrams, sparse.csr_array]:
    """N-grams and their counts, which may be a stranger's; whoever takes them checks the rest."""
    smallest, largest = sizes if isinstance(sizes, list) and len(sizes) == 2 else (0, sizes)
    ngrams = Ngrams(read_vocabulary(strict_json.read(folder / "ngrams.json", MAX_VOCABULARY)), largest, smallest)
    data, indices, indptr = (_read_array(folder / f"ngrams_{name}.npy", False) for name in CSR_PARTS)
    return ngrams, csr_of((n_documents, len(ngrams)), data, indices, indptr)


def _mapping(values: Any, found: os.stat_result) -> Mapped | None:
    """The file that an array is mapped from, if it is."""
    if isinstance(values, np.memmap) and isinstance(values.base, mmap.mmap):
        return Mapped(values.base, values.offset, found)
    return None
