"""Log joint, document completion and chain diagnostics against slow, obvious twins."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln

from topoi._machine.pool import Pool
from topoi._machine.rng import integer, new_stream
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.diagnostics import (
    HALVES,
    Completion,
    completion,
    completion_perplexity,
    log_joint,
    logs_above,
    rhat_ess,
    unigram_completion,
)
from topoi.chain.priors import fixed_priors
from topoi.chain.state import State, document_counts, new_state, topic_counts
from topoi.corpus import Corpus
from topoi.errors import ParameterError


def random_counts(n_documents, n_words, length, seed):
    """Counts with an empty document, a one-token document and words that never occur."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(length / n_words * rng.gamma(0.5, 2.0, n_words), (n_documents, n_words))
    X[0] = 0
    X[n_documents // 2] = 0
    X[n_documents // 2, 1] = 1
    X[:, -1] = 0
    return X


def random_state(seed, n_topics=5, with_base=False, shape=(30, 12, 20), alpha=None, beta=None):
    rng = np.random.default_rng(seed)
    X = random_counts(*shape, seed)
    corpus = Corpus.from_counts(X)
    alpha = rng.gamma(0.5, 1.0, n_topics) + 1e-3 if alpha is None else alpha
    beta = float(rng.gamma(0.5, 0.5) + 1e-3) if beta is None else beta
    base = rng.poisson(2.0, (corpus.n_words, n_topics)) if with_base else None
    return new_state(corpus, fixed_priors(alpha, beta, base), seed)


def slow_log_joint(state: State):
    """The definition, with lnΓ of every count."""
    alpha, beta = state.alpha, state.beta
    n_dk = document_counts(state)
    n_wk, n_k = topic_counts(state)
    base = state.base_table.astype(np.float64) if len(state.base_table) else np.zeros(n_wk.shape)
    smooth = base.sum(0) + beta * len(n_wk)
    documents = (gammaln(n_dk + alpha) - gammaln(alpha)).sum()
    documents += (gammaln(alpha.sum()) - gammaln(n_dk.sum(1) + alpha.sum())).sum()
    words = (gammaln(base + n_wk + beta) - gammaln(base + beta)).sum()
    return documents + words + (gammaln(smooth) - gammaln(smooth + n_k)).sum()


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_log_joint_is_its_definition(seed, with_base):
    state = random_state(seed, with_base=with_base)
    assert state.z.dtype == np.uint16
    assert log_joint(state) == pytest.approx(slow_log_joint(state), rel=1e-12)


def test_log_joint_with_many_topics():
    state = random_state(1, n_topics=70_000)
    assert state.z.dtype == np.uint32
    assert log_joint(state) == pytest.approx(slow_log_joint(state), rel=1e-11)


@pytest.mark.parametrize("alpha", [1e-10, 1e10])
def test_log_joint_with_extreme_priors(alpha):
    state = random_state(2, alpha=np.full(5, alpha), beta=alpha)
    got = log_joint(state)
    # At 1e10 lnΓ itself is what loses digits: lnΓ(5e10) ≈ 1e12, and the definition takes differences of such.
    assert got == pytest.approx(slow_log_joint(state), rel=1e-11 if alpha < 1 else 1e-3)
    if alpha > 1:  # the limit: topics and words uniform
        n = state.corpus.n_tokens
        assert got == pytest.approx(-n * math.log(5 * state.corpus.n_words), rel=1e-6)


def test_log_joint_of_no_tokens_is_zero():
    corpus = Corpus.from_counts(np.zeros((3, 4), int), allow_empty=True)
    assert log_joint(new_state(corpus, fixed_priors(np.ones(3), 0.1), 0)) == 0.0


@pytest.mark.parametrize("with_base", [False, True])
def test_log_joint_is_the_same_for_any_number_of_threads(with_base):
    state = random_state(3, n_topics=40, with_base=with_base, shape=(2000, 700, 60))
    assert len(state.corpus.block_ptr) > 10
    assert len(state.corpus.word_block_ptr) > 10
    want = log_joint(state)
    assert want == pytest.approx(slow_log_joint(state), rel=1e-11)
    for n_jobs in (1, 2, 4):
        with Pool(n_jobs) as pool:
            assert log_joint(state, pool) == want


def split(tokens, seed, d):
    """Seen and scored tokens of document d, in plain Python."""
    stream = new_stream(seed, HALVES, 0, d)
    tokens = list(tokens)
    for i in range(len(tokens) - 1, 0, -1):
        j = integer(stream, i + 1)
        tokens[i], tokens[j] = tokens[j], tokens[i]
    return tokens[1::2], tokens[::2]


def slow_completion(phi, alpha, X, known, n_steps, seed):
    X = np.where(known, X, 0)
    score, n_scored, n_seen = 0.0, 0, 0
    for d, row in enumerate(X):
        seen, scored = split(np.repeat(np.arange(X.shape[1]), row), seed, d)
        theta = np.full(len(alpha), 1 / len(alpha))
        for _ in range(n_steps):
            r = theta[:, None] * phi[:, seen]
            theta = alpha + (r / r.sum(0)).sum(1)
            theta /= theta.sum()
        score += np.log(theta @ phi[:, scored]).sum()
        n_scored += len(scored)
        n_seen += len(seen)
    return Completion(np.exp(-score / n_scored), n_scored, n_seen, 0)


def random_topics(n_topics, n_words, seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(n_words, 0.2), n_topics), rng.gamma(1.0, 0.5, n_topics) + 0.01


@pytest.mark.parametrize(("n_topics", "n_steps"), [(1, 30), (3, 0), (5, 1), (20, 30)])
def test_completion_agrees_with_its_twin(n_topics, n_steps):
    X = random_counts(25, 30, 40, n_topics)
    phi, alpha = random_topics(n_topics, 30, n_topics)
    known = np.arange(30) % 7 != 3
    got = completion(phi, alpha, sparse.csr_array(X), known=known, n_steps=n_steps, seed=5)
    want = slow_completion(phi, alpha, X, known, n_steps, 5)
    assert got.perplexity == pytest.approx(want.perplexity, rel=1e-10)
    assert got[1:3] == want[1:3]
    assert got.n_unknown == X[:, ~known].sum()
    assert got.n_scored + got.n_seen + got.n_unknown == X.sum()


def test_documents_may_have_weights_of_their_own():
    """Each document is scored as if all had its weights; a topic with the weight 0 is not there for it."""
    X = random_counts(20, 30, 40, 2)
    phi, alpha = random_topics(4, 30, 2)
    rows = np.stack((alpha, alpha[::-1], np.where([True, False, True, False], alpha, 0)))
    row_of = np.arange(20) % 3
    got = completion(phi, DocumentAlpha(rows, row_of), X, seed=5)
    logs = 0.0
    for number, kept in enumerate((slice(None), slice(None), slice(None, None, 2))):
        mine = np.where((row_of == number)[:, None], X, 0)
        want = slow_completion(phi[kept], rows[number][kept], mine, True, 30, 5)
        logs += np.log(want.perplexity) * want.n_scored
    assert got.perplexity == pytest.approx(np.exp(logs / got.n_scored), rel=1e-10)
    assert completion(phi, DocumentAlpha(alpha[None]), X) == completion(phi, alpha, X)
    with pytest.raises(ParameterError, match=r"alpha: has shape \(4,\); phi has 3 topics"):
        completion(phi[:3], DocumentAlpha(rows, row_of), X)


def test_completion_takes_any_form_of_the_same_input():
    X = random_counts(25, 30, 40, 0)
    phi, alpha = random_topics(4, 30, 0)
    want = completion_perplexity(phi, alpha, X)
    assert want == completion(phi.tolist(), alpha.tolist(), sparse.csc_matrix(X)).perplexity
    assert want == completion_perplexity(np.asfortranarray(phi), alpha, Corpus.from_counts(X))
    assert want == completion_perplexity(phi, alpha, X, known=np.ones(30, bool))
    assert want == pytest.approx(completion_perplexity(phi.astype(np.float32), alpha, X), rel=1e-5)
    assert want != completion_perplexity(phi, alpha, X, seed=1)


def test_completion_is_the_same_for_any_number_of_threads():
    X = random_counts(1200, 300, 60, 1)
    phi, alpha = random_topics(10, 300, 1)
    assert len(Corpus.from_counts(X).block_ptr) > 5
    want = completion(phi, alpha, X, n_steps=5)
    for n_jobs in (2, 4):
        with Pool(n_jobs) as pool:
            assert completion(phi, alpha, X, n_steps=5, pool=pool) == want


def test_completion_prefers_the_truth():
    rng = np.random.default_rng(4)
    phi, _ = random_topics(5, 50, 4)
    alpha = np.full(5, 0.2)
    X = np.array([rng.multinomial(60, rng.dirichlet(alpha) @ phi) for _ in range(200)])
    truth = completion_perplexity(phi, alpha, X)
    assert truth < completion_perplexity(random_topics(5, 50, 5)[0] * 0.5 + 0.01, alpha, X)
    assert truth < unigram_completion(X, X).perplexity


def test_completion_of_impossible_words():
    phi = np.array([[0.5, 0.5, 0.0]])
    assert completion_perplexity(phi, [1.0], [[0, 0, 4]]) == math.inf
    assert completion([[0.5, 0.5, 0.0]], [1.0], [[3, 3, 1]], known=[True, True, False]) == (
        pytest.approx(2.0), 3, 3, 1,
    )  # fmt: skip
    nothing = completion(phi, [1.0], [[0, 0, 4]], known=[True, True, False])
    assert math.isnan(nothing.perplexity)
    assert nothing[1:] == (0, 0, 4)


def test_unigram_is_the_share_of_the_training_tokens():
    train, test = random_counts(40, 20, 30, 6), random_counts(20, 20, 30, 7)
    got = unigram_completion(train, test)
    n = train.sum(0)
    known = n > 0
    want = slow_completion((n / n.sum())[None, :], np.ones(1), test, known, 0, 0)
    assert got.perplexity == pytest.approx(want.perplexity, rel=1e-12)
    lengths = np.where(known, test, 0).sum(1)
    assert got.n_scored == ((lengths + 1) // 2).sum()


@pytest.mark.parametrize(
    ("phi", "alpha", "known", "message"),
    [
        ([0.5, 0.5], [1.0], None, "phi: must be"),
        (np.zeros((0, 2)), [], None, "phi: must be"),
        ([["a", "b"]], [1.0], None, "phi: must be"),
        ([[0.5, 0.5]], [1.0, 1.0], None, "alpha: has shape"),
        ([[0.5, 0.5]], [0.0], None, "alpha: entry 0"),
        ([[0.5, 0.5]], [[1.0]], None, "alpha: has shape"),
        ([[0.5, 0.5], [0.5, 0.6]], [1.0, 1.0], None, "phi: row 1"),
        ([[1.5, -0.5]], [1.0], None, "phi: row 0"),
        ([[np.nan, 0.5]], [1.0], None, "phi: row 0"),
        ([[0.5, 0.2, 0.3]], [1.0], None, "phi: covers 3 words"),
        ([[0.5, 0.5]], [1.0], [True], "known: must be"),
        ([[0.5, 0.5]], [1.0], [0, 1], "known: must be"),
    ],
)
def test_completion_says_what_is_wrong(phi, alpha, known, message):
    with pytest.raises(ParameterError, match=message):
        completion(phi, alpha, [[1, 2]], known=known)


def test_rhat_and_ess():
    rng = np.random.default_rng(8)
    draws = rng.standard_normal((4, 500))
    good = rhat_ess(draws)
    assert good["rhat"] == pytest.approx(1.0, abs=0.02)
    assert 1000 < good["ess_bulk"] < 4000
    bad = rhat_ess(draws + 3.0 * np.arange(4)[:, None])
    assert bad["rhat"] > 1.5
    assert bad["ess_bulk"] < 20
    walks = rhat_ess(np.cumsum(draws, axis=1))
    assert walks["ess_bulk"] < 50


def test_rhat_and_ess_where_there_is_too_little():
    one = rhat_ess(np.random.default_rng(9).standard_normal((1, 100)))
    assert math.isnan(one["rhat"])
    assert one["ess_bulk"] > 20
    for values in (np.zeros((2, 3)), np.zeros((0, 10)), np.full((2, 10), np.nan)):
        assert all(map(math.isnan, rhat_ess(values).values()))
    with pytest.raises(ParameterError, match="n_chains, n_draws"):
        rhat_ess(np.zeros(10))


def test_no_sample_size_from_a_few_draws():
    """Chains that have not met: from six draws arviz-stats would say that they are worth more than they are."""
    walks = np.cumsum(np.random.default_rng(10).standard_normal((3, 40)), axis=1)
    few = rhat_ess(walks[:, :6])
    assert few["rhat"] > 1.5
    assert math.isnan(few["ess_bulk"])
    assert math.isnan(rhat_ess(walks[:, :19])["ess_bulk"])
    assert rhat_ess(walks[:, :20])["ess_bulk"] < 20


COMPILED_OR_NOT = """
import numpy as np
from topoi.corpus import Corpus
from topoi.chain.diagnostics import completion, log_joint
from topoi.chain.engines.local import Local
from topoi.chain.priors import Priors
from topoi.chain.priors.learned_alpha import LearnedAlpha
from topoi.chain.priors.learned_beta import LearnedBeta
from topoi.chain.state import new_state
from topoi._machine.pool import Pool
rng = np.random.default_rng(0)
X = rng.poisson(0.8, (30, 20))
state = new_state(Corpus.from_counts(X), Priors(LearnedAlpha(np.linspace(0.1, 1, 4)), LearnedBeta(0.1)), 0)
print(log_joint(state))
state.sweep = 10
Local(state, Pool(1)).update_priors()
print(state.alpha.tolist(), state.beta)
print(completion(rng.dirichlet(np.ones(20), 3), np.ones(3), X, n_steps=3))
"""


def test_compiled_and_interpreted_are_the_same(capsys):
    exec(COMPILED_OR_NOT, {})
    interpreted = subprocess.run(
        [sys.executable, "-c", COMPILED_OR_NOT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert interpreted == capsys.readouterr().out
    assert interpreted


@pytest.mark.skipif(sys.platform != "linux", reason="the compiler's library and Python's may be two there")
def test_logarithms_are_those_of_the_library():
    """Not those of NumPy, which have another last bit with AVX-512: the joint stops fits with `tol`."""
    times = np.arange(20_000, 0, -1)
    assert logs_above(times, 0.01).tolist() == [t * math.log(n + 0.01) for n, t in enumerate(times.tolist())]
