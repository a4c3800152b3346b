"""The bytes that an engine moves are in the progress bar, on terminals and in notebooks, and in a command's summary."""

from __future__ import annotations

import json
import re
import types

import pytest

from support.cli_files import done, write_csv
from support.corpora import random_counts
from topoi import LDA
from topoi.estimators import progress as bars

X = random_counts(300, 200, 60, seed=2)
QUICK = {"n_topics": 6, "n_sweeps": 12, "sampler": "partial", "random_state": 0, "progress": True}
SIZE = r"[\d.]+ [kM]B"


@pytest.mark.parametrize("engine", [None, "blocks"])
@pytest.mark.parametrize("columns", [40, bars.LEAST, bars.LEAST + bars.SIZE, bars.WIDE, 200])
def test_terminal(columns, engine, capfd, monkeypatch):
    """Where there is room for it; nothing else gives way."""
    monkeypatch.setenv("COLUMNS", str(columns))
    LDA(**QUICK, engine=engine).fit(X, validation=X)
    shown = capfd.readouterr().err
    assert "12/12" in shown
    assert ("M/s" in shown or "M tokens/s" in shown) == (columns >= bars.LEAST)
    assert bool(re.search(SIZE, shown)) == (engine == "blocks" and columns >= bars.LEAST + bars.SIZE)
    assert bool(re.search(f"{SIZE} in files", shown)) == (engine == "blocks" and columns == 200)


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_notebook(engine, monkeypatch):
    texts = []
    shown = types.SimpleNamespace(update=lambda key, done, text: texts.append(text), remove=print, close=lambda: None)
    monkeypatch.setattr(bars, "in_notebook", lambda: True)
    monkeypatch.setattr(bars, "NotebookBar", lambda: shown)
    LDA(**QUICK, engine=engine).fit(X)
    assert len(texts) == 12
    assert all(
        bool(re.search(f"tokens/s, {SIZE} read, {SIZE} written", text)) == (engine == "blocks") for text in texts
    )


@pytest.fixture(scope="module")
def address():
    """A cluster in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("engine", ["memory", "blocks", "address"])
def test_command(engine, tmp_path, request):
    posts = write_csv(tmp_path / "posts.csv")
    options = ["--text", "body", "--sampler", "partial", "--topics", "4", "--sweeps", "6", "-o", tmp_path / "model"]
    if engine != "memory":
        options += ["--dask", request.getfixturevalue("address") if engine == "address" else engine]
    said = " ".join(done("fit", posts, *options).output.split())
    moved = json.loads((tmp_path / "model" / "topoi.json").read_text("utf-8"))["bytes_per_sweep"]
    assert bool(re.search(f"tokens/s, {SIZE} read and {SIZE} written for a sweep", said)) == (engine != "memory")
    if engine == "memory":
        assert moved is None
    else:
        assert min(moved["read"], moved["written"]) > 1000
