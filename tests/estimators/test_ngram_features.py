"""N-grams among the word features: where the order of words tells the answer, they are what finds it."""

from __future__ import annotations

import contextlib
import json
import pickle

import numpy as np
import pytest

from support.labelled import quick, quick_regressor
from support.saved_models import JUNK, header_of, nodes, replaced
from topoi import LDA, Corpus, CorpusError, MedLDAClassifier, load
from topoi._disk.store import ModelError, _digest
from topoi.corpus import Ngrams
from topoi.predict.reasons import PARTS
from topoi.predict.word_features import bag_of_words, inverse_document_frequency, tf_idf, with_ngrams

N = 180
#: The same words, in three orders: no bag of them tells the kinds apart.
ORDERS = (["not", "good", "but", "bad"], ["not", "bad", "but", "good"], ["but", "not", "bad", "good"])


class Reviews:
    """Documents of other words, in which one of the orders stands; `kind` says which."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        others = np.array([f"w{i}" for i in range(20)])
        self.kind = np.arange(n) % 3
        self.documents = [
            [*rng.choice(others, 6).tolist(), *ORDERS[kind], *rng.choice(others, 6).tolist()] for kind in self.kind
        ]
        self.two = np.array(["poor", "fine"])[(self.kind > 0).astype(int)]
        self.several = np.column_stack((self.kind > 0, self.kind == 2)).astype(int)
        self.number = np.array([-1.0, 1.0, 3.0])[self.kind] + rng.normal(0, 0.1, n)
        self.count = rng.poisson(np.array([1.0, 8.0, 20.0])[self.kind]).astype(float)
        self.vocabulary = [*others.tolist(), "bad", "good"]  # "not" and "but" are stop words


@pytest.fixture(scope="module")
def train():
    return Reviews(N, 0)


@pytest.fixture(scope="module")
def test():
    return Reviews(90, 1)


@pytest.fixture(scope="module")
def corpus(train):
    return Corpus.from_tokens(train.documents, train.vocabulary, ngrams=2)


@pytest.fixture(scope="module")
def new(test, corpus):
    return Corpus.from_tokens(test.documents, like=corpus)


@pytest.fixture(scope="module")
def model(train, corpus):
    return quick(refit=True).fit(corpus, train.kind)


@pytest.mark.parametrize("strategy", ["multitask", "ovr", "ovo"])
def test_classes(train, test, corpus, new, strategy):
    model = quick(refit=True, strategy=strategy).fit(corpus, train.kind)
    assert model.score(new, test.kind) > 0.95
    assert model.refit_settings_["ngrams"] > 0
    assert model.ngrams_ is corpus.ngrams
    bare = quick(refit=True, strategy=strategy).fit(corpus.take(range(N)).in_memory.to_counts(), train.kind)
    assert bare.ngrams_ is None
    assert "ngrams" not in bare.refit_settings_
    assert bare.score(new.to_counts(), test.kind) < 0.6


@pytest.mark.parametrize(("kind", "settings"), [
    ("two", {}), ("several", {}), ("kind", {"loss": "ordinal"}), ("kind", {"loss": "softmax"}),
    ("two", {"loss": "logistic"}),
])  # fmt: skip
def test_labels_of_every_kind(train, test, corpus, new, kind, settings):
    model = quick(refit=True, **settings).fit(corpus, getattr(train, kind))
    assert (model.predict(new) == getattr(test, kind)).mean() > 0.9


@pytest.mark.parametrize(("kind", "loss"), [
    ("number", "epsilon_insensitive"), ("number", "squared"), ("count", "counts"),
])  # fmt: skip
def test_numbers(train, test, corpus, new, kind, loss):
    model = quick_regressor(refit=True, loss=loss).fit(corpus, getattr(train, kind))
    assert model.score(new, getattr(test, kind)) > 0.7
    bare = quick_regressor(refit=True, loss=loss).fit(corpus.to_counts(), getattr(train, kind))
    assert bare.score(new.to_counts(), getattr(test, kind)) < 0.3


def test_topics_do_not_see_them(train, corpus, model):
    bare = quick(refit=True).fit(Corpus(corpus.words, corpus.doc_ptr, corpus.n_words, corpus.vocabulary), train.kind)
    np.testing.assert_array_equal(model.components_, bare.components_)
    np.testing.assert_array_equal(model.doc_topic_, bare.doc_topic_)
    lda = LDA(4, n_sweeps=4, random_state=0)
    np.testing.assert_array_equal(lda.fit(corpus).components_, lda.fit(corpus.to_counts()).components_)
    assert lda.ngrams_ is None


def test_weights_are_named(model, corpus):
    assert model.word_weights_.shape == (3, corpus.n_words)
    assert model.ngram_weights_.shape == (3, len(corpus.ngrams))
    best = corpus.ngrams.names[model.ngram_weights_.argmax(1)]
    assert best[0] in ("not good", "good but", "but bad")
    assert best[2] in ("but not", "bad good")
    assert quick().fit(corpus, np.arange(N) % 2).ngram_weights_.size == 0


def test_reasons_add_up(model, new):
    scores = model.decision_function(new)
    names = set()
    for row, document in zip(scores, model.explain(new, n_topics=99, n_words=999), strict=True):
        for score, reason in zip(row, document, strict=True):
            assert sum(reason.parts[part] for part in PARTS) == pytest.approx(score, abs=1e-5)
            assert sum(part for _, part in reason.own_words) == pytest.approx(reason.parts["words"], abs=1e-5)
            names |= {name for name, _ in reason.own_words}
            assert not any(" " in word for word, _ in reason.words)
    assert {"not good", "but bad", "good", "bad"} <= names


def test_new_documents_must_have_them(model, new, corpus, test):
    for bare in (new.to_counts(), Corpus.from_tokens(test.documents, corpus.vocabulary)):
        for method in (model.predict, model.predict_proba, model.explain):
            with pytest.raises(CorpusError, match=r"n-grams among its columns, but X has none.*like=model"):
                method(bare)
    assert model.transform(new.to_counts()).shape == (90, 4)  # topics are of words
    other = Corpus.from_tokens(test.documents, corpus.vocabulary, ngrams=2)
    changed = corpus.ngrams.names.copy()
    changed[3] = "no such"
    with pytest.raises(CorpusError, match="n-gram 3 of X is 'no such', but"):
        model.predict(new.with_ngrams(Ngrams(changed, 2), new.about["ngrams"]))
    if len(other.ngrams) != len(corpus.ngrams):
        with pytest.raises(CorpusError, match=rf"X has {len(other.ngrams)} n-grams of 2 words, the model"):
            model.predict(other)


def test_new_texts_are_read_like_the_model(model, test):
    texts = [" ".join(document) for document in test.documents]
    np.testing.assert_array_equal(
        model.predict(Corpus.from_texts(texts, like=model)),
        model.predict(Corpus.from_tokens(test.documents, like=model)),
    )
    unfitted = MedLDAClassifier()
    with pytest.raises(AttributeError):
        _ = unfitted.vocabulary_


def test_a_model_without_them_does_not_look_at_them(train, corpus, new):
    for settings in ({"refit": False}, {"refit": True, "word_features": None}):
        model = quick(**settings).fit(corpus, train.kind)
        assert model.ngrams_ is None
        np.testing.assert_array_equal(model.decision_function(new), model.decision_function(new.to_counts()))


def test_pilots_leave_out_what_says_nothing():
    """Words in no order: their neighbours say nothing that they do not."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 2
    documents = [[f"w{i}" for i in rng.integers(0, 8, 12) + 4 * kind] for kind in y]
    corpus = Corpus.from_tokens(documents, ngrams=2)
    model = quick(refit=True).fit(corpus, y)
    assert len(corpus.ngrams) > 50
    assert model.ngrams_ is None
    assert model.predict(corpus.to_counts()).shape == (150,)


def test_few_documents_have_the_usual_settings(train, corpus, new):
    model = quick(refit=True).fit(corpus.take(range(30)), train.kind[:30])
    assert model.refit_settings_["ngrams"] == 0.6
    assert model.predict(new).shape == (90,)


@pytest.mark.parametrize("settings", [{"n_jobs": 2}, {"engine": "blocks"}])
def test_the_same_bytes(train, corpus, new, model, settings):
    again = quick(refit=True, **settings).fit(corpus, train.kind)
    np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))


def test_from_the_folder_of_a_corpus(train, corpus, new, model, tmp_path):
    corpus.save(tmp_path / "train")
    new.save(tmp_path / "new")
    again = quick(refit=True).fit(tmp_path / "train", train.kind)
    np.testing.assert_array_equal(again.decision_function(tmp_path / "new"), model.decision_function(new))


def test_resumed(train, corpus, new, model, tmp_path):
    for _ in range(2):  # the second goes on from the checkpoints of the first
        again = quick(refit=True).fit(corpus, train.kind, checkpoint=tmp_path / "c")
        np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))


def test_unlabelled_documents_take_part(train, corpus, test, new):
    mask = np.arange(N) % 5 == 0
    model = quick(refit=True).fit(corpus, train.kind, unlabelled=mask)
    assert model.score(new, test.kind) > 0.9


def test_saved(model, new, tmp_path):
    model.save(tmp_path / "m")
    for loaded in (load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert loaded.ngrams_.names.tolist() == model.ngrams_.names.tolist()
        np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
        assert loaded.explain(new.take([0])) == model.explain(new.take([0]))
        assert loaded.predict(Corpus.from_texts(["not good but bad"], like=loaded)).tolist() == [0]
    loaded = load(tmp_path / "m")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def rewritten(path, change):
    """The file with another header, whose digest is right."""
    from safetensors.numpy import load_file, save_file

    header, arrays = header_of(path), load_file(path)
    header.pop("digest")
    header = change(header)
    header["digest"] = _digest(header, arrays)
    save_file(arrays, path, {"topoi": json.dumps(header)})


def places(header):
    """Where a file speaks of n-grams."""
    found = []
    for path in nodes(header["root"]):
        place = header["root"]
        for key in path:
            place = place[key]
        whole = isinstance(place, dict) and place.get("is") == "Ngrams"
        if whole or path[-1] in ("n_ngrams", "ngrams", "largest", "smallest"):
            found.append(path)
    return found


def fields_of_ngrams(header):
    """The fields of n-grams in a file."""
    for path in nodes(header["root"]):
        place = header["root"]
        for key in path:
            place = place[key]
        if isinstance(place, dict) and place.get("is") == "Ngrams":
            yield place["fields"]


def test_a_file_that_lies_is_told_so(model, new, tmp_path):
    model.save(tmp_path / "m")
    good = (tmp_path / "m").read_bytes()
    found = places(header_of(tmp_path / "m"))
    assert len(found) == 5  # the scale, the number, the vocabulary, its largest and smallest
    for path in found:
        for junk in [*JUNK, 1, 4, 11.0, -0.5, {"is": "float", "text": "inf"}]:
            rewritten(tmp_path / "m", lambda header: header | {"root": replaced(header["root"], path, junk)})  # noqa: B023
            try:
                loaded = load(tmp_path / "m")
            except ModelError:
                pass
            else:  # another scale, say; or n-grams of one word, which the documents do not have
                with contextlib.suppress(CorpusError):
                    assert np.isfinite(loaded.decision_function(new)).all()
            (tmp_path / "m").write_bytes(good)


@pytest.mark.parametrize("largest", [1, 2])
def test_files_of_earlier_versions_do_not_tell_the_fewest_words(train, largest, tmp_path):
    corpus = Corpus.from_tokens(train.documents, train.vocabulary, ngrams=largest)
    model = quick(refit=True).fit(corpus.take(range(30)), train.kind[:30])
    model.save(tmp_path / "m")

    def older(header):
        for fields in fields_of_ngrams(header):
            assert fields.pop("smallest") == largest
        return header

    rewritten(tmp_path / "m", older)
    assert load(tmp_path / "m").ngrams_.sizes == (largest, largest)
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(corpus), model.decision_function(corpus))


def test_other_words_and_pairs_together(train, test, tmp_path):
    """Other words tell one half of the answer here, and pairs the other."""

    def documents(data):
        return [[*words, f"20{i % 2}"] for i, words in enumerate(data.documents)]

    def kinds(data):
        return np.arange(len(data.documents)) % 2 + 2 * (data.kind > 0)

    corpus = Corpus.from_tokens(documents(train), train.vocabulary, ngrams=(1, 2))
    model = quick(refit=True).fit(corpus, kinds(train))
    assert {"200", "201", "not", "not good", "but bad"} <= set(model.ngrams_.names)
    new = Corpus.from_tokens(documents(test), like=model)
    assert model.score(new, kinds(test)) > 0.95
    for ngrams in (1, 2):
        one = Corpus.from_tokens(documents(train), train.vocabulary, ngrams=ngrams)
        part = quick(refit=True).fit(one, kinds(train))
        assert part.score(Corpus.from_tokens(documents(test), like=part), kinds(test)) < 0.8
    for reason in model.explain(new)[0]:
        assert sum(reason.parts[part] for part in PARTS) == pytest.approx(reason.score)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.ngrams_.sizes == (1, 2)
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))


@pytest.mark.parametrize("change", [
    lambda names: names["items"].pop(), lambda names: names["items"].__setitem__(0, names["items"][1]),
    lambda names: names["items"].__setitem__(0, 3), lambda names: names.update(shape=[len(names["items"]), 1]),
])  # fmt: skip
def test_names_that_cannot_be(model, change, tmp_path):
    model.save(tmp_path / "m")

    def lie(header):
        for fields in fields_of_ngrams(header):
            change(fields["names"])
        return header

    rewritten(tmp_path / "m", lie)
    with pytest.raises(ModelError):
        load(tmp_path / "m")


def test_columns_after_those_of_the_words(corpus):
    bag = with_ngrams(bag_of_words(corpus), corpus)
    idf = inverse_document_frequency(bag)
    whole = tf_idf(bag, idf, 1.0, len(corpus.ngrams), 0.5).toarray()
    np.testing.assert_allclose(np.linalg.norm(whole, axis=1), 1, rtol=1e-6)
    plain = tf_idf(bag, idf, 1.0).toarray()
    there = (plain[:, 0] > 0) & (plain[:, corpus.n_words :] > 0).any(1)
    d = int(np.flatnonzero(there)[0])
    column = corpus.n_words + int(np.flatnonzero(plain[d, corpus.n_words :])[0])
    assert whole[d, column] / whole[d, 0] == pytest.approx(0.5 * plain[d, column] / plain[d, 0], rel=1e-5)
    words = bag_of_words(corpus)
    np.testing.assert_allclose(
        tf_idf(bag, idf, 2.0, len(corpus.ngrams), 0.0).toarray()[:, : corpus.n_words],
        tf_idf(words, inverse_document_frequency(words), 2.0).toarray(), rtol=1e-6,
    )  # fmt: skip
