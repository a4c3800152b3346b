"""The tests of priors are tested: bugs put into what priors draw must each be caught by a check of its law.

The checks are small ones of those in the files beside this one, for kernels that run without the compiler. Each has a
level of 1e-6 or less, so that one of them that fails has found something.
"""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import digamma, gammaln

from support.copies import interpreted_modules
from support.variants import slow_but

P = "topoi.chain.priors"
PARTS = (
    "tables",
    "sticks",
    "hdp",
    "seating",
    "poisson_weights",
    "prevalence",
    "allowed",
    "seeds",
    "learned_beta_of_words",
)
LEVEL = 1e-6


def copied(edits=None):
    """The modules of the priors without the compiler, and with bugs."""
    names = [f"{P}.{part}" for part in PARTS]
    more = {"rng": "topoi._machine.rng", "corpus": "topoi.corpus", "pool": "topoi._machine.pool", "priors": P,
            "state": "topoi.chain.state", "local": "topoi.chain.engines.local", "alpha": "topoi.chain.alpha",
            "spectra": "topoi.chain.counts.spectra"}  # fmt: skip
    found = interpreted_modules(edits, [*names, *more.values()])
    return SimpleNamespace(
        **{part: found[f"{P}.{part}"] for part in PARTS}, **{short: found[name] for short, name in more.items()}
    )


def fits(found, expected):
    """Whether counts have these probabilities."""
    found, expected = np.asarray(found, float), np.asarray(expected) * np.sum(found)
    few = expected < 5
    found, expected = np.append(found[~few], found[few].sum()), np.append(expected[~few], expected[few].sum())
    there = expected > 1e-9
    if found[~there].any():
        return False
    found, expected = found[there], expected[there]
    return stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > LEVEL


def antoniak(n, alpha):
    """The probabilities of 0 … n tables of n tokens."""
    p = np.array([1.0])
    for j in range(n):
        new = alpha / (alpha + j)
        p = np.append(p, 0.0) * (1 - new) + np.append(0.0, p) * new
    return p


# ---- Checks --------------------------------------------------------------------------------------------------------


def tables(m):
    """Tables of one document, and of all documents from the histogram of their counts."""
    stream = m.rng.new_stream(3, m.rng.TOPIC_PRIOR)
    assert fits(np.bincount([m.tables.draw_tables(stream, 6, 0.8) for _ in range(2000)], minlength=7), antoniak(6, 0.8))
    spectrum = m.spectra.Spectrum(np.array([0, 0, 1, 1]), np.array([1, 5, 2, 4]), np.array([1, 2, 2, 1]))
    drawn = [m.tables.draw_table_counts(spectrum, np.array([0.8, 1.7]), stream) for _ in range(1500)]
    for k, (alpha, sizes) in enumerate([(0.8, [1, 5, 5]), (1.7, [2, 2, 4])]):
        expected = np.array([1.0])
        for n in sizes:
            expected = np.convolve(expected, antoniak(n, alpha))
        assert fits(np.bincount([row[k] for row in drawn], minlength=len(expected)), expected)


def concentration(m):
    """Σα from its posterior on a grid has it again after a step."""
    lengths, n_tables, shape, rate = np.array([5, 0, 12, 30, 1]), 9, 2.0, 0.5
    grid = np.linspace(1e-3, 40, 40_000)
    log_p = (shape - 1 + n_tables) * np.log(grid) - rate * grid
    log_p += sum(gammaln(grid) - gammaln(grid + n) for n in lengths if n)
    cdf = np.exp(log_p - log_p.max()).cumsum()
    cdf /= cdf[-1]
    stream = m.rng.new_stream(11, m.rng.TOPIC_PRIOR)
    begun = np.interp(np.random.default_rng(1).random(1500), cdf, grid)
    moved = [m.tables.draw_concentration(a, n_tables, lengths, shape, rate, stream) for a in begun]
    assert stats.kstest(np.interp(moved, grid, cdf), "uniform").pvalue > LEVEL


def order(m):
    """The order of the pieces, by enumeration."""
    counts, gamma = np.array([3, 0, 1]), 0.7
    orders = list(itertools.permutations(range(3)))
    p = []
    for one in orders:
        behind = np.cumsum(counts[list(one)][::-1])[::-1]
        last = counts[one[-1]]
        p.append(math.gamma(gamma + last) / math.factorial(last) / np.prod(gamma + behind[1:-1]))
    p = np.array(p) / np.sum(p)
    stream, found = m.rng.new_stream(2, m.rng.TOPIC_PRIOR), np.zeros(len(orders))
    for which in np.random.default_rng(3).choice(len(orders), 4000, p=p):
        moved = np.array(orders[which])
        m.sticks.draw_order(moved, counts, gamma, stream)
        found[orders.index(tuple(moved.tolist()))] += 1
    assert fits(found, p)


def pieces(m):
    """Pieces of the stick are beta draws, and γ given them is a gamma draw."""
    counts, places, logs = np.array([4, 0, 9, 2]), np.array([2, 0, 3, 1]), np.zeros(4)
    stream, found, top = m.rng.new_stream(6, m.rng.TOPIC_PRIOR), [], []
    for _ in range(1500):
        top.append(m.sticks.draw_sticks(places, counts, 1.5, 1.0, 0.1, logs, stream))
        found.append(np.exp(logs))
    found = np.array(found)
    assert stats.kstest(found[:, 2], stats.beta(1 + 9, 1.5 + 6).cdf).pvalue > LEVEL
    assert stats.kstest(found[:, 0] / (1 - found[:, 2]), stats.beta(1 + 4, 1.5 + 2).cdf).pvalue > LEVEL
    np.testing.assert_allclose(found.sum(1), 1)
    scaled = np.array(top) * (0.1 - np.log(found[:, 1]))  # three breaks are known, and the last piece is what is left
    assert stats.kstest(scaled, stats.gamma(1 + 3).cdf).pvalue > LEVEL


def corpus_of(m, lengths, n_words=3):
    words = np.concatenate([np.sort(np.arange(n) % n_words) for n in lengths]).astype(np.int32)
    return m.corpus.Corpus(words, np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), n_words)


def hdp(m):
    """After an update α is a times the pieces, and only topics with tokens have tables."""
    corpus = corpus_of(m, [9, 0, 14, 7])
    state = m.state.new_state(corpus, m.priors.resolve_priors("hdp", None, 6, corpus), 1)
    for state.sweep in range(1, 8):
        m.local.Local(state, m.pool.Pool(1)).update_priors()
        prior = state.priors.topics
        assert prior.alpha.sum() == pytest.approx(prior.concentration)
        assert prior.n_found == len(np.unique(state.z))
        prior.check()


def seating(m):
    """Tables and exposures of documents by their own α."""
    n, n_documents = 6, 1500
    corpus = m.corpus.Corpus(np.zeros(n * n_documents, np.int32), np.arange(n_documents + 1) * n, 1)
    state = m.state.State(corpus, m.priors.fixed_priors([1.0, 1.0], 0.1), np.ones(corpus.n_tokens, np.uint16), 8, 3)
    rows, row_of = np.array([[4.0, 0.3], [0.1, 1.9]]), np.arange(n_documents) % 2
    found = m.seating.draw_seating(state, m.alpha.DocumentAlpha(rows, row_of), m.pool.Pool(1))
    for row, alpha in enumerate(rows):
        exposure = found.exposure[row_of == row]
        assert stats.kstest(np.exp(-exposure), stats.beta(alpha.sum(), n).cdf).pvalue > LEVEL
        p = antoniak(n, alpha[1])
        mean, number = p @ np.arange(n + 1), (row_of == row).sum()
        spread = math.sqrt((p @ np.arange(n + 1) ** 2 - mean**2) * number)
        assert abs(found.tables[row, 1] - number * mean) < 5 * spread
    assert found.tables[:, [0]].sum() == 0


def weights(m):
    """Weights from their prior, counts given them: a step leaves both as they were drawn."""
    design = sparse.csr_array(np.array([[1.0, 0.0, 0.5], [1.0, 1.0, -1.0], [1.0, 1.0, 2.0]]))
    exposure = np.array([0.5, 2.0, 1.0])
    parts = (design.indptr.astype(np.int64), design.indices.astype(np.int64), design.data)
    rows = m.poisson_weights.DesignRows(*parts, exposure)
    prior = m.poisson_weights.Gaussian(np.array([0.3, 0.0, 0.0]), np.array([1.0, 2.0, 1.0]))
    rng, ray, around = np.random.default_rng(5), [], []

    def functions(at, counts):
        away = at - prior.mean
        return np.concatenate((np.tanh(at), away**2, np.tanh(at) * np.log1p(counts), [away[0] * away[1]]))

    for number in range(1500):
        at = prior.mean + rng.normal(size=3) / np.sqrt(prior.precision)
        counts = rng.poisson(exposure * np.exp(design @ at))
        seen, mode, factor = design.T @ counts.astype(float), np.zeros(3), np.zeros((3, 3))
        m.poisson_weights.climb_to_mode(rows, seen, prior, mode, factor)
        for kind, step in ((ray, m.poisson_weights.move_along_ray), (around, m.poisson_weights.turn)):
            new = at.copy()
            step(rows, seen, prior, new, mode, factor, m.rng.new_stream(number, 99))
            kind.append(functions(new, counts) - functions(at, counts))
    for changes in map(np.array, (ray, around)):  # each step by itself: one may make up for an error of the other
        assert np.abs(changes.mean(0) / (changes.std(0, ddof=1) / math.sqrt(len(changes)))).max() < 5


def scales(m):
    """σ² of a column given its weights, and α of a row."""
    given = np.array([[9.0, 0.5, 2.0], [9.0, -1.0, 0.1]])
    stream = m.rng.new_stream(1, m.rng.TOPIC_PRIOR)
    drawn = np.array([m.prevalence.draw_variance(given, stream) for _ in range(1500)])
    assert (drawn[:, 0] == m.prevalence.WIDE**2).all()
    for j in (1, 2):
        law = stats.invgamma(2.0 + 1.0, scale=0.5 + 0.5 * (given[:, j] ** 2).sum())
        assert stats.kstest(drawn[:, j], law.cdf).pvalue > LEVEL
    rows = sparse.csr_array(np.array([[1.0, 0.0, 0.7], [1.0, 2.0, 0.0]]))
    np.testing.assert_allclose(m.prevalence.alpha_by_row(rows, given), np.exp(rows @ given.T))


def allowed(m):
    """A document has α of its labels' topics and of the shared one."""
    table = sparse.csr_array(np.array([[1.0, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0]]))
    corpus = corpus_of(m, [2, 2, 2, 2]).with_about(**{m.allowed.Allowed.about: table})
    prior = m.priors.resolve_priors([0.2, 0.5, 1.1], None, 3, corpus).topics
    average = [0.2 * 3 / 4, 0.5 * 2 / 4, 1.1]
    expected = [[0.2, 0, 1.1], [0, 0, 1.1], [0.2, 0.5, 1.1], average]
    np.testing.assert_allclose(prior.alpha_of(corpus).by_document(), expected)


def seeds(m):
    """Pseudo-counts, and where tokens of seed words begin."""
    corpus = corpus_of(m, [300, 300])
    found = m.seeds.find_seeds({"a": [0], "b": [1]}, 0.5, corpus)
    np.testing.assert_array_equal(found.pseudo_counts(corpus, 4).toarray()[:, :2], [[100, 0], [0, 100], [0, 0]])
    state = m.state.new_state(corpus, m.priors.resolve_priors(None, None, 4, corpus, found), 1)
    assert (state.z[corpus.words == 0] == 0).all()
    assert (state.z[corpus.words == 1] == 1).all()


def beta(m, by_tokens=True):
    """β of the words of each frequency, by the fixed point on all entries; these are counted in one of two ways."""
    corpus = corpus_of(m, [30, 5, 4, 1, 1], 12)
    state = m.state.new_state(corpus, m.priors.resolve_priors(None, "learn_words", 4, corpus), 1)
    n_wk, n_k = m.state.topic_counts(state)
    prior = state.priors.words
    b, kind_of = prior.beta[:, None], prior.kind_of
    assert len(set(kind_of.tolist())) < len(kind_of)
    for _ in range(20):
        above = (b * (digamma(n_wk + b) - digamma(b))).sum(1)
        below = (digamma(n_k + b.sum()) - digamma(b.sum())).sum()
        found = [(above[kind_of == c].sum() + 1) / ((kind_of == c).sum() * below + 1) for c in kind_of]
        b = np.array(found)[:, None]
    with mock.patch.object(m.spectra, "tables_fit", return_value=by_tokens):
        found = m.spectra.word_spectrum(state, m.pool.Pool(1))
    np.testing.assert_allclose(prior.update(state, *found).beta, b[:, 0], rtol=1e-9)


def beta_by_words(m):
    """The same with tokens counted word by word."""
    beta(m, by_tokens=False)


CHECKS = [tables, concentration, order, pieces, hdp, seating, weights, scales, allowed, seeds, beta, beta_by_words]
# name: (check that must fail, module, what it says, what it is to say)
MUTANTS = {
    "tables: one token too many": (
        tables, "tables", "uniform(stream) * (alpha + j) < alpha", "uniform(stream) * (alpha + j + 1) < alpha"),
    "tables: the first token opens none": (tables, "tables", "tables = np.int64(1)", "tables = np.int64(0)"),
    "tables: documents that end are counted on": (tables, "tables", "n_documents -= times[entry]", ""),
    "tables: the chance of the next token": (
        tables, "tables", "alpha[k] / (alpha[k] + (j - 1))", "alpha[k] / (alpha[k] + j)"),
    "a: lengths of documents forgotten": (
        concentration, "tables", "log_beta(stream, concentration, float(lengths[d]))",
        "log_beta(stream, concentration, 1.0)"),
    "a: tables forgotten": (
        concentration, "tables", "gamma(stream, shape + n_tables) / rate", "gamma(stream, shape) / rate"),
    "order: own tables forgotten": (
        order, "sticks", "weight /= gamma_ + behind + own", "weight /= gamma_ + behind"),
    "order: the last place like others": (
        order, "sticks", "weight *= math.exp(min(difference, LARGEST_EXPONENT))", "weight *= 1.0"),
    "pieces: tables of later ones forgotten": (
        pieces, "sticks", "log_beta(stream, 1.0 + tables[order[j]], gamma_ + behind)",
        "log_beta(stream, 1.0 + tables[order[j]], gamma_)"),
    "γ: breaks not counted": (pieces, "sticks", "gamma(stream, shape + known)", "gamma(stream, shape)"),
    "γ: what is left forgotten": (pieces, "sticks", "... / (rate - left)", "... / rate"),
    "HDP: α without a": (
        hdp, "hdp", "np.maximum(a * share, SMALLEST)", "np.maximum(share, SMALLEST)"),
    "seating: exposure by one topic": (
        seating, "seating", "log_beta(stream, total, float(hi - lo))", "log_beta(stream, alpha[0], float(hi - lo))"),
    "seating: tables by the first α": (
        seating, "seating", "draw_tables(stream, n_d[k], alpha[k])", "draw_tables(stream, n_d[k], alpha[0])"),
    "seating: one α for all documents": (seating, "seating", "alpha = rows[row_of[d]]", "alpha = rows[0]"),
    "weights: exposure forgotten": (
        weights, "poisson_weights", "total -= rows.exposure[u] * math.exp(score)", "total -= math.exp(score)"),
    "weights: the volume of a ray forgotten": (
        weights, "poisson_weights", "value + (mode.shape[0] - 1) * math.log(r) + far", "value + far"),
    "weights: the ellipse without its Gaussian": (
        weights, "poisson_weights", "value += 0.5 * total * total", ""),
    "scales: squares counted whole": (
        scales, "prevalence", "RATE + 0.5 * float(np.add.reduce(weights[:, j] ** 2))",
        "RATE + float(np.add.reduce(weights[:, j] ** 2))"),
    "scales: topics counted whole": (scales, "prevalence", "SHAPE + 0.5 * n_topics", "SHAPE + n_topics"),
    "α: a column forgotten": (
        scales, "prevalence", "range(start[u], start[u + 1])", "range(start[u] + 1, start[u + 1])"),
    "allowed: topics of other labels": (
        allowed, "allowed", "rows[:, : self.n_own] *= ~known | (allowed[:, :-1] > 0)", ""),
    "allowed: what is not known has every label": (
        allowed, "allowed", "np.where(known, self.base, self.alpha)", "np.where(known, self.base, self.base)"),
    "beta: kinds of one word": (
        beta, "learned_beta_of_words", "(n_words * total + RATE)", "(total + RATE)"),
    "beta: that of the first kind": (
        beta, "learned_beta_of_words", "rise(size, times, beta[kind])", "rise(size, times, beta[0])"),
    "beta: summed over kinds": (
        beta, "learned_beta_of_words", "math.fsum((n_words * beta).tolist())", "math.fsum(beta.tolist())"),
    "beta: words of all kinds counted together": (
        beta, "topoi.chain.counts.spectra", "row = np.int64(kind_of[first + i])", "row = np.int64(0)"),
    "beta: words of all kinds counted together, word by word": (
        beta_by_words, "topoi.chain.counts.spectra", "row = np.int64(kind_of[w])", "row = np.int64(0)"),
    "seeds: tokens counted once more": (
        seeds, "seeds", "np.rint(self.strength * corpus.word_counts[columns])",
        "np.rint((1 + self.strength) * corpus.word_counts[columns])"),
    "seeds: tokens begin anywhere": (seeds, "seeds", "z[seeds[kept]] = topics[kept]", ""),
}  # fmt: skip
QUICK = ["tables: one token too many", "order: own tables forgotten", "γ: breaks not counted",
         "seating: one α for all documents", "scales: topics counted whole"]  # fmt: skip


@pytest.mark.parametrize("mutant", slow_but(QUICK, sorted(MUTANTS)))
def test_mutant_is_caught(mutant):
    check, part, old, new = MUTANTS[mutant]
    with pytest.raises((AssertionError, IndexError)):
        check(copied({part if part.startswith("topoi.") else f"{P}.{part}": [(old, new)]}))


@pytest.fixture(scope="module")
def plain():
    return copied()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_unchanged_source_passes(check, plain):
    check(plain)
