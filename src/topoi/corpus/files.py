"""The files of a saved corpus: tokens, where documents begin, and what else is known; docs/files.md has the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.blocks import growing_array, new_file
from topoi._disk.store import PARTS as CSR_PARTS
from topoi.corpus.checks import Vocabulary, running_total
from topoi.corpus.ngrams import Ngrams
from topoi.corpus.text.parts import Built
from topoi.corpus.text.preparation import Preparation
from topoi.errors import CorpusError

FORMAT_VERSION = 1
FILES = {
    "corpus.json", "words.npy", "doc_ptr.npy", "vocabulary.json", "ngrams.json", "ngrams_data.npy",
    "ngrams_indices.npy", "ngrams_indptr.npy",
}  # fmt: skip


def write_built(folder: Path, built: Built) -> None:
    """Write a corpus of which the tokens come piece by piece."""
    lengths = []
    with growing_array(folder / "words.npy", np.int32, built.n_tokens) as append:
        for words, n_tokens in built.pieces():
            append(words)
            lengths.append(n_tokens)
    doc_ptr = running_total(np.concatenate(lengths) if lengths else np.zeros(0, np.int64))
    write_beside(folder, doc_ptr, len(built.vocabulary), built.vocabulary, built.preparation)


def write_beside(
    folder: Path,
    doc_ptr: NDArray[np.int64],
    n_words: int,
    vocabulary: Vocabulary | None,
    preparation: Preparation | None,
    ngrams: Ngrams | None = None,
    counts: sparse.csr_array | None = None,
) -> None:
    """Write all files of a corpus but that of its tokens."""
    with new_file(folder / "doc_ptr.npy") as file:
        np.save(file, doc_ptr, allow_pickle=False)
    if vocabulary is not None:  # JSON, since a word may hold a line break
        with new_file(folder / "vocabulary.json") as file:
            file.write(json.dumps(vocabulary.tolist()).encode())
    header: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "n_words": n_words,
        "has_vocabulary": vocabulary is not None,
    }
    if preparation is not None:
        header["preparation"] = preparation.to_json()
    if ngrams is not None:
        # Earlier versions know one number alone.
        of_old = ngrams.smallest == (1 if ngrams.largest == 1 else 2)
        header["ngrams"] = ngrams.largest if of_old else list(ngrams.sizes)
        with new_file(folder / "ngrams.json") as file:
            file.write(json.dumps(ngrams.names.tolist()).encode())
        for name in CSR_PARTS:
            with new_file(folder / f"ngrams_{name}.npy") as file:
                np.save(file, getattr(counts, name), allow_pickle=False)
    with new_file(folder / "corpus.json") as file:
        file.write(json.dumps(header).encode())


def check_replaceable(folder: Path) -> None:
    """Raise when saving to `folder` would destroy anything but a saved corpus."""
    if folder.exists() and not (folder.is_dir() and all(p.name in FILES and p.is_file() for p in folder.iterdir())):
        raise CorpusError(f"{folder} exists and holds other things than a corpus; choose a new folder.")
