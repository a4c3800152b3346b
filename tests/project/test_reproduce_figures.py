"""What the figures of reproduce/ are made of: samplers and formulas of their own, checked without data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from benchmarks.labelled import Labelled
from reproduce import (
    corpora,
    fast_bound,
    fast_histogram,
    settled,
    stale_proposals,
    urn_data_size,
    urn_limit,
    urn_t_example,
)
from reproduce.chains import seconds_by_part
from reproduce.claims import CLAIMS
from reproduce.harness import figures
from reproduce.medlda import GIBBS, METHODS, OURS, estimator, fit, scores
from reproduce.page import by_both_procedures
from reproduce.partial_alias import PartialAlias
from reproduce.scalar_dense import ScalarDense
from reproduce.speedups import exponent
from reproduce.table import SCORE_GIBBS, Table
from reproduce.urns import ALL_WORDS, LIMITED
from support.exact import REPEATED, chi_square, simulate
from support.labelled import Documents
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import new_state
from topoi.corpus import Corpus


@pytest.fixture
def state(blocks_corpus):
    state = new_state(blocks_corpus, fixed_priors(np.full(12, 0.1), 0.05), seed=3)
    sampler = SAMPLERS["collapsed"](state)
    for _ in range(20):
        sampler.sweep()
    return state


def test_every_figure_says_what_it_is():
    for name, figure in figures("reproduce").items():
        assert figure.measure.__module__ == f"reproduce.{name}"
        assert figure.claim
        assert figure.title
        assert all(text.endswith(".") for text in (figure.claim, *figure.settings))
        assert figure.seeds[0] >= 1
        assert figure.seeds[1] >= figure.seeds[0]


def test_scalar_dense_keeps_the_posterior(monkeypatch):
    """One sweep from exact draws gives exact draws; level 1e-4, as for the samplers of topoi."""
    monkeypatch.setitem(SAMPLERS, "scalar_dense", ScalarDense)
    posterior = REPEATED.posterior()
    start = np.random.default_rng(21).choice(len(posterior), 6000, p=posterior)
    found = simulate(REPEATED, "scalar_dense", 6000, seed=22, start=start)
    assert (found != start).mean() > 0.3
    assert chi_square(found, posterior) > 1e-4


@pytest.mark.parametrize("least", [0, 2])
def test_alias_tables_keep_the_posterior(monkeypatch, least):
    """With tables of all words and of some: φ is drawn anew, so that a sweep leaves the posterior of the topics."""
    monkeypatch.setitem(SAMPLERS, "partial_alias", lambda *given: PartialAlias(*given, least=least))
    posterior = REPEATED.posterior()
    start = np.random.default_rng(23).choice(len(posterior), 6000, p=posterior)
    found = simulate(REPEATED, "partial_alias", 6000, seed=24, start=start)
    assert (found != start).mean() > 0.3
    assert chi_square(found, posterior) > 1e-4


def test_alias_tables_are_those_of_the_prior(state):
    sampler = PartialAlias(state, least=0)
    info = sampler.sweep()
    assert 0 < info["prior_share"] < 1
    sampler.begin()
    sampler.block(0, 0, np.zeros(3, np.uint64))  # no documents, but it makes the tables
    n_topics = state.n_topics
    mass = sampler.keep.astype(float)
    for row, keep in enumerate(sampler.keep):
        np.add.at(mass[row], sampler.other[row], 1.0 - keep)
    weight = sampler.factor.to_dense()[sampler.frequent] * state.alpha
    np.testing.assert_allclose(mass / n_topics, weight / weight.sum(1, keepdims=True), atol=1e-5)
    assert (np.bincount(state.corpus.words)[sampler.frequent] > 0).all()


def test_histogram_check_finds_a_wrong_draw(state):
    """Right draws pass and draws with another prior do not: the check can fail."""
    rng = np.random.default_rng(4)
    n_wk, n_k = fast_histogram.topic_counts(state)
    right = [fast_histogram.draw_token(state, i, n_wk, n_k, rng) for i in range(0, 200, 5)]
    assert np.nanmin(right) > 1e-6  # of 120
    probability = np.array([0.5, 0.3, 0.2])
    assert fast_histogram.chi_square(rng.multinomial(1000, [0.5, 0.3, 0.2]), probability) > 1e-4
    assert fast_histogram.chi_square(rng.multinomial(1000, [0.4, 0.3, 0.3]), probability) < 1e-4


def test_bounds_are_bounds(state):
    ratios = fast_bound.mean_ratios(state, np.arange(0, state.corpus.n_tokens, 37))
    assert (ratios >= 1 - 1e-12).all()
    assert (np.diff(ratios) < 1e-9).all()
    np.testing.assert_allclose(ratios[:, -1], 1)


def test_distance_of_urn_and_dirichlet():
    """By enumeration as by drawing both."""
    rng = np.random.default_rng(0)
    mean, others = 3.0, 7.0
    x, y = rng.poisson(mean, 400_000), rng.poisson(others, 400_000)
    phi = (x / np.maximum(x + y, 1))[x + y > 0]
    # scipy's statistic for draws with ties takes both sides of every step.
    assert urn_limit.distance(mean, others) == pytest.approx(
        stats.kstest(phi, "beta", (mean, others)).statistic, abs=0.004
    )
    np.testing.assert_allclose(
        urn_limit.urn_law(mean, others), [(phi <= t + 1e-12).mean() for t in urn_limit.GRID], atol=0.004
    )


def test_stale_proposals_are_those_of_the_proof():
    """Distances on the same corpus from an enumeration that shares no code with it."""
    sweeps = stale_proposals.lda_sweeps()
    expected = {"Gibbs": 0, "document, of the other tokens": 0, "document, with the token itself": 0.18699,
                "word, frozen for a sweep": 0.17590, "cycle of both (LightLDA)": 0.03653}  # fmt: skip
    for name, distance in expected.items():
        matrix, posterior = sweeps[name][1]()
        found = 0.5 * np.abs(stale_proposals.stationary(matrix) - posterior).sum()
        assert found == pytest.approx(distance, abs=1e-5)


@pytest.mark.parametrize("sampler", urn_t_example.SAMPLERS)
def test_chains_of_the_appendix(sampler):
    """Both have the same stationary distribution, t with 4 degrees of freedom (at ρ = 0.5, where both are quick)."""
    z = urn_t_example.chain(sampler, 0.5, 40_000, np.random.default_rng(5))[::20]
    assert stats.kstest(z[:, 0], "t", (4,)).pvalue > 1e-4


def test_parts_of_a_sweep(state):
    before = state.z.copy()
    fixed, topics = seconds_by_part(state, "polya_urn", 2)
    assert fixed > 0
    assert topics > 0
    np.testing.assert_array_equal(state.z, before)  # the chain itself does not move


def test_exponent():
    x = np.array([1, 10, 100])
    assert exponent(x, 3 * x**1.5) == pytest.approx(1.5)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_methods_are_estimators_of_labels_and_of_numbers(method, regression):
    """A parameter that only one of the two has stopped all figures of the other once."""
    kind, given = estimator(method, regression, n_topics=4, cost=2.0)
    made = kind(**given).get_params()
    assert given.items() <= made.items()
    assert made["cost"] == 2.0


def test_corpora_without_rare_words(monkeypatch):
    """The limit is for the documents that were chosen, of which some may lose all their words."""
    matrix = sparse.csr_array([[9, 1, 0, 0], [0, 9, 0, 1], [0, 0, 9, 0], [1, 0, 0, 0]])
    monkeypatch.setattr(corpora, "counts", lambda name: matrix)
    assert corpora.corpus("any").n_words == 4
    limited = corpora.corpus("any", least=10)
    np.testing.assert_array_equal(limited.word_counts, [10, 10])
    np.testing.assert_array_equal(limited.doc_lengths, [10, 9, 0, 1])
    some = corpora.corpus("any", 3, least=9)
    chosen = corpora.rows(matrix, 3)
    np.testing.assert_array_equal(np.sort(some.word_counts), np.sort([n for n in chosen.sum(0) if n >= 9]))


@pytest.mark.parametrize(
    ("limited", "every", "verdict"), [(0.001, -0.3, "yes"), (-0.3, -0.3, "in part"), (0.02, 0, "no")]
)
def test_urn_is_judged_with_the_limit_of_the_paper(limited, every, verdict):
    """All words are told of, and decide nothing."""
    gaps = {LIMITED: limited, ALL_WORDS: every}
    rows = [
        {"corpus": "20ng", "words": words, "documents": n, "partial": -8.0, "polya_urn": -8.0, "kept": 0.1,
         "gap": gap if n == 100 else gap + (0.005 if words == LIMITED else 0.2)}
        for words, gap in gaps.items()
        for n in (100, 1000)
    ]  # fmt: skip
    found = urn_data_size.judge(Table.average([rows], urn_data_size.FIGURE.keys))
    assert found.holds == verdict
    assert f"{every:+.3f}" in found.text


@pytest.fixture(scope="module")
def numbers():
    """Documents whose number is told by their words."""
    data = Documents(60, seed=8)
    return Labelled(data.X[:40], data.number[:40], data.X[40:], data.number[40:], "made up")


def test_figures_of_burn_in_say_which_samples_they_take(numbers):
    """Their own number of samples and burn-in, in place of what the others have: that was an error once."""
    model = fit(GIBBS, numbers, 4, 3, 0, by_gibbs=False, n_samples=1, burn_in=2).model
    assert (model.n_samples, model.burn_in, model.n_sweeps) == (1, 2, 3)
    assert fit(GIBBS, numbers, 4, 8, 0, by_gibbs=False).model.n_samples == 5


def test_papers_test_procedure_stands_beside_ours(numbers):
    found = fit(GIBBS, numbers, 4, 8, 0)
    assert found.model.infer_method == "mean_field"
    assert found.row["score"] == found.model.score(numbers.X_test, numbers.y_test)
    n = int(found.row["sweeps_gibbs"])
    found.model.set_params(infer_method="gibbs", infer_sweeps=n)
    assert found.row[SCORE_GIBBS] == found.model.score(numbers.X_test, numbers.y_test)
    assert scores(found.row).keys() == {"score", SCORE_GIBBS}
    assert SCORE_GIBBS not in fit(GIBBS, numbers, 4, 8, 0, by_gibbs=False).row
    assert SCORE_GIBBS not in fit(OURS, numbers, 4, 8, 0).row  # its weights are made for topics by mean field


def test_sweeps_double_until_the_likelihood_settles(monkeypatch):
    asked = []
    levels = {5: -100.0, 10: -90.0, 20: -89.99, 40: -89.0}
    monkeypatch.setattr(settled, "infer", lambda model, corpus, n, *rest: asked.append(n) or n)
    monkeypatch.setattr(settled, "log_likelihood", lambda model, corpus, n: levels[n])
    assert settled.sweeps_until_settled(None, None, 0) == 20
    assert asked == [5, 10, 20]
    monkeypatch.setattr(settled, "log_likelihood", lambda model, corpus, n: -1.0 / n)
    assert settled.sweeps_until_settled(None, None, 0) == settled.MOST


def test_likelihood_of_new_documents(numbers):
    model = fit(GIBBS, numbers, 4, 8, 0, by_gibbs=False).model.chains_[0]
    theta = np.random.default_rng(3).dirichlet(np.ones(4), numbers.X_test.shape[0])
    expected = (numbers.X_test * np.log(theta @ model.topic_word())).sum()
    found = settled.log_likelihood(model, Corpus.from_counts(numbers.X_test), theta)
    assert found == pytest.approx(expected)


def test_page_tells_both_procedures():
    rows = [{"method": m, "K": k, "score": 0.5, **({SCORE_GIBBS: 0.3 + 0.1 * k} if m == "a" else {})}
            for m in ("a", "b") for k in (1, 2)]  # fmt: skip
    (told,) = by_both_procedures(Table.average([rows], ("method", "K")))
    assert "a 0.450 (0.500)" in told
    assert "b " not in told.split(":", 2)[-1]
    assert by_both_procedures(Table.average([[{"K": 1, "score": 0.5}]], ("K",))) == []


def test_every_figure_of_a_paper_judges_a_claim():
    """And the list of claims names no other; a claim without a figure says why."""
    named = {name for claims in CLAIMS.values() for claim in claims for name in claim.figures}
    known = figures("reproduce")
    assert named <= set(known)
    assert {name for name, figure in known.items() if not figure.paper.startswith("topoi:")} <= named
    assert all(claim.figures or claim.why for claims in CLAIMS.values() for claim in claims)
