"""Record a session from `pip install` to an edited report: python docs/pictures/session.py

In a new virtual environment topoi is installed and a CSV file is fitted; a browser opens the report, names a topic,
merges two, hides one and downloads the edits; `topoi apply` makes a model of them, and a second report shows it.
Nothing but the commands and the edits is written by hand. Needs what `terminal.py` needs, Chromium and `pip install
playwright`; writes docs/images/session.svg (the terminal), session_edit.png and session_edited.png (the browser), and
the seconds that each step took into docs/session.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent))
from terminal import INSTALL, MAKE_CSV, PAUSE, ROOT, Recorder, cpu_seconds, draw, new_place, record

DOCS = ROOT / "docs"
FIT = "topoi fit docs.csv --id number --topics 15 -o model"
REPORT = "topoi report model docs.csv -o report.html && du -h report.html"
APPLY = ("topoi apply model edits.json -o edited", "topoi topics edited", "topoi report edited docs.csv -o edited.html")
LIMIT = 240  # seconds of a session that we are content with
VIEWPORT = {"width": 1100, "height": 760}


class Clock:
    """The steps of the session, with seconds by the clock and of CPU time."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float, float]] = []
        self._at, self._used = time.monotonic(), cpu_seconds()

    def step(self, name: str) -> None:
        """A step has just ended."""
        now, used = time.monotonic(), cpu_seconds()
        self.steps.append((name, now - self._at, used - self._used))
        self._at, self._used = now, used

    def table(self) -> str:
        """A row for each step, and their sum."""
        total = ("**all of it**", sum(step[1] for step in self.steps), sum(step[2] for step in self.steps))
        rows = [f"| {name} | {seconds:.0f} | {used:.0f} |" for name, seconds, used in (*self.steps, total)]
        return "\n".join(["| step | seconds by the clock | CPU seconds |", "|---|--:|--:|", *rows])


def edit(page: Any, folder: Path) -> None:
    """Name a topic, merge two, hide one, and download the edits."""
    page.click("#edit")
    numbers = [one.get_attribute("data-card") for one in page.locator("[data-card]").all()]
    card = {n: page.locator(f'[data-card="{n}"]') for n in numbers}
    name = card[numbers[0]].locator('[data-act="name"]')
    name.fill("The largest topic")
    name.press("Enter")
    for n in numbers[1:3]:
        card[n].locator('[data-act="tick"]').check()
    page.click('[data-act="merge"]')
    card[numbers[-1]].locator('[data-act="hide"]').click()
    page.mouse.move(0, 0)
    page.locator("#edit").scroll_into_view_if_needed()
    page.screenshot(path=DOCS / "images" / "session_edit.png")
    with page.expect_download() as found:
        page.click('[data-act="download"]')
    found.value.save_as(folder / "edits.json")


def main() -> None:
    """Install, fit, edit, apply; draw what was seen."""
    clock, recorder = Clock(), Recorder()
    with new_place() as (folder, environment), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        clock.step("a copy of the repository, a browser")
        for command in INSTALL:
            record(recorder, command, folder, environment)
        clock.step("`pip install`, in a new environment")
        subprocess.run([folder / ".venv/bin/python", "-c", MAKE_CSV], check=True, cwd=folder, env=environment)
        record(recorder, FIT, folder, environment)
        clock.step("`topoi fit`; the first run compiles")
        record(recorder, REPORT, folder, environment)
        clock.step("`topoi report`")
        page = browser.new_page(viewport=VIEWPORT, color_scheme="light", accept_downloads=True)
        page.goto((folder / "report.html").as_uri())
        edit(page, folder)
        clock.step("the browser: open, edit, download")
        for command in APPLY:
            record(recorder, command, folder, environment)
        page.goto((folder / "edited.html").as_uri())
        page.screenshot(path=DOCS / "images" / "session_edited.png")
        clock.step("`topoi apply`, and the edited report")
        browser.close()
    (DOCS / "images" / "session.svg").write_text(draw(recorder.frames, recorder.now + 2 * PAUSE), encoding="utf-8")
    write(DOCS / "session.md", clock)


def write(page: Path, clock: Clock) -> None:
    """The table of the page, anew."""
    text = page.read_text("utf-8")
    new = re.sub(r"^\| step \|.*?\n\n", clock.table().replace("\\", r"\\") + "\n\n", text, count=1, flags=re.M | re.S)
    page.write_text(new, "utf-8")
    print(clock.table())
    seconds = sum(step[1] for step in clock.steps)
    print(f"{seconds:.0f} s by the clock: " + ("under" if seconds < LIMIT else "OVER") + f" {LIMIT} s")


if __name__ == "__main__":
    main()
