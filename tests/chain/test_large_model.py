"""Models whose counts stay in their file: all that is made of them is what is made of those in memory, to the byte."""

from __future__ import annotations

import copy
import json
import mmap
import os
import pickle

import numpy as np
import pytest
from scipy import sparse

from support.corpora import random_counts
from topoi import LDA, Corpus, MedLDAClassifier, TopicModel, evaluate, load
from topoi._disk import mapped
from topoi._disk.mapped import give_back, is_mapped, limits, pieces
from topoi._disk.store import ModelError
from topoi.chain import model as model_module
from topoi.chain.counts import by_rows
from topoi.chain.counts.by_rows import row_blocks, top_words, topic_totals, word_totals
from topoi.corpus import batches
from topoi.corpus.batches import batches_by_words
from topoi.errors import TooLargeError
from topoi.estimators.edits import topics_fingerprint
from topoi.report import distances, relevance, write_report
from topoi.report.relevance import shown_topics
from topoi.report.words import WordTable

WORDS = [f"word{w}" for w in range(60)]
COUNTS = ("counts", "last_counts")


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_counts(random_counts(400, 60, 45, seed=3), WORDS)


@pytest.fixture(scope="module")
def fitted(corpus):
    return LDA(7, n_sweeps=6, n_samples=3, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def file(fitted, tmp_path_factory):
    fitted.save(path := tmp_path_factory.mktemp("model") / "model.topoi")
    return path


@pytest.fixture
def small(monkeypatch):
    """All models are large ones."""
    monkeypatch.setattr(mapped, "MAPPED", 1)
    monkeypatch.setattr(mapped, "AT_ONCE", 40)
    monkeypatch.setattr(by_rows, "ENTRIES", 11)
    monkeypatch.setattr(by_rows, "WORDS", 3)
    monkeypatch.setattr(model_module, "DENSE_AT_ONCE", 30)
    monkeypatch.setattr(batches, "TABLE", 128)


def test_the_counts_of_a_small_model_are_in_memory(file):
    assert not any(is_mapped(getattr(load(file).model_, name).data) for name in COUNTS)


@pytest.mark.usefixtures("small")
def test_the_counts_of_a_large_model_stay_in_the_file(file, fitted):
    found = load(file)
    for name in COUNTS:
        ours, theirs = getattr(found.model_, name), getattr(fitted.model_, name)
        for part in ("data", "indices"):
            assert is_mapped(getattr(ours, part))
            assert getattr(ours, part).dtype == getattr(theirs, part).dtype
            assert getattr(ours, part).tobytes() == getattr(theirs, part).tobytes()
            with pytest.raises(ValueError, match="read-only"):
                getattr(ours, part)[0] = 1
    assert found.doc_topic_.flags.writeable  # all else is in memory
    assert not is_mapped(found.doc_topic_)
    found.doc_topic_[0] = 0


def test_results_are_those_of_a_model_in_memory(file, corpus, monkeypatch, request, tmp_path):
    new = Corpus.from_counts(random_counts(300, 60, 60, seed=8), WORDS)

    def results():
        made = {}
        for method in ("mean_field", "gibbs"):
            found = load(file).set_params(infer_method=method, infer_sweeps=5)
            made[method] = found.transform(new)
        model = found.model_
        made |= {
            "perplexity": found.perplexity(new),
            "completion": evaluate.document_completion(found, new, seed=3),
            "left to right": evaluate.log_likelihoods(found, new.take(slice(9)), n_particles=2),
            "components": found.components_,
            "totals": model.topic_counts,
            "totals again": model.topic_counts,
            "words": found.top_words(4),
            "all words": model.top_words(60),
            "no words": model.top_words(0),
            "rows": model.word_rows([5, 3, 3], np.float32),
            "fingerprint": topics_fingerprint([model]),
            "shown": shown_topics([model], WordTable()),
        }
        load(file).save(tmp_path / "again.topoi")
        made["file"] = (tmp_path / "again.topoi").read_bytes()
        assert made["file"] == file.read_bytes()
        return made

    in_memory = results()
    request.getfixturevalue("small")
    assert len(batches_by_words(new, 8)) > 1
    in_file = results()
    for name, value in in_memory.items():
        np.testing.assert_equal(in_file[name], value, name)
        if isinstance(value, np.ndarray):
            assert in_file[name].tobytes() == value.tobytes()
            assert in_file[name].dtype == value.dtype


@pytest.mark.usefixtures("small")
def test_a_large_model_of_labels_predicts_as_before(monkeypatch, tmp_path):
    counts, labels = random_counts(80, 30, 20, seed=1), np.arange(80) % 3
    fitted = MedLDAClassifier(4, n_sweeps=5, random_state=0).fit(counts, labels)
    fitted.save(tmp_path / "model")
    found = load(tmp_path / "model")
    assert all(is_mapped(model.counts.data) for model in found.topic_models_)
    np.testing.assert_array_equal(found.decision_function(counts), fitted.decision_function(counts))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("part", ["counts.data", "counts.indices"])
def test_damage_is_seen_although_counts_are_not_read(file, tmp_path, part):
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    name = next(name for name in header if name.endswith(part))
    data[8 + size + header[name]["data_offsets"][1] - 8] ^= 1
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "model")


@pytest.mark.usefixtures("small")
@pytest.mark.skipif(os.name == "nt", reason="Windows replaces no file that is mapped")
def test_a_model_can_take_the_place_of_its_own_file(fitted, tmp_path):
    fitted.model_.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    found = TopicModel.load(tmp_path / "model")
    assert is_mapped(found.counts.data)
    found.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    np.testing.assert_array_equal(found.counts.toarray(), fitted.model_.counts.toarray())


def test_what_is_too_large_is_not_made(fitted, corpus, monkeypatch):
    monkeypatch.setattr(model_module, "MOST_PROBABILITIES", 7 * 60 - 1)
    again = LDA(**fitted.get_params())
    again.__dict__.update({k: v for k, v in vars(fitted).items() if k != "_components"})
    for make in (lambda: again.components_, lambda: again.model_.topic_word()):
        with pytest.raises((TooLargeError, AttributeError), match=r"7 × 60 numbers.*top_words\(\), transform\(X\)"):
            make()
    assert not hasattr(again, "components_")
    assert len(again.top_words(3)) == again.n_topics_ == 7
    assert again.transform(corpus.take([0])).shape == (1, 7)
    monkeypatch.setattr(model_module, "MOST_PROBABILITIES", 7 * 60)
    assert again.components_.shape == (7, 60)


@pytest.mark.parametrize(
    "change",
    [
        lambda lda, X: lda.partial_fit(X),
        lambda lda, X: lda.resume(X, 2),
        lambda lda, X: lda.apply([{"edit": "merge", "topics": [1, 4]}, {"edit": "name", "topic": 0, "name": "a"}]),
        lambda lda, X: lda.apply([{"edit": "split", "topic": 2}], X),
        lambda lda, X: copy.deepcopy(lda),
        lambda lda, X: pickle.loads(pickle.dumps(lda)),
    ],
    ids=["partial_fit", "resume", "merge", "split", "copy", "pickle"],
)
def test_models_that_are_made_of_it(change, file, corpus, request):
    """They work on counts in memory, to which they write."""
    expected = change(load(file), corpus)
    request.getfixturevalue("small")
    found = change(load(file), corpus)
    assert found.components_.tobytes() == expected.components_.tobytes()
    assert found.transform(corpus).tobytes() == expected.transform(corpus).tobytes()


@pytest.mark.parametrize("pairs", [distances.MOST_PAIRS, 400])
def test_the_page_of_a_large_model(pairs, file, corpus, request, monkeypatch, tmp_path):
    """Of each part only the words that may be shown are kept; and of the rarest words of topics fewer are compared."""
    monkeypatch.setattr(distances, "MOST_PAIRS", pairs)
    monkeypatch.setattr(distances, "WORDS", 7)
    monkeypatch.setattr(relevance, "N_SHOWN", 2)
    write_report(tmp_path / "memory.html", load(file), X=corpus)
    request.getfixturevalue("small")
    write_report(tmp_path / "file.html", load(file), X=corpus)
    assert (tmp_path / "file.html").read_bytes() == (tmp_path / "memory.html").read_bytes()


# ---- Parts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("entries", "words"), [(1, 100), (5, 100), (50, 2), (10**6, 1), (10**6, 10**6)])
def test_blocks_of_rows_are_all_rows(monkeypatch, entries, words):
    monkeypatch.setattr(by_rows, "ENTRIES", entries)
    monkeypatch.setattr(by_rows, "WORDS", words)
    rng = np.random.default_rng(0)
    table = rng.poisson(0.7, (40, 6)) * (rng.random((40, 1)) < 0.6)  # some words are without a count
    table[:, 4] = 0
    counts = sparse.csr_array(table)
    blocks = list(row_blocks(counts))
    if counts.nnz > entries:
        assert all(block.nnz <= max(entries, 6) for _, block in blocks)
        assert all(block.shape[0] <= words for _, block in blocks)
    firsts = [first for first, _ in blocks]
    assert firsts == np.cumsum([0, *(block.shape[0] for _, block in blocks[:-1])]).tolist()
    np.testing.assert_array_equal(np.concatenate([block.toarray() for _, block in blocks]), table)
    np.testing.assert_array_equal(topic_totals(counts), table.sum(0))
    np.testing.assert_array_equal(word_totals(counts), table.sum(1))
    for n in (0, 1, 3, 40):
        wanted = [[w for w in np.argsort(-column, kind="stable")[:n] if column[w] > 0] for column in table.T]
        assert top_words(counts, n) == wanted


def test_batches_have_few_words(monkeypatch):
    corpus = Corpus.from_counts(random_counts(900, 50, 60, seed=2))
    assert len(corpus.block_ptr) > 4
    for table in (1, 200, 400, 10**6):
        monkeypatch.setattr(batches, "TABLE", table)
        found = batches_by_words(corpus, 8)
        assert [begin for begin, _ in found] + [len(corpus.block_ptr) - 1] == [0] + [end for _, end in found]
        for begin, end in found:
            first, last = corpus.doc_ptr[corpus.block_ptr[[begin, end]]]
            assert end - begin == 1 or len(np.unique(corpus.words[first:last])) <= table // 8
    assert len(found) == 1


def test_pieces_and_limits(monkeypatch, tmp_path):
    monkeypatch.setattr(mapped, "AT_ONCE", 24)
    array = np.random.default_rng(0).integers(-50, 50, (5, 7))
    np.testing.assert_array_equal(np.concatenate(list(pieces(array))), array.ravel())
    assert max(len(piece) for piece in pieces(array)) == 3
    assert limits(array) == (array.min(), array.max())
    assert limits(array[:0]) == (0, 0)


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="memory cannot be given back here")
def test_what_a_user_wrote_to_his_copy_of_a_mapped_file_stays(tmp_path):
    (tmp_path / "file").write_bytes(bytes(64))
    own = np.memmap(tmp_path / "file", np.int64, "c").view(np.ndarray)
    own[:] = 7
    looked_at = own.view()
    looked_at.flags.writeable = False
    for array in (own, looked_at):
        give_back(array)
        assert own.tolist() == [7] * 8
        assert not is_mapped(array)
