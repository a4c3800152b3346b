"""The progress bar of a notebook: with a stand-in for IPython, and in a real kernel where there is one."""

from __future__ import annotations

import importlib.util
import sys
import types

import numpy as np
import pytest

import topoi
from topoi import LDA, MedLDAClassifier
from topoi.estimators.notebook_bar import NotebookBar, in_notebook

X = np.random.default_rng(0).poisson(1.0, (24, 9))
SHORT = {"n_topics": 2, "n_sweeps": 20, "random_state": 0}


class Cell:
    """What a cell shows: every state of each of its outputs."""

    def __init__(self):
        self.outputs = []

    def display(self, data, raw, display_id):
        assert raw
        assert display_id is True
        self.outputs.append([data])
        number = len(self.outputs) - 1
        return types.SimpleNamespace(update=lambda data, raw: self.outputs[number].append(data))


def stand_in(monkeypatch, kernel):
    cell = Cell()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(**({"kernel": object()} if kernel else {}))
    shown = types.ModuleType("IPython.display")
    shown.display = cell.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return cell


@pytest.fixture
def cell(monkeypatch):
    return stand_in(monkeypatch, kernel=True)


def test_where_it_is(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    stand_in(monkeypatch, kernel=False)  # IPython in a terminal
    assert not in_notebook()
    stand_in(monkeypatch, kernel=True)
    assert in_notebook()


def test_a_fit_shows_one_output(cell, capsys):
    LDA(**SHORT, progress=True).fit(X, validation=X)
    (states,) = cell.outputs
    assert "sweep 20 of 20" in states[-1]["text/plain"]
    assert "log joint" in states[-1]["text/plain"]
    assert "held-out perplexity" in states[-1]["text/plain"]
    assert 'value="1.0000"' in states[-1]["text/html"]
    assert "burn-in" in states[0]["text/plain"]
    assert capsys.readouterr() == ("", "")


def test_a_line_for_each_chain(cell):
    LDA(**SHORT, n_chains=3, progress=True).fit(X)
    (states,) = cell.outputs
    lines = states[-1]["text/plain"].splitlines()
    assert sorted(line.split(",")[0] for line in lines) == ["chain 1", "chain 2", "chain 3"]


@pytest.mark.filterwarnings("ignore::topoi.NeverPredictedWarning")
def test_models_that_are_done_make_room(cell):
    MedLDAClassifier(**SHORT, strategy="ovr", refit=False, progress=True).fit(X, np.arange(24) % 4)
    (states,) = cell.outputs
    assert len(states[-1]["text/plain"].splitlines()) <= 1


def test_not_asked_for(cell):
    LDA(**SHORT).fit(X)
    assert cell.outputs == []


def test_choose(cell):
    topoi.choose(X, [2, 3], cv=2, estimator=LDA(n_sweeps=4), progress=True)
    (states,) = cell.outputs
    assert "fit 1 of" in states[0]["text/plain"]


def test_text_is_escaped(cell):
    bar = NotebookBar()
    bar.update("a", 3.0, "<b>")
    bar.close()
    assert "&lt;b&gt;" in cell.outputs[0][-1]["text/html"]
    assert 'value="1.0000"' in cell.outputs[0][-1]["text/html"]


def test_an_unused_bar_shows_nothing(cell):
    NotebookBar().close()
    assert cell.outputs == []


NO_KERNEL = any(importlib.util.find_spec(name) is None for name in ("ipykernel", "nbclient"))
NOTEBOOK = """
import numpy as np
from topoi import LDA

X = np.random.default_rng(0).poisson(1.0, (24, 9))
model = LDA(2, n_sweeps=20, n_chains=2, n_jobs=2, random_state=0, progress=True).fit(X)
model
"""


@pytest.mark.skipif(NO_KERNEL, reason="needs the extra `notebook`: ipykernel and nbclient")
def test_in_a_kernel():
    import nbclient
    import nbformat

    cells = [nbformat.v4.new_code_cell(source) for source in (NOTEBOOK, "model.report(X)", "model.model_card()")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    first, report, card = (cell["outputs"] for cell in notebook.cells)
    bar, topics = (output["data"] for output in first)
    assert len(bar["text/plain"].splitlines()) == 2
    assert "topoi-model" in topics["text/html"]
    assert "<iframe" in report[0]["data"]["text/html"]
    assert card[0]["data"]["text/markdown"].startswith("# Model card")
