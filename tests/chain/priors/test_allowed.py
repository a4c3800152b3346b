"""The prior of documents that may have some of the topics only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from support.corpora import random_counts
from support.exact import chi_square, corpus_of
from support.geweke import DOCUMENT, LENGTHS, choose, draw_words, functions, z_scores
from support.geweke import state_of as geweke_state
from support.naive import Tiny
from support.own_alpha import all_allowed
from support.variants import slow_but
from topoi import Corpus, ParameterError
from topoi.chain.priors import FixedAlpha, FixedBeta, Priors, resolve_priors
from topoi.chain.priors.allowed import Allowed
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state
from topoi.errors import CorpusError

CAN = [name for name in sorted(SAMPLERS) if SAMPLERS[name].alpha_per_document]
ALPHA = np.array([0.2, 0.5, 1.1])
#: Both labels, the first, the second, none, not known; the third topic is shared.
TABLE = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]])
#: One document more that has all: of five, two of four have the first label.
UNKNOWN = ALPHA * [0.6, 0.6, 1.0]
ROWS = np.array([ALPHA, ALPHA * [1, 0, 1], ALPHA * [0, 1, 1], ALPHA * [0, 0, 1], UNKNOWN])


def labelled(corpus, table=TABLE):
    return corpus.with_about(**{Allowed.about: sparse.csr_array(np.asarray(table, float))})


def five(documents=((0,), (0, 1), (1, 1), (), (0,)), n_words=2):
    return Corpus(
        np.array([w for words in documents for w in words], np.int32),
        np.cumsum([0, *map(len, documents)]).astype(np.int64),
        n_words,
    )


def allowed_prior(alpha=ALPHA):
    (prior,) = [resolve_priors(alpha, None, 3, labelled(five())).topics]
    return prior


def test_rows():
    """A document has α of its labels' topics and the shared one; one of unknown labels the average of the others."""
    prior = allowed_prior()
    assert isinstance(prior, Allowed)
    np.testing.assert_allclose(prior.alpha_of(labelled(five())).by_document(), ROWS)
    np.testing.assert_allclose(prior.alpha_of(five()).by_document(), UNKNOWN[None])
    np.testing.assert_allclose(prior.alpha_of(labelled(five()).take([3, 1])).by_document(), ROWS[[3, 1]])


def test_without_labels_it_is_not_meant():
    assert not isinstance(resolve_priors(0.1, None, 3, five()).topics, Allowed)


@pytest.mark.parametrize("value", ["learn", "auto"])
def test_values_that_cannot_be(value):
    with pytest.raises(ParameterError, match="where documents have topic labels") as caught:
        resolve_priors(value, None, 3, labelled(five()))
    assert caught.value.parameter == "doc_topic_prior"


def test_fewer_topics_than_labels_have():
    with pytest.raises(ParameterError, match="is 1, but labels have 2 topics"):
        resolve_priors(None, None, 1, labelled(five()))


def test_a_document_without_a_topic():
    corpus = labelled(five())
    prior = resolve_priors(None, None, 2, corpus).topics
    with pytest.raises(CorpusError, match="topic labels leave document 3 no topic"):
        prior.alpha_of(corpus)


def test_one_prior_has_a_say(monkeypatch):
    monkeypatch.setattr(FixedAlpha, "about", "others")
    corpus = labelled(five()).with_about(others=sparse.csr_array((5, 1)))
    with pytest.raises(ParameterError, match="but topic labels and others were given; give one of them"):
        resolve_priors(None, None, 3, corpus)
    resolve_priors(None, None, 3, labelled(five()).with_about(more=sparse.csr_array((5, 1))))


def test_a_table_of_other_labels():
    with pytest.raises(CorpusError, match="topic labels has 2 columns; this model has 3"):
        allowed_prior().alpha_of(labelled(five(), TABLE[:, 1:]))


# ---- No token leaves the topics that its document may have ---------------------------------------------------------


@given(st.data())
def test_no_token_goes_where_it_may_not(data):
    """With any sampler, any labels, and documents whose words say otherwise; with tables as large as several lanes."""
    seed = data.draw(st.integers(0, 10_000))
    name = data.draw(st.sampled_from(CAN))
    n_own, n_shared = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 3))
    rng = np.random.default_rng(seed)
    corpus = Corpus.from_counts(random_counts(25, 12, 20, seed=seed))
    table = (rng.random((25, n_own + 1)) < rng.choice([0.03, 0.5])).astype(float)
    table[:, -1] = rng.random(25) < 0.8
    table[table[:, -1] == 0] = 0
    if not n_shared:
        table[:, 0] = table[:, -1]
    corpus = labelled(corpus, table)
    state = new_state(corpus, resolve_priors(None, None, n_own + n_shared, corpus), seed)
    assert all_allowed(state)
    option = {"dense_up_to": 0} if "dense_up_to" in SAMPLERS[name].options and seed % 2 else {}
    sampler = SAMPLERS[name](state, **option)
    for _ in range(3):
        sampler.sweep()
        assert all_allowed(state)


# ---- The posterior -------------------------------------------------------------------------------------------------

# Documents of `five`, with α as the prior has it for them.
TINY = Tiny([[0], [0, 1], [1, 1], [], [0]], alpha=ROWS, beta=0.4, n_words=2)


@pytest.mark.parametrize("name", [name for name in CAN if SAMPLERS[name].exact])
def test_compiled_sweep_keeps_the_posterior(name):
    """Enumerated: from exact draws of the posterior, one sweep with this prior gives draws of it. Level 1e-4 each."""
    posterior = TINY.posterior()
    start = np.random.default_rng(31).choice(len(posterior), 4000, p=posterior)
    corpus, priors = labelled(corpus_of(TINY)), Priors(allowed_prior(), FixedBeta(TINY.beta))
    found = np.zeros(len(start), int)
    for r, first in enumerate(start):
        state = State(corpus, priors, np.array(TINY.states[first], np.uint16), 32, r)
        SAMPLERS[name](state).sweep()
        found[r] = TINY.index[tuple(state.z.tolist())]
    assert chi_square(found, posterior) > 1e-4


N_DRAWS = 6000


def draw_topics(rng):
    theta = rng.gamma(np.maximum(ROWS, 1e-9)) * (ROWS > 0)
    return choose(rng, (theta / theta.sum(1, keepdims=True))[DOCUMENT])


def allowed_state(words, z, seed, sweep):
    state = geweke_state(words, z, seed, sweep)
    state.corpus = labelled(state.corpus)
    state.priors = Priors(allowed_prior(), state.priors.words)
    return state


@pytest.mark.parametrize("name", slow_but(["collapsed"], [name for name in CAN if SAMPLERS[name].exact]))
def test_geweke(name):
    """Words and topics of the model, and those of sweeps and new words by turns, have the same distribution."""
    assert len(LENGTHS) == len(ROWS)
    rng = np.random.default_rng(33)
    prior_draws = []
    for _ in range(N_DRAWS):
        z = draw_topics(rng)
        prior_draws.append(functions(allowed_state(draw_words(rng, z), z, 0, 0)))
    chain, z = [], draw_topics(rng)
    for sweep in range(N_DRAWS):
        state = allowed_state(draw_words(rng, z), z, 34, sweep)
        SAMPLERS[name](state).sweep()
        chain.append(functions(state))
        z = state.z.astype(int)
    scores = z_scores(np.array(prior_draws), np.array(chain))
    scores = scores[~np.isnan(scores)]
    assert len(scores) >= 20
    assert np.abs(scores).max() < 4, np.round(scores, 1)
