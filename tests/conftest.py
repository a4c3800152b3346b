"""Shared fixtures: corpora, and a copy of topoi that runs without the compiler."""

from __future__ import annotations

import contextlib
import os
import signal

# Several tests run at a time, a core each: more threads, of topoi, OpenMP or BLAS, would only wait for each other.
# Set before NumPy is imported; the workers of xdist and the processes that tests start take it from here.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # joblib counts the cores for us
# A shell starts what runs in the background with Ctrl-C ignored, and so then does Python: tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import topoi.chain.engines.choose
from support import object_store
from support.copies import interpreted
from support.corpora import random_counts
from support.labelled import LOSSES, Documents, classifier
from topoi.corpus import Corpus

# The same examples on every machine, however busy it is: what a newcomer runs must not depend on luck or load. The
# search with new seeds is in verify/.
settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("same")


@pytest.fixture(scope="session")
def small_corpus():
    """A corpus for the interpreter: some 150 tokens."""
    return Corpus.from_counts(random_counts(12, 15, 14, seed=1))


@pytest.fixture(scope="session")
def blocks_corpus():
    """A corpus of several blocks of documents and of words."""
    corpus = Corpus.from_counts(random_counts(400, 300, 60, seed=2))
    assert len(corpus.block_ptr) > 4
    assert len(corpus.word_block_ptr) > 4
    return corpus


@pytest.fixture(scope="session")
def plain_samplers():
    """The samplers, run without the compiler."""
    return interpreted().SAMPLERS


@pytest.fixture(scope="session")
def train():
    """Documents with labels of every kind, to learn from."""
    return Documents(200, seed=1)


@pytest.fixture(scope="session")
def test():
    """More of them, to predict."""
    return Documents(200, seed=2)


@pytest.fixture(scope="session")
def hidden(train):
    """All but a fifth of the documents."""
    mask = np.ones(len(train.X), bool)
    mask[::5] = False
    return mask


@pytest.fixture(scope="session")
def fitted(train):
    """Fitted classifiers by loss and kind of label."""
    return {
        (loss, kind): classifier(loss=loss).fit(train.X, getattr(train, kind))
        for loss in LOSSES
        for kind in ("two", "many", "several")
    }


@pytest.fixture
def no_sampling(monkeypatch):
    def stop(*arguments, **more):
        raise AssertionError("sampling began")

    monkeypatch.setattr(topoi.chain.engines.choose, "new_state", stop)


@pytest.fixture
def listening():
    """Python's own SIGINT handler: a background job, as a CI run may be, is started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def s3_server():
    """The address of a server that speaks as S3 does; tests that need it are skipped without moto[server] and s3fs."""
    with object_store.serving() as address:
        yield address


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of objects that no other test has filled."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TOPOI_CACHE", str(folder))
    return folder


@pytest.fixture
def s3(s3_server, monkeypatch, own_cache):
    """The URL of a new bucket on it."""
    object_store.use(monkeypatch, s3_server)
    return object_store.new_bucket()


@pytest.fixture
def memory(own_cache):
    """A URL in the memory of this process."""
    fsspec = pytest.importorskip("fsspec")
    url = f"memory://bucket-{id(own_cache)}"
    yield url
    with contextlib.suppress(FileNotFoundError):
        fsspec.filesystem("memory").rm(url, recursive=True)


@pytest.fixture(params=["memory", "s3"])
def store(request):
    """The URL of an object store that has nothing, of either kind."""
    return request.getfixturevalue(request.param)
