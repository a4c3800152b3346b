"""Estimators in files: what comes back is what was saved, and a file that lies is told so."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError

import topoi
from support.labelled import Documents
from support.places import GOLDEN
from support.saved_models import JUNK, MAKERS, QUICK, answers, header_of, nodes, replaced
from support.variants import slow_but
from topoi import LDA, Corpus, MedLDAClassifier, TopicModel
from topoi._disk.store import ModelError, StoreError, _digest


@pytest.fixture(scope="module")
def data():
    return Documents(60, seed=3)


@pytest.fixture(scope="module")
def fitted(data):
    """Every kind, fitted when asked for."""
    made = {}

    def get(kind):
        if kind not in made:
            made[kind] = MAKERS[kind](data)
        return made[kind]

    return get


@pytest.mark.parametrize("kind", MAKERS)
def test_comes_back(kind, fitted, data, tmp_path):
    model = fitted(kind)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert repr(loaded.get_params()) == repr(model.get_params())
    assert set(vars(loaded)) == set(vars(model))
    assert answers(loaded, data.X) == answers(model, data.X)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert answers(topoi.load(tmp_path / "model"), data.X) == answers(model, data.X)


def test_goes_on(fitted, data, tmp_path):
    """A loaded LDA takes new documents as the saved one does."""
    model = LDA(**QUICK).fit(data.X)
    model.save(tmp_path / "model")
    loaded = LDA.load(tmp_path / "model")
    assert answers(loaded.partial_fit(data.X[:9]), data.X) == answers(model.partial_fit(data.X[:9]), data.X)


def test_without_documents(fitted, data, tmp_path):
    model = fitted("many")
    model.save(tmp_path / "model")
    model.save(tmp_path / "small", documents=False)
    loaded = MedLDAClassifier.load(tmp_path / "small")
    assert answers(loaded, data.X) == answers(model, data.X)
    assert not hasattr(loaded, "doc_topic_")
    saved = (tmp_path / "model").stat().st_size - (tmp_path / "small").stat().st_size
    assert saved >= model.doc_topic_.nbytes


def test_what_cannot_be_saved_is_left_out(data, tmp_path):
    model = LDA(**QUICK | {"callbacks": [lambda progress: None], "random_state": np.random.RandomState(0)}).fit(data.X)
    model.save(tmp_path / "model")
    loaded = LDA.load(tmp_path / "model")
    assert loaded.callbacks is None
    assert loaded.random_state is None
    assert answers(loaded, data.X) == answers(model, data.X)


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        LDA().save(tmp_path / "model")


def test_labels_of_times_and_of_odd_types(data, tmp_path):
    days = np.datetime64("2024-01-01") + data.many.astype("timedelta64[D]")
    labels = Corpus, days  # what a file cannot hold, and what it can
    model = MedLDAClassifier(**QUICK).fit(data.X, data.many)
    model.classes_ = model._labels.__dict__["classes"] = np.unique(labels[1])
    model.save(tmp_path / "model")
    assert MedLDAClassifier.load(tmp_path / "model").predict(data.X).dtype == days.dtype
    model.classes_ = model._labels.__dict__["classes"] = np.array([labels[0]] * 5)
    with pytest.raises(StoreError, match="classes"):
        model.save(tmp_path / "model")


def test_another_class(fitted, tmp_path):
    fitted("lda").save(tmp_path / "lda")
    fitted("many").save(tmp_path / "many")
    with pytest.raises(ModelError, match="holds a LDA, not a MedLDAClassifier"):
        MedLDAClassifier.load(tmp_path / "lda")
    with pytest.raises(ModelError, match="MedLDAClassifier"):
        LDA.load(tmp_path / "many")
    with pytest.raises(ModelError, match="LDA"):
        TopicModel.load(tmp_path / "lda")


@pytest.mark.parametrize("kind", slow_but(["many"], ["lda", "many", "number"]))
def test_in_a_new_process(kind, fitted, data, tmp_path):
    """A file is all that is needed, whatever was imported before."""
    fitted(kind).save(tmp_path / "model")
    code = f"import topoi; print(type(topoi.load({str(tmp_path / 'model')!r})).__name__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == type(fitted(kind)).__name__


# ---- Files of earlier versions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.topoi")), ids=lambda path: path.stem)
def test_golden_file(path):
    """Models that earlier versions saved still load, and say what they said then (tests/golden/make.py)."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = topoi.load(path)
    assert type(model).__name__ == expected["class"]
    X = np.array(expected["X"])
    np.testing.assert_allclose(model.transform(X), expected["transform"], rtol=1e-4, atol=1e-6)
    if "predict" in expected:
        np.testing.assert_allclose(model.predict(X), expected["predict"], rtol=1e-4)
    if "later" in expected:
        later = expected["later"]
        model.partial_fit(np.array(later["X"]))  # which learns on what was learned, and nothing else
        np.testing.assert_allclose(model.doc_topic_prior_, later["doc_topic_prior"], rtol=1e-4)
        np.testing.assert_allclose(model.topic_word_prior_, later["topic_word_prior"], rtol=1e-4)
        np.testing.assert_allclose(model.transform(X), later["transform"], rtol=1e-4, atol=1e-6)


def test_there_are_golden_files():
    assert len(list(GOLDEN.glob("*.topoi"))) >= 3


# ---- Files that lie ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lda", "words", "ovr", "number"])
def test_well_formed_lies(kind, fitted, data, tmp_path):
    """With the digest made to fit: a typed error, or an estimator that works; never another error."""
    file = tmp_path / "model"
    fitted(kind).save(file)
    arrays = load_file(file)
    header = header_of(file)
    rng = np.random.default_rng(0)
    places = list(nodes(header["root"], ("root",)))
    tried = loaded = 0
    for path in [places[j] for j in rng.integers(0, len(places), 300)]:
        lie = replaced(header, path, JUNK[int(rng.integers(len(JUNK)))])
        lie.pop("digest")
        lie["digest"] = _digest(lie, arrays)
        save_file(arrays, file, metadata={"topoi": json.dumps(lie)})
        tried += 1
        try:
            model = topoi.load(file)
        except ModelError:
            continue
        loaded += 1
        model.transform(data.X[:2])
        if hasattr(model, "predict"):
            model.predict(data.X[:2])
    assert tried == 300
    assert loaded < 150


@pytest.mark.parametrize("kind", ["lda", "many", "number"])
def test_arrays_that_lie(kind, fitted, data, tmp_path):
    """The same with an array cut, grown, turned, or of another type."""
    file = tmp_path / "model"
    fitted(kind).save(file)
    arrays, header = load_file(file), header_of(file)
    header.pop("digest")
    changes = [lambda a: a[:-1], lambda a: np.concatenate((a, a)), lambda a: a[None], lambda a: a.astype(np.int8),
               lambda a: a.astype(np.float32), lambda a: -a if a.dtype != bool else ~a]  # fmt: skip
    refused = 0
    for name in arrays:
        for change in changes:
            lies = arrays | {name: np.ascontiguousarray(change(arrays[name]))}
            save_file(lies, file, metadata={"topoi": json.dumps(header | {"digest": _digest(header, lies)})})
            try:
                model = topoi.load(file)
            except ModelError:
                refused += 1
                continue
            model.transform(data.X[:2])
            if hasattr(model, "predict"):
                model.predict(data.X[:2])
    assert refused > len(arrays) * 2


def test_the_folder_of_a_model_says_which_file_is_meant(tmp_path):
    LDA(2, n_sweeps=5, random_state=0).fit([[1, 2], [2, 1]]).save(tmp_path / "estimator.topoi")
    with pytest.raises(ModelError, match=r"it is not a file, but a folder; a model is in it: .*estimator\.topoi$"):
        topoi.load(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"it is not a file$"):
        topoi.load(tmp_path / "empty")
