"""Words of a document as columns beside its topics: tf-idf, with the power of the idf chosen on training data.

    x_dw = (1 + log n_dw) · idf_w^p,    idf_w = 1 + log((1 + D)/(1 + D_w)),    rows of length 1

With p = 1 this is the sublinear tf-idf of scikit-learn. The power matters more than any other choice in such a model:
what a document is about hangs on rare words (p = 2), whether a review is good on common ones (p = ½). The power is a
prior on the weights: the larger it is, the wider the prior of the weight of a rare word.

N-grams, where they were counted, are further columns after those of the words. They are many more, and most say again
what their words say: so before rows are given length 1 they are multiplied by a scale, which is chosen as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi.corpus import Corpus

#: Powers of the idf to choose from.
POWERS = (0.5, 1.0, 2.0)
#: Scales of n-grams against words to choose from; with 0 they are left out.
NGRAM_SCALES = (0.0, 0.3, 0.6, 1.0)


def bag_of_words(corpus: Corpus) -> sparse.csr_array:
    """Counts (documents, V) of the words of each document."""
    shape = (corpus.n_documents, corpus.n_words)
    ones = np.ones(corpus.n_tokens, np.float32)
    bag = sparse.csr_array((ones, np.array(corpus.words, np.int32), corpus.doc_ptr.copy()), shape=shape)
    bag.sum_duplicates()
    return bag


def with_ngrams(bag: sparse.csr_array, corpus: Corpus) -> sparse.csr_array:
    """The same with the counts of n-grams, which the corpus must have, after those of words."""
    return sparse.csr_array(sparse.hstack([bag, corpus.about["ngrams"].astype(np.float32)], "csr"))


def inverse_document_frequency(bag: sparse.csr_array) -> NDArray[np.float64]:
    """idf (V) of the words of training documents."""
    n_documents, n_words = bag.shape
    found: NDArray[np.float64] = 1 + np.log((1 + n_documents) / (1 + np.bincount(bag.indices, minlength=n_words)))
    return found


def tf_idf(
    bag: sparse.csr_array, idf: NDArray[np.float64], power: float, n_ngrams: int = 0, scale: float = 1.0,
    factor: NDArray[np.float64] | None = None,
) -> sparse.csr_array:  # fmt: skip
    """The columns of documents whose words are counted in `bag`; an empty document has a row of zeros.

    The last `n_ngrams` of them are n-grams, which are multiplied by `scale`; each is by a `factor` of its own, if any.
    """
    importance = idf**power if factor is None else idf**power * factor
    importance[len(idf) - n_ngrams :] *= scale
    values = (1 + np.log(bag.data)) * importance[bag.indices]
    squares = np.add.reduceat(np.append(values**2, 0.0), np.minimum(bag.indptr[:-1], len(values)))
    filled = np.diff(bag.indptr)
    lengths = np.where((filled > 0) & (squares > 0), np.sqrt(squares), 1.0)
    values /= np.repeat(lengths, filled)
    return sparse.csr_array((values.astype(np.float32), bag.indices, bag.indptr), shape=bag.shape)
