"""Texts in parts: whoever counts and encodes them, and however they are cut, the corpus has the bytes of one go."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from topoi import LDA, Corpus, CorpusError
from topoi._machine.workers import open_workers
from topoi.corpus.building import build_corpus
from topoi.corpus.text import TextOptions, parts, tokens
from topoi.corpus.text.parts import Order
from topoi.datasets import python_docs
from topoi.errors import ParameterError, WorkersError

GERMAN = "der hund und die katze sind nicht von hier aber auch das haus ist ein haus für alle die dort waren"


def read(part, notes):
    notes.beside.append(len(part))
    yield from part


def cut(texts, n):
    """Texts in n parts of unlike lengths."""
    ends = np.linspace(0, 1, n + 1) ** 1.5 * len(texts)
    return [texts[int(a) : int(b)] for a, b in pairwise(ends)]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_one_go(folder, texts, **options):
    Corpus.from_texts(texts, **options).save(folder)
    return files(folder)


def in_parts(folder, texts, n, n_jobs=1, engine=None, **options):
    like = options.pop("like", None)
    order = Order(read, TextOptions(**options))
    if like is not None:
        order = Order(read, like.preparation.options, like.vocabulary, like.preparation)
    corpus = build_corpus(cut(texts, n), order, lambda built: None, n_jobs=n_jobs, engine=engine, save_to=folder)
    return files(folder), corpus


@pytest.fixture(scope="module")
def texts():
    found = list(python_docs().texts[:300])
    found[7], found[250] = found[3], found[3]  # copies
    found[20] = ""
    found[200] += "<b>bold</b> see http://example.org and somebody@example.org"
    return found


OPTIONS = {
    "default": {},
    "all words": {"stop_words": None, "min_df": 1, "max_df": 1.0},
    "a share": {"min_df": 0.01, "max_df": 0.2, "max_features": 500},
    "few": {"max_features": 50},
    "named": {"stop_words": "german,english", "clean": "none", "lowercase": False},
    "listed": {"stop_words": ["the", "and"]},
    "stem": {"stem": True},
    "stem of few": {"stem": True, "stop_words": None, "max_features": 300, "min_df": 3},
    "stem of all": {"stem": True, "stop_words": "english", "min_df": 1, "max_df": 1.0},
    "pattern": {"token_pattern": r"[a-z]{4,}"},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("n", [1, 3, 7])
def test_the_bytes_of_one_go(name, n, texts, tmp_path):
    options = OPTIONS[name]
    expected = in_one_go(tmp_path / "one", texts, **options)
    found, corpus = in_parts(tmp_path / "parts", texts, n, **options)
    assert found == expected
    assert corpus.preparation.sentences() == Corpus.load(tmp_path / "one").preparation.sentences()


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("name", ["default", "stem"])
def test_processes(n_jobs, name, texts, tmp_path):
    expected = in_one_go(tmp_path / "one", texts, **OPTIONS[name])
    assert in_parts(tmp_path / "parts", texts, 7, n_jobs, **OPTIONS[name])[0] == expected


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.mark.parametrize("name", ["default", "stem"])
def test_a_cluster(client, name, texts, tmp_path):
    expected = in_one_go(tmp_path / "one", texts, **OPTIONS[name])
    assert in_parts(tmp_path / "parts", texts, 7, engine=client, **OPTIONS[name])[0] == expected


@pytest.mark.parametrize("n", [1, 4])
def test_the_first_texts_decide_the_language(n, texts, tmp_path, monkeypatch):
    """They are a piece, which ends in the middle of a part or in a later one: what comes after has no say."""
    monkeypatch.setattr(tokens, "PIECE", 3000)
    german = [GERMAN] * 300
    cases = {"english": [*texts[:200], *german], "german": [*texts[:5], *german, *texts]}
    for language, mixed in cases.items():
        expected = in_one_go(tmp_path / language, mixed)
        found, corpus = in_parts(tmp_path / f"{language} parts", mixed, n)
        assert found == expected
        assert corpus.preparation.language == language


def test_chunks(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "CHUNK", 1000)
    for name in ("default", "stem"):
        expected = in_one_go(tmp_path / f"one {name}", texts, **OPTIONS[name])
        assert in_parts(tmp_path / name, texts, 2, **OPTIONS[name])[0] == expected


@pytest.mark.parametrize("n", [1, 5])
def test_words_of_a_corpus(n, texts, tmp_path):
    for options in ({}, {"phrases": True}, {"stem": True, "phrases": True}):
        like = Corpus.from_texts(texts[:200], **options)
        one = Corpus.from_texts(texts, like=like)
        one.save(tmp_path / "one")
        found, corpus = in_parts(tmp_path / "parts", texts, n, like=like)
        assert found == files(tmp_path / "one")
        assert corpus.n_dropped == one.n_dropped > 0


def test_lists_of_words(texts, tmp_path):
    lists = [text.split() for text in texts]
    expected = Corpus.from_tokens(lists)
    corpus = build_corpus(cut(lists, 3), Order(read, TextOptions(min_df=1, max_df=1.0)), lambda built: None, n_jobs=1)
    assert corpus.vocabulary.tolist() == expected.vocabulary.tolist()
    assert np.array_equal(corpus.words, expected.words)
    assert np.array_equal(corpus.doc_ptr, expected.doc_ptr)
    for mixed in ([lists[:3] + texts[:3]], [lists[:3], texts[:3]]):
        with pytest.raises(CorpusError, match="some texts are strings, others lists"):
            build_corpus(mixed, Order(read, TextOptions()), lambda built: None)


@pytest.mark.parametrize("given", [[], [[]], [["", ""]], [[], ["", "..."], []]])
def test_no_words(given, tmp_path):
    for options in (TextOptions(), TextOptions(stem=True)):
        seen = []
        corpus = build_corpus(given, Order(read, options), seen.append)
        assert (corpus.n_words, corpus.n_tokens, corpus.n_documents) == (0, 0, sum(map(len, given)))
        assert [built.n_tokens for built in seen] == [0]


def test_a_temporary_corpus_goes_with_its_owner(texts):
    notes = []
    corpus = build_corpus(cut(texts, 2), Order(read, TextOptions()), lambda built: None, note=notes.append)
    folder = corpus.folder
    assert sorted(path.name for path in folder.parent.iterdir()) == ["corpus"]  # nothing else is left
    assert [noted.beside for noted in notes] == [[len(part)] for part in cut(texts, 2)]
    corpus = corpus.with_about(kind=np.ones((len(corpus), 1)))  # the owner is then another one, with the same tokens
    LDA(2, n_sweeps=1, engine="blocks").fit(corpus)
    words = corpus.words[:5]
    del corpus
    assert folder.exists()  # Windows could not remove what is looked at
    del words
    assert not folder.parent.exists()


def test_a_corpus_is_replaced_and_nothing_else(texts, tmp_path):
    old = in_one_go(tmp_path / "corpus", texts[:50])

    def refuse(built):
        raise CorpusError("no")

    with pytest.raises(CorpusError, match="no"):
        build_corpus([texts], Order(read, TextOptions()), refuse, save_to=tmp_path / "corpus")
    assert files(tmp_path / "corpus") == old
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("dear")
    with pytest.raises(CorpusError, match="holds other things than a corpus"):
        build_corpus([texts], Order(pytest.fail, TextOptions()), refuse, save_to=tmp_path / "other")


def test_progress(texts, tmp_path):
    seen = []
    order = Order(read, TextOptions())
    build_corpus(cut(texts, 3), order, lambda built: None, tell=lambda *step: seen.append(step))
    whats = ["counting words", "encoding documents"]
    assert seen == [(what, done, 3) for what in whats for done in range(4)]


def broken(part, notes):
    yield "a text"
    raise ParameterError("covariates", "is wrong in part {}".format(*part))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_error_of_the_first_part_that_has_one(n_jobs):
    with pytest.raises(ParameterError, match=r"^covariates: is wrong in part 0$") as found:
        build_corpus([[0], [1], [2]], Order(broken, TextOptions(stop_words=None)), lambda built: None, n_jobs=n_jobs)
    assert found.value.parameter == "covariates"


def ends(part, notes):
    import os

    yield "a text"
    os._exit(3)


def test_a_process_that_ends():
    with pytest.raises(WorkersError, match="a process has ended before its task was done"):
        build_corpus([[0], [1]], Order(ends, TextOptions(stop_words=None)), lambda built: None, n_jobs=2)


def test_a_worker_with_other_words(monkeypatch, texts):
    made = parts.stamp()
    monkeypatch.setattr(parts, "stamp", iter([made, made, "topoi 0.0, Unicode 1", made, made]).__next__)
    with pytest.raises(WorkersError, match=r"a worker has topoi 0\.0, Unicode 1, and here is topoi"):
        build_corpus(cut(texts, 2), Order(read, TextOptions()), lambda built: None)


def test_what_cannot_be_done_in_parts(texts):
    with pytest.raises(ParameterError, match="phrases: are looked for in all texts together"):
        build_corpus([texts], Order(read, TextOptions(phrases=True)), lambda built: None)
    with (
        pytest.raises(ParameterError, match="engine: must be None or a Dask Client"),
        open_workers(None, "tcp://a:1", None),
    ):
        pass


def test_an_option_that_no_language_fits():
    order = Order(read, TextOptions(stem=True))
    with pytest.raises(ParameterError, match="needs to know the language of the texts"):
        build_corpus([["qxz vvw"] * 9], order, lambda built: None)
