"""Formulas: what they mean, what is wrong with others, and the columns that their terms become."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.interpolate import BSpline

from topoi import ParameterError
from topoi._disk.store import ModelError
from topoi.estimators.formula import Factor, parse_formula
from topoi.estimators.terms import MOST_KEPT, Terms, learn_terms

A, B, C = Factor("a"), Factor("b"), Factor("c")


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("~ a", [(A,)]),
        ("a + b", [(A,), (B,)]),
        ("~ 1 + a", [(A,)]),
        ("~a+a", [(A,)]),
        ("~ a:b", [(A, B)]),
        ("~ a * b", [(A,), (B,), (A, B)]),
        ("~ a * b * c", [(A,), (B,), (A, B), (C,), (A, C), (B, C), (A, B, C)]),
        ("~ (a + b):c", [(A, C), (B, C)]),
        ("~ (a + 1):c", [(A, C), (C,)]),
        ("~ a:a", [(A,)]),
        ("~ s(a) + C(b)", [(Factor("a", "spline"),), (Factor("b", "category"),)]),
        ("~ bs( a , df = 6 )", [(Factor("a", "spline", 6),)]),
        ("~ `a name, with (signs)`", [(Factor("a name, with (signs)"),)]),
        ("~ C(`b c`):é.x_1", [(Factor("b c", "category"), Factor("é.x_1"))]),
        ("~ .", [(Factor("."),)]),
        ("~ . + a:b", [(Factor("."),), (A, B)]),
    ],
)
def test_terms_of_a_formula(formula, terms):
    assert parse_formula(formula) == terms


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("", "the end of '' should be the name of a column"),
        ("~ a +", r"the end of '~ a \+' should be the name of a column"),
        ("y ~ a", "'y' at character 1 of .* must not stand before \"~\""),
        ("~ a - b", "'-' at character 5 of .* would leave out a term"),
        ("~ 0 + a", "'0' at character 3 .* is a number"),
        ("~ log(a)", r"'l' at character 3 .* functions are s\(…\), bs\(…\) and C\(…\) alone"),
        ("~ __import__('os').system('true')", "is not part of a formula"),
        ("~ a.b(c)", "functions are"),
        ("~ s(a + b)", r"'\+' at character 7 .* should be '\)'"),
        ("~ s(1)", "should be the name of a column"),
        ("~ s(a, df=3)", "'3' at character 11 .* a number from 4 to 100"),
        ("~ s(a, df=99999999999999999999)", "a number from 4 to 100"),
        ("~ s(a, k=5)", "'k' at character 8 .* should be df"),
        ("~ C(a, df=5)", "of a spline"),
        ("~ (a", "the end of .* should be '\\)'"),
        ("~ a b", "'b' at character 5 .* or the end"),
        ("~ a)", r"'\)' at character 4"),
        ("~ a:.", "all columns"),
        ("~ `a", "'`' at character 3"),
        ("~" + "(" * 60 + "a", "more than 50 parentheses"),
        ("~" + "*".join(f"(a{i} + b{i})" for i in range(12)), "makes more than 1,000 terms"),
        ("~ " + "a" * 20_000, "has 20,002 characters"),
        (["a"], "must be a formula"),
    ],
)
def test_what_is_wrong_is_said(formula, message):
    with pytest.raises(ParameterError, match=message) as caught:
        parse_formula(formula)
    assert caught.value.parameter == "prevalence"


RNG = np.random.default_rng(5)
COLUMNS = {
    "party": RNG.choice(["green", "red", "blue"], 40),
    "year": RNG.integers(1990, 2020, 40),
    "price": RNG.normal(3.0, 2.0, 40),
}


def learned(formula=None, columns=COLUMNS, n=40):
    terms, table = learn_terms(None if formula is None else parse_formula(formula), columns, n)
    terms.check()
    assert len(terms.columns) == table.shape[1]
    assert (table[:, [0]].toarray() == 1).all()
    np.testing.assert_array_equal(terms.encode(columns, n).toarray(), table.toarray())
    return terms, table.toarray()


def test_all_columns():
    terms, table = learned()
    assert terms.columns == ["1", "party=blue", "party=green", "party=red", "year", "price"]
    np.testing.assert_array_equal(table[:, 1:4], COLUMNS["party"][:, None] == ["blue", "green", "red"])
    for j, name in ((4, "year"), (5, "price")):
        values = COLUMNS[name]
        np.testing.assert_allclose(table[:, j], (values - values.mean()) / values.std())


def test_a_number_as_a_category():
    terms, _ = learned("~ C(year)")
    assert terms.columns[1:] == [f"year={year}" for year in np.unique(COLUMNS["year"])]


def test_splines():
    terms, table = learned("~ s(year, df=6)")
    knots = terms.variables[0].knots
    assert terms.columns[1:] == [f"s(year).{j}" for j in range(1, 7)]
    inside = BSpline.design_matrix(COLUMNS["year"].astype(float), knots, 3).toarray()
    np.testing.assert_allclose(table[:, 1:], inside)
    np.testing.assert_allclose(table[:, 1:].sum(1), 1)
    first, last = COLUMNS["year"].min(), COLUMNS["year"].max()
    ends = terms.encode({"year": [first, last]}, 2).toarray()
    np.testing.assert_array_equal(terms.encode({"year": [first - 50, last + 50]}, 2).toarray(), ends)


def test_interactions_are_products():
    terms, table = learned("~ party * year")
    assert terms.columns[5:] == ["party=blue:year", "party=green:year", "party=red:year"]
    np.testing.assert_allclose(table[:, 5:], table[:, 1:4] * table[:, [4]])


def test_a_new_category_is_the_average():
    terms, table = learned("~ party + party:year")
    with pytest.warns(UserWarning, match="'party' has 'pink', which the training documents do not have"):
        new = terms.encode({"party": ["pink", "red"], "year": [2000, 2000]}, 2).toarray()
    np.testing.assert_allclose(new[0, 1:4], table[:, 1:4].mean(0))
    year = (2000 - COLUMNS["year"].mean()) / COLUMNS["year"].std()
    np.testing.assert_allclose(new[0, 4:], table[:, 1:4].mean(0) * year)
    assert new[1, 1:4].tolist() == [0, 0, 1]


def test_constant_columns_have_no_effect():
    """A number that is always the same is left out: nothing is known of its weight."""
    columns = {"one": np.full(5, 3.0), "same": ["x"] * 5, "party": list("abbaa")}
    with pytest.warns(UserWarning, match="is constant; it has no effect") as caught:
        terms, table = learned("~ one + same + one:party + party", columns, 5)
    assert {str(found.message).split("'")[1] for found in caught} == {"one", "same"}
    assert terms.columns == ["1", "same=x", "party=a", "party=b"]
    assert table.shape == (5, 4)
    with (
        pytest.warns(UserWarning, match="is constant"),
        pytest.raises(ParameterError, match="covariates: are all constant"),
    ):
        learned("~ one", columns, 5)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("value", ["red", 1990])
def test_what_is_missing_has_many_names(missing, value):
    with pytest.raises(ParameterError, match=r"row 1, column 'a' (has no value|is nan)"):
        learned("~ a", {"a": np.array([value, missing, value], object)}, 3)


@pytest.mark.parametrize("formula", [None, "~ day", "~ s(day)"])
def test_dates_are_no_categories(formula):
    """Each day would be one, with an effect of its own."""
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=40)})
    with pytest.raises(ParameterError, match=r"column 'day' has dates.*the year: df\['day'\].dt.year"):
        learned(formula, days, 40)


@pytest.mark.parametrize(
    ("formula", "columns", "message"),
    [
        ("~ colour", COLUMNS, "names a column 'colour', which covariates do not have; they have party, year, price"),
        ("~ 1", COLUMNS, "prevalence: names no column"),
        ("~ s(party)", COLUMNS, r"prevalence: has s\(party\), a function of numbers, but 'party' has "),
        ("~ s(few)", {"few": [1, 2, 3] * 13 + [1]}, "only 3 different values; use few or C.few."),
        ("~ price", {"price": [np.nan] + [1.0] * 39}, "row 0, column 'price' is nan"),
        ("~ party", {"party": [None] + ["a"] * 39}, "row 0, column 'party' has no value"),
        ("~ party", {"party": ["a"] * 39}, "column 'party' has 39 values, but there are 40 documents"),
        (None, sparse.eye_array(40), "must have columns with names"),
        ("~ many", {"many": [str(i) for i in range(1001)]}, "has 1001 different values"),
        ("~ many", {"many": [str(i) for i in range(600)]}, "become 601 columns, more than 500"),
    ],
)
def test_covariates_that_cannot_be(formula, columns, message):
    n = max(40, len(next(iter(columns.values())))) if isinstance(columns, dict) else 40
    n = n if n > 40 else 40
    with pytest.raises(ParameterError, match=message):
        learned(formula, columns, n)


def test_new_documents_need_the_columns_of_the_fit():
    terms, _ = learned("~ party + year")
    with pytest.raises(ParameterError, match="have no column 'year', which the fit had"):
        terms.encode({"party": ["red"]}, 1)
    with pytest.raises(ParameterError, match="column 'year' must be numbers"):
        terms.encode({"party": ["red"], "year": ["soon"]}, 1)


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS | {"party": pandas.Categorical(COLUMNS["party"])})
    _, expected = learned("~ party + s(year)")
    _, found = learned("~ party + s(year)", frame)
    np.testing.assert_array_equal(found, expected)


def test_only_some_documents_are_kept():
    terms, _ = learned("~ year", {"year": np.arange(3000)}, 3000)
    assert len(terms.kept) == MOST_KEPT
    assert terms.kept[0] == 0
    assert terms.kept[-1] > 2900


@pytest.mark.parametrize(
    "change",
    [
        {"variables": []},
        {"products": [np.array([7])]},
        {"products": [np.array([], np.int64)]},
        {"kept": np.zeros((0, 2))},
        {"kept": np.full((3, 2), np.nan)},
        {"kept": np.full((3, 2), 99.0)},
    ],
)
def test_terms_from_a_file_that_cannot_be(change):
    terms, _ = learned("~ party + year")
    with pytest.raises(ModelError):
        Terms(**(vars(terms) | change)).check()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "other"},
        {"scale": 0.0},
        {"average": np.zeros(1)},
        {"average": np.full(3, np.nan)},
        {"categories": np.array(["b", "a", "c"])},
        {"kind": "spline"},
    ],
)
def test_a_variable_from_a_file_that_cannot_be(change):
    variable = learned("~ party")[0].variables[0]
    with pytest.raises(ModelError), warnings.catch_warnings():
        type(variable)(**(vars(variable) | change)).check()
