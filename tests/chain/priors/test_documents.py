"""Documents that have an α of their own: from the first topics to new documents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammaln

from support.corpora import random_counts
from topoi import LDA, Corpus, MedLDAClassifier, ParameterError
from topoi._machine.pool import Pool
from topoi.chain.counts.theta import add_shares
from topoi.chain.diagnostics import topic_logs
from topoi.chain.plan import Plan, check_priors, make_plan
from topoi.chain.priors import TOPIC_PRIORS, DocumentAlpha, FixedAlpha, FixedBeta, Priors, TopicPrior
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import document_counts, new_state
from topoi.predict.fold_in import FoldIn, infer
from topoi.predict.scores import mean_shares

X = random_counts(40, 15, 12, seed=4)
LENGTHS = X.sum(1)
#: Short documents have the first two topics only, long ones the last three.
ROWS = np.array([[0.3, 0.7, 0.0, 0.0], [0.0, 0.2, 0.5, 0.1]])
LONG = 12
OWN_ALPHA = [name for name in sorted(SAMPLERS) if SAMPLERS[name].alpha_per_document]


@dataclass(frozen=True, eq=False)
class ByLength(TopicPrior):
    """α by the length of a document."""

    name = "by length"
    word = "length"
    per_document = True

    @classmethod
    def from_value(cls, value, n_topics, corpus):
        return cls(ROWS.mean(0)) if isinstance(value, str) and value == cls.word else None

    def alpha_of(self, corpus):
        return DocumentAlpha(ROWS, (corpus.doc_lengths >= LONG).astype(np.int64))


@pytest.fixture
def known(monkeypatch):
    """The prior in its registry, and several blocks of documents and of words."""
    monkeypatch.setitem(TOPIC_PRIORS, ByLength.name, ByLength)
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: 40))


@pytest.fixture
def state(known):
    corpus = Corpus.from_counts(X)
    assert len(corpus.block_ptr) > 4
    return new_state(corpus, Priors(ByLength(ROWS.mean(0)), FixedBeta(0.1)), 3)


ALPHA = ROWS[(LENGTHS >= LONG).astype(int)]


@pytest.mark.parametrize("row_of", [[0, 0, 1, 1, 2], [2] * 5, None])
@pytest.mark.parametrize("width", [None, 16, 32])
def test_for_kernels(row_of, width):
    """Rows are padded; of those that few topics are allowed in, these are listed."""
    rows = np.array([*ROWS, [0.0, 0.0, 0.0, 0.4]])
    found = DocumentAlpha(rows, None if row_of is None else np.array(row_of)).for_kernels(5, np.float32, width)
    np.testing.assert_array_equal(found.rows[:, :4], rows.astype(np.float32))
    assert found.rows.shape == (3, width or 4)
    assert not found.rows[:, 4:].any()
    np.testing.assert_array_equal(found.row_of, row_of or [0] * 5)
    lists = [found.topics[first:last].tolist() for first, last in pairwise(found.start)]
    few = {None: [[], [], []], 16: [[0, 1], [], [3]], 32: [[0, 1], [1, 2, 3], [3]]}
    assert lists == few[width]


def test_first_topics_are_allowed_ones(state):
    n_dk = document_counts(state)
    assert (n_dk[ALPHA == 0] == 0).all()
    assert (n_dk.sum(0) > 0).all()


def test_log_joint(state):
    n_dk = document_counts(state)
    some = ALPHA > 0
    log_rise = (gammaln(n_dk[some] + ALPHA[some]) - gammaln(ALPHA[some])).sum()
    total = ALPHA.sum(1)
    expected = log_rise - (gammaln(LENGTHS + total) - gammaln(total)).sum()
    assert sum(topic_logs(state, Pool(1))) == pytest.approx(expected, rel=1e-10)


def test_shares(state):
    shares = np.zeros((len(X), 4), np.float32)
    add_shares(state, shares, Pool(1))
    expected = (document_counts(state) + ALPHA) / (LENGTHS + ALPHA.sum(1))[:, None]
    np.testing.assert_allclose(shares, expected, rtol=1e-6)


def fitted(**more):
    settings = {"n_sweeps": 6, "n_samples": 2, "random_state": 0, "doc_topic_prior": "length"}
    return LDA(4, **settings | more)


@pytest.mark.parametrize("method", ["gibbs", "mean_field"])
def test_new_documents(known, method):
    """Each is folded in with its own α, as if all had it; scores are made of its counts alone."""
    model, corpus = fitted().fit(X).model_, Corpus.from_counts(X)
    found = infer(model, corpus, 6, 1, method=method)
    for long in (False, True):
        own = (LENGTHS >= LONG) == long
        model.priors = Priors(FixedAlpha(ROWS[int(long)]), model.priors.words)
        np.testing.assert_array_equal(found[own], infer(model, corpus, 6, 1, method=method)[own])
    assert (found[ALPHA == 0] == 0).all()
    model.priors = Priors(ByLength(ROWS.mean(0)), model.priors.words)
    shares = mean_shares(model, corpus, FoldIn(6, 1, method), Pool(1))
    some = LENGTHS > 0
    expected = (found * (LENGTHS + ALPHA.sum(1))[:, None] - ALPHA)[some] / LENGTHS[some, None]
    np.testing.assert_allclose(shares[some], np.maximum(expected, 0), atol=1e-12)
    np.testing.assert_allclose(shares[some].sum(1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("sampler", [name for name in OWN_ALPHA if SAMPLERS[name].factor_class.fixed])
def test_a_fit_in_memory_and_in_blocks(known, sampler):
    found = []
    for engine in (None, "blocks"):
        model = fitted(engine=engine, sampler=sampler).fit(X)
        assert (model.doc_topic_[ALPHA == 0] == 0).all()
        found.append([array.tobytes() for array in (model.doc_topic_, model.log_joint_, model.components_)])
    assert found[0] == found[1]


@pytest.mark.parametrize("sampler", ["auto", *OWN_ALPHA])
def test_a_fit_with_responses(known, sampler):
    if sampler != "auto" and not SAMPLERS[sampler].tilts:
        pytest.skip("LDA alone")
    given = {"n_sweeps": 6, "n_samples": 2, "random_state": 0, "sampler": sampler, "doc_topic_prior": "length"}
    model = MedLDAClassifier(4, **given).fit(X, np.arange(len(X)) % 2)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("n_topics", [4, 2000])
@pytest.mark.parametrize("repeated", [1, 500])
def test_auto_means_samplers_that_can(n_topics, supervised, repeated):
    """For corpora small and large for their vocabulary, and few and many topics."""
    corpus = Corpus.from_counts(X * repeated)
    plan = make_plan("auto", corpus, n_topics, supervised)
    check_priors(plan, Priors(ByLength(ROWS.mean(0)), FixedBeta(0.1)))


@pytest.mark.parametrize("sampler", [name for name in sorted(SAMPLERS) if name not in OWN_ALPHA])
def test_samplers_that_use_one_alpha_are_refused(known, sampler):
    choices = "ad_lda, collapsed, "
    message = rf"uses the same α for all documents, but the prior 'by length' .*; samplers that can use it: {choices}"
    with pytest.raises(ParameterError, match=message) as caught:
        fitted(sampler=sampler).fit(X)
    assert caught.value.parameter == "sampler"


def test_the_first_of_two_samplers_is_checked_too(known):
    priors = Priors(ByLength(ROWS.mean(0)), FixedBeta(0.1))
    check_priors(Plan("delayed", "partial"), priors)
    for plan in (Plan("light", "partial"), Plan("partial", "light")):
        with pytest.raises(ParameterError, match="'light' uses the same α"):
            check_priors(plan, priors)
