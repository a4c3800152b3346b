"""Columns as groups: what their values are taken for, their order, and those that are missing."""

from __future__ import annotations

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest

from topoi import ParameterError
from topoi.evaluate.groups import MOST_NUMBERS, are_dates, as_groups, is_missing


def test_categories():
    found = as_groups(["sport", "arts", "sport"])
    assert (found.name, found.kind, found.names, found.codes.tolist()) == (
        "group", "categories", ["arts", "sport"], [1, 0, 1],
    )  # fmt: skip


def test_booleans_are_categories_and_categoricals_keep_their_order():
    assert as_groups(np.array([True, False])).names == ["False", "True"]
    days = pd.Categorical(["Tue", "Mon", "Tue"], ["Mon", "Tue", "Wed"], ordered=True)
    found = as_groups(pd.Series(days, name="day"))
    assert (found.name, found.names, found.codes.tolist()) == ("day", ["Mon", "Tue"], [1, 0, 1])


def test_numbers_in_their_order():
    for column in ([10, 9, 10], ["10", "9", "10"], pd.Series([10.0, 9.0, 10.0])):
        found = as_groups(column)
        assert (found.kind, found.names, found.codes.tolist()) == ("numbers", ["9", "10"], [1, 0, 1])
        assert found.positions == [9.0, 10.0]
    assert as_groups([1990, 1991, 1993]).runs == [0, 1, 3]  # 1992 is not there
    assert as_groups(["007", "7", "8"], kind="categories").names == ["007", "7", "8"]


def test_many_numbers_are_cut():
    numbers = np.random.default_rng(0).permutation(1000) / 8
    found = as_groups(numbers)
    assert len(found.names) == 10
    sizes = np.bincount(found.codes)
    assert sizes.min() > 80
    for g in range(9):
        assert numbers[found.codes == g].max() < numbers[found.codes == g + 1].min()
    assert found.names[0] == f"{numbers.min():.4g} to {numbers[found.codes == 0].max():.4g}"
    assert len(as_groups(np.arange(MOST_NUMBERS)).names) == MOST_NUMBERS


@pytest.mark.parametrize(
    "column",
    [
        ["2024-01-15", "2024-03-01", "2023-01-01"],
        np.array(["2024-01-15", "2024-03-01", "2023-01-01"], "datetime64[ns]"),
        [date(2024, 1, 15), date(2024, 3, 1), date(2023, 1, 1)],
        pd.Series(pd.to_datetime(["2024-01-15", "2024-03-01", "2023-01-01"])),
        pd.Series(pd.to_datetime(["2024-01-15", "2024-03-01", "2023-01-01"])).dt.tz_localize("UTC"),
        pd.DataFrame({"when": ["2024-01-15", "2024-03-01", "2023-01-01"]}),
    ],
)
def test_dates(column):
    assert as_groups(column).kind == "dates"
    found = as_groups(column, period="month")
    assert (found.kind, found.period) == ("dates", "month")
    assert (found.names, found.codes.tolist()) == (["2023-01", "2024-01", "2024-03"], [1, 2, 0])
    assert found.positions[1] == date(2024, 1, 1)
    assert np.diff(found.runs).tolist() == [12, 2]
    assert as_groups(column, period="year").names == ["2023", "2024"]
    assert as_groups(column, period=None).kind == "categories"


def test_series_of_polars():
    polars = pytest.importorskip("polars")
    found = as_groups(polars.Series("when", [date(2024, 1, 15), None, date(2023, 1, 1)]), missing="group")
    assert (found.name, found.names) == ("when", ["2023", "2024", "(missing)"])
    assert as_groups(polars.Series(["b", "a"])).names == ["a", "b"]


pytestmark = pytest.mark.filterwarnings("ignore:.*documents have no value")


def test_missing_values():
    column = ["a", None, "b", float("nan"), " ", pd.NA, pd.NaT]
    with pytest.warns(UserWarning, match="5 of 7 documents have no value in 'section' and are left out"):
        found = as_groups(column, name="section")
    assert found.codes.tolist() == [0, -1, 1, -1, -1, -1, -1]
    assert found.n_missing == 5
    with pytest.warns(UserWarning, match=r"are the group '\(missing\)'"):
        found = as_groups(column, name="section", missing="group")
    assert found.codes.tolist() == [0, 2, 1, 2, 2, 2, 2]
    assert not is_missing(0)
    assert not is_missing("0")
    with pytest.raises(ParameterError, match="'year' has no value at all"):
        as_groups([None, ""], name="year")


def test_a_value_that_is_no_date_is_named():
    column = ["2024-01-15", "2024-01-16", "soon"]
    with pytest.raises(ParameterError, match=r"'date' of document 2 \(counted from 0\) is 'soon'.* 2 other values"):
        as_groups(column, name="date")
    assert as_groups(column, kind="categories").kind == "categories"
    with pytest.raises(ParameterError, match=r"document 0 .* is '15/01/2024', not a date as 2024-03-05"):
        as_groups(["15/01/2024", "2024-01-01"], kind="dates")
    with pytest.raises(ParameterError, match="date as '%d/%m/%Y' says"):
        as_groups(["15/01/2024", "2024-01-01"], date_format="%d/%m/%Y")
    assert as_groups(["15/01/2024", "16/01/2024"], date_format="%d/%m/%Y").period == "day"
    # A column of texts of which few look like dates is none of dates.
    assert as_groups(["2024-01-15", "later", "soon"]).kind == "categories"


def test_what_cannot_be_grouped():
    for bad in ("text", 3, np.zeros((2, 2))):
        with pytest.raises(ParameterError, match="groups"):
            as_groups(bad)
    with pytest.raises(ParameterError, match=r"document 1 .* is 'x', which is no finite number"):
        as_groups([1, "x"], kind="numbers")
    for name, value in [("kind", "date"), ("missing", "keep"), ("period", "century")]:
        with pytest.raises(ParameterError, match=name):
            as_groups(["2024-01-01"], **{name: value})
    with pytest.raises(ParameterError, match="different values"):
        as_groups([f"id{i}" for i in range(10_001)])


def test_are_dates():
    assert are_dates(["2024-01-15", None])
    assert not are_dates(["1990", "1991"])
    assert not are_dates([None])


def test_spellings_of_one_group_are_told():
    with pytest.warns(
        UserWarning, match="'priority' has the groups 'High' and 'high', which differ in capital letters"
    ):
        assert as_groups(["high", "High ", "low"], name="priority").names == ["High", "high", "low"]


def test_decimal_commas_are_told():
    with pytest.warns(UserWarning, match="'price' has numbers with a decimal comma, as '12,50'"):
        assert as_groups(["12,50", "3", "1.234,50"], name="price").kind == "categories"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_groups(["12,50", "3"], name="price", kind="categories")
        as_groups(["12,50", "3", "red"], name="price")
        as_groups(["12.50", "3"], name="price")
