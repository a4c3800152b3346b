"""Covariates: what is known of a document beside its words, as columns of its score.

Numbers are standardised; every category is a column of its own, 1 for the documents that have it, centred. A sparse
matrix stays sparse: its columns are divided by their root mean square, and not centred. The standard form of a new
document is made with the numbers of the training documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.store import ModelError
from topoi.errors import ParameterError, warn_user

#: Categories of a column, at most: more are a mistake, as a column of names or of ids.
MOST_CATEGORIES = 1000
#: Standard deviations that a number of a new document may be from the mean: the columns of a score have four bytes.
FARTHEST = 1e30


@dataclass(frozen=True)
class Covariates:
    """The columns of the training documents: `names` of what was given, and what each becomes.

    `categories` has the values of a column of categories, as texts, and none for a column of numbers. `centre` and
    `scale` are those of their standard form. `basis` (columns, r) turns that into uncorrelated columns, which weights
    are learned for: of columns that say the same, as the two of two categories, a chain could move none by itself. A
    sparse matrix has no basis: its columns are taken as they are.
    """

    names: list[str]
    categories: list[NDArray[Any]]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    basis: NDArray[np.float64]
    is_sparse: bool

    def encode(self, given: Any, n_documents: int) -> sparse.csr_array:
        """The columns (documents, r) of the score of documents."""
        return self.uncorrelated(self.standard(given, n_documents))

    def uncorrelated(self, standard: sparse.csr_array) -> sparse.csr_array:
        """The columns of the score, from the standard form."""
        return standard if self.is_sparse else sparse.csr_array((standard @ self.basis).astype(np.float32))

    def back(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Weights (…, columns) of the standard form, from those of the columns of the score (…, r)."""
        # einsum adds in one order wherever an array lies in memory: a model that was saved gives the same bits.
        return weights if self.is_sparse else np.asarray(np.einsum("...r,jr->...j", weights, self.basis))

    def as_effects(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Effects (…, columns) from weights (…, r): of one standard deviation, or of a category against the average.

        The columns of the categories of a covariate say the same together, so that the weight of one by itself means
        nothing; what a document that has it gets from all of them does.
        """
        found = self.back(weights)
        first = 0
        effects = np.array(found, np.float64)
        for values in self.categories:
            if n := len(values):
                own = slice(first, first + n)
                per_unit = found[..., own] / self.scale[own]
                effects[..., own] = per_unit - np.einsum("...j,j->...", per_unit, self.centre[own])[..., None]
            first += max(n, 1)
        return effects

    @property
    def n_columns(self) -> int:
        """Number r of the columns of the score."""
        return len(self.names) if self.is_sparse else int(self.basis.shape[1])

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the standard form: "price", or "brand=acme" for a category."""
        return [
            column
            for name, values in zip(self.names, self.categories, strict=True)
            for column in ([f"{name}={value}" for value in values] if len(values) else [name])
        ]

    def standard(self, given: Any, n_documents: int) -> sparse.csr_array:
        """The standard form of documents; a category that is new is their average, and is told in a warning."""
        if given is None:
            raise ParameterError(
                "covariates", f"are needed: the model was fitted with {', '.join(self.names[:5])}. Give them here too"
            )
        if self.is_sparse:
            matrix = _sparse(given, n_documents)
            if matrix.shape[1] != len(self.names):
                raise ParameterError("covariates", f"have {matrix.shape[1]} columns, but {len(self.names)} in the fit")
            return _scaled(matrix, self.scale)
        columns = columns_of(given, n_documents)
        if missing := [name for name in self.names if name not in columns]:
            raise ParameterError("covariates", f"have no column {missing[0]!r}, which the fit had")
        if not _has_names(given) and len(columns) != len(self.names):
            raise ParameterError("covariates", f"have {len(columns)} columns, but {len(self.names)} in the fit")
        blocks = []
        for name, values in zip(self.names, self.categories, strict=True):
            blocks.append(
                indicators_of(name, columns[name], values) if len(values) else numbers_of(name, columns[name])
            )
        dense = (np.column_stack(blocks) - self.centre) / self.scale
        if (far := np.argwhere(np.abs(dense) > FARTHEST)).size:
            row, column = map(int, far[0])
            raise ParameterError(
                "covariates", f"row {row}, column {self.columns[column]!r} is too far from the numbers of the fit"
            )
        unknown = np.column_stack([np.broadcast_to(block.any(1, keepdims=True), block.shape) if len(values) else
                                   np.ones(block.shape, bool)
                                   for block, values in zip(blocks, self.categories, strict=True)])  # fmt: skip
        return sparse.csr_array(np.where(unknown, dense, 0.0).astype(np.float32))

    def check(self) -> None:
        """Raise unless the parts, which may come from a file, fit together."""
        n = len(self.columns)
        if len(self.names) != len(self.categories) or self.centre.shape != (n,) or self.scale.shape != (n,):
            raise ModelError("covariates must have a centre and a scale for each column")
        if not (np.isfinite(self.centre).all() and np.isfinite(self.scale).all() and (self.scale > 0).all()):
            raise ModelError("covariates must have finite centres and positive scales")
        if any((np.sort(values) != values).any() for values in self.categories):
            raise ModelError("the categories of a covariate must be sorted")
        rows = 0 if self.is_sparse else n
        if self.basis.ndim != 2 or len(self.basis) != rows or not np.isfinite(self.basis).all():
            raise ModelError(f"the basis of covariates must have {rows} rows of finite numbers")


def learn_covariates(given: Any, n_documents: int) -> tuple[Covariates, sparse.csr_array]:
    """What the covariates of training documents are, and their columns."""
    if sparse.issparse(given):
        matrix = _sparse(given, n_documents)
        scale = np.sqrt(np.asarray(matrix.multiply(matrix).sum(0)).ravel() / max(n_documents, 1))
        scale = np.where(scale > 0, scale, 1.0)
        names = [f"x{j}" for j in range(matrix.shape[1])]
        none: list[NDArray[Any]] = [np.array([], str) for _ in names]
        return Covariates(names, none, np.zeros(len(names)), scale, np.empty((0, 0)), True), _scaled(matrix, scale)
    columns = columns_of(given, n_documents)
    categories: list[NDArray[Any]] = []
    blocks = []
    for name, values in columns.items():
        if values.dtype.kind in "iuf":
            block = numbers_of(name, values)
            categories.append(np.array([], str))
            with np.errstate(over="ignore", invalid="ignore"):
                if n_documents and not np.isfinite(block.var()):
                    raise ParameterError("covariates", f"column {name!r} has numbers that are too large to standardise")
            if n_documents and (block == block[0]).all():
                warn_user(f"covariates: the column {name!r} is constant; it has no effect")
        else:
            found = np.unique(texts_of(name, values))
            if len(found) > MOST_CATEGORIES:
                raise ParameterError(
                    "covariates",
                    f"column {name!r} has {len(found)} different values, more than {MOST_CATEGORIES}: is it an id?",
                )
            if len(found) == 1:
                warn_user(f"covariates: the column {name!r} is constant; it has no effect")
            block = indicators_of(name, values, found)
            categories.append(found)
        blocks.append(block)
    dense = np.column_stack(blocks)
    centre, scale = dense.mean(0), dense.std(0)
    scale = np.where(scale > 1e-12 * np.abs(centre), scale, 1.0)
    standard = (dense - centre) / scale
    variance, directions = np.linalg.eigh(standard.T @ standard / max(n_documents, 1))
    there = variance > 1e-9 * max(float(variance.max(initial=0.0)), 1.0)  # a constant column is in no direction
    basis = directions[:, there] / np.sqrt(variance[there])
    learned = Covariates(list(columns), categories, centre, scale, basis, False)
    return learned, learned.uncorrelated(sparse.csr_array(standard.astype(np.float32)))


def columns_of(given: Any, n_documents: int) -> dict[str, NDArray[Any]]:
    """Columns by name, of a data frame (pandas, polars), a mapping, or an array."""
    if sparse.issparse(given):
        raise ParameterError(
            "covariates", "must not be a sparse matrix here: give a data frame, or the columns of the fit by .toarray()"
        )
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        names = [str(name) for name in given.columns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ParameterError("covariates", f"have several columns that are called {twice[0]!r}")
        columns = {name: np.asarray(given[own]) for name, own in zip(names, given.columns, strict=True)}
    elif isinstance(given, Mapping):
        columns = {str(name): np.asarray(values) for name, values in given.items()}
    else:
        array = np.asarray(given)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ParameterError(
                "covariates", f"must be a data frame or a matrix, not an array of {array.ndim} dimensions"
            )
        columns = {f"x{j}": array[:, j] for j in range(array.shape[1])}
    if not columns:
        raise ParameterError("covariates", "have no columns")
    for name, values in columns.items():
        if values.shape != (n_documents,):
            raise ParameterError(
                "covariates", f"column {name!r} has {len(values)} values, but there are {n_documents} documents"
            )
        if values.dtype.kind in "mM":
            raise ParameterError(
                "covariates",
                f"column {name!r} has dates or times, which are neither numbers nor categories; make a number of it, "
                f"as the year: df[{name!r}].dt.year",
            )
        if values.dtype.kind == "c":
            raise ParameterError("covariates", f"column {name!r} has complex numbers")
        if values.dtype == object and all(isinstance(value, int | float | np.number) for value in values):
            columns[name] = values.astype(np.float64)
    return columns


def _has_names(given: Any) -> bool:
    """Whether the columns of what is given have names of their own."""
    return isinstance(given, Mapping) or hasattr(given, "columns")


def numbers_of(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    """A column (documents, 1) of numbers."""
    try:
        numbers = values.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ParameterError("covariates", f"column {name!r} must be numbers, as in the fit: {error}") from error
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ParameterError(
            "covariates", f"row {row}, column {name!r} is {numbers[row]}; fill in or leave out what is missing"
        )
    return numbers[:, None]


def texts_of(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """A column of categories as texts."""
    missing = np.array([_is_missing(value) for value in values.tolist()], bool)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ParameterError(
            "covariates", f"row {row}, column {name!r} has no value; give what is missing a name of its own"
        )
    return np.array([str(value) for value in values.tolist()], str)


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or the NA of pandas, which is neither equal to itself nor not."""
    differs = value != value
    return value is None or not isinstance(differs, bool | np.bool_) or bool(differs)


def indicators_of(name: str, values: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.float64]:
    """A column (documents, categories) for each category; zeros for one that is not known."""
    places = places_of(name, texts_of(name, values), categories)
    found = places[:, None] == np.arange(len(categories))
    return np.asarray(found, np.float64)


def places_of(name: str, texts: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.int64]:
    """Where each text stands among categories, which are sorted; −1 for one that is new, which a warning tells."""
    place = np.minimum(np.searchsorted(categories, texts), len(categories) - 1)
    known = categories[place] == texts
    if not known.all():
        new = np.unique(texts[~known])
        others = f" and {len(new) - 1} others" if len(new) > 1 else ""
        warn_user(
            f"covariates: column {name!r} has {str(new[0])!r}{others}, which the training documents do not have; it is "
            "taken as the average of all categories"
        )
    return np.where(known, place, -1)


def _sparse(given: Any, n_documents: int) -> sparse.csr_array:
    if not sparse.issparse(given):
        raise ParameterError("covariates", "must be a sparse matrix, as in the fit")
    matrix = sparse.csr_array(given, dtype=np.float64)
    if matrix.shape[0] != n_documents:
        raise ParameterError("covariates", f"have {matrix.shape[0]} rows, but there are {n_documents} documents")
    if not np.isfinite(matrix.data).all():
        at = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right") - 1)
        raise ParameterError("covariates", f"row {row}, column {matrix.indices[at]} is not a finite number")
    return matrix


def _scaled(matrix: sparse.csr_array, scale: NDArray[np.float64]) -> sparse.csr_array:
    return sparse.csr_array((matrix @ sparse.diags_array(1.0 / scale)).astype(np.float32))
