"""The corpus that benchmarks are measured with: whole after an interrupted run, and written once."""

from __future__ import annotations

import pytest

from benchmarks import synthetic
from topoi import Corpus

SIZES = {"n_documents": 60, "n_words": 200, "n_topics": 4}


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_interrupted_run_is_done_again(tmp_path, monkeypatch):
    whole, other = tmp_path / "whole", tmp_path / "interrupted"
    monkeypatch.setattr(synthetic, "CHUNK", 25)
    synthetic.generate(whole, **SIZES)
    draw, calls = synthetic._documents, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return draw(*args)

    monkeypatch.setattr(synthetic, "_documents", interrupted)
    with pytest.raises(KeyboardInterrupt):
        synthetic.generate(other, **SIZES)
    assert "corpus.json" not in files(other)
    synthetic.generate(other, **SIZES)
    assert files(other) == files(whole)
    n_calls = len(calls)
    synthetic.generate(other, **SIZES)
    assert len(calls) == n_calls, "what is there is not drawn again"
    corpus = Corpus.load(other)
    assert (corpus.n_documents, corpus.n_words) == (60, 200)
