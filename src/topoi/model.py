"""The fitted arrays: word–topic counts summed over the kept samples, the priors, and what follows from them.

Counts are kept sparse: a word has few topics, so that a model of 1,000 topics takes megabytes. A file is one
safetensors file: arrays and a JSON header, nothing that could run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._files import write_whole
from topoi.errors import ParameterError, TopoiError
from topoi.rows import TOPIC, Rows
from topoi.state import State

FORMAT = "topoi-topic-model"
VERSION = 1


def check_whole(name: str, value: Any, least: int | None = 1) -> None:
    """Raise unless the parameter `name` is a whole number of at least `least`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise ParameterError(name, f"must be a whole number{bound}, not {value!r}")


def sample_counts(state: State) -> sparse.csr_array:
    """Word–topic counts (V, K) of a state, base included."""
    rows = Rows.of(state)
    # Rows have room to spare: take the entries that are filled.
    filled = np.arange(len(rows.entries)) - np.repeat(rows.start[:-1], np.diff(rows.start)) < np.repeat(
        rows.size, np.diff(rows.start)
    )
    entries = rows.entries[filled]
    indptr = np.concatenate(([0], np.cumsum(rows.size)))
    shape = (len(rows.size), state.n_topics)
    counts = sparse.csr_array((entries >> 32, (entries & TOPIC).astype(np.int32), indptr), shape=shape)
    counts.sort_indices()
    return counts


@dataclass
class TopicModel:
    """Topics: `counts` (V, K) summed over `n_samples` samples, and `last_counts` of the last one alone."""

    counts: sparse.csr_array
    last_counts: sparse.csr_array
    n_samples: int
    alpha: NDArray[np.float64]
    beta: float
    vocabulary: NDArray[Any] | None = None

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return len(self.alpha)

    @property
    def n_words(self) -> int:
        """Size of the vocabulary V."""
        return int(self.counts.shape[0])

    @property
    def topic_counts(self) -> NDArray[np.float64]:
        """Average number of tokens of each topic."""
        return np.asarray(self.counts.sum(0), np.float64) / self.n_samples

    @property
    def scale(self) -> NDArray[np.float64]:
        """1/(n_k + Vβ) with average counts."""
        return 1.0 / (self.topic_counts + self.n_words * self.beta)

    def word_rows(self, words: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """Average counts (len(words), K) of some words, dense."""
        rows: NDArray[Any] = self.counts[words].toarray().astype(dtype)
        rows /= dtype(self.n_samples)
        return rows

    def topic_word(self, dtype: Any = np.float64) -> NDArray[Any]:
        """φ (K, V): the probability of every word in every topic; rows sum to 1."""
        rows = self.word_rows(np.arange(self.n_words), np.float64)
        phi: NDArray[Any] = ((rows + self.beta) * self.scale).T
        return np.ascontiguousarray(phi, dtype)

    def top_words(self, n: int = 10) -> list[list[str]]:
        """The n most probable words of each topic, most probable first; fewer where fewer have a count."""
        check_whole("n", n, 0)
        by_topic = self.counts.tocsc()
        out = []
        for k in range(self.n_topics):
            part = slice(by_topic.indptr[k], by_topic.indptr[k + 1])
            best = np.argsort(-by_topic.data[part], kind="stable")[:n]
            out.append([self.word(w) for w in by_topic.indices[part][best]])
        return out

    def word(self, w: int) -> str:
        """Word number w, as text."""
        return str(w) if self.vocabulary is None else str(self.vocabulary[w])

    def save(self, path: str | Path) -> None:
        """Write the model to one file, all of it or nothing: a model saved there before stays if writing fails."""
        from safetensors.numpy import save

        arrays = {"alpha": self.alpha, "beta": np.array([self.beta])}
        for name in ("counts", "last_counts"):
            matrix = getattr(self, name)
            arrays |= {f"{name}.{part}": np.ascontiguousarray(getattr(matrix, part)) for part in PARTS}
        header = {
            "format": FORMAT,
            "version": VERSION,
            "n_samples": self.n_samples,
            "n_words": self.n_words,
            "vocabulary": None if self.vocabulary is None else [str(w) for w in self.vocabulary],
        }
        header["digest"] = _digest(header, arrays)
        # One entry: safetensors writes several in any order, and equal models should be equal files.
        write_whole(path, save(arrays, metadata={"topoi": json.dumps(header)}))

    @classmethod
    def load(cls, path: str | Path) -> TopicModel:
        """Read a model that `save` wrote; a file that is anything else, or was changed by a byte, is a ModelError."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(str(path), framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            header = json.loads(metadata.get("topoi", "{}"))
            if header.get("format") != FORMAT or header.get("version") != VERSION:
                raise ModelError(f"{path}: not a topoi model of version {VERSION}")
            if header.pop("digest") != _digest(header, arrays):
                raise ModelError(f"{path}: damaged, its contents are not those that were saved")
            shape = (int(header["n_words"]), len(arrays["alpha"]))
            return cls(
                _csr(arrays, "counts", shape),
                _csr(arrays, "last_counts", shape),
                int(header["n_samples"]),
                arrays["alpha"],
                float(arrays["beta"][0]),
                None if header["vocabulary"] is None else np.array(header["vocabulary"], dtype=object),
            )
        except (ModelError, FileNotFoundError, PermissionError):
            raise
        except (SafetensorError, OSError, LookupError, ArithmeticError, ValueError, TypeError, AttributeError,
                RecursionError) as error:  # fmt: skip
            raise ModelError(f"{path}: not a topoi model, or damaged ({error})") from error


PARTS = ("data", "indices", "indptr")


def _digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """A hash of all that a file holds: a byte changed in the counts would show nowhere else."""
    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _csr(arrays: dict[str, NDArray[Any]], name: str, shape: tuple[int, int]) -> sparse.csr_array:
    matrix = sparse.csr_array(tuple(arrays[f"{name}.{part}"] for part in PARTS), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


class ModelError(TopoiError, ValueError):
    """A file that is not a model, or is damaged."""
