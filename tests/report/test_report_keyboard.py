"""The whole page with the keyboard alone, of 1,000 topics and 20 groups, on a desk and on a phone.

Needs Chromium and Playwright, as test_report_browser.py says.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.browser import DESKTOP, PHONE, scroll_through
from topoi import LDA, Corpus, MedLDAClassifier, topics_by
from topoi.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
SIZES = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
N, V, N_GROUPS = 400, 60, 20
PART = np.arange(N) % N_GROUPS
RNG = np.random.default_rng(0)
X = RNG.poisson(0.2 + 2.0 * (np.arange(V)[None] % N_GROUPS == PART[:, None]))
MONTH = RNG.integers(18, size=N)
X[:, 3] += RNG.poisson(MONTH / 6)
SECTIONS = [f"part {part:02} of the paper" for part in PART]
DATES = [f"{2020 + m // 12}-{m % 12 + 1:02}-15" for m in MONTH]
CORPUS = Corpus.from_counts(X, [f"word{w}" for w in range(V)])

pytestmark = pytest.mark.filterwarnings("ignore::topoi.NeverPredictedWarning")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of 1,000 topics, and its page."""
    lda = LDA(1000, n_sweeps=2, n_samples=1, random_state=0, doc_topic_prior=0.1).fit(CORPUS)
    path = tmp_path_factory.mktemp("large") / "report.html"
    texts = [" ".join(np.repeat(CORPUS.vocabulary, row)) for row in X[:60]]
    rows = np.arange(60)
    by = {"section": [SECTIONS[d] for d in rows], "date": [DATES[d] for d in rows]}
    write_report(path, lda, X=CORPUS.take(rows), texts=texts, by=by)
    return lda, path, by


def reach(page, selector, most=400):
    """Go on with Tab until an element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def go_to(page, section, content):
    """Follow the link to a section, and wait until it has its content."""
    reach(page, f'nav a[href="#{section}"]')
    page.keyboard.press("Enter")
    page.wait_for_selector(content)


FOCUS = """() => {
  const at = document.activeElement, box = at.getBoundingClientRect();
  const name = at.getAttribute("aria-label") || at.labels?.[0]?.textContent || at.textContent || at.title;
  // The middle of what is on the screen of it.
  const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
  const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
  const top = document.elementFromPoint(x, y);
  return { what: at.outerHTML.slice(0, 90), name: name.trim(), section: at.closest("section")?.id || "",
    last: at === document.body, seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.left < innerWidth,
    covered: !(at.contains(top) || (top && top.contains(at) && !top.closest(".bar, .bench"))),
    outline: getComputedStyle(at).outlineStyle };
}"""


def stops_of(page, most):
    """What gets the focus by Tab, one after the other, until the page ends or there have been `most`."""
    stops = []
    while len(stops) < most:
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop["last"] or (stops and stop == stops[0]):
            break
        stops.append(stop)
    return stops


def check_stops(stops):
    """Each has a name, can be seen, is not under a bar, and shows that it has the focus."""
    assert [stop["what"] for stop in stops if not stop["name"]] == []
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
    assert [stop["what"] for stop in stops if stop["covered"]] == []
    assert {stop["outline"] for stop in stops} <= {"solid", "auto"}


@pytest.mark.slow
@SIZES
def test_tab_goes_through_all_of_it(visit, large, viewport):
    _, path, _ = large
    page = visit(path, viewport)
    scroll_through(page)
    page.evaluate("scrollTo(0, 0)")
    stops = stops_of(page, 1000)
    assert len(stops) < 1000  # there is no trap
    check_stops(stops)
    visited = list(dict.fromkeys(stop["section"] for stop in stops))
    assert visited[:4] == ["", "overview", "topics", "groups"]
    assert "documents" in visited


@SIZES
def test_tab_goes_through_cards_that_are_edited(visit, large, viewport):
    _, path, _ = large
    page = visit(path, viewport)
    reach(page, "#edit")
    page.keyboard.press("Enter")
    stops = stops_of(page, 40)
    check_stops(stops)
    assert sum('data-act="hide"' in stop["what"] for stop in stops) >= 4


@SIZES
def test_groups_with_keys(visit, large, viewport):
    lda, path, by = large
    page = visit(path, viewport)
    go_to(page, "groups", "#groups .shares-of")
    reach(page, "#groups-by")
    # Sort by a group: the first line is the topic with the largest share there.
    table = topics_by(lda, by["section"], CORPUS.take(np.arange(60)))
    reach(page, "#groups .column")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "column"
    assert page.locator("#groups th[aria-sort]").count() == 1
    first = int(page.locator("#groups tbody tr").first.get_attribute("data-topic"))
    assert table.share[1, first] == pytest.approx(table.share[1].max(), abs=1e-5)
    # Its name chooses it, everywhere.
    reach(page, f'#groups tbody .chip[data-topic="{first}"]')
    page.keyboard.press("Enter")
    assert f"Topic {first} " in page.inner_text("#chosen")
    # More lines: the focus goes to the first new one.
    reach(page, "#groups .more")
    page.keyboard.press("Enter")
    assert page.locator("#groups .shares-of tbody tr").count() == 124
    place = "[...document.querySelectorAll('#groups tbody tr')].indexOf(document.activeElement.closest('tr'))"
    assert page.evaluate(place) == 24
    # The numbers of the chosen topic open.
    reach(page, "#groups summary")
    page.keyboard.press("Enter")
    assert page.locator("#groups table.plain tbody tr").count() == N_GROUPS
    # The other column: panels, and more of them.
    page.focus("#groups-by")
    page.keyboard.press("ArrowDown")
    sync_api.expect(page.locator("#groups .panel")).to_have_count(12)
    reach(page, "#groups .panel")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    reach(page, "#groups .more")
    page.keyboard.press("Enter")
    assert page.locator("#groups .panel").count() == 36
    assert page.evaluate("[...document.querySelectorAll('.panel')].indexOf(document.activeElement)") == 12
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@SIZES
def test_cards_with_keys(visit, large, viewport):
    _, path, _ = large
    page = visit(path, viewport)
    page.keyboard.press("Tab")  # the way past the navigation
    page.keyboard.press("Enter")
    reach(page, "#card-find", 3)
    page.keyboard.type("no such word")
    assert page.locator("[data-card]").count() == 0
    for _ in "no such word":
        page.keyboard.press("Backspace")
    assert page.locator("[data-card]").count() == 48
    first = page.get_attribute("[data-card]", "data-card")
    reach(page, "#card-order", 1)
    page.keyboard.press("ArrowDown")
    assert page.input_value("#card-order") == "similar"
    assert page.get_attribute("[data-card]", "data-card") != first
    reach(page, "#more-cards")
    page.keyboard.press("Enter")
    assert page.locator("[data-card]").count() == 240
    assert (
        page.evaluate("[...document.querySelectorAll('.card')].indexOf(document.activeElement.closest('.card'))") == 48
    )
    page.keyboard.press("Enter")  # choose that topic
    k = page.evaluate("document.activeElement.closest('.card').dataset.card")
    assert f"Topic {k} " in page.inner_text("#chosen")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@SIZES
def test_split_and_open_edits_with_keys(visit, large, viewport, tmp_path):
    _, path, _ = large
    page = visit(path, viewport)
    reach(page, "#edit")
    page.keyboard.press("Enter")
    reach(page, '[data-card] [data-act="split"]')
    k = page.evaluate("document.activeElement.closest('[data-card]').dataset.card")
    page.keyboard.press("Enter")
    # The focus stays on the button, which takes the split back.
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Do not split topic {k}"
    page.focus('[data-act="download"]')
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "edits.json")
    page.focus(f'[data-card="{k}"] [data-act="split"]')
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Split topic {k} in two"
    assert page.is_disabled('[data-act="download"]')
    # A file of edits: the key asks the browser for its dialogue, and the split is back.
    page.focus("#edit")
    reach(page, '[data-act="open"]', 10)
    # The browser's own dialogue does not always come where the machine is busy: that it is asked for is enough.
    asked = "event => { event.preventDefault(); window.asked = true; }"
    page.evaluate(f"() => {{ document.querySelector('#edits-file').onclick = {asked}; }}")
    page.keyboard.press("Enter")
    assert page.evaluate("window.asked === true")
    page.set_input_files("#edits-file", tmp_path / "edits.json")
    sync_api.expect(page.locator("#cards-status")).to_have_text("The edits of the file are shown.")
    assert page.inner_text(f'[data-card="{k}"] [data-act="split"]') == "Keep whole"


@SIZES
def test_the_model_card_with_keys(visit, large, viewport):
    lda, path, _ = large
    page = visit(path, viewport)
    go_to(page, "card", "#card summary")
    reach(page, "#card summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "PRE"  # which scrolls by arrow keys
    assert f"with {len(lda.components_):,} topics" in page.inner_text("#card pre")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@SIZES
def test_documents_with_keys(visit, large, viewport):
    _, path, _ = large
    page = visit(path, viewport)
    go_to(page, "documents", "#search")
    reach(page, "#search")
    page.keyboard.type("word7")
    sync_api.expect(page.locator("#documents-body .status")).not_to_have_text("")
    n = int(page.inner_text("#documents-body .status").split()[0])
    assert n == (X[:60, 7] > 0).sum()
    reach(page, ".doc summary")
    page.keyboard.press("Enter")
    assert page.locator(".doc details[open]").count() == 1
    page.focus("#search")
    for _ in "word7":
        page.keyboard.press("Backspace")
    sync_api.expect(page.locator("#documents-body .status")).to_have_text("")
    reach(page, "#of-topic")
    page.keyboard.press("Space")
    assert page.is_checked("#of-topic")
    page.keyboard.press("Space")
    assert not page.is_checked("#of-topic")
    reach(page, "#documents .more")
    page.keyboard.press("Enter")
    assert page.evaluate("[...document.querySelectorAll('.doc')].indexOf(document.activeElement.closest('.doc'))") == 20


@SIZES
def test_weights_with_keys(visit, tmp_path, viewport):
    """Twenty labels and more topics than are shown at once: sorting and showing more keep the focus."""
    model = MedLDAClassifier(60, n_sweeps=3, n_samples=1, refit=False, random_state=0)
    model.fit(CORPUS, np.array(SECTIONS))
    write_report(tmp_path / "report.html", model, X=CORPUS.take(np.arange(20)))
    page = visit(tmp_path / "report.html", viewport)
    go_to(page, "labels", "#labels .heat")
    reach(page, "#labels .column")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == model.classes_[2]
    best = int(model.topic_weights_[2].argmax())
    assert page.locator("#labels tbody tr").first.get_attribute("data-topic") == str(best)
    shown = page.locator("#labels tbody tr").count()
    reach(page, "#labels .more")
    page.keyboard.press("Enter")
    assert page.locator("#labels tbody tr").count() == 60 > shown
    place = "[...document.querySelectorAll('#labels tbody tr')].indexOf(document.activeElement.closest('tr'))"
    assert page.evaluate(place) == shown
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@SIZES
def test_cards_tell_how_topics_vary(visit, tmp_path, viewport):
    """A line over time with its highest period, and the groups that surely have more than all documents."""
    evil = "</script><b>n"
    sections = np.array([evil if part == 3 else name for part, name in zip(PART, SECTIONS, strict=True)])
    lda = LDA(12, n_sweeps=20, n_samples=2, random_state=0).fit(CORPUS)
    write_report(tmp_path / "report.html", lda, X=CORPUS, by={"section": sections, "date": DATES}, max_documents=10)
    page = visit(tmp_path / "report.html", viewport)
    dates, groups = topics_by(lda, DATES, CORPUS), topics_by(lda, sections, CORPUS)
    n_strong = 0
    for k in range(12):
        card = page.locator(f'[data-card="{k}"]')
        best = dates.groups[int(dates.share[:, k].argmax())]
        assert card.locator(".trend").inner_text().startswith(f"date: highest in {best} ")
        assert card.locator(".trend .curve").count() == 1
        strong = [g for g in range(N_GROUPS) if groups.low[g, k] > groups.overall[k]]
        strong = sorted(strong, key=lambda g: -groups.share[g, k])[:3]
        assert card.locator(".strongest b").all_inner_texts() == [groups.groups[g] for g in strong]
        n_strong += len(strong)
    assert n_strong > 12
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    inside = "[...document.querySelectorAll('.card')].every(card => card.scrollWidth <= card.clientWidth)"
    assert page.evaluate(inside)
    # A merged topic does not have the line of one of its parts.
    page.click("#edit")
    first, second = (page.locator("[data-card]").nth(i).get_attribute("data-card") for i in range(2))
    for k in (first, second):
        page.locator(f'[data-card="{k}"] [data-act="tick"]').check()
    page.click('[data-act="merge"]')
    assert page.locator("[data-card]").count() == 11
    assert page.locator(".trend").count() == 10
