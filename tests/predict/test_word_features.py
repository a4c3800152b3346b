"""Words as columns: scikit-learn's tf-idf where the power is 1, and rows of length 1."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

from topoi import Corpus
from topoi.predict.word_features import POWERS, bag_of_words, inverse_document_frequency, tf_idf


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (25, 14))
    X[3] = X[24] = 0
    return X


def test_as_scikit_learn(counts):
    bag = bag_of_words(Corpus.from_counts(counts))
    np.testing.assert_array_equal(bag.toarray(), counts)
    found = tf_idf(bag, inverse_document_frequency(bag), 1.0)
    expected = TfidfTransformer(sublinear_tf=True).fit_transform(counts.astype(float))
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-6)


@pytest.mark.parametrize("power", POWERS)
def test_rows_have_length_one(counts, power):
    bag = bag_of_words(Corpus.from_counts(counts))
    lengths = np.linalg.norm(tf_idf(bag, inverse_document_frequency(bag), power).toarray(), axis=1)
    np.testing.assert_allclose(lengths, (counts.sum(1) > 0).astype(float), atol=1e-6)


def test_the_power_speaks_for_rare_words(counts):
    bag = bag_of_words(Corpus.from_counts(counts))
    idf = inverse_document_frequency(bag)
    rare, common = idf.argmax(), idf.argmin()
    both = np.flatnonzero((counts[:, rare] > 0) & (counts[:, common] > 0))[0]
    shares = [tf_idf(bag, idf, power).toarray()[both, [rare, common]] for power in POWERS]
    ratios = [share[0] / share[1] for share in shares]
    assert ratios == sorted(ratios)
    assert ratios[0] < ratios[-1]
