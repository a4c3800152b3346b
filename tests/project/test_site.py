"""The site: links between files of the repository become links between pages (docs/hooks.py), without mkdocs."""

from __future__ import annotations

import importlib.util
import re
from posixpath import dirname, join, normpath

import pytest

from support.places import ROOT

DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)

SITE = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
SITE |= {page: hooks.ROOT / source for source, page in hooks.PAGES.items()}


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        # To a file outside of docs, which is a page of the site under another name.
        ("samplers.md", "../CONTRIBUTING.md", "contributing.md"),
        ("howto/trouble.md", "../../CHANGELOG.md#unreleased", "../changes.md#unreleased"),
        ("reproduce/README.md", "../../reproduce/README.md", "running.md"),
        # From such a file: into docs (once taken for a link to itself), to another one, to a folder.
        ("reproduce/running.md", "../docs/reproduce/README.md", "README.md"),
        ("changes.md", "docs/files.md", "files.md"),
        ("contributing.md", "benchmarks/README.md", "benchmarks/running.md"),
        ("contributing.md", "docs/benchmarks/", "benchmarks/README.md"),
        # Between pages, to addresses, and to what is nowhere (mkdocs reports it): as they were.
        ("howto/trouble.md", "../files.md#models", "../files.md#models"),
        ("index.md", "https://example.org/docs/files.md", "https://example.org/docs/files.md"),
        ("index.md", "#start", "#start"),
        ("index.md", "nowhere.md", "nowhere.md"),
    ],
)
def test_a_link_goes_to_the_page_of_its_file(page, link, expected):
    assert hooks.relinked(f"See [it]({link}), there.", page) == f"See [it]({expected}), there."


@pytest.mark.parametrize("page", SITE)
def test_every_link_arrives(page):
    text = hooks.relinked(SITE[page].read_text("utf-8"), page)
    for match in hooks.LINK.finditer(text):
        target = normpath(join(dirname(page), match["target"]))
        assert target in SITE or (DOCS / target).is_file(), match[0]


@pytest.mark.parametrize("page", ["docs/threat_model.md", "docs/robustness.md", "SECURITY.md"])
def test_programs_that_a_page_names_are_there(page):
    text = (hooks.ROOT / page).read_text("utf-8")
    named = set(re.findall(r"\b(?:tests|verify)/[\w/]+\.py\b", text))
    assert named or page == "SECURITY.md"
    assert [name for name in sorted(named) if not (hooks.ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", SITE)
def test_the_menu_has_the_page(page):
    """Else the site is not built: mkdocs runs with --strict."""
    assert re.search(rf"[: ]{re.escape(page)}\"?$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
