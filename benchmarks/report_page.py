"""How large the page of a report is, and how long a browser takes to open it.

Two pages of 2,000 docstrings of Python's standard library, with their texts: a classifier with 40 topics and the
reasons of its predictions, and 1,000 topics, both with shares over 48 months and in 20 groups. Chromium opens each
several times, at the width of a desktop and of a phone. Times are those of the slowest opening, from the start of the
navigation: until the load event, and until the first card is on the screen. The seconds of CPU are those of the page's
main thread, which a busy machine changes little. Needs Chromium and Playwright, as the tests of the report do.

`python -m benchmarks.report_page` ends with an error if a page has 8 MB or more, or takes a second or more to open;
`--output docs/benchmarks` writes the table to report_page.md there, for which the machine must be quiet; `--profile`
also prints the functions of the page that take most of the time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.harness import machine, versions
from topoi import LDA, Corpus, MedLDAClassifier
from topoi.datasets import python_docs
from topoi.report import write_report

N_DOCUMENTS, N_GROUPS, N_MONTHS = 2000, 20, 48
MOST_MEGABYTES, MOST_SECONDS = 8.0, 1.0
WIDTHS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 740}}
# Two frames after the first card is in the document it has been painted.
WATCH = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".card")) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.cardPainted = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""


class Documents:
    """The docstrings: words, texts, labels (all but the most frequent ones are "other"), and columns to group by."""

    def __init__(self) -> None:
        found = python_docs()
        rows = np.arange(N_DOCUMENTS) * len(found.texts) // N_DOCUMENTS
        self.texts = [found.texts[d] for d in rows]
        names = [found.labels[d] for d in rows]
        common = {name for name, _ in Counter(names).most_common(N_GROUPS - 1)}
        self.labels = np.array([name if name in common else "other" for name in names])
        self.corpus = Corpus.from_texts(self.texts, allow_empty=True)
        months = np.random.default_rng(0).integers(N_MONTHS, size=N_DOCUMENTS)  # docstrings have no dates
        self.by = {"module": self.labels, "month": [f"{2020 + m // 12}-{m % 12 + 1:02}-15" for m in months]}

    def predicted(self, path: Path) -> None:
        """A page with labels, scores and reasons."""
        model = MedLDAClassifier(40, n_sweeps=20, n_chains=2, random_state=0).fit(self.corpus, self.labels)
        write_report(path, model, X=self.corpus, y=self.labels, texts=self.texts, by=self.by, held_out=False)

    def many_topics(self, path: Path) -> None:
        """A page with very many topics."""
        model = LDA(1000, n_sweeps=10, n_samples=2, random_state=0).fit(self.corpus)
        write_report(path, model, X=self.corpus, texts=self.texts, by=self.by, held_out=False)


def opened(browser: Any, path: Path, viewport: dict[str, int]) -> dict[str, float]:
    """Seconds of one opening in a browser that has not seen the page."""
    context = browser.new_context(viewport=viewport, offline=True)
    page = context.new_page()
    clock = context.new_cdp_session(page)
    clock.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.wait_for_function("window.cardPainted")
    load = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    painted = page.evaluate("window.cardPainted")
    metrics = {one["name"]: one["value"] for one in clock.send("Performance.getMetrics")["metrics"]}
    context.close()
    return {"load": load / 1000, "card": painted / 1000, "cpu": metrics["TaskDuration"]}


def profile(browser: Any, path: Path) -> list[tuple[str, float]]:
    """The functions of the page in which most of the time of an opening is spent, with milliseconds."""
    page = browser.new_page(viewport=WIDTHS["desktop"])
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.start")
    page.goto(path.as_uri())
    found = session.send("Profiler.stop")["profile"]
    page.close()
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in found["nodes"]}
    spent: Counter[str] = Counter()
    for node, microseconds in zip(found["samples"], found["timeDeltas"], strict=True):
        spent[names[node]] += microseconds
    return [(name, time / 1000) for name, time in spent.most_common(12) if name not in ("(idle)", "(program)")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="openings of each page at each width")
    parser.add_argument("--output", type=Path, help="a folder for report_page.md, with the table")
    parser.add_argument("--keep", type=Path, help="a folder for the pages; those that are there are opened as they are")
    parser.add_argument("--profile", action="store_true", help="print where the time of opening goes")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    faults, rows = [], []
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        pages = _pages(folder)
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        chromium_version = browser.version
        for name, path in pages.items():
            size = path.stat().st_size / 1e6
            faults += [f"{name} has {size:.1f} MB"] if size >= MOST_MEGABYTES else []
            for width, viewport in WIDTHS.items():
                rounds = [opened(browser, path, viewport) for _ in range(arguments.rounds)]
                worst = {what: max(one[what] for one in rounds) for what in rounds[0]}
                seconds = [f"{worst[what]:.2f}" for what in ("load", "card", "cpu")]
                rows.append([f"{name}, {width}", f"{size:.1f}", *seconds])
                print(*rows[-1])
                if max(worst["load"], worst["card"]) >= MOST_SECONDS:
                    faults.append(f"{name} takes {max(worst['load'], worst['card']):.2f} s on a {width}")
            if arguments.profile:
                print("\n".join(f"  {spent:7.1f} ms  {what}" for what, spent in profile(browser, path)))
        browser.close()
    outcome = "\n".join(faults) or "All pages are small and quick enough."
    print(outcome)
    if arguments.output:
        write_page(arguments.output, rows, outcome, arguments.rounds, chromium_version)
    return len(faults) > 0


def write_page(output: Path, rows: list[list[str]], outcome: str, rounds: int, chromium: str) -> None:
    """The table, with what was measured and where."""
    table = report.table(["page, width", "size, MB", "load event, s", "first card, s", "CPU, s"], rows)
    desktop, phone = (WIDTHS[name]["width"] for name in ("desktop", "phone"))
    said = (
        f"Pages of {N_DOCUMENTS:,} documents with their texts, shares over {N_MONTHS} months and in {N_GROUPS} groups, "
        f"opened by Chromium {chromium} from disk, at {desktop:,} and {phone} pixels: the slowest of {rounds} "
        f"openings. A page should have less than {MOST_MEGABYTES:g} MB and open in less than {MOST_SECONDS:g} s."
    )
    here = ", ".join(f"{name} {value}" for name, value in machine().items())
    where = f"{here}; topoi {versions()['topoi']}; measured on {time.strftime('%Y-%m-%d')}."
    body = "\n\n".join((said, table, outcome, where))
    report.write(output, "report_page", "The page of a report", body, has_plot=False)


def _pages(folder: Path) -> dict[str, Path]:
    """The pages by name, written unless they are there."""
    made: list[Documents] = []

    def documents() -> Documents:
        if not made:
            made.append(Documents())
        return made[0]

    writers: dict[str, Callable[[Documents, Path], None]] = {
        "40 topics, 20 labels, reasons": Documents.predicted, "1,000 topics": Documents.many_topics,
    }  # fmt: skip
    pages = {}
    for name, write in writers.items():
        pages[name] = folder / f"{write.__name__}.html"
        if not pages[name].exists():
            write(documents(), pages[name])
    return pages


if __name__ == "__main__":
    sys.exit(main())
