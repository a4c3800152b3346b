"""The report in a real browser: it opens from disk, answers to mouse and keyboard, fits a phone, and does little work.

Needs Chromium (Debian: apt-get install chromium) and Playwright for Python (pip install 'topoi[browser]'), which drives
it; no browser is downloaded. CHROMIUM names another binary.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from support.browser import DESKTOP, PHONE, scroll_through
from support.labelled import WORDS, quick, quick_regressor
from topoi import LDA, Corpus
from topoi.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")

EVIL = "</script><script>alert(1)</script>"
NAMES = np.array(["art", EVIL, "cars", "חתולים", "earth <b>"])


@pytest.fixture(scope="module")
def labelled_page(train, test, tmp_path_factory):
    """Five labels, three chains, texts with markup and text from right to left."""
    words = [*WORDS[:-2], "<i>w</i>", "שלום"]
    corpus = Corpus.from_counts(train.X, words)
    model = quick(n_topics=8, n_chains=2, n_sweeps=40).fit(corpus, NAMES[train.many])
    X = test.X[:60].copy()
    X[2] = 0
    texts = [f"{EVIL} {d} " + " ".join(word for w, word in enumerate(words) for _ in range(X[d, w])) for d in range(60)]
    path = tmp_path_factory.mktemp("report") / "a report #1.html"
    write_report(
        path, model, X=X, y=NAMES[test.many[:60]], texts=texts, held_out=True, title=EVIL,
        held_out_trace={"accuracy": [[10, 0.4], [20, 0.6], [40, 0.7]]},
    )  # fmt: skip
    return path


def titles(page):
    """Those sections of the navigation that were there before you added yours."""
    known = {"At a glance", "Topics", "Labels", "Documents", "Scores", "Convergence", "Settings"}
    return [title for title in page.locator("nav a").all_inner_texts() if title in known]


def chosen(page):
    return int(page.get_attribute("#map svg", "aria-activedescendant").removeprefix("topic-"))


def test_opens_and_shows_text_as_text(visit, labelled_page):
    page = visit(labelled_page)
    scroll_through(page)
    assert page.title() == EVIL
    assert page.inner_text("h1") == EVIL
    assert page.locator(".disc").count() == 8
    assert page.locator(".words li").count() == 30
    assert EVIL in page.inner_text(".confusion")
    assert EVIL in page.inner_text(".doc .text >> nth=0")
    assert titles(page) == ["At a glance", "Topics", "Labels", "Documents", "Scores", "Convergence", "Settings"]
    assert "held out" in page.inner_text("#scores-lead")
    assert page.locator("#convergence-body .curve").count() == 3  # two chains and a held-out score
    assert "R-hat" in page.inner_text("#convergence-body")
    assert "None of its words is known" in page.locator(".doc").nth(2).inner_text()


def test_a_section_from_the_skeleton(visit, pages_with_section):
    page = visit(pages_with_section / "with.html")
    scroll_through(page)
    assert page.locator("nav a").all_inner_texts().count("Longest") == 1
    assert "The 3 longest of the documents given." in page.inner_text("#longest-lead")
    rows = page.locator("#longest-body tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["c", "17"], ["</script>", "7"], ["b", "1"]]


def test_a_click_on_a_topic_chooses_it_everywhere(visit, labelled_page):
    page = visit(labelled_page)
    scroll_through(page)
    page.locator("#map").scroll_into_view_if_needed()
    # One that no other disc lies on.
    k = page.evaluate(
        "[...document.querySelectorAll('.disc:not([aria-selected])')].find(disc => {"
        " const b = disc.getBoundingClientRect();"
        " return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) === disc; }).id.slice(6)"
    )
    page.click(f"#topic-{k}")
    k = int(k)
    assert chosen(page) == k
    assert page.input_value("#topic-select") == str(k)
    assert f"Topic {k} " in page.inner_text("#chosen")
    assert page.get_attribute("tr.on", "data-topic") == str(k)
    assert f"Topic {k} " in page.inner_text(".weights-side h3")
    # And from a document: a word of its text, and its chip, by keyboard.
    word = page.locator(f'.doc .w:not([data-topic="{k}"])').first
    word.click()
    assert chosen(page) == int(word.get_attribute("data-topic")) != k
    k = chosen(page)
    chip = page.locator(f'.doc .chip:not([data-topic="{k}"])').first
    other = int(chip.get_attribute("data-topic"))
    chip.focus()
    page.keyboard.press("Enter")
    assert chosen(page) == other
    assert page.locator(f'.doc [data-topic="{other}"].on').count() > 0


def test_in_how_many_chains_a_topic_was_found(visit, labelled_page, tmp_path):
    page = visit(labelled_page)
    scroll_through(page)
    assert re.search(r"\d of 8 topics were found in all 2 chains", page.inner_text("#topics-lead"))
    seen = set()
    for _ in range(7):
        seen.add(page.inner_text("#trust"))
        page.click("#next")
    assert all(re.match(r"Found in [12] of 2 chains; mean overlap with its partners ", line) for line in seen)
    assert len(seen) > 1  # it follows the choice
    one = LDA(2, n_sweeps=5, n_samples=1, random_state=0).fit([[3, 1], [1, 3]])
    write_report(tmp_path / "one.html", one)
    page = visit(tmp_path / "one.html")
    scroll_through(page)
    assert page.inner_text("#trust") == ""
    assert not page.is_visible("#topics-lead")


def test_keys(visit, labelled_page):
    """Tab reaches the map, arrows move between topics, the slider answers to arrows, and focus can be seen."""
    page = visit(labelled_page)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#map') !== null"):
            break
    assert page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    outline = (
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert page.evaluate(outline) == "solid2px"
    shares = [option.split("(")[1] for option in page.locator("#topic-select option").all_inner_texts()]
    first = chosen(page)
    assert len(shares) == 8
    page.keyboard.press("ArrowRight")
    second = chosen(page)
    assert second != first
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert chosen(page) == first
    page.keyboard.press("End")
    assert page.is_disabled("#next")
    page.keyboard.press("Home")
    assert chosen(page) == first

    page.focus("#relevance")
    words = page.locator(".words .word").all_inner_texts()
    assert page.inner_text("#lambda") == "0.60"
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    assert page.inner_text("#lambda") == "0.00"
    assert page.locator(".words .word").all_inner_texts() != words
    page.keyboard.press("End")
    assert page.inner_text("#lambda") == "1.00"
    here = [float(text.replace(",", "")) for text in page.locator(".words .figure").all_inner_texts()]
    assert here == sorted(here, reverse=True)


def test_search(visit, labelled_page, test):
    page = visit(labelled_page)
    scroll_through(page)
    assert page.locator(".doc").count() == 20
    page.fill("#search", "cars")
    sync_api.expect(page.locator("#documents-body .status")).to_have_text(re.compile("documents?$"))
    wanted = page.inner_text("#documents-body .status")
    shown = page.locator(".doc").all_inner_texts()
    assert 0 < len(shown) <= 20
    assert int(wanted.split()[0]) >= (test.many[:60] == 2).sum() - (test.many[2] == 2)
    assert all("cars" in text for text in shown)
    page.fill("#search", "nothing has this")
    sync_api.expect(page.locator(".doc")).to_have_count(0)
    page.fill("#search", "")
    sync_api.expect(page.locator(".doc")).to_have_count(20)
    page.click("#documents-body .more")
    assert page.locator(".doc").count() == 40
    page.select_option("#of-label", "wrong")
    for verdict in page.locator(".verdict").all_inner_texts():
        assert verdict.startswith("✗ predicted")
    page.select_option("#of-label", "")
    page.check("#of-topic")
    page.locator(".doc summary").first.click()
    sync_api.expect(page.locator(".doc .reason")).to_have_count(3)
    assert page.locator(f'.doc >> nth=0 >> [data-topic="{chosen(page)}"]').count() > 0


def test_topics_are_found_by_a_word(visit, labelled_page):
    page = visit(labelled_page)
    word = page.locator(".words .word").first.inner_text()
    page.fill("#find", word)
    n = page.locator("#topic-select option").count()
    assert page.inner_text("#found") == ("1 topic" if n == 1 else f"{n} topics")
    assert page.locator(".disc:not(.dim)").count() == n
    page.fill("#find", "")
    assert page.locator(".disc.dim").count() == 0
    page.fill("#find", "שלו")
    assert 0 < page.locator("#topic-select option").count() <= 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(visit, labelled_page, scheme):
    page = visit(labelled_page, PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
    scroll_through(page)
    page.locator(".doc summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.evaluate("scrollTo(500, 0)")
    assert page.evaluate("scrollX") == 0
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 22, 24)"
    assert dark == (scheme == "dark")


def test_names_on_the_map_do_not_overlap(visit, labelled_page):
    page = visit(labelled_page)
    boxes = page.evaluate(
        "[...document.querySelectorAll('.names text')].map(e => { const b = e.getBBox(); "
        "return [b.x, b.x + b.width, b.y + 2, b.y + b.height - 2]; })"
    )
    assert len(boxes) >= 5
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[1] <= b[0] or a[0] >= b[1] or a[3] <= b[2] or a[2] >= b[3]


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_few_topics_and_no_vocabulary(visit, tmp_path, n_topics):
    X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 0, 0]]
    model = LDA(n_topics, n_sweeps=6, n_samples=2, random_state=0).fit(X)
    write_report(tmp_path / "report.html", model, X=X)
    page = visit(tmp_path / "report.html")
    scroll_through(page)
    assert page.locator(".disc").count() == n_topics
    places = page.evaluate(
        "[...document.querySelectorAll('.disc')].map(e => ['cx', 'cy', 'r'].map(a => +e.getAttribute(a)))"
    )
    assert np.isfinite(places).all()
    assert set(page.locator(".words .word").all_inner_texts()) <= set("0123")
    assert page.locator(".doc").count() == 4
    assert titles(page) == ["At a glance", "Topics", "Documents", "Convergence", "Settings"]


def test_settings_say_what_was_left_out_of_texts(visit, tmp_path):
    texts = ["The cat was on the roof and it was not what they had wanted", "see https://a.example/b for the cat"] * 4
    model = LDA(2, n_sweeps=4, random_state=0).fit(texts)
    write_report(tmp_path / "report.html", model)
    page = visit(tmp_path / "report.html")
    scroll_through(page)
    lead = page.locator("#settings-lead")
    assert lead.inner_text().endswith(" ".join(model.preparation_.sentences()))
    assert "stop words of English" in lead.inner_text()
    write_report(tmp_path / "report.html", LDA(2, n_sweeps=4, random_state=0).fit([[2, 1], [0, 3]]))
    assert visit(tmp_path / "report.html").locator("#settings-lead").is_hidden()


def test_topics_by_covariates_have_names(visit, train, tmp_path):
    """Those that the model has, and those given on the page since."""
    party = np.array(["a", "b"])[np.arange(len(train.X)) % 2]
    corpus = Corpus.from_counts(train.X, WORDS)
    model = LDA(3, n_sweeps=6, random_state=0).fit(corpus, covariates={"party": party})
    edits = [{"edit": "name", "topic": 1, "name": EVIL}]
    named = model.apply({"format": "topoi edits", "version": 1, "edits": edits})
    write_report(tmp_path / "report.html", named)
    page = visit(tmp_path / "report.html")
    scroll_through(page)
    options = page.locator("#effects-on option")
    assert [text.split()[0] for text in options.all_inner_texts()] == ["0", "1", "2"]
    assert [f"{EVIL}:" in text for text in options.all_inner_texts()] == [False, True, False]
    page.click("#edit")
    page.fill('[data-card="2"] [data-act="name"]', "sport")
    page.locator('[data-card="2"] [data-act="name"]').press("Enter")
    assert ["sport:" in text for text in options.all_inner_texts()] == [False, False, True]
    page.select_option("#effects-on", "2")
    means = {row.value: row.mean for row in model.effects() if row.topic == 2}
    for line in page.locator("#prevalence tbody tr").all():
        _, value, mean, *_ = line.inner_text().replace("−", "-").split("\t")
        assert float(mean) == pytest.approx(100 * means[value], abs=0.0051)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_covariates_and_the_parts_of_a_score(visit, train, test, tmp_path, viewport):
    rng = np.random.default_rng(0)
    odd = np.array([EVIL, "<b>"])
    given = [{"price": docs.many + rng.normal(0, 1, 200), "brand": rng.choice(odd, 200)} for docs in (train, test)]
    corpus = Corpus.from_counts(train.X, WORDS)
    model = quick(refit=True, n_sweeps=20).fit(corpus, NAMES[train.many], covariates=given[0])
    some = {name: values[:30] for name, values in given[1].items()}
    write_report(tmp_path / "report.html", model, X=test.X[:30], covariates=some)
    page = visit(tmp_path / "report.html", viewport)
    scroll_through(page)
    assert page.locator("nav a").all_inner_texts()[1:5] == ["Topics", "Labels", "Covariates", "Documents"]
    names = page.locator("#covariates .whiskers .name").all_inner_texts()
    assert sorted(names) == sorted(["price", f"brand={EVIL}", "brand=<b>"])
    assert page.locator("#covariates .point").count() == page.locator("#covariates .line .span").count() == 3
    expected = {effect.covariate: effect.mean for effect in model.effects() if effect.label == "cars"}
    page.select_option("#effects-of", label="cars")
    for row in page.locator("#covariates tbody tr").all():
        name, mean, low, high = row.inner_text().replace("−", "-").split("\t")
        assert float(mean) == pytest.approx(expected[name], abs=0.0051)
        assert float(low) <= float(mean) <= float(high)
    page.locator(".doc summary").first.click()
    first = page.locator(".doc .reason").first
    titles = ["Topics", "Words through topics", "Words by themselves", "Covariates"]
    sync_api.expect(first.locator("h5")).to_have_text(titles)  # waits: the card is filled after the click
    lines = [line.replace("−", "-").split("\n") for line in first.locator(".sum li").all_inner_texts()]
    assert [line[0] for line in lines] == ["base", "topics", "words by themselves", "covariates"]
    score = float(first.locator("h4 .figure").inner_text().replace("−", "-"))
    assert sum(float(line[-1]) for line in lines) == pytest.approx(score, abs=0.2)  # all of them are rounded
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


@pytest.mark.parametrize("kind", ["two", "several", "numbers", "ovr", "ovo"])
def test_every_kind_of_model(visit, train, test, tmp_path, kind):
    if kind == "numbers":
        model = quick_regressor()
    else:
        model = quick(strategy=kind if kind.startswith("ov") else "multitask")
    label = "many" if kind.startswith("ov") else kind
    model.fit(Corpus.from_counts(train.X, WORDS), getattr(train, label))
    write_report(tmp_path / "report.html", model, X=test.X[:30], y=getattr(test, label)[:30])
    page = visit(tmp_path / "report.html")
    scroll_through(page)
    n_models = {"ovr": 5, "ovo": 10}.get(kind, 1)
    assert page.locator(".disc").count() == 4 * n_models
    # Of several models, the heat map is that of the chosen topic's.
    assert page.locator("table.heat tbody tr").count() == 4
    n_tasks = {"several": 5, "numbers": 2}.get(kind, 1)
    assert page.locator("table.heat tbody tr >> nth=0 >> td").count() == n_tasks
    page.locator("table.heat .column").first.click()
    assert page.locator("table.heat [aria-sort]").count() == 1
    last = page.locator("#topic-select option").last.get_attribute("value")
    page.select_option("#topic-select", last)
    assert page.get_attribute("tr.on", "data-topic") == last
    page.locator(".doc summary").first.click()
    sync_api.expect(page.locator(".doc .reason")).to_have_count({"several": 3, "numbers": 2, "ovr": 3}.get(kind, 1))
    assert page.locator("#scores-body .mark").count() == (60 if kind == "numbers" else 0)
    assert "was not said" in page.inner_text("#scores-lead")


def test_a_thousand_topics(visit, tmp_path):
    """Opening the page, a key, the slider and a search take no work that grows with the square of the topics.

    Work is counted, in blocks of the page's program that are run and in layouts of the page: a clock would tell of the
    machine.
    """
    rng = np.random.default_rng(0)
    X = rng.poisson(np.outer(rng.gamma(2.0, 1.0, 400), rng.gamma(0.3, 0.25, 4000)))
    n_topics = 1000
    model = LDA(n_topics, n_sweeps=3, n_samples=2, infer_sweeps=2, random_state=0).fit(X)
    path = tmp_path / "report.html"
    write_report(path, model, X=X[:40])
    assert path.stat().st_size < 3_000_000
    page = visit(tmp_path / "report.html", before=count_work)
    blocks, layouts = work(page)
    assert blocks < n_topics**2
    assert layouts < 10
    assert page.locator(".disc").count() == n_topics
    before = chosen(page)
    page.focus("#map svg")
    for act in (
        lambda: page.keyboard.press("ArrowRight"),
        lambda: page.evaluate(
            "() => { const slider = document.querySelector('#relevance'); slider.value = 0.2;"
            " slider.dispatchEvent(new Event('input')); }"
        ),
        lambda: page.fill("#find", "1"),
    ):
        work(page)
        act()
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        blocks, layouts = work(page)
        assert blocks < n_topics**2 / 4
        assert layouts < 10
    assert chosen(page) != before
    scroll_through(page)


def count_work(page):
    page.counter, page.layouts = page.context.new_cdp_session(page), 0
    page.counter.send("Performance.enable")
    page.counter.send("Profiler.enable")
    page.counter.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": True})


def work(page):
    """Since the last question: blocks of JavaScript that were run, and layouts."""
    scripts = page.counter.send("Profiler.takePreciseCoverage")["result"]  # which sets the counts to 0
    blocks = sum(block["count"] for one in scripts for function in one["functions"] for block in function["ranges"])
    metrics = page.counter.send("Performance.getMetrics")["metrics"]  # which does not
    before, page.layouts = page.layouts, next(one["value"] for one in metrics if one["name"] == "LayoutCount")
    return blocks, page.layouts - before
