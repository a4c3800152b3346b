"""The terms of a formula as columns of a table: what the prevalence of topics is a function of.

A number is standardised, and is one column. A category has a column for each of its values, 1 for the documents that
have it. A smooth function of a number (`s`) has a cubic B-spline in each of its columns, whose knots are quantiles of
the values; beyond the values of the fit it is constant. An interaction has the products of the columns of its parts.
The first column is the constant. Columns of categories and splines add up to the constant: the priors of their weights,
which are all alike, determine how they share it, and no category is singled out as the one that others are compared to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.interpolate import BSpline

from topoi._disk.store import ModelError
from topoi.chain.priors.prevalence import MOST_COLUMNS
from topoi.errors import ParameterError, warn_user
from topoi.estimators.covariates import MOST_CATEGORIES, columns_of, numbers_of, places_of, texts_of
from topoi.estimators.formula import Factor, Term, with_all

KINDS = ("number", "category", "spline")
DEGREE = 3
#: Columns of a spline unless the formula says how many; fewer for fewer different values.
SPLINE_COLUMNS = 8
#: Documents whose covariates are kept, evenly spaced, to average effects over.
MOST_KEPT = 500


@dataclass(frozen=True)
class Variable:
    """A column of the covariates, and what it becomes.

    `categories` are the values of a category, as texts. `knots` are those of a spline. `centre` and `scale` are mean
    and standard deviation of numbers. `average` has the means of its columns over the documents of the fit.
    """

    name: str
    kind: str
    categories: NDArray[Any]
    knots: NDArray[np.float64]
    centre: float
    scale: float
    average: NDArray[np.float64]

    def read(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values as numbers; those of a category are places in the list of categories, −1 for one that is new."""
        if self.kind != "category":
            return numbers_of(self.name, values)[:, 0]
        return places_of(self.name, _category_texts(self.name, values), self.categories).astype(np.float64)

    def columns(self, values: NDArray[np.float64]) -> sparse.csr_array:
        """The columns (values, n_columns) of values that `read` gave."""
        if self.kind == "number":
            return sparse.csr_array(((values - self.centre) / self.scale)[:, None])
        if self.kind == "spline":
            inside = np.clip(values, self.knots[DEGREE], self.knots[-DEGREE - 1])
            return sparse.csr_array(BSpline.design_matrix(inside, self.knots, DEGREE))
        known = values >= 0
        places = np.maximum(values, 0).astype(np.int64)
        n = len(self.categories)
        one = sparse.csr_array((np.ones(len(values)), places, np.arange(len(values) + 1)), shape=(len(values), n))
        if known.all():
            return one
        unknown = sparse.csr_array((~known).astype(np.float64)[:, None])
        kept = one.multiply(known.astype(np.float64)[:, None])
        return sparse.csr_array(kept + unknown @ sparse.csr_array(self.average[None]))

    @property
    def names(self) -> list[str]:
        """Of its columns."""
        if self.kind == "number":
            return [self.name]
        if self.kind == "category":
            return [f"{self.name}={value}" for value in self.categories]
        return [f"s({self.name}).{number + 1}" for number in range(len(self.average))]

    def check(self) -> None:
        """Raise unless the parts, which may come from a file, fit together."""
        n = {"number": 1, "category": len(self.categories), "spline": len(self.knots) - DEGREE - 1}.get(self.kind, 0)
        if self.kind not in KINDS or not 1 <= n <= MOST_COLUMNS or self.average.shape != (n,):
            raise ModelError(f"the covariate {self.name!r} must have columns, and their averages")
        numbers = np.concatenate(([self.centre, self.scale], self.average, self.knots))
        if not np.isfinite(numbers).all() or self.scale <= 0 or (np.diff(self.knots) < 0).any():
            raise ModelError(f"the covariate {self.name!r} must have finite numbers, and knots that rise")
        if self.kind == "category" and (np.sort(self.categories) != self.categories).any():
            raise ModelError(f"the categories of {self.name!r} must be sorted")
        if self.kind == "spline" and self.knots[DEGREE] >= self.knots[-DEGREE - 1]:
            raise ModelError(f"the knots of {self.name!r} must not all be the same")


@dataclass(frozen=True)
class Terms:
    """Covariates of the prevalence of topics: `variables`, and the `products` of some of them that are terms.

    `kept` has the values of the variables of some documents of the fit, to average effects over.
    """

    variables: list[Variable]
    products: list[NDArray[np.int64]]
    kept: NDArray[np.float64]

    def read(self, given: Any, n_documents: int) -> NDArray[np.float64]:
        """The values (documents, variables) of covariates, as `Variable.read` has them."""
        if sparse.issparse(given):
            raise ParameterError("covariates", "must have columns with names, as a data frame has, not a sparse matrix")
        columns = columns_of(given, n_documents)
        if missing := [one.name for one in self.variables if one.name not in columns]:
            raise ParameterError("covariates", f"have no column {missing[0]!r}, which the fit had")
        return np.column_stack([one.read(columns[one.name]) for one in self.variables])

    def table(self, values: NDArray[np.float64]) -> sparse.csr_array:
        """The columns of all terms, the constant first, of values that `read` gave."""
        blocks = [one.columns(values[:, number]) for number, one in enumerate(self.variables)]
        found = [sparse.csr_array(np.ones((len(values), 1)))]
        for product in self.products:
            block = blocks[product[0]]
            for number in product[1:]:
                other = blocks[number]
                parts = [other.multiply(block[:, [j]].toarray()) for j in range(block.shape[1])]
                block = sparse.csr_array(sparse.hstack(parts, format="csr"))
            found.append(block)
        return sparse.csr_array(sparse.hstack(found, format="csr"), dtype=np.float64)

    def encode(self, given: Any, n_documents: int) -> sparse.csr_array:
        """The columns of all terms of documents, the constant first."""
        return self.table(self.read(given, n_documents))

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the table."""
        names = ["1"]
        for product in self.products:
            own = self.variables[product[0]].names
            for number in product[1:]:
                own = [f"{a}:{b}" for a in own for b in self.variables[number].names]
            names += own
        return names

    def check(self) -> None:
        """Raise unless the parts, which may come from a file, fit together."""
        n = len(self.variables)
        for product in self.products:
            if product.ndim != 1 or not 1 <= len(product) <= n or not ((product >= 0) & (product < n)).all():
                raise ModelError("a term must be a product of variables that there are")
        if not n or self.kept.ndim != 2 or self.kept.shape[1] != n or not 1 <= len(self.kept) <= MOST_KEPT:
            raise ModelError(f"the covariates of some documents must be kept, of each the values of {n} variables")
        for one, values in zip(self.variables, self.kept.T, strict=True):
            if not np.isfinite(values).all() or (one.kind == "category" and (values >= len(one.categories)).any()):
                raise ModelError(f"values of {one.name!r} are kept that it cannot have")
        widths = [
            int(np.prod([len(self.variables[v].average) for v in product], dtype=float)) for product in self.products
        ]
        if 1 + sum(widths) > MOST_COLUMNS:
            raise ModelError(f"the terms have more than {MOST_COLUMNS} columns")


def learn_terms(terms: list[Term] | None, given: Any, n_documents: int) -> tuple[Terms, sparse.csr_array]:
    """The terms of a formula, None for all columns, for the covariates of training documents; and their table."""
    if sparse.issparse(given):
        raise ParameterError("covariates", "must have columns with names, as a data frame has, not a sparse matrix")
    columns = columns_of(given, n_documents)
    listed = with_all([(Factor("."),)] if terms is None else terms, columns)
    factors = list(dict.fromkeys(factor for term in listed for factor in term))
    for factor in factors:
        if factor.name not in columns:
            there = ", ".join(list(columns)[:10])
            raise ParameterError(
                "prevalence", f"names a column {factor.name!r}, which covariates do not have; they have {there}"
            )
    if not factors:
        raise ParameterError("prevalence", "names no column; for a model without covariates it is None")
    learned = {factor: _learn_variable(factor, columns[factor.name]) for factor in factors}
    factors = [factor for factor in factors if learned[factor] is not None]
    if not factors:
        raise ParameterError("covariates", "are all constant, so that topics cannot depend on them; leave them out")
    variables = [one for one in learned.values() if one is not None]
    listed = [term for term in listed if all(factor in factors for factor in term)]
    products = [np.array([factors.index(factor) for factor in term], np.int64) for term in listed]
    n_columns = 1 + sum(int(np.prod([len(variables[v].average) for v in product])) for product in products)
    if n_columns > MOST_COLUMNS:
        raise ParameterError(
            "covariates", f"become {n_columns:,} columns, more than {MOST_COLUMNS}: leave out or group categories"
        )
    found = Terms(variables, products, np.empty((0, len(variables))))
    values = found.read(given, n_documents)
    n = min(n_documents, MOST_KEPT)
    kept = np.ascontiguousarray(values[np.arange(n) * n_documents // max(n, 1)])
    return Terms(variables, products, kept), found.table(values)


def _learn_variable(factor: Factor, values: NDArray[Any]) -> Variable | None:
    """What a column of training documents is; None for a number that is always the same.

    Documents say nothing of the weight of such a number, which would be drawn from its prior and told as an effect.
    """
    none, no_knots = np.array([], str), np.array([])
    if factor.kind == "category" or (factor.kind == "column" and values.dtype.kind not in "iuf"):
        texts = _category_texts(factor.name, values)
        found, times = np.unique(texts, return_counts=True)
        if len(found) > MOST_CATEGORIES:
            raise ParameterError(
                "covariates",
                f"column {factor.name!r} has {len(found)} different values, more than {MOST_CATEGORIES}: is it an id?",
            )
        if len(found) == 1:
            _warn_constant(factor.name)
        return Variable(factor.name, "category", found, no_knots, 0.0, 1.0, times / max(len(values), 1))
    if values.dtype.kind not in "biuf":
        raise ParameterError(
            "prevalence",
            f"has s({factor.name}), a function of numbers, but {factor.name!r} has {str(values[0])!r:.50}; "
            f"use {factor.name} without s, as a category, or make a column of numbers",
        )
    numbers = numbers_of(factor.name, values)[:, 0]
    centre, scale = float(numbers.mean()), float(numbers.std())
    if factor.kind == "column":
        if not scale > 1e-12 * abs(centre):
            _warn_constant(factor.name)
            return None
        return Variable(factor.name, "number", none, no_knots, centre, scale, np.zeros(1))
    different = np.unique(numbers)
    n_columns = factor.n_columns or min(SPLINE_COLUMNS, len(different))
    if len(different) < max(n_columns, DEGREE + 1):
        raise ParameterError(
            "prevalence",
            f"s({factor.name}) has {max(n_columns, DEGREE + 1)} columns, but {factor.name!r} only {len(different)} "
            f"different values; use {factor.name} or C({factor.name})",
        )
    inner = np.quantile(different, np.linspace(0, 1, n_columns - DEGREE + 1))
    knots = np.concatenate((np.repeat(inner[0], DEGREE), inner, np.repeat(inner[-1], DEGREE)))
    made = Variable(factor.name, "spline", none, knots, centre, scale, np.zeros(n_columns))
    average = np.asarray(made.columns(numbers).sum(0)).ravel() / len(numbers)
    return Variable(factor.name, "spline", none, knots, centre, scale, average)


def _category_texts(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Categories as texts; of whole numbers the same whether they were read as such or not: 1990, not 1990.0."""
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.floor(values)).all():
        values = values.astype(np.int64) if (np.abs(values) < 2**62).all() else values
    return texts_of(name, values)


def _warn_constant(name: str) -> None:
    warn_user(f"covariates: the column {name!r} is constant; it has no effect")
