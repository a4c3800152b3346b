"""Topics over time and by group on the command line: `topoi shares`, and the report."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from topoi.evaluate import topics_by
from topoi.readers import read_documents


def posts(n=60):
    """Documents with dates, two of them missing, a section and a year."""
    days = np.random.default_rng(1).integers(0, 300, n)
    return [
        row
        | {
            "date": "" if i in (3, 4) else str(np.datetime64("2024-01-01") + days[i]),
            "section": ["north", "south"][i % 2],
            "year": 1990 + i % 3,
        }
        for i, row in enumerate(records(n))
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shares")
    write_csv(folder / "posts.csv", posts())
    broken = posts(12)
    broken[7]["date"] = "last week"
    write_csv(folder / "broken.csv", broken)
    with open(folder / "posts.jsonl", "w", encoding="utf-8") as file:
        for i, row in enumerate(posts()):
            kept = {name: value for name, value in row.items() if value != ""} | ({"section": None} if i == 9 else {})
            file.write(json.dumps(kept) + "\n")
    done("fit", folder / "posts.csv", "--text", "body", *QUICK, "-o", folder / "model")
    done("fit", folder / "posts.csv", "--text", "body", "--label", "subject", *QUICK, "-o", folder / "labels")
    return folder


@pytest.mark.filterwarnings("ignore:.*documents have no value")
def test_shares(place, tmp_path):
    """As the library has them, of columns that the fit did not have."""
    model = topoi.load(place / "model" / "estimator.topoi")
    given = {"text": "body", "groups": ["date", "section"], "vocabulary": model.vocabulary_}
    data = read_documents(place / "posts.csv", **given)
    assert data.groups["date"][3] is None
    expected = [row for name in data.groups for row in topics_by(model, data.groups[name], data.corpus, name=name)]
    both = ("--by", "date", "--by", "section")
    found = as_json("shares", place / "model", place / "posts.csv", *both, "--json")["shares"]
    assert [tuple(row.values())[3:] for row in found] == [tuple(row)[3:] for row in expected]
    assert found[0]["start"] == expected[0].start.isoformat()
    done("shares", place / "model", place / "posts.csv", *both, "-o", tmp_path / "s.csv", "--interval", 0.5)
    rows = table((tmp_path / "s.csv").read_text("utf-8"))
    assert [row["group"] for row in rows] == [row.group for row in expected]
    assert float(rows[0]["high"]) < expected[0].high
    shown = done("shares", place / "model", place / "posts.csv", *both, "--top", 2)
    n_weeks = len({row.group for row in expected if row.by == "date"})
    assert f"date: {n_weeks} weeks, 58 documents; intervals of 90%" in shown.stdout
    assert re.search(f"[▁▂▃▄▅▆▇█]{{{n_weeks}}}", shown.stdout)
    assert "Warning: 2 of 60 documents have no value in 'date' and are left out; --missing 'group'" in shown.stderr


def test_periods_and_missing_values(place):
    groups = {}
    for more in (("--period", "quarter"), ("--period", "month", "--missing", "group"), ("--period", "None")):
        found = as_json("shares", place / "labels", place / "posts.jsonl", "--by", "date", *more, "--json")["shares"]
        groups[more[1]] = list(dict.fromkeys(row["group"] for row in found))
    assert groups["quarter"] == ["2024 Q1", "2024 Q2", "2024 Q3", "2024 Q4"]
    assert groups["month"] == [f"2024-{m:02}" for m in range(1, 11)] + ["(missing)"]
    assert len(groups["None"]) > 40
    # A period is for the columns of dates; others stay as they are. The label is a column as any other.
    more = ("--by", "date", "--by", "year", "--by", "subject", "--period", "year", "--json")
    found = as_json("shares", place / "labels", place / "posts.csv", *more)["shares"]
    by = {name: {row["group"] for row in found if row["by"] == name} for name in ("date", "year", "subject")}
    assert by == {"date": {"2024"}, "year": {"1990", "1991", "1992"}, "subject": {"fruit", "metal", "weather"}}


def test_formats_of_dates(place, tmp_path):
    rows = posts(12)
    for i, row in enumerate(rows):
        row["date"] = f"{i + 1}/02/2024"
    write_csv(tmp_path / "d.csv", rows)
    more = ("--by", "date", "--date-format", "%d/%m/%Y", "--period", "month", "--json")
    found = as_json("shares", place / "model", tmp_path / "d.csv", *more)["shares"]
    assert {row["group"] for row in found} == {"2024-02"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("broken.csv", "--by", "date"),
            ["--by: 'date' of document 7", "'last week'", "--date-format", "--period None takes"],
        ),
        (("posts.csv",), ["--by: name a column"]),
        (("posts.csv", "--by", "when"), ["has no column 'when'", "'date'"]),
        (("posts.jsonl", "--by", "when"), ["no object has the key 'when'"]),
        (("posts.csv", "--by", "date", "--period", "decade"), ["--period", "decade"]),
        (("posts.csv", "--by", "date", "--missing", "keep"), ["--missing", "keep"]),
        (("posts.csv", "--by", "section", "--period", "month"), ["'section' of document 0", "'north'"]),
        (("posts.csv", "--by", "date", "--weight", "letters"), ["--weight"]),
    ],
)
def test_errors(place, arguments, words):
    documents, *more = arguments
    result = call("shares", place / "model", place / documents, *more)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    for word in words:
        assert word in said, said


def test_formats_without_columns(place, tmp_path):
    (tmp_path / "t.txt").write_text("rain wind\niron zinc\n", "utf-8")
    result = call("shares", place / "model", tmp_path / "t.txt", "--by", "date")
    assert result.exit_code == 2
    assert "--by: names the column 'date', but this format has no columns" in " ".join(result.stderr.split())


def test_parquet(place, tmp_path):
    """Dates and times that are dates already."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(posts(20))
    frame["date"] = pandas.to_datetime(frame["date"])
    frame.to_parquet(tmp_path / "p.parquet")
    found = as_json("shares", place / "model", tmp_path / "p.parquet", "--by", "date", "--period", "year", "--json")
    assert {(row["group"], row["n_documents"]) for row in found["shares"]} == {("2024", 18)}


def test_report(place, tmp_path):
    page = tmp_path / "r.html"
    both = ("--by", "date", "--by", "section")
    for model in ("model", "labels"):
        done("report", place / model, place / "posts.csv", *both, "-o", page)
        data = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', page.read_text())[1])
        first, second = data["sections"]["groups"]["columns"]
        assert (first["name"], first["kind"], first["period"], first["n_missing"]) == ("date", "dates", "week", 2)
        assert (second["groups"], second["documents"]) == (["north", "south"], [30, 30])
    result = call("report", place / "model", "--by", "date", "-o", page)
    assert result.exit_code == 2
    assert "--by" in result.stderr


@pytest.mark.parametrize(
    ("dates", "told"),
    [
        (["14.10.23", "3.2.24"], "say how they are written, --date-format '%d.%m.%y'."),
        (["10/14/23", "02/03/24"], "say how they are written, --date-format '%m/%d/%y'."),
        (["05/06/2023", "02/03/2024"], "say how they are written, --date-format '%d/%m/%Y' or '%m/%d/%Y'."),
        (["14.10.2023", "3/2/24"], "and '3/2/24', which are taken for 2 categories. If they are dates, write all"),
        (
            ["14.10.2023", "3 Feb 2024"],
            "write all of them alike, also '3 Feb 2024', and say how they are written, --date-format '%d.%m.%Y'.",
        ),
    ],
)
def test_dates_that_are_not_guessed(place, tmp_path, dates, told):
    rows = [row | {"date": dates[i % 2]} for i, row in enumerate(posts(12))]
    write_csv(tmp_path / "posts.csv", rows)
    result = call("shares", place / "model", tmp_path / "posts.csv", "--by", "date")
    assert result.exit_code == 0
    assert told in " ".join(result.stderr.split())
    result = call("shares", place / "model", tmp_path / "posts.csv", "--by", "section")
    assert "If they are dates" not in result.stderr


def test_dates_of_which_one_day_is_no_month(place, tmp_path):
    rows = [row | {"date": ["14.10.2023", "3.2.2024", ""][i % 3]} for i, row in enumerate(posts(12))]
    write_csv(tmp_path / "posts.csv", rows)
    for more in ((), ("--by", "section")):
        result = call("shares", place / "model", tmp_path / "posts.csv", "--by", "date", *more, "--period", "month")
        assert result.exit_code == 0
        assert "date: 2 months, 8 documents" in " ".join(result.stdout.split())
        assert "2023-10" in result.stdout
        assert "2024-02" in result.stdout
        assert "they are dates" not in result.stderr


def test_numbers_of_versions_are_no_dates(place, tmp_path):
    """They look like dates, and are all written alike, but no order of day and month fits."""
    rows = [row | {"version": ["14.13.22", "2.40.10"][i % 2]} for i, row in enumerate(posts(12))]
    write_csv(tmp_path / "posts.csv", rows)
    result = call("shares", place / "model", tmp_path / "posts.csv", "--by", "version")
    assert result.exit_code == 0
    assert "If they are dates" not in result.stderr
