"""What a fit on a cluster is made of, by itself: batches and spans of groups, their counts, and what Dask says."""

from __future__ import annotations

import pickle
import threading
from itertools import pairwise

import numpy as np
import pytest

import topoi
from support.corpora import random_counts
from topoi import LDA, Corpus
from topoi.chain.counts.spectra import document_spectrum, merge
from topoi.chain.engines.cluster import EngineError, _counts, _job, _words, _workers
from topoi.chain.engines.cluster._job import Job, Layout
from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state, topic_counts

X = random_counts(300, 200, 60, seed=2)


def counted_states(most, n_words=40, n_topics=3):
    """Groups of documents whose pairs of word and topic are there up to `most` times; half of the words are rare."""
    rng = np.random.default_rng(most)
    for seed in range(4):
        x = rng.integers(0, most + 1, (3, n_words)) * (rng.random((3, n_words)) < np.repeat([0.9, 0.005], n_words // 2))
        yield new_state(Corpus.from_counts(x), fixed_priors(np.ones(n_topics), 0.1), seed)


@pytest.mark.parametrize("kind", [_counts.ByTokens, _counts.ByWords])
@pytest.mark.parametrize("most", [1, 254, 255, 256, 511, 3000])
def test_counts_of_a_span_add_up(most, kind, tmp_path):
    """Also those of a pair that is there more often than a byte says, in one group or in all together."""
    edges = np.array([0, 19, 21, 40])
    counter, expected = kind(3, edges), np.zeros((40, 3))
    for made in counted_states(most):
        counter.add(made)
        expected += topic_counts(made)[0]
    counted = counter.counted()
    assert kind is _counts.ByWords or {type(part) for part in counted} == {_counts.Bytes, _counts.Entries}
    _counts.write_counts(tmp_path / "counts", counted)
    tables = [np.zeros((last - first, 3)) for first, last in pairwise(edges)]
    for shard, table in enumerate(tables):
        _counts.add_file(tmp_path / "counts", shard, table.reshape(-1))
        again = np.zeros_like(table)
        _counts.add_entries(*_counts.table_entries(table), again.reshape(-1))
        np.testing.assert_array_equal(again, table)
    np.testing.assert_array_equal(np.vstack(tables), expected)


@pytest.mark.parametrize(
    ("sampler", "n_topics", "flushed"), [("partial", 6, 0), ("partial", 3000, 8), ("delayed", 3000, 0)]
)
def test_rows_are_flushed_where_the_scale_has_changed_them(sampler, n_topics, flushed, monkeypatch):
    """Of 3,000 topics some have no tokens, and are drawn anew. Mostly tasks have written the rows as they stay."""
    seen = []
    true = _words.flush_shared
    monkeypatch.setattr(_words, "flush_shared", lambda *given: seen.append(true(*given)))
    settings = {"n_topics": n_topics, "n_sweeps": 8, "n_samples": 1, "random_state": 0, "topic_word_prior": 1e-3}
    LDA(**settings, sampler=sampler, engine="blocks").fit(X[:9])
    assert len(seen) == flushed


def test_spans_are_all_groups_in_order(monkeypatch):
    layout = Layout.of(Corpus.from_counts(X), 6)
    tokens, groups = np.diff(layout.tokens), list(range(layout.n_groups))
    for most in (1, 3 * int(tokens.max()), 2**40):
        monkeypatch.setattr(_job, "SPAN", most)
        spans = layout.spans(_workers.batches(groups, 1))
        assert [group for span in spans for group in range(*span)] == groups
        assert all(tokens[slice(*span)].sum() <= most or span.last == span.first + 1 for span in spans)
        assert (len(spans) < len(groups)) == (most > 1)
    assert len(spans) == len(_workers.batches(groups, 1))


def test_histograms_add_up():
    state = new_state(Corpus.from_counts(X), fixed_priors(np.ones(5), 0.1), 3)
    whole = document_spectrum(state, topoi.chain.loop.Pool(1))
    halves = [whole._replace(times=whole.times // 2), whole._replace(times=whole.times - whole.times // 2)]
    for name, part in zip(whole._fields, merge(halves[::-1]), strict=True):
        np.testing.assert_array_equal(part, getattr(whole, name))


def test_a_pickle_forgets_a_connection():
    """Which could not be pickled."""
    assert pickle.loads(pickle.dumps(LDA(engine=threading.Lock()))).engine is None
    assert pickle.loads(pickle.dumps(LDA(engine="blocks"))).engine == "blocks"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("CancelledError", r"lost tasks \(all those workers died\); with .*checkpoint=folder.* goes on"),
        ("KilledWorker", r"tasks of sweep 3, “counts and φ”, have ended several workers\. As a rule .* goes on"),
    ],
)
def test_a_cluster_that_gives_up(name, says, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    given_up = type(name, (Exception,), {})

    class Client:
        cancelled = None

        def nthreads(self):
            return {"a worker": 1, "another": 1}

        def map(self, work, items, **_):
            return items

        def gather(self, futures):
            raise given_up("all those workers died")

        def cancel(self, futures):
            self.cancelled = futures

    monkeypatch.setattr("distributed.wait", lambda futures, timeout: None)
    client = Client()
    job = Job(str(tmp_path), str(tmp_path), 1, 1, 0, "float32", "", fixed_priors([1.0], 0.1))
    with pytest.raises(EngineError, match=says):
        _workers.Dask(client, print).map(_words.draw, job, over=[1, 2], sweep=3)
    assert client.cancelled == [[1], [2]]


@pytest.mark.parametrize("n", [0, 1, 7, 33, 1000])
@pytest.mark.parametrize("n_threads", [1, 2, 64])
def test_batches_are_all_items_in_order_and_end_small(n, n_threads):
    found = _workers.batches(list(range(n)), n_threads)
    assert [item for batch in found for item in batch] == list(range(n))
    sizes = [len(batch) for batch in found]
    assert sizes == sorted(sizes, reverse=True)
    assert all(sizes)
    if n >= 2 * n_threads:
        assert sizes[0] <= -(-n // (2 * n_threads))  # at most half of what a thread has to do
        assert sizes[-n_threads:] == [1] * n_threads  # no thread is late by more than one item
    if n == 33 and n_threads == 2:
        assert sizes == [9, 6, 5, 4, 3, 2, 1, 1, 1, 1]
