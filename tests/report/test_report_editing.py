"""The report at a glance, and topics edited in it, in a real browser: by mouse and by keyboard, on a desk and a phone.

What is downloaded is applied: the page and `apply` must mean the same.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from support.browser import DESKTOP, PHONE, scroll_through
from support.labelled import WORDS, Documents, quick
from topoi import LDA, Corpus
from topoi.evaluate import npmi, top_columns
from topoi.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
SIZES = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
EVIL = "<img src=x onerror=alert(1)>"
TRAIN = Documents(200, 0)
NAMES = np.array(["art", EVIL, "cars", "dogs", "earth"])


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_counts(TRAIN.X, WORDS)
    return quick(n_topics=8, n_chains=2, n_sweeps=40).fit(corpus, NAMES[TRAIN.many])


@pytest.fixture(scope="module")
def page_of_model(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("edited") / "report.html"
    texts = [f"{EVIL} number {d} " + " ".join(np.repeat(WORDS, TRAIN.X[d])) for d in range(60)]
    write_report(path, model, X=TRAIN.X[:60], texts=texts)
    return path


def card(page, k):
    return page.locator(f'[data-card="{k}"]')


def act(page, k, name):
    return card(page, k).locator(f'[data-act="{name}"]')


def cards(page):
    return [int(one.get_attribute("data-card")) for one in page.locator("[data-card]").all()]


def edit(page):
    page.click("#edit")
    assert page.get_attribute("#edit", "aria-pressed") == "true"


def downloaded(page):
    with page.expect_download() as found:
        page.click('[data-act="download"]')
    assert found.value.suggested_filename == "edits.json"
    return json.loads(found.value.path().read_text(encoding="utf-8"))


@SIZES
def test_all_topics_at_a_glance(visit, page_of_model, model, viewport):
    page = visit(page_of_model, viewport)
    shares = model.model_.topic_counts / model.model_.topic_counts.sum()
    assert cards(page) == np.argsort(-shares, kind="stable").tolist()
    coherence = npmi(top_columns(model, 10, "probability"), Corpus.from_counts(TRAIN.X[:60], WORDS))
    trust = model.topic_agreement()
    for k in range(8):
        text = card(page, k).inner_text()
        assert card(page, k).locator(".card-words").inner_text().split() == model.top_words(12)[k]
        sign = "+" if coherence[k] > 0 else "−"
        assert f"coherence {sign}{abs(coherence[k]):.2f}" in text
        assert f"in {trust[k].found_in} of 2 chains" in text
        best = np.argsort(-model.topic_weights_[:, k])[0]
        assert (model.topic_weights_[best, k] > 0) == ("speaks for" in text)
        assert (model.topic_weights_[best, k] <= 0) or f"speaks for {model.classes_[best]}" in text
        typical = card(page, k).locator(".typical li")
        parts = [float(line.split("\n")[-1].split("\u2009")[0]) for line in typical.all_inner_texts()]
        assert len(parts) <= 3
        assert parts == sorted(parts, reverse=True)
        assert all(line.startswith("number ") for line in typical.all_inner_texts())  # without the tags of the text
    assert page.locator(".typical li").count() > 12
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    # A click on one chooses it everywhere.
    act(page, cards(page)[3], "choose").click()
    assert f"Topic {cards(page)[3]} " in page.inner_text("#chosen")
    # Other orders have the same topics.
    seen = {tuple(cards(page))}
    for value in ("similar", "number", "coherence", "trust"):
        page.select_option("#card-order", value)
        assert sorted(cards(page)) == list(range(8))
        seen.add(tuple(cards(page)))
    assert len(seen) >= 3
    page.select_option("#card-order", "coherence")
    assert cards(page) == sorted(range(8), key=lambda k: -coherence[k])
    word = model.top_words(1)[cards(page)[0]][0]
    page.fill("#card-find", word)
    assert 0 < len(cards(page)) < 8


@pytest.mark.parametrize("lines", ["\n", "\t"], ids=["lines", "tabs"])
def test_typical_messages_begin_with_their_subject(visit, model, tmp_path, lines):
    parts = [
        "From: jo@example.org (Jo)",
        "Subject: number {}",
        "References: <1@a>",
        " <2@b>",
        "",
        "Dear all: see below",
    ]
    texts = [lines.join(parts).format(d) for d in range(20)]
    texts[1::2] = ["Note: only one line looks like a header" for _ in texts[1::2]]
    write_report(tmp_path / "report.html", model, X=TRAIN.X[:20], texts=texts)
    shown = {
        line.split("\n")[0]
        for line in visit(tmp_path / "report.html", DESKTOP).locator(".typical li").all_inner_texts()
    }
    subjects = {f"number {d} Dear all: see below" for d in range(0, 20, 2)}
    other = "Note: only one line looks like a header"
    assert shown <= subjects | {other}
    assert shown & subjects
    assert other in shown


@SIZES
def test_a_button_works_at_once_after_a_name_was_typed_elsewhere(visit, page_of_model, viewport):
    """The name is taken as the mouse goes down on the button, which must still be there when it comes up."""
    page = visit(page_of_model, viewport)
    edit(page)
    first, second, third = cards(page)[:3]
    act(page, first, "name").click()
    page.keyboard.type("a name")
    act(page, second, "hide").click()
    act(page, second, "name").click()
    page.keyboard.type("another")
    act(page, third, "name").click()
    page.keyboard.type("a third")
    act(page, first, "tick").check()
    entries = downloaded(page)["edits"]
    assert {"edit": "hide", "topic": second} in entries
    names = {entry["topic"]: entry["name"] for entry in entries if entry["edit"] == "name"}
    assert names == {first: "a name", second: "another", third: "a third"}
    assert act(page, first, "tick").is_checked()


def test_entities_of_typical_documents_are_characters(visit, model, tmp_path):
    text = "<b>caf&eacute;</b> &amp; don&#39;t &#xe9;t&#233; &nosuch; R&D &lt;img src=x onerror=alert(1)&gt;"
    write_report(tmp_path / "report.html", model, X=TRAIN.X[:20], texts=[text] * 20)
    page = visit(tmp_path / "report.html", DESKTOP)
    shown = {line.split("\n")[0] for line in page.locator(".typical li").all_inner_texts()}
    assert shown == {"café & don't été &nosuch; R&D <img src=x onerror=alert(1)>"}
    assert page.locator("img").count() == 0


def test_topics_that_are_alike_stand_together(visit, tmp_path):
    """Two subjects of four topics each: of the order by similarity the first half is of one of them."""
    rng = np.random.default_rng(0)
    phi = np.zeros((8, 40))
    for k in range(8):
        phi[k, 20 * (k % 2) : 20 * (k % 2) + 20] = rng.dirichlet(np.full(20, 0.5))
    X = np.array([rng.multinomial(60, phi[rng.integers(8)]) for _ in range(300)])
    lda = LDA(8, n_sweeps=30, random_state=0).fit(X)
    write_report(tmp_path / "report.html", lda)
    page = visit(tmp_path / "report.html")
    page.select_option("#card-order", "similar")
    side = (lda.components_[:, :20].sum(1) > 0.5)[cards(page)]
    assert np.count_nonzero(np.diff(side)) <= 1
    assert "coherence" not in page.inner_text("#overview-body").lower()  # no documents, no coherence


@SIZES
def test_edits_by_mouse_are_what_apply_does(visit, page_of_model, model, viewport, tmp_path):
    page = visit(page_of_model, viewport)
    edit(page)
    a, b, c, d, e = cards(page)[:5]
    act(page, a, "name").fill(f"  {EVIL}  name ")
    act(page, a, "name").press("Enter")
    for k in (b, d):
        act(page, k, "tick").check()
    page.click('[data-act="merge"]')
    assert f"merged of 2 topics: {b}, {d}" in card(page, b).inner_text()
    assert card(page, d).count() == 0
    act(page, c, "hide").click()
    assert "hidden" in card(page, c).inner_text()
    act(page, e, "split").click()
    act(page, e, "earlier").click()
    assert page.input_value("#card-order") == "own"
    found = downloaded(page)
    entries = {entry["edit"]: entry for entry in found["edits"]}
    assert entries["name"] == {"edit": "name", "topic": a, "name": f"{EVIL} name"}
    assert entries["merge"] == {"edit": "merge", "topics": [b, d]}
    assert entries["hide"] == {"edit": "hide", "topic": c}
    assert entries["split"] == {"edit": "split", "topic": e}
    assert entries["order"]["topics"] == cards(page)
    assert "topoi apply" in page.inner_text("#cards-status")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    # Words and shares of the merged topic are those of the model that `apply` makes.
    new = model.apply(found, X=TRAIN.X)
    place = [k for k in cards(page) for _ in range(1 + (k == e))].index(b)
    counts = new.model_.counts.toarray()[:, place]
    shown = card(page, b).locator(".card-words > span").all_inner_texts()
    assert all(counts[WORDS.index(word)] > 0 for word in shown)
    share = new.model_.topic_counts[place] / new.model_.topic_counts.sum()
    assert float(re.search(r"([\d.]+)\u2009%", card(page, b).inner_text())[1]) == pytest.approx(100 * share, abs=0.51)
    # The page of the new model has the name everywhere, and leaves the hidden topic out.
    write_report(tmp_path / "new.html", new, X=TRAIN.X[:20])
    after = visit(tmp_path / "new.html", viewport)
    scroll_through(after)
    assert len(cards(after)) == after.locator(".disc").count() == new.n_topics_ - 1
    (named,) = [k for k, name in enumerate(new.topic_names_) if name == f"{EVIL} name"]
    assert f"{EVIL} name" in card(after, named).inner_text()
    assert f"{EVIL} name" in after.inner_text(f'#topic-select option[value="{named}"]')
    assert "1 hidden" in after.inner_text("#summary")
    edit(after)
    assert len(cards(after)) == new.n_topics_
    act(after, new.hidden_topics_[0], "hide").click()
    assert downloaded(after)["edits"] == [{"edit": "show", "topic": new.hidden_topics_[0]}]


@SIZES
def test_edits_by_keyboard(visit, page_of_model, viewport):
    """Every control is reached by Tab, acts by keys, and keeps the focus."""
    page = visit(page_of_model, viewport)
    page.focus("#edit")
    page.keyboard.press("Enter")
    seen = set()
    first, second, third = cards(page)[:3]
    for _ in range(60):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "[document.activeElement.dataset.act, document.activeElement.closest('[data-card]')?.dataset.card]"
        )
        if where[1] is not None:
            seen.add(where[0])
        if where == ["name", str(first)]:
            page.keyboard.type("space flight")
        if where == ["tick", str(first)] or where == ["tick", str(second)]:
            page.keyboard.press("Space")
        if where == ["hide", str(third)]:
            page.keyboard.press("Enter")
            break
    assert {"choose", "name", "tick", "hide", "split", "place", "later"} <= seen
    assert page.evaluate("document.activeElement.dataset.act") == "hide"  # still there after the cards were drawn anew
    page.focus('[data-act="merge"]')
    page.keyboard.press("Enter")
    assert f"merged of 2 topics: {first}, {second}" in card(page, first).inner_text()
    act(page, third, "place").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("1")
    page.keyboard.press("Tab")
    assert cards(page)[0] == third
    edits = downloaded(page)["edits"]
    assert [entry["edit"] for entry in edits] == ["name", "merge", "hide", "order"]
    # Back, one by one.
    page.focus('[data-act="undo"]')
    for _ in range(4):
        page.keyboard.press("Enter")
    assert page.is_disabled('[data-act="undo"]')
    assert page.is_disabled('[data-act="download"]')
    assert cards(page)[:3] == [first, second, third]


def test_names_are_everywhere_at_once(visit, page_of_model):
    page = visit(page_of_model)
    scroll_through(page)
    edit(page)
    k = cards(page)[0]
    act(page, k, "name").fill("שלום")
    act(page, k, "name").press("Enter")
    for place in ("#chosen", f'#topic-select option[value="{k}"]', ".names", f'table.heat tr[data-topic="{k}"]'):
        assert "שלום" in page.locator(place).first.text_content()
    other = cards(page)[1]
    act(page, other, "name").fill("שלום")
    act(page, other, "name").press("Enter")
    assert "Another topic has the name" in page.inner_text("#cards-status")
    assert act(page, other, "name").input_value() == ""


def test_edits_are_kept_and_opened(visit, page_of_model, tmp_path):
    page = visit(page_of_model)
    edit(page)
    a, b, c = cards(page)[:3]
    act(page, a, "hide").click()
    act(page, b, "name").fill("kept")
    act(page, b, "name").press("Enter")
    edits = downloaded(page)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "earlier visit" in page.inner_text("#cards-status")
    assert "kept" in card(page, b).inner_text()
    edit(page)
    page.click('[data-act="discard"]')
    assert "kept" not in card(page, b).inner_text()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text("#cards-status") == ""
    edit(page)

    def open_file(content):
        (tmp_path / "edits.json").write_text(content, encoding="utf-8")
        page.set_input_files("#edits-file", tmp_path / "edits.json")

    status = page.locator("#cards-status")
    open_file(json.dumps(edits))
    sync_api.expect(status).to_have_text("The edits of the file are shown.")
    assert downloaded(page) == edits
    for content, said in (
        ("{", "not JSON"),
        ("[]", "not a file of edits"),
        (json.dumps({**edits, "model": "0" * 16}), "for another model"),
        (json.dumps({**edits, "edits": [{"edit": "hide", "topic": 8}]}), "Entry 0"),
        (json.dumps({**edits, "edits": [{"edit": "toString", "topic": 1}]}), "Entry 0"),
        (json.dumps({**edits, "edits": [{"edit": "merge", "topics": pair} for pair in ([1, 2], [2, 3])]}), "Topic 2"),
    ):
        open_file(content)
        sync_api.expect(status).to_have_text(re.compile(said))
    assert downloaded(page) == edits
    # A merge takes the name that there is, and can be taken apart.
    larger, smaller = (b, c) if cards(page).index(b) < cards(page).index(c) else (c, b)
    for k in (b, c):
        act(page, k, "tick").check()
    page.click('[data-act="merge"]')
    assert "kept" in card(page, larger).inner_text()
    assert card(page, smaller).count() == 0
    act(page, larger, "unmerge").click()
    assert downloaded(page) == edits


def test_a_browser_that_keeps_nothing(visit, page_of_model):
    script = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
    page = visit(page_of_model, before=lambda page: page.add_init_script(script))
    edit(page)
    k = cards(page)[0]
    act(page, k, "split").click()
    assert downloaded(page)["edits"] == [{"edit": "split", "topic": k}]


def test_topics_of_labels_cannot_be_moved(visit, tmp_path):
    labels = [["a"], ["b"]] * 100
    lda = LDA(4, n_sweeps=6, n_samples=2, random_state=0).fit(TRAIN.X, topic_labels=labels)
    write_report(tmp_path / "report.html", lda)
    page = visit(tmp_path / "report.html")
    edit(page)
    for k in range(4):
        assert act(page, k, "split").is_disabled() == act(page, k, "tick").is_disabled() == (k < 2)
    page.select_option("#card-order", "number")
    act(page, 3, "earlier").click()
    act(page, 0, "hide").click()
    found = downloaded(page)
    assert found["edits"] == [{"edit": "hide", "topic": 0}, {"edit": "order", "topics": [3, 2]}]
    assert lda.apply(found).hidden_topics_ == [0]


def test_models_side_by_side(visit, tmp_path):
    model = quick(strategy="ovr").fit(Corpus.from_counts(TRAIN.X, WORDS), TRAIN.many)
    write_report(tmp_path / "report.html", model)
    page = visit(tmp_path / "report.html")
    edit(page)
    page.select_option("#card-order", "number")
    for k in (3, 4):
        act(page, k, "tick").check()
    page.click('[data-act="merge"]')
    assert page.inner_text("#cards-status") == "Only topics of one model can be merged."
    act(page, 4, "tick").uncheck()
    act(page, 0, "tick").check()
    page.click('[data-act="merge"]')
    found = downloaded(page)
    assert sorted(found["edits"][0]["topics"]) == [0, 3]
    assert model.apply(found).n_topics_ == 19


def test_a_far_topic_does_not_pull_the_map_apart(visit, tmp_path):
    """One topic that shares no word with the others, which differ little: these have most of the map all the same."""
    rng = np.random.default_rng(1)
    phi = np.zeros((9, 60))
    phi[:8, :40] = 0.02 + rng.dirichlet(np.full(40, 0.6), 8) * 0.2
    phi[8, 40:] = 1
    phi /= phi.sum(1, keepdims=True)
    X = np.array([rng.multinomial(80, phi[d % 9]) for d in range(450)])
    lda = LDA(9, n_sweeps=60, random_state=0).fit(X)
    write_report(tmp_path / "report.html", lda)
    page = visit(tmp_path / "report.html")
    page.locator("#map").scroll_into_view_if_needed()
    junk = int(lda.components_[:, 40:].sum(1).argmax())
    x = np.array(page.evaluate(
        "[...Array(9).keys()].map(k => ['cx', 'cy'].map(a => +document.getElementById(`topic-${k}`).getAttribute(a)))"
    ))  # fmt: skip
    others = np.delete(x, junk, axis=0)
    size = page.locator("#map").bounding_box()
    spread = (others.max(0) - others.min(0)).max()
    assert spread > 0.4 * min(size["width"], size["height"])


@SIZES
def test_cells_of_the_weights_differ_and_have_the_width(visit, page_of_model, viewport):
    page = visit(page_of_model, viewport)
    scroll_through(page)
    shades = page.evaluate(
        "[...document.querySelectorAll('table.heat .square')].map(e => +e.style.getPropertyValue('--p').slice(0, -1))"
    )
    assert len(set(shades)) >= len(shades) / 2
    assert np.percentile(shades, 90) - np.percentile(shades, 10) > 50
    # The key has the colours of the cells: its last step is that of the strongest.
    strongest, key = page.evaluate(
        "(() => { const strongest = [...document.querySelectorAll('table.heat .square')]"
        ".find(e => e.style.getPropertyValue('--p') === '100%');"
        " const side = strongest.classList.contains('for') ? 'for' : 'against';"
        " const key = [...document.querySelectorAll(`.key .square.${side}`)].at(-1);"
        " return [strongest, key].map(e => getComputedStyle(e).backgroundColor); })()"
    )
    assert strongest == key
    pale = page.evaluate("getComputedStyle(document.querySelector('.key .square')).backgroundColor")
    assert pale != key
    wide = page.locator("table.heat").bounding_box()["width"]
    assert wide >= 0.9 * page.locator(".heat-side").bounding_box()["width"]
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@SIZES
def test_a_thousand_topics(visit, tmp_path, viewport):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.outer(rng.gamma(2.0, 1.0, 400), rng.gamma(0.3, 0.25, 4000)))
    lda = LDA(1000, n_sweeps=3, n_samples=2, infer_sweeps=2, random_state=0).fit(X)
    write_report(tmp_path / "report.html", lda, X=X[:40])
    page = visit(tmp_path / "report.html", viewport)
    assert len(cards(page)) < 100
    edit(page)
    first = cards(page)[0]
    act(page, first, "place").fill("1000")
    act(page, first, "place").press("Enter")
    assert first not in cards(page)
    order = downloaded(page)["edits"][0]["topics"]
    assert len(order) == 1000
    assert order[-1] == first
    some = cards(page)[:3]
    for k in some:
        act(page, k, "tick").check()
    page.click('[data-act="merge"]')
    page.click("#more-cards")
    assert len(cards(page)) > 200
    found = downloaded(page)
    assert sorted(found["edits"][0]["topics"]) == sorted(some)
    assert lda.apply(found).n_topics_ == 998
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
