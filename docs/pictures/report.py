"""The pictures of the report: of the model that docs/howto/over_time.md fits, in a browser.

`report.png` is the top of the page, `report_over_time.png` and `report_by_group.png` are the section on that model's
columns. The dates of that page are made up. Needs Chromium and Playwright, as the tests of the report do. Run from the
root of the repository: `PYTHONPATH=src python docs/pictures/report.py`
"""

from __future__ import annotations

import contextlib
import csv
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from topoi.report import write_report

DOCS = Path(__file__).resolve().parent.parent
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (DOCS / "howto" / "over_time.md").read_text("utf-8"), re.M | re.S)
page_of: dict[str, Any] = {}

with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    for example in EXAMPLES[:2]:  # the file, and the model
        exec(example, page_of)
    with open("docstrings.csv", newline="", encoding="utf-8") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    write_report(
        "report.html", page_of["lda"], X=page_of["data"].corpus, texts=texts, by=page_of["data"].groups,
        held_out=False, title="Docstrings of the standard library",
    )  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1240, "height": 930}, color_scheme="light")
        page.goto(Path("report.html").resolve().as_uri())
        page.mouse.move(0, 0)
        page.screenshot(path=DOCS / "images" / "report.png")
        page.set_viewport_size({"width": 1100, "height": 2000})
        page.reload()
        page.locator("#groups").scroll_into_view_if_needed()
        page.locator("#groups .panel").first.click()
        page.evaluate("document.querySelector('.bar').style.position = 'static'")  # not over the picture
        page.mouse.move(0, 0)
        page.locator("#groups").screenshot(path=DOCS / "images" / "report_over_time.png")
        page.locator("#groups-by").select_option(label="section")
        page.locator("#groups").screenshot(path=DOCS / "images" / "report_by_group.png")
        browser.close()
