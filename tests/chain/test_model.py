"""The fitted model: what follows from its counts, and files that come back bit for bit or not at all."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy import sparse

from support.corpora import random_counts
from topoi import LDA, Corpus, TopicModel, TopoiError
from topoi._disk.store import ModelError
from topoi.chain import model as model_module
from topoi.chain import state as state_module
from topoi.chain.model import sample_counts
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state, renumber, topic_counts

WORDS = [f"wört {w}\n" for w in range(30)]


@pytest.fixture(scope="module")
def model():
    corpus = Corpus.from_counts(random_counts(40, 30, 20, seed=3), WORDS)
    lda = LDA(4, doc_topic_prior=[0.1, 0.2, 0.3, 0.4], topic_word_prior=0.05, n_sweeps=10, n_samples=3, random_state=0)
    return lda.fit(corpus).model_


@pytest.fixture
def file(model, tmp_path):
    model.save(tmp_path / "model.topoi")
    return tmp_path / "model.topoi"


def assert_same(a, b):
    """Equal to the bit, types included."""
    for name in ("counts", "last_counts"):
        for part in ("data", "indices", "indptr"):
            x, y = getattr(getattr(a, name), part), getattr(getattr(b, name), part)
            assert x.dtype == y.dtype
            assert x.tobytes() == y.tobytes()
        assert getattr(a, name).shape == getattr(b, name).shape
    assert a.n_samples == b.n_samples
    assert a.alpha.dtype == b.alpha.dtype
    assert a.alpha.tobytes() == b.alpha.tobytes()
    assert a.beta == b.beta
    assert type(a.beta) is type(b.beta)
    assert (a.vocabulary is None) == (b.vocabulary is None)
    if a.vocabulary is not None:
        assert a.vocabulary.tolist() == b.vocabulary.tolist()


@pytest.mark.parametrize("n_topics", [1, 4, 70_000])
@pytest.mark.parametrize("with_base", [False, True])
def test_sample_counts_are_the_counts_of_the_state(with_base, n_topics):
    rng = np.random.default_rng(0)
    corpus = Corpus.from_counts(random_counts(30, 12, 20, seed=1))
    base = rng.poisson(0.3, (12, n_topics)) if with_base else None
    state = new_state(corpus, fixed_priors(np.full(n_topics, 0.1), 0.1, base), 5)
    counts = sample_counts(state)
    assert isinstance(counts, sparse.csr_array)
    assert counts.has_canonical_format
    assert counts.data.min() > 0
    np.testing.assert_array_equal(counts.toarray(), topic_counts(state)[0] + (0 if base is None else base))


@pytest.mark.parametrize("at_once", [1, 7, 40, 1000])
def test_sample_counts_do_not_depend_on_the_words_gathered_at_once(monkeypatch, at_once):
    state = new_state(Corpus.from_counts(random_counts(30, 40, 25, seed=8)), fixed_priors(np.full(5, 0.1), 0.01), 0)
    whole = np.zeros((40, 5), np.int64)
    np.add.at(whole, (state.corpus.words, state.z), 1)
    monkeypatch.setattr(model_module, "WORDS_AT_ONCE", at_once)
    np.testing.assert_array_equal(sample_counts(state).toarray(), whole)


@pytest.mark.parametrize("at_once", [1, 7, 100, 1000])
def test_topics_are_renumbered_in_pieces_as_at_once(monkeypatch, at_once):
    z, number = np.random.default_rng(0).integers(0, 6, 100).astype(np.uint16), np.array([3, 0, 0, 1, 2, 1])
    wanted = number[z]
    monkeypatch.setattr(state_module, "RENUMBERED_AT_ONCE", at_once)
    renumber(z, number)
    assert z.dtype == np.uint16
    np.testing.assert_array_equal(z, wanted)


def test_topic_word(model):
    phi = model.topic_word()
    assert phi.shape == (4, 30)
    assert phi.flags.c_contiguous
    assert np.abs(phi.sum(1) - 1).max() < 1e-12
    mean = model.counts.toarray().T / 3
    np.testing.assert_allclose(phi, (mean + 0.05) / (mean.sum(1, keepdims=True) + 30 * 0.05), rtol=1e-12)
    assert phi.min() > 0
    assert model.topic_word(np.float32).dtype == np.float32
    np.testing.assert_allclose(model.topic_counts, mean.sum(1))
    np.testing.assert_array_equal(model.word_rows(np.array([3, 3, 0]), np.float64), mean.T[[3, 3, 0]])
    np.testing.assert_array_equal(model.word_probabilities(np.array([3, 3, 0])), phi.T[[3, 3, 0]])
    assert model.word_probabilities(np.array([3]), np.float32).dtype == np.float32
    assert (model.n_topics, model.n_words) == (4, 30)


def test_top_words(model):
    dense = model.counts.toarray()
    for n in (0, 1, 5, 30, 100):
        tops = model.top_words(n, "probability")
        for k, words in enumerate(tops):
            order = np.argsort(-dense[:, k], kind="stable")  # most probable first, of equals the first column
            expected = [WORDS[w] for w in order if dense[w, k] > 0]
            assert words == expected[:n]
    assert model.top_words() == model.top_words(10)
    bare = TopicModel(model.counts, model.last_counts, 3, model.priors)
    assert bare.top_words(2)[0] == [str(WORDS.index(w)) for w in model.top_words(2)[0]]


def test_save_and_load(model, file):
    loaded = TopicModel.load(file)
    assert_same(loaded, model)
    assert loaded.topic_word().tobytes() == model.topic_word().tobytes()
    assert loaded.top_words() == model.top_words()
    assert_same(TopicModel.load(str(file)), model)
    bare = TopicModel(model.counts, model.last_counts, 3, model.priors)
    bare.save(file)  # replaces
    assert_same(TopicModel.load(file), bare)


def test_equal_models_are_equal_files(model, file, tmp_path):
    TopicModel.load(file).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_large_indices_come_back(model, tmp_path):
    wide = model.counts.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    other = TopicModel(wide, model.last_counts, 3, model.priors, model.vocabulary)
    other.save(tmp_path / "model")
    np.testing.assert_array_equal(TopicModel.load(tmp_path / "model").counts.toarray(), wide.toarray())


def test_nothing_in_the_file_could_run(file):
    """safetensors and JSON: other tools can read the arrays."""
    arrays = load_file(file)
    assert {"priors.topics.alpha", "counts.data", "last_counts.indptr"} <= set(arrays)
    (length,) = struct.unpack("<Q", file.read_bytes()[:8])
    header = json.loads(file.read_bytes()[8 : 8 + length])
    assert json.loads(header["__metadata__"]["topoi"])["format"] == "topoi"


def damages(data, n):
    """Files with one byte changed, cut short, lengthened, with a piece lost, doubled or zeroed; seeded."""
    rng = np.random.default_rng(0)
    (length,) = struct.unpack("<Q", data[:8])
    for trial in range(n):
        at = int(rng.integers(len(data) if trial % 2 else 8 + length))  # half of them in the header
        size = int(rng.integers(1, 50))
        flip = bytes([data[at] ^ int(rng.integers(1, 256))])
        yield [
            data[:at] + flip + data[at + 1 :],
            data[:at],
            data[:at] + bytes(rng.integers(0, 256, size, np.uint8)) + data[at:],
            data[:at] + data[at + size :],
            data[:at] + data[at : at + size] + data[at:],
            data[:at] + b"\xff" * size + data[at + size :],
        ][trial % 12 // 2]


def test_damaged_files(model, file):
    """No damage goes unnoticed, but in the spaces that pad the header; and the error is always the same."""
    data = file.read_bytes()
    refused = 0
    for damaged in damages(data, 600):
        if damaged == data:
            continue
        file.write_bytes(damaged)
        try:
            assert_same(TopicModel.load(file), model)
        except ModelError:
            refused += 1
    assert refused > 580


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 9, 100, -1, -8])
def test_truncated_files(cut, file):
    data = file.read_bytes()
    file.write_bytes(data[:cut])
    with pytest.raises(ModelError):
        TopicModel.load(file)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"{}", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(100), bytes(1000), b"\xff" * 1000],
)
def test_foreign_files(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelError, match="file") as caught:
        TopicModel.load(tmp_path / "file")
    assert isinstance(caught.value, TopoiError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "metadata",
    [
        None, {}, {"topoi": ""}, {"topoi": "[]"}, {"topoi": "3"}, {"topoi": "null"}, {"topoi": "{"},
        {"topoi": "{}"}, {"topoi": '{"format": "topoi", "version": 1}'},
        {"topoi": '{"format": "topoi", "version": 2}'}, {"topoi": '{"format": "x", "version": 1}'},
        {"topoi": "[" * 100_000},
    ],
    ids=range(12),
)  # fmt: skip
def test_safetensors_of_other_programs(metadata, tmp_path):
    save_file({"alpha": np.ones(3)}, tmp_path / "file", metadata=metadata)
    with pytest.raises(ModelError):
        TopicModel.load(tmp_path / "file")


def test_failed_save_leaves_the_old_model(model, tmp_path, monkeypatch):
    """A full disk: the error is told, the old file is whole, and nothing else is left behind."""
    path = tmp_path / "model"
    model.save(path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_saved_file_has_the_usual_rights(model, tmp_path):
    """Not those of a scratch file, which only its owner may read."""
    (tmp_path / "plain").write_bytes(b"")
    model.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        TopicModel.load(tmp_path / "none")
    with pytest.raises(ModelError):
        TopicModel.load(tmp_path)


def test_counts_that_kernels_cannot_hold(model, tmp_path):
    counts = model.last_counts.copy()
    counts.data[0] = 2**31
    TopicModel(**vars(model) | {"last_counts": counts}).save(tmp_path / "m.topoi")
    with pytest.raises(ModelError, match="2³¹ times or more"):
        TopicModel.load(tmp_path / "m.topoi")
