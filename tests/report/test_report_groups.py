"""Topics over time and by group in the report: its numbers, and what a browser makes of them.

The tests of the page need Chromium and Playwright, as test_report_browser.py says.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from topoi import LDA, Corpus, ParameterError, topics_by
from topoi.report import write_report
from topoi.report.sections.groups import MOST_CELLS, MOST_GROUPS, UNIT
from topoi.report.write import report_data

EVIL = "</script><b>n"
N, K, V = 400, 6, 30
RNG = np.random.default_rng(0)
PART = np.arange(N) % 20
X = RNG.poisson(0.3 + 2.0 * (np.arange(V)[None] % 20 == PART[:, None]))
DATES = [f"2024-{1 + (7 * i) % 9:02}-05" for i in range(N)]
DATES[3] = None
SECTIONS = [EVIL if part == 0 else f"part {part:02}" for part in PART]

pytestmark = pytest.mark.filterwarnings("ignore:.*documents have no value")


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_counts(X, [f"word{w}" for w in range(V)])
    return LDA(K, n_sweeps=20, n_samples=3, random_state=0).fit(corpus)


def test_numbers(model):
    found = report_data(model, X=X, by={"date": DATES, "section": SECTIONS})["sections"]["groups"]
    dates, sections = found["columns"]
    table = topics_by(model, DATES, X, name="date")
    assert dates["groups"] == table.groups
    assert dates["n_missing"] == 1
    assert [topic["topic"] for topic in dates["topics"]] == table.most_varying(K)
    for topic in dates["topics"]:
        for name in ("share", "low", "high"):
            expected = getattr(table, name)[:, topic["topic"]]
            np.testing.assert_allclose(np.array(topic[name]) / UNIT, expected, atol=0.5 / UNIT)
    assert (sections["kind"], len(sections["groups"])) == ("categories", 20)
    assert "groups" not in report_data(model, X=X)["sections"]
    with pytest.raises(ParameterError, match="by: needs the documents"):
        report_data(model, by={"date": DATES})
    with pytest.raises(ParameterError, match="by: must be columns by name"):
        report_data(model, X=X, by=DATES)


def test_many_groups_and_topics_are_limited(model):
    names = [f"g{i % 200}" for i in range(N)]
    (column,) = report_data(model, X=X, by={"g": names})["sections"]["groups"]["columns"]
    assert len(column["groups"]) == MOST_GROUPS
    assert column["n_groups"] == 200
    many = LDA(1000, n_sweeps=1, n_samples=1, random_state=0, doc_topic_prior=0.1).fit(X)
    both = report_data(many, X=X, by={"g": names, "section": SECTIONS})["sections"]["groups"]["columns"]
    assert sum(len(one["topics"]) * len(one["groups"]) for one in both) <= MOST_CELLS
    assert len(both[1]["topics"]) == 1000


@pytest.fixture(params=[1280, 390])
def visit(browser, request):
    """Open the section from disk on a wide and a narrow screen; whatever the page complains of is a failure."""
    complaints = []
    context = browser.new_context(
        viewport={"width": request.param, "height": 800}, reduced_motion="reduce", offline=True
    )

    def go(path):
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.locator("#groups").scroll_into_view_if_needed()
        page.wait_for_selector("#groups-body > *")
        return page

    yield go
    context.close()
    assert complaints == []


def no_sideways(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_lines_and_matrix(visit, model, tmp_path):
    path = tmp_path / "r.html"
    write_report(path, model, X=X, by={"date": DATES, "section": SECTIONS})
    page = visit(path)
    assert page.locator("#groups-title").inner_text() == "Time and groups"
    panels = page.locator("#groups .panel")
    table = topics_by(model, DATES, X, name="date")
    order = table.most_varying(K)
    assert [int(panel.get_attribute("data-topic")) for panel in panels.all()] == order
    assert no_sideways(page)
    # With the keyboard: a panel chooses its topic, everywhere; the numbers are those of the library.
    panels.nth(2).focus()
    page.keyboard.press("Enter")
    assert panels.nth(2).get_attribute("aria-pressed") == "true"
    assert f"Topic {order[2]}" in page.locator(".one-topic h3").inner_text()
    assert f"Topic {order[2]} " in page.locator("#chosen").inner_text()
    page.locator(".one-topic summary").focus()
    page.keyboard.press("Enter")
    cells = page.locator(".one-topic tbody tr").first.locator("th, td").all_inner_texts()
    assert cells[:2] == ["2024-01", str(table.n_documents[0])]
    said = float(re.match("[\\d.]+", cells[2])[0])
    assert said == pytest.approx(100 * table.share[0, order[2]], abs=0.5)
    # The other column: a matrix, sorted by a click on a group.
    page.locator("#groups-by").select_option(label="section")
    sections = topics_by(model, SECTIONS, X, name="section")
    assert page.locator("#groups thead .column").all_inner_texts() == sections.groups
    assert EVIL in sections.groups
    button = page.locator("#groups thead .column").nth(5)
    button.focus()
    page.keyboard.press("Enter")
    lines = [int(row.get_attribute("data-topic")) for row in page.locator("#groups .shares-of tbody tr").all()]
    assert np.all(np.diff(sections.share[5, lines]) < 1.0 / UNIT)  # from the largest down
    assert page.locator("#groups th[aria-sort=descending]").count() == 1
    assert page.evaluate("document.activeElement.className") == "column"
    best = int(sections.share[5].argmax())
    first = page.locator(f"#groups .shares-of tr[data-topic='{best}'] td").nth(6)  # after the share in all documents
    assert float(first.inner_text()) == pytest.approx(100 * sections.share[5, best], abs=0.51)
    more = sections.share[5, best] > sections.overall[best]
    assert ("greater" if more else "less") in first.get_attribute("class")
    assert no_sideways(page)


def test_a_thousand_topics_and_twenty_groups(visit, tmp_path):
    many = LDA(1000, n_sweeps=1, n_samples=1, random_state=0, doc_topic_prior=0.1).fit(X)
    path = tmp_path / "r.html"
    write_report(path, many, X=X, by={"section": SECTIONS, "date": DATES}, max_documents=10)
    assert path.stat().st_size < 4e6
    page = visit(path)
    assert page.locator("#groups .shares-of tbody tr").count() == 24
    assert page.locator("#groups .shares-of thead th").count() == 22
    page.locator("#groups .more").click()
    assert page.locator("#groups .shares-of tbody tr").count() == 124
    page.locator("#groups-by").select_option(label="date")
    assert page.locator("#groups .panel").count() == 12
    page.locator("#groups .more").click()
    assert page.locator("#groups .panel").count() == 36
    assert no_sideways(page)


def test_a_gap_breaks_the_line(visit, model, tmp_path):
    path = tmp_path / "r.html"
    years = np.array([1990, 1991, 1994, 1996])[np.arange(N) % 4]
    write_report(path, model, X=X, by={"year": years})
    page = visit(path)
    chart = page.locator(".one-topic svg")
    assert chart.locator(".curve").count() == 1
    assert chart.locator(".spot").count() == 2
    assert chart.locator("text").all_text_contents()[-1] == "1996"
    data = json.loads(page.locator("#data").text_content())
    assert data["sections"]["groups"]["columns"][0]["runs"] == [0, 1, 4, 6]


def test_columns_to_group_by_may_be_a_data_frame(model):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"date": DATES, "section": [f"s{i % 3}" for i in range(N)]}, index=range(7, 7 + N))
    found, expected = (
        report_data(model, X=X, by=by)["sections"]["groups"]
        for by in (frame, {"date": DATES, "section": list(frame["section"])})
    )
    assert found == expected
    assert [column["name"] for column in found["columns"]] == ["date", "section"]
