"""The report as an object: inline in a notebook, or saved."""

from __future__ import annotations

import html
import os
import re
import shutil

import numpy as np
import pytest

from topoi import LDA, Corpus
from topoi.report import Report, write_report

X = np.random.default_rng(0).poisson(1.0, (12, 9))


@pytest.fixture(scope="module")
def lda():
    words = ["</iframe><script>alert(1)</script>", '" onload="alert(1)', *map(str, range(7))]
    return LDA(2, n_sweeps=4, random_state=0).fit(Corpus.from_counts(X, np.array(words, object)))


def test_saved_is_what_write_report_writes(lda, tmp_path):
    report = lda.report(X, title="Posts", max_documents=5)
    assert isinstance(report, Report)
    report.save(tmp_path / "a.html")
    write_report(tmp_path / "b.html", lda, X=X, title="Posts", max_documents=5)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert repr(report) == "Report(title='Posts')"


def test_inline_is_one_frame_with_the_page(lda):
    frame = lda.report()._repr_html_()
    assert frame.count("<") == 2  # the frame, and its end: nothing else can begin
    (page,) = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(page) == lda.report().html
    assert "allow-same-origin" not in frame  # scripts of the page cannot read the notebook


def test_a_title_that_is_not_utf8(lda):
    report = lda.report(title='half \ud800 "quote"')
    report._repr_html_().encode("utf-8")
    assert 'title="half ? &quot;quote&quot;"' in report._repr_html_()


def test_in_a_browser(lda, tmp_path):
    """The frame draws itself inside a page, and cannot reach the page around it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium, or set CHROMIUM")
    (tmp_path / "notebook.html").write_text(f"<!doctype html><h1>Cell</h1>{lda.report(X)._repr_html_()}", "utf-8")
    complaints = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--headless"])
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto((tmp_path / "notebook.html").as_uri())
        page.locator("iframe").scroll_into_view_if_needed()
        frame = page.frame_locator("iframe")
        frame.locator("#topics-body *").first.wait_for(timeout=60_000)
        assert frame.locator("h1").inner_text() == "Topics of LDA"
        inside = next(one for one in page.frames if one != page.main_frame)
        reached = inside.evaluate(
            "(() => { try { return parent.document.title } catch (error) { return error.name } })()"
        )
        assert reached == "SecurityError"
        browser.close()
    assert complaints == []


def test_a_warning_points_to_the_line_of_the_user():
    """Though a cached value, which functools makes, asks for the texts."""
    texts = ["red apples and pears", "iron and zinc ore", None] * 4
    with pytest.warns(UserWarning, match="4 of 12 texts are missing"):
        model = LDA(2, n_sweeps=4, random_state=0).fit(texts)
    with pytest.warns(UserWarning, match="4 of 12 texts are missing") as caught:
        model.report(texts)
    assert [warning.filename for warning in caught] == [__file__]
