"""Covariates in the columns of files: numbers or categories, the same from every format, and no value is missing."""

from __future__ import annotations

import numpy as np
import pytest

from support.reader_files import as_csv, as_parquet, error_of, jsonl, read, read_documents
from topoi.errors import FileError, ParameterError

PRICES = [9.5, 12, 1e3, 7]
BRANDS = ["acme", "7", "zeta", "acme"]
NEW = [True, False, True, True]
RECORDS = [
    {"text": f"word{i} here", "label": "ab"[i % 2], "price": PRICES[i], "brand": BRANDS[i], "new": NEW[i]}
    for i in range(4)
]
COLUMNS = list(RECORDS[0])
ROWS = [COLUMNS, *([record[name] for name in COLUMNS] for record in RECORDS)]
FILES = {
    "csv": as_csv(ROWS),
    "tsv": as_csv(ROWS, "\t"),
    "jsonl": jsonl(RECORDS),
    "parquet": as_parquet(**{name: [record[name] for record in RECORDS] for name in COLUMNS}),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_with_columns(name):
    data = read(FILES[name], format=name, label="label", covariates=["brand", "price", "new"])
    assert list(data.covariates) == ["brand", "price", "new"]
    assert data.covariates["brand"].tolist() == BRANDS  # one of them is no number, so none is
    assert data.covariates["price"].dtype == np.float64
    assert data.covariates["price"].tolist() == PRICES
    assert data.covariates["new"].tolist() == ["True", "False", "True", "True"]
    assert data.labels.tolist() == ["a", "b", "a", "b"]
    assert "covariates: brand, price, new" in repr(data)
    assert read(FILES[name], format=name).covariates is None


@pytest.mark.parametrize("name", FILES)
def test_kinds_that_are_said(name):
    """A new file may have numbers only in a column of categories: they are the categories that they look like."""
    wanted = {"price": "category", "brand": "category"}
    data = read(FILES[name], format=name, covariates=wanted)
    assert data.covariates["brand"].tolist() == BRANDS
    assert [float(text) for text in data.covariates["price"]] == PRICES
    assert data.covariates["price"].dtype == object
    place = {"csv": "line 2", "tsv": "line 2", "jsonl": "line 1", "parquet": "row 1"}[name]
    message = error_of(FILES[name], format=name, covariates={"brand": "number"})
    assert f"{place}: the covariate 'brand' is 'acme'; it must be a number." in message


def test_numbers_as_texts():
    data = read(b"text,a,b\nx1, 1 ,1\nx2,-2e3,one\n", format="csv", covariates=["a", "b"])
    assert data.covariates["a"].tolist() == [1.0, -2000.0]
    assert data.covariates["b"].tolist() == ["1", "one"]
    assert read(b"text,a\nx1,1_0\n", format="csv", covariates=["a"]).covariates["a"].tolist() == ["1_0"]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("csv", b"text,price\nx1,3\nx2,\n", "line 3: the covariate 'price' has no value"),
        ("csv", b"text,price\nx1,3\nx2,nan\n", "line 3: the covariate 'price' has no value"),
        ("csv", b"text,price\nx1,3\nx2,-inf\n", "line 3: the covariate 'price' is infinite"),
        ("jsonl", b'{"text": "x1", "price": 3}\n{"text": "x2", "price": null}\n', "line 2: the covariate 'price' has"),
        ("jsonl", b'{"text": "x1", "price": 3}\n{"text": "x2"}\n', "line 2: the object has no key 'price'; it has"),
        ("jsonl", b'{"text": "x1", "price": 3}\n{"text": "x2", "price": [1]}\n', "line 2: the covariate 'price' is a"),
        ("jsonl", b'{"text": "x1", "price": 3}\n{"text": "x2", "price": 1' + b"0" * 400 + b"}\n", "is infinite"),
        ("parquet", as_parquet(text=["x1", "x2"], price=[3.0, None]), "row 2: the covariate 'price' has no value"),
        ("parquet", as_parquet(text=["x1", "x2"], price=[3.0, np.nan]), "row 2: the covariate 'price' has no value"),
    ],
)  # fmt: skip
def test_values_that_are_missing(name, content, place):
    assert place in error_of(content, format=name, covariates=["price"])
    data = read(content, format=name, covariates=["price"], on_error="skip")
    assert (len(data), data.n_skipped) == (1, 1)
    assert data.covariates["price"].tolist() == [3.0]


def test_columns_that_are_missing():
    assert "has no column 'cost'; it has 'text', 'label'" in error_of(FILES["csv"], format="csv", covariates=["cost"])
    assert "has no column 'cost'" in error_of(FILES["parquet"], format="parquet", covariates=["cost"])
    assert "no key 'cost'" in error_of(FILES["jsonl"], format="jsonl", covariates=["cost"], on_error="skip")
    lists = as_parquet(text=["x1"], price=[[1, 2]])
    assert "the column 'price' has the type list" in error_of(lists, format="parquet", covariates=["price"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariates": "price"}, "must be a list of columns"),
        ({"covariates": ["price", "price"]}, "has the column 'price' more than once"),
        ({"covariates": [3]}, "has 3; name a column"),
        ({"covariates": {"price": "text"}}, "'price' is said to be 'text'"),
        ({"covariates": ["label"], "label": "label"}, "has 'label', which is the label too"),
        ({"covariates": ["price"], "target": "price"}, "has 'price', which is the target too"),
        ({"covariates": ["price"], "format": "txt"}, "names the column 'price', but this format has no columns"),
        ({"covariates": ["price"], "format": "svmlight"}, "but this format has no columns"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ParameterError, match=message) as caught:
        read(FILES["csv"], **{"format": "csv", **options})
    assert caught.value.parameter == "covariates"


def test_some_documents(tmp_path):
    (tmp_path / "posts.csv").write_bytes(FILES["csv"])
    data = read_documents(tmp_path / "posts.csv", covariates=["price", "brand"]).take([3, 1])
    assert data.covariates["price"].tolist() == [7, 12]
    assert data.covariates["brand"].tolist() == ["acme", "7"]
    assert data.texts([0]) == ["word3 here"]


def test_values_count_as_memory():
    lines = ["text,name", *(f"word,{'x' * 500}{i}" for i in range(3000))]
    content = "\n".join(lines)
    with pytest.raises(FileError, match="max_memory"):
        read(content, format="csv", covariates=["name"], max_memory="1MB")
    assert len(read(content, format="csv", max_memory="1MB")) == 3000


def test_columns_to_group_by_may_have_anything(tmp_path):
    """Nothing is a fault of a document; a column may be a covariate or the label as well."""
    (tmp_path / "a.csv").write_text(
        "text,date,n,kind\nsome words,2024-01-05,1,x\nmore words, ,2,\nother,soon,3,y\n", "utf-8"
    )
    data = read_documents(tmp_path / "a.csv", groups=["date", "n", "kind"], covariates=["n"], label="kind")
    assert data.groups["date"].tolist() == ["2024-01-05", None, "soon"]
    assert data.groups["n"].tolist() == data.covariates["n"].tolist() == [1.0, 2.0, 3.0]
    assert data.groups["kind"].tolist() == ["x", None, "y"]
    assert list(data.covariates) == ["n"]
    assert data.take([2, 0]).groups["date"].tolist() == ["soon", "2024-01-05"]
    assert read_documents(tmp_path / "a.csv").groups is None
    (tmp_path / "a.jsonl").write_text(
        '{"text": "some words", "date": null, "n": 1.5}\n{"text": "more words"}\n{"text": "x", "date": true}\n', "utf-8"
    )
    data = read_documents(tmp_path / "a.jsonl", groups=["date", "n"])
    assert data.groups["date"].tolist() == [None, None, "True"]
    assert data.groups["n"].tolist() == ["1.5", None, None]
    (tmp_path / "b.jsonl").write_text('{"text": "some words", "date": [1]}\n', "utf-8")
    with pytest.raises(FileError, match="the column 'date' is a list; one value is needed"):
        read_documents(tmp_path / "b.jsonl", groups=["date"])
    for bad in ("date", [3], [""]):
        with pytest.raises(ParameterError, match="groups"):
            read_documents(tmp_path / "a.csv", groups=bad)
    with pytest.raises(ParameterError, match="topic labels"):
        read_documents(tmp_path / "a.csv", groups=["kind"], topic_labels="kind")


def test_decimal_commas():
    """They would be categories without a word, each its own."""
    with pytest.warns(UserWarning, match="'price' has numbers with a decimal comma, as '12,50': its values are taken"):
        data = read(b"text;price\nx1;12,50\nx2;7\nx3;1.234,50\n", format="csv", covariates=["price"])
    assert data.covariates["price"].tolist() == ["12,50", "7", "1.234,50"]
    message = error_of(b"text;price\nx1;12,50\n", format="csv", covariates={"price": "number"})
    assert "is '12,50'; it must be a number. Write decimals with a point." in message
    message = error_of(b"text;price\nx1;12,50\n", format="csv", target="price")
    assert "the target is '12,50', not a number. Write decimals with a point." in message


@pytest.mark.filterwarnings("error")
def test_categories_with_commas_that_are_no_numbers():
    data = read(b"text;size\nx1;1,5 m\nx2;2,5\n", format="csv", covariates={"size": None})
    assert data.covariates["size"].tolist() == ["1,5 m", "2,5"]
    read(b"text;size\nx1;2,5\n", format="csv", covariates={"size": "category"})
