"""The code of other packages on docs/howto/other_packages.md runs as it stands, where they are installed."""

from __future__ import annotations

import re

import pytest

from support.places import ROOT
from topoi import datasets
from topoi.datasets import Texts

PAGE = (ROOT / "docs" / "howto" / "other_packages.md").read_text("utf-8")
BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Sections whose foreign code is run, and the package that it needs.
SECTIONS = {"scikit-learn": "sklearn", "gensim": "gensim", "tomotopy": "tomotopy"}


def section(name: str) -> str:
    """The text below a heading of the third level."""
    (text,) = re.findall(rf"^### {re.escape(name)}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture
def few(monkeypatch, tmp_path):
    docs = datasets.python_docs()
    monkeypatch.setattr(datasets, "python_docs", lambda: Texts(docs.texts[::6], docs.labels[::6]))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.filterwarnings("ignore")
def test_code_of_others_runs(name, few, capsys):
    pytest.importorskip(SECTIONS[name], reason="needs the extra `bench`")
    before = PAGE.partition("## Side by side")[2].partition("###")[0]
    blocks = [block[1] for block in BLOCK.finditer(before + section(name))]
    assert len(blocks) >= 3  # the texts, theirs, ours
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile("from topoi import LDA, Corpus\n" + block, f"other_packages.md, {name}", "exec"), namespace)
    assert "topoi" in type(namespace["model"]).__module__  # ours is the last one, under the same name


def test_every_section_that_could_be_run_is():
    foreign = {name for name in re.findall(r"^### (.*)$", PAGE, re.MULTILINE) if "```py\n" in section_or_rest(name)}
    assert foreign - set(SECTIONS) == {"BERTopic"}  # needs models of gigabytes: the page says that it is not run


def section_or_rest(name: str) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r"^##", PAGE.partition(f"### {name}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
