"""Models in object stores: what is saved at a URL is loaded from it; what else is there is an error that names it."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from support.corpora import random_counts
from support.object_store import SECRET, change, objects
from topoi import LDA, MedLDAClassifier
from topoi._disk import remote
from topoi._disk.store import ModelError
from topoi.errors import MissingObjectError

X = random_counts(30, 40, 20, seed=2)


@pytest.fixture(scope="module")
def model():
    return LDA(4, n_sweeps=2, random_state=0, progress=False).fit(X)


def test_saved_and_loaded(store, model, tmp_path):
    url = f"{store}/models/a.topoi"
    model.save(url)
    model.save(tmp_path / "a.topoi")
    raw = remote.read(remote.locate(url))
    assert raw == (tmp_path / "a.topoi").read_bytes(), "a file by any other name"
    assert SECRET.encode() not in raw
    for load in (topoi.load, LDA.load):
        np.testing.assert_array_equal(load(url).components_, model.components_)
    assert objects(store) == ["models/a.topoi"]


def test_replaced(store, model):
    url = f"{store}/a.topoi"
    LDA(2, n_sweeps=1).fit(X).save(url)
    model.save(url, documents=False)
    assert topoi.load(url).n_topics == 4


def test_a_save_that_fails_leaves_the_old_one(memory, model, monkeypatch):
    url = f"{memory}/a.topoi"
    model.save(url)
    monkeypatch.setattr(remote, "AT_ONCE", -1)

    def fail(*_, **__):
        raise ConnectionResetError("gone")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.put_file", fail)
    with pytest.raises(remote.StorageError, match=f"{url}: the store cannot be reached.*gone"):
        LDA(2, n_sweeps=1).fit(X).save(url)
    assert topoi.load(url).n_topics == 4


def test_no_model(store):
    with pytest.raises(MissingObjectError, match=f"{store}/a.topoi: there is no such object"):
        topoi.load(f"{store}/a.topoi")


@pytest.mark.parametrize("how", [lambda raw: raw[:-9], lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), lambda raw: b"{}"])
def test_damaged(how, memory, model):
    url = f"{memory}/a.topoi"
    model.save(url)
    change(url, how)
    with pytest.raises(ModelError, match=f"^{url}: (damaged|not a topoi model)"):
        topoi.load(url)


def test_another_class(memory, model):
    model.save(f"{memory}/a.topoi")
    with pytest.raises(ModelError, match=f"^{memory}/a.topoi: holds a LDA, not a MedLDAClassifier"):
        MedLDAClassifier.load(f"{memory}/a.topoi")
