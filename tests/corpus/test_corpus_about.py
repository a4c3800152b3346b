"""Tables of what else is known of documents go where the documents go."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from topoi import Corpus, CorpusError

COUNTS = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 1], [1, 1, 1]])
YEARS = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 0.0], [4.0, 3.0]]))


@pytest.fixture
def corpus():
    return Corpus.from_counts(COUNTS).with_about(years=YEARS)


def rows(corpus):
    return corpus.about["years"].toarray()


def test_nothing_is_known_at_first():
    assert dict(Corpus.from_counts(COUNTS).about) == {}


def test_the_corpus_itself_does_not_change():
    bare = Corpus.from_counts(COUNTS)
    more = bare.with_about(years=YEARS).with_about(parties=YEARS[:, :1])
    assert not bare.about
    assert set(more.about) == {"years", "parties"}
    assert more.with_about() is more
    np.testing.assert_array_equal(more.words, bare.words)


@pytest.mark.parametrize("chosen", [[2, 0], slice(1, 3), [True, False, False, True]])
def test_take(corpus, chosen):
    some = corpus.take(chosen)
    np.testing.assert_array_equal(rows(some), YEARS.toarray()[chosen])
    np.testing.assert_array_equal(some.to_counts().toarray(), COUNTS[chosen])


def test_pickle(corpus):
    np.testing.assert_array_equal(rows(pickle.loads(pickle.dumps(corpus))), YEARS.toarray())


def test_in_memory(tmp_path):
    Corpus.from_counts(COUNTS).save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    _ = loaded.in_memory  # kept, without the table
    np.testing.assert_array_equal(rows(loaded.with_about(years=YEARS).in_memory), YEARS.toarray())


def test_a_row_for_every_document():
    with pytest.raises(CorpusError, match="years has 3 rows, but there are 4 documents"):
        Corpus.from_counts(COUNTS).with_about(years=YEARS[:3])
