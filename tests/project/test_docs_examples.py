"""The examples of the documentation run as they stand, page by page, on every third docstring of the library."""

from __future__ import annotations

import importlib.util
import re

import pytest

from support.fill import fill
from support.places import ROOT
from topoi import datasets
from topoi.datasets import Texts

DOCS = ROOT / "docs"
PAGES = [
    "index.md",
    "tutorial.md",
    "architecture.md",
    "supervised.md",
    "performance.md",
    "evaluation.md",
    *sorted(f"howto/{page.name}" for page in (DOCS / "howto").glob("*.md")),
]
NO_MATPLOTLIB = importlib.util.find_spec("matplotlib") is None


@pytest.fixture(scope="module")
def docs():
    """Fewer texts, so that it is quick; the pages were filled with all."""
    docs = datasets.python_docs()
    return Texts(docs.texts[::3], docs.labels[::3])


@pytest.fixture
def few(docs, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "python_docs", lambda: docs)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PAGES)
def test_examples_run(name, few):
    page = DOCS / name
    if NO_MATPLOTLIB and "matplotlib" in page.read_text("utf-8"):
        pytest.skip("needs the extra `plot`")
    for match, printed in fill.run(page):
        # What is shown was printed, and nothing that is printed is left out.
        assert bool(printed) == (match["output"] is not None), match["code"]


def test_every_python_block_is_found():
    for name in PAGES:
        text = (DOCS / name).read_text("utf-8")
        assert len(fill.EXAMPLE.findall(text)) == len(re.findall(r"^ *```python", text, re.MULTILINE))


def test_fill_writes_what_is_printed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("A\n\n```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```\nold\n```\n\nB\n", "utf-8")
    fill.fill(page)
    want = "A\n\n```python\nx = 2\n```\n\n```python\nprint(x + 1)\n```\n\n```\n3\n```\n\nB\n"
    assert page.read_text("utf-8") == want


def test_the_line_of_an_error_is_that_of_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("A\n\n```python\nx = 2\nx.nothing\n```\n", "utf-8")
    with pytest.raises(AttributeError) as caught:
        fill.run(page)
    assert caught.traceback[-1].lineno + 1 == 5
