"""Any input at all: counts in every container and dtype, labels of every kind, and settings at their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor
from topoi.chain.responses import LabelResponse, NumberResponse, losses
from topoi.chain.samplers import SAMPLERS

# ---- Counts ------------------------------------------------------------------------------------------------

SMALL = st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3])
LARGE = st.sampled_from([255, 256, 3000, 40_000])
#: Not counts, or not ones that fit: an error, or, where they are whole and small after all, numbers like others.
ODD = st.sampled_from([-1, 0.5, np.nan, np.inf, -np.inf, -0.0, 1e-300, 1e300, 2.0**24, 2.0**31, 2.0**63, 2.0**64])
DTYPES = ["i1", "u1", "i2", ">i4", "i8", "u8", "f2", "f4", ">f8", "f8", "g", "?", "O", "c16", "U3", "S2", "M8[s]", "V4"]


@st.composite
def matrices(draw: Any, n_words: int | None = None, plain: bool = False) -> np.ndarray:
    """A dense matrix; one in three has a cell that is large or no count, one in six a row or column of zeros."""
    shape = (draw(st.integers(2 if plain else 0, 7)), draw(st.integers(int(plain), 6)) if n_words is None else n_words)
    cells = np.array(draw(st.lists(SMALL, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])), float)
    X = cells.reshape(shape)
    if X.size and draw(st.integers(0, 2)) == 0:
        at = draw(st.integers(0, X.size - 1))
        X.flat[at] = draw(LARGE if plain else st.one_of(LARGE, ODD))
    if X.size and draw(st.integers(0, 5)) == 0:
        X[draw(st.integers(0, len(X) - 1))] = 0
    return X


def stretched(X: np.ndarray) -> np.ndarray:
    """The same numbers with other numbers between them."""
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), 7, X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def frozen(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def untidy(X: np.ndarray) -> Any:
    """A CSR matrix with zeros that are stored, columns out of order, and cells in two parts."""
    rows, columns = np.indices(X.shape).reshape(2, -1)
    data = np.concatenate((X.ravel(), np.zeros(X.size, X.dtype)))[::-1]
    index = np.concatenate((columns, columns))[::-1]
    order = np.argsort(np.concatenate((rows, rows))[::-1], kind="stable")
    indptr = np.arange(len(X) + 1) * 2 * X.shape[1]
    return sparse.csr_array((data[order], index[order], indptr), shape=X.shape)


def long_index(X: np.ndarray) -> Any:
    out = sparse.csr_array(X)
    out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    return out


CONTAINERS = {
    "array": lambda X: X,
    "Fortran": np.asfortranarray,
    "stretched": stretched,
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": frozen,
    "list": lambda X: X.tolist(),
    "tuple of arrays": lambda X: tuple(X),
    "np.matrix": lambda X: np.asmatrix(X),
    "masked": lambda X: np.ma.masked_array(X, X == 1),
    "3-d": lambda X: X[None],
    "1-d": lambda X: X.ravel(),
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "dia": sparse.dia_array,
    "untidy csr": untidy,
    "64-bit csr": long_index,
    "frame": lambda X: pd.DataFrame(X, columns=[f"w{w}" for w in range(X.shape[1])]),
    "frame without names": pd.DataFrame,
    "corpus": lambda X: Corpus.from_counts(X, allow_empty=True),
    "number": lambda X: float(np.real(X.sum())),
    "text": repr,
    "none": lambda X: None,
}


def packed(X: np.ndarray, dtype: str, container: str) -> Any:
    """X in a dtype and a container; where that cannot be made, as it is."""
    with np.errstate(all="ignore"):
        try:
            return CONTAINERS[container](X.astype(dtype))
        except (ValueError, TypeError, IndexError, NotImplementedError, OverflowError):
            return X


# ---- Labels ------------------------------------------------------------------------------------------------

LABELS = {
    "text": st.sampled_from(["a", "b", "c", "", "ä b", "a\0"]),
    "whole": st.sampled_from([0, 1, -1, 2**62]),
    "bool": st.booleans(),
    "float": st.sampled_from([0.0, 1.0, 2.0, -0.0]),
    "mixed": st.sampled_from([0, "a", 1.0, None, True, b"b", float("nan"), (1, 2), 10**30]),
    "bytes": st.sampled_from([b"a", b"b"]),
    "time": st.sampled_from([np.datetime64("2020-01-01"), np.datetime64("NaT", "D")]),
}
NUMBERS = st.sampled_from([0.0, 1.0, -2.5, 1e-320, 1e-9, 1e9, 1e154, 1e300, -1e308, np.nan, np.inf, 3])


@st.composite
def one_each(draw: Any, n: int, plain: bool) -> Any:
    """A label for every document, as a list or as an array; one too many now and then, and odd ones, unless `plain`."""
    kind = draw(st.sampled_from(["text", "whole", "bool", "float"] if plain else sorted(LABELS)))
    n += 0 if plain else draw(st.sampled_from([0] * 9 + [1]))
    labels = draw(st.lists(LABELS[kind], min_size=n, max_size=n))
    if draw(st.booleans()):
        return labels
    if kind != "mixed":
        return np.array(labels)
    array = np.empty(n, object)
    array[:] = labels
    return array


@st.composite
def indicators(draw: Any, n: int) -> Any:
    """An indicator matrix of 0 to 4 labels; one in eight holds something else as well."""
    n_labels = draw(st.integers(0, 4))
    cells = draw(st.lists(st.integers(0, 1), min_size=n * n_labels, max_size=n * n_labels))
    y = np.array(cells, draw(st.sampled_from(["i8", "?", "f8", "u1"]))).reshape(n, n_labels)
    if y.size and draw(st.integers(0, 7)) == 0:
        y.flat[0] = draw(st.sampled_from([2, 255]))
    return sparse.csr_matrix(y) if draw(st.booleans()) else y


@st.composite
def numbers(draw: Any, n: int) -> Any:
    """Targets, of one output or of some."""
    outputs = draw(st.sampled_from([None, None, 1, 2, 0]))
    size = n if outputs is None else n * outputs
    y = np.array(draw(st.lists(st.one_of(st.floats(-10, 10), NUMBERS), min_size=size, max_size=size)), float)
    y = y if outputs is None else y.reshape(n, outputs)
    return y.tolist() if draw(st.booleans()) else y


# ---- Estimators --------------------------------------------------------------------------------------------

TILTING = sorted(name for name, sampler in SAMPLERS.items() if sampler.tilts)
PRIOR = st.sampled_from([None, 1e-10, 1e-3, 0.1, 1.0, 50.0, 1e6, "learn"])
COMMON = {
    "n_topics": st.sampled_from([1, 2, 3, 5, 16, 17, 40]),
    "n_sweeps": st.integers(1, 4),
    "n_samples": st.integers(1, 3),
    "n_chains": st.sampled_from([1, 1, 2]),
    "n_jobs": st.sampled_from([None, 1, 2]),
    "infer_sweeps": st.integers(1, 3),
    "infer_method": st.sampled_from(["gibbs", "mean_field"]),
    "doc_topic_prior": PRIOR,
    "topic_word_prior": PRIOR,
    "random_state": st.integers(0, 2**31 - 1),
}
STRENGTH = st.sampled_from([None, 1e-6, 0.1, 1.6, 100.0, 1e6])
SUPERVISED = COMMON | {
    "sampler": st.sampled_from(["auto", *TILTING]),
    "cost": STRENGTH,
    "weight_prior": st.sampled_from([1e-6, 1.0, 1e6]),
    "n_gibbs": st.integers(0, 2),
}
SETTINGS = {
    LDA: COMMON | {"sampler": st.sampled_from(["auto", *sorted(SAMPLERS)])},
    MedLDAClassifier: SUPERVISED
    | {
        # Losses of one label alone refuse several labels and other strategies: the others come three times as often.
        "loss": st.sampled_from(
            [name for name, loss in losses(LabelResponse).items() for _ in range(1 if loss.joint else 3)]
        ),
        "strategy": st.sampled_from(["multitask", "multitask", "ovr", "ovo"]),
        "margin": STRENGTH,
        "positive_weight": STRENGTH,
        "class_weight": st.sampled_from([None, None, "balanced"]),
    },
    MedLDARegressor: SUPERVISED
    | {
        "loss": st.sampled_from(list(losses(NumberResponse))),
        "epsilon": st.sampled_from([0.0, 1e-3, 1e3]),
        "held_out": st.sampled_from([0, 0, 0.3]),
    },
}


@dataclass
class Case:
    """An estimator, what to fit it on, and new documents."""

    kind: type
    settings: dict[str, Any]
    X: Any
    y: Any
    unlabelled: Any
    new: Any


@st.composite
def cases(draw: Any, kind: type) -> Case:
    """Half of the cases are plain counts and labels, so that a good part of all is fitted."""
    plain = draw(st.booleans())
    dense = draw(matrices(plain=plain))
    n, n_words = dense.shape
    dtypes, containers = st.sampled_from(DTYPES), st.sampled_from(sorted(CONTAINERS))
    X = packed(dense, "i8" if plain else draw(dtypes), "array" if plain else draw(containers))
    new = packed(draw(matrices(n_words=n_words + draw(st.sampled_from([0] * 7 + [1])))), draw(dtypes), draw(containers))
    y = unlabelled = None
    if kind is MedLDAClassifier:
        y = draw(st.one_of(one_each(n, plain), one_each(n, plain), indicators(n)))
        masks = [None, None, np.arange(n) % 3 == 1, np.zeros(n, bool)]
        unlabelled = draw(st.sampled_from(masks if plain else [*masks, np.ones(n, bool), [True]]))
    elif kind is MedLDARegressor:
        y = draw(numbers(n))
    return Case(kind, draw(st.fixed_dictionaries(SETTINGS[kind])), X, y, unlabelled, new)
