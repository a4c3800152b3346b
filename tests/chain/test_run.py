"""The loop: its schedule, callbacks, budgets, learned priors, and what it keeps."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.corpora import random_counts
from support.running import Record, fresh
from topoi import LDA, Corpus, ParameterError
from topoi._machine.pool import Pool
from topoi.chain.diagnostics import log_joint
from topoi.chain.loop import Rules, Schedule, run
from topoi.chain.plan import Plan, make_plan
from topoi.chain.priors import FixedAlpha, FixedBeta, Priors
from topoi.chain.priors.learned_alpha import LearnedAlpha
from topoi.chain.priors.learned_beta import LearnedBeta
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import document_counts, new_state, real_dtype, real_of_documents, topic_counts


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_counts(random_counts(60, 40, 30, seed=6))


# ---- Schedule and plan -------------------------------------------------------------------------------------


@given(st.integers(1, 500), st.integers(1, 600), st.data())
def test_kept_sweeps(n_sweeps, n_samples, data):
    """As many as asked for where there is room, after the burn-in, evenly spaced, the last sweep included."""
    burn_in = data.draw(st.none() | st.integers(0, n_sweeps - 1))
    schedule = Schedule(n_sweeps, n_samples, burn_in)
    n_burn_in = n_sweeps // 2 if burn_in is None else burn_in
    assert schedule.n_burn_in == n_burn_in
    kept = sorted(schedule.kept)
    room = n_sweeps - n_burn_in
    assert len(kept) == min(n_samples, room)
    assert kept[-1] == n_sweeps
    assert kept[0] > n_burn_in
    gaps = np.diff([n_burn_in, *kept])
    assert gaps[1:].max(initial=0) <= -(-room // len(kept))
    assert gaps[1:].min(initial=room) >= room // len(kept)
    assert gaps[0] <= -(-room // len(kept))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, value) for name in ("n_sweeps", "n_samples") for value in (0, -1, 1.5, True, "2", None)],
        *[("burn_in", value) for value in (10, -1, 1.5, True, "2")],
    ],
)
def test_bad_schedule(name, value):
    with pytest.raises(ParameterError, match=rf"^{name}: "):
        Schedule(**{"n_sweeps": 10, name: value})


def test_plan(corpus):
    plan = Plan("delayed", "partial")
    assert [plan.sampler(sweep, 3) for sweep in range(8)] == ["delayed"] * 3 + ["partial"] * 5
    assert {plan.sampler(sweep, 0) for sweep in range(3)} == {"partial"}
    for name in SAMPLERS:
        assert make_plan(name, corpus, 5) == Plan(name, name)
    with pytest.raises(ParameterError, match=r"^sampler: unknown sampler 'gibs'; choose one of auto, ad_fast"):
        make_plan("gibs", corpus, 5)


def test_plan_with_an_opening():
    """It is part of the burn-in: samples never come from it, however short the burn-in is."""
    plan = Plan("delayed", "partial", opening=2)
    assert [plan.sampler(sweep, 4) for sweep in range(6)] == ["expected"] * 2 + ["delayed"] * 2 + ["partial"] * 2
    assert [plan.sampler(sweep, 1) for sweep in range(3)] == ["expected", "partial", "partial"]
    assert {plan.sampler(sweep, 0) for sweep in range(3)} == {"partial"}
    assert plan.samplers == ["expected", "delayed", "partial"]
    assert Plan("partial", "partial").samplers == ["partial"]


@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("n_topics", [1, 5, 100, 300, 1023, 1024, 70_000])
@pytest.mark.parametrize("count", [1, 1000])
def test_auto(count, n_topics, supervised):
    """Samples come from an exact sampler. All are parallel, unless topics are many for the tokens and nobody asks."""
    corpus = Corpus.from_counts(np.full((3, 10), count))
    plan = make_plan("auto", corpus, n_topics, supervised)
    assert SAMPLERS[plan.sampling].exact
    assert plan.opening == (0 if supervised else 2)
    assert plan.parts == {300: 2, 1023: 4, 1024: 4, 70_000: 274}.get(n_topics, 1) ** (not supervised)
    alone = make_plan("auto", corpus, n_topics, supervised, own_alpha=True)
    assert alone == replace(plan, opening=plan.opening if n_topics <= 512 else 0, parts=1)
    always = make_plan("auto", corpus, n_topics, supervised, parallel=True)
    assert all(SAMPLERS[name].factor_class.fixed for name in always.samplers)
    if (not supervised and n_topics <= 5) or (count == 1000 and n_topics <= 1024):
        assert plan == always
    if not supervised and n_topics == 70_000:  # drawing φ would cost more than all else
        assert plan.samplers == ["expected", "delayed", "split"]
    assert make_plan("auto", corpus, n_topics, supervised, known=True) == replace(plan, opening=0, parts=1)
    unused = Corpus(corpus.words, corpus.doc_ptr, 10_000)  # words that never occur change nothing
    assert make_plan("auto", unused, n_topics, supervised) == plan


def test_auto_of_supervised_models():
    """A token for each entry of φ is enough to draw it."""
    corpus = Corpus.from_counts(np.full((3, 10), 7))
    assert make_plan("auto", corpus, 21, supervised=True) == Plan("delayed", "partial")
    assert make_plan("auto", corpus, 22, supervised=True) == Plan("delayed", "collapsed")


@pytest.mark.parametrize("burn_in", [6, 0, 9])
def test_samplers_change_where_the_plan_says(burn_in, corpus):
    record = Record()
    run(fresh(corpus), Plan("delayed", "collapsed"), Schedule(10, 1, burn_in), callbacks=[record])
    names = [progress.sampler for progress in record.seen]
    assert names == ["delayed"] * burn_in + ["collapsed"] * (10 - burn_in)


def test_auto_samples_with_an_exact_sampler(corpus):
    record = Record()
    LDA(4, n_sweeps=11, burn_in=4, random_state=0, callbacks=[record]).fit(corpus)
    plan = make_plan("auto", corpus, 4)
    names = [progress.sampler for progress in record.seen]
    assert names == [plan.sampler(sweep, 4) for sweep in range(11)]
    assert all(SAMPLERS[name].exact for name in names[4:])


# ---- The loop ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("collapsed", "collapsed"), ("delayed", "partial"), ("sparse", "polya_urn")])
def test_run_is_the_obvious_loop(names, corpus):
    """The samplers' own sweeps, one after the other; the model is the average of the kept samples."""
    schedule = Schedule(13, 3, 5)
    found = run(fresh(corpus), Plan(*names), schedule)
    state = fresh(corpus)
    n_wk, theta = np.zeros((corpus.n_words, 5)), np.zeros((corpus.n_documents, 5))
    sampler = SAMPLERS[names[0]](state)
    joints = {}
    for sweep in range(1, 14):
        if sweep == 6 and names[0] != names[1]:
            sampler = SAMPLERS[names[1]](state)
        sampler.sweep()
        joints[sweep] = log_joint(state)
        if sweep in (8, 11, 13):
            n_wk += topic_counts(state)[0]
            theta += (document_counts(state) + state.alpha) / (corpus.doc_lengths[:, None] + state.alpha.sum()) / 3
    assert sorted(schedule.kept) == [8, 11, 13]
    np.testing.assert_array_equal(found.state.z, state.z)
    np.testing.assert_array_equal(found.model.counts.toarray(), n_wk)
    np.testing.assert_array_equal(found.model.last_counts.toarray(), topic_counts(state)[0])
    np.testing.assert_allclose(found.doc_topic, theta, atol=1e-6)
    assert found.model.n_samples == 3
    assert found.trace.sweep == [10, 13]
    assert found.trace.log_joint == [joints[10], joints[13]]
    assert (found.stopped, found.n_sweeps) == ("finished", 13)
    assert found.seconds > 0


def test_callbacks_hear_every_sweep(corpus):
    first, second = Record(), Record()
    found = run(fresh(corpus), Plan("sparse", "sparse"), Schedule(25, 2), callbacks=[first, second], chain=3)
    assert first.sweeps == second.sweeps == list(range(1, 26))
    for progress in first.seen:
        assert (progress.n_sweeps, progress.n_burn_in, progress.chain) == (25, 12, 3)
        assert progress.tokens_per_second > 0
        assert isinstance(progress.info, dict)
    seconds = [progress.seconds for progress in first.seen]
    assert seconds == sorted(seconds)
    evaluated = {progress.sweep: progress.log_joint for progress in first.seen if progress.log_joint is not None}
    assert evaluated == dict(zip(found.trace.sweep, found.trace.log_joint, strict=True))
    assert list(evaluated) == [10, 20, 25]


@pytest.mark.parametrize("stop_at", [1, 7, 12, 20])
def test_callbacks_can_stop(stop_at, corpus):
    """The model is that of the samples kept so far, or of the state where none was."""
    stopping, other = Record(stop_at), Record()
    lda = LDA(4, n_sweeps=20, burn_in=8, n_samples=3, random_state=0, callbacks=[stopping, other]).fit(corpus)
    assert stopping.sweeps == other.sweeps == list(range(1, stop_at + 1))
    assert lda.n_sweeps_ == stop_at
    assert lda.stopped_ == ("callback" if stop_at < 20 else "finished")
    assert lda.model_.n_samples == {1: 1, 7: 1, 12: 1, 20: 3}[stop_at]
    np.testing.assert_array_equal(lda.model_.last_counts.toarray().sum(1), corpus.word_counts)
    np.testing.assert_allclose(lda.doc_topic_.sum(1), 1, atol=1e-5)
    assert lda.log_joint_.shape == (stop_at // 10, 2)
    assert np.abs(lda.transform(corpus).sum(1) - 1).max() < 1e-9


def test_only_true_stops(corpus):
    answers = iter([None, 0, 1, "yes", False])
    lda = LDA(2, n_sweeps=5, callbacks=[lambda progress: next(answers)], random_state=0).fit(corpus)
    assert lda.stopped_ == "finished"


def test_an_error_in_a_callback_is_not_swallowed(corpus):
    def broken(progress):
        raise RuntimeError("mine")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="mine"):
        LDA(2, n_sweeps=5, callbacks=[broken]).fit(corpus)
    assert signal.getsignal(signal.SIGINT) is before


def test_time_budget(corpus, monkeypatch):
    now = 0.0

    def a_minute(progress):
        nonlocal now
        now += 60.0

    monkeypatch.setattr("topoi.chain.loop.time", SimpleNamespace(perf_counter=lambda: now))
    # The clock is read before the callbacks: after sweep 5 four minutes are over.
    for budget, expected in ((240.0, ("time", 5)), (240.5, ("finished", 6))):
        lda = LDA(3, n_sweeps=6, max_seconds=budget, callbacks=[a_minute], random_state=0).fit(corpus)
        assert (lda.stopped_, lda.n_sweeps_) == expected


def test_convergence(corpus):
    """Evaluations at 10, 20, 30 and 40 have three gains between them."""
    lda = LDA(3, n_sweeps=1000, tol=0.9, random_state=0).fit(corpus)
    assert (lda.stopped_, lda.n_sweeps_) == ("converged", 40)
    lda = LDA(3, n_sweeps=2000, tol=1e-3, random_state=0).fit(corpus)
    assert lda.stopped_ == "converged"
    gains = np.diff(lda.log_joint_[:, 1]) / np.abs(lda.log_joint_[1:, 1])
    small = gains < 1e-3
    assert small[-3:].all()
    assert not any(small[j : j + 3].all() for j in range(len(small) - 3))  # not before
    assert lda.n_sweeps_ < 2000
    assert LDA(3, n_sweeps=60, tol=None, random_state=0).fit(corpus).stopped_ == "finished"


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_log_joint_rises(name):
    corpus = Corpus.from_counts(random_counts(150, 100, 40, seed=8))
    state = fresh(corpus)
    start = log_joint(state)
    found = run(state, Plan(name, name), Schedule(40, 1))
    trace = found.trace.log_joint
    assert start < trace[0] < trace[-1]
    assert (trace[-1] - start) / corpus.n_tokens > 0.3
    assert trace[-1] == log_joint(found.state)


# ---- Learned priors ----------------------------------------------------------------------------------------


def drawn_from(alpha, beta, n_documents, n_words, length, seed):
    """A corpus drawn from LDA with these priors, and the topics of its tokens."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, beta), len(alpha))
    words, topics = [], []
    for theta in rng.dirichlet(alpha, n_documents):
        z = rng.choice(len(alpha), length, p=theta)
        w = np.array([rng.choice(n_words, p=phi[k]) for k in z])
        order = np.argsort(w)
        words.append(w[order].astype(np.int32))
        topics.append(z[order])
    return Corpus(np.concatenate(words), np.arange(n_documents + 1) * length, n_words), np.concatenate(topics)


@pytest.mark.parametrize("name", ["collapsed", "sparse", "fast", "partial"])
def test_asymmetric_alpha_is_recovered(name):
    """From the true topics on, so that only α is in question: a chain may miss rare topics, whatever α is."""
    alpha = np.array([1.2, 0.5, 0.2, 0.08])
    corpus, z = drawn_from(alpha, 0.05, 300, 100, 50, seed=1)
    state = new_state(corpus, Priors(LearnedAlpha(np.full(4, 0.3)), FixedBeta(0.05)), 0)
    state.z[:] = z
    found = run(state, Plan(name, name), Schedule(60, 1))
    # 300 documents tell each α to some 10 %, that of the rarest topic to 15 %.
    np.testing.assert_allclose(found.state.alpha, alpha, rtol=0.4)
    assert (np.diff(found.state.alpha) < 0).all()
    assert found.model.alpha is found.state.alpha


def test_learned_alpha_of_an_estimator():
    """Two topics, one of them in most tokens: α says so, whichever number the topic got."""
    corpus, _ = drawn_from([1.5, 0.3], 0.05, 200, 100, 50, seed=3)
    lda = LDA(2, doc_topic_prior="learn", n_sweeps=80, random_state=0).fit(corpus)
    assert lda.model_.alpha is lda.doc_topic_prior_
    more, less = sorted(lda.doc_topic_prior_, reverse=True)
    assert 2 < more / less < 10
    assert np.argmax(lda.doc_topic_prior_) == np.argmax(lda.model_.topic_counts)
    fixed = LDA(2, n_sweeps=20, random_state=0).fit(corpus)
    np.testing.assert_array_equal(fixed.doc_topic_prior_, [0.1, 0.1])


def test_beta_is_recovered():
    corpus, z = drawn_from(np.full(4, 0.2), 0.3, 300, 100, 50, seed=2)
    state = new_state(corpus, Priors(FixedAlpha(np.full(4, 0.2)), LearnedBeta(0.01)), 0)
    state.z[:] = z
    found = run(state, Plan("collapsed", "collapsed"), Schedule(60, 1))
    assert 0.22 < found.state.beta < 0.4
    lda = LDA(4, topic_word_prior="learn", n_sweeps=80, random_state=0).fit(corpus)
    assert 0.2 < lda.topic_word_prior_ < 0.5
    assert lda.model_.beta == lda.topic_word_prior_
    assert LDA(4, n_sweeps=20, random_state=0).fit(corpus).topic_word_prior_ == 0.01


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_sampler_hears_of_learned_priors(name, corpus, monkeypatch):
    """A sampler that runs on after the priors change goes on as one made anew with them."""
    for kind in (LearnedAlpha, LearnedBeta):
        monkeypatch.setattr(kind, "every", 3)
    first = fresh(corpus)

    def learned():
        return new_state(corpus, Priors(LearnedAlpha(first.alpha), LearnedBeta(first.beta)), first.seed)

    found = run(learned(), Plan(name, name), Schedule(5, 1), Rules(evaluate_every=3))
    half = run(learned(), Plan(name, name), Schedule(3, 1), Rules(evaluate_every=3))
    assert not np.allclose(half.state.alpha, first.alpha)
    assert half.state.beta != first.beta
    again = SAMPLERS[name](half.state)
    for _ in range(2):
        again.sweep()
    np.testing.assert_array_equal(found.state.z, half.state.z)


# ---- Progress ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", ["40", "76", "200"])
@pytest.mark.parametrize("n_chains", [1, 2])
def test_progress_bar(n_chains, columns, corpus, capfd, monkeypatch):
    """On standard error alone, in a terminal of any width, and it changes nothing."""
    monkeypatch.setenv("COLUMNS", columns)
    shown = LDA(3, n_sweeps=12, n_chains=n_chains, n_jobs=2, random_state=0, progress=True)
    shown.fit(corpus, validation=corpus)
    out, err = capfd.readouterr()
    assert out == ""
    assert "12/12" in err
    assert "sampling" in err
    quiet = LDA(3, n_sweeps=12, n_chains=n_chains, random_state=0).fit(corpus)
    assert capfd.readouterr() == ("", "")
    assert shown.components_.tobytes() == quiet.components_.tobytes()


def test_threads_end_with_the_fit(corpus):
    before = threading.active_count()
    LDA(3, n_sweeps=5, n_chains=3, n_jobs=4, random_state=0).fit(corpus).transform(corpus)
    assert threading.active_count() == before


def test_run_on_a_pool_is_run_alone(corpus):
    alone = run(fresh(corpus), Plan("partial", "partial"), Schedule(10, 2))
    with Pool(3) as pool:
        pooled = run(fresh(corpus), Plan("partial", "partial"), Schedule(10, 2), pool=pool)
    np.testing.assert_array_equal(alone.state.z, pooled.state.z)


def test_an_error_of_one_chain_ends_the_others(corpus):
    seen = []

    def fail(progress):
        seen.append(progress.sweep)
        if progress.chain == 1 and progress.sweep == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LDA(5, n_sweeps=20_000, n_chains=2, n_jobs=2, callbacks=[fail], random_state=0).fit(corpus)
    assert max(seen) < 20_000


def test_kernels_count_long_documents_exactly():
    """2²⁴ tokens of one document, none of a word, would stop at 16,777,216 in float32."""
    long = Corpus(np.sort(np.arange(2**24, dtype=np.int32) % 3), np.array([0, 2**24]), 3)
    assert real_dtype(long) is np.float64
    assert real_of_documents(long) is np.float64
    short = Corpus(long.words, np.array([0, 2**23, 2**24]), 3)
    assert real_dtype(short) is real_of_documents(short) is np.float32
