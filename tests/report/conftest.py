"""A browser that pages are opened with, and reports with a section more."""

from __future__ import annotations

import os
import shutil

import pytest

from support.browser import DESKTOP
from support.skeletons import package_with, run_with

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None
)

WRITE = """
from topoi import LDA
from topoi.report import write_report

X = [[4, 2, 0, 1], [1, 0, 0, 0], [3, 3, 9, 2]]
lda = LDA(2, n_sweeps=3, n_samples=1, random_state=0).fit(X)
write_report("with.html", lda, X=X, ids=["</script>", "b", "c"])
write_report("without.html", lda)
"""


@pytest.fixture(scope="session")
def pages_with_section(tmp_path_factory):
    """Reports by a copy of topoi with the skeleton in it: two files, an import and a registry line."""
    edits = [
        ("from topoi.report.subject", "from topoi.report.sections import longest\nfrom topoi.report.subject"),
        ('    "scores": scores.data,\n', '    "longest": longest.data,\n    "scores": scores.data,\n'),
    ]
    files = {"longest.py": "section.py", "longest.js": "section.js"}
    folder = package_with(tmp_path_factory.mktemp("with_section"), "report/sections", files, edits)
    run_with(folder, "-c", WRITE, NUMBA_DISABLE_JIT="1")  # three documents need no compiler
    return folder


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium, or set CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--headless", "--disable-gpu"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        sync_api.expect.set_options(timeout=30_000)  # as for clicks: a machine may be busy
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Open a page from disk and read all of it; whatever it complains of is a failure."""
    complaints = []
    contexts = []

    def go(path, viewport=DESKTOP, before=None, **more):
        context = browser.new_context(viewport=viewport, reduced_motion="reduce", offline=True, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on(
            "request", lambda request: request.url.startswith("file:") or complaints.append(f"fetched {request.url}")
        )
        if before is not None:
            before(page)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
