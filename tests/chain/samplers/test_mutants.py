"""The tests are tested: bugs put into the samplers must each be caught by the checks of checks.py.

A mutant is an edit of what a module says (support/edits.py), however it is written down. It must apply exactly once, so
that a mutant cannot outlive the code it changes.
"""

from __future__ import annotations

import pytest

from support.checks import check_all
from support.copies import interpreted
from support.variants import slow_but

S, LIVE = "topoi.chain.samplers", "topoi.chain.counts.moves"
EXPECT = "topoi.chain.counts.expectations"
# name: (sampler that must fail, module, what it says, what it is to say)
MUTANTS = {
    "no decrement of the word's count": ("collapsed", f"{S}.collapsed", "move_token(counts, w, old, -1.0)", ""),
    "a token counted of the word alone": ("light", LIVE, "counts.n_k[k] += step", ""),
    "no decrement of the document's count": ("collapsed", f"{S}.collapsed", "n_d[old] -= one", ""),
    "stale scale after a move": ("collapsed", LIVE, "counts.scale[k] = 1.0 / (counts.n_k[k] + counts.beta_sum)", ""),
    "split: stale scale after a move": ("split", f"{S}._split", "scale[new] = 1.0 / (n_k[new] + beta_sum)", ""),
    "alias: φ without β": ("alias", "topoi.chain.factors._table", "phi: float = (table[w, k] + offset) * scale[k]",
        "phi: float = table[w, k] * scale[k]"),
    "β summed over topics, not words": (
        "sparse", "topoi.chain.state", "return self.priors.words.total(self.corpus.n_words)",
        "return self.priors.words.total(self.n_topics)"),
    "sparse: coefficient without α": (
        "sparse", f"{S}.sparse", "coefficient[new] = (alpha[new] + n_d[new]) * scale[new]",
        "coefficient[new] = n_d[new] * scale[new]"),
    "sparse: document bucket not updated": ("sparse", f"{S}.sparse", "document_mass -= n_d[old] * scale[old]", ""),
    "sparse: coefficients not reset after a document": (
        "sparse", f"{S}.sparse", "coefficient[active[j]] = alpha[active[j]] * scale[active[j]]", ""),
    "sparse: row not sorted after a decrement": ("sparse", "topoi.chain.counts.packed", "x < ONE", "x < 0"),
    "split: lists not updated": (
        "split", f"{S}._split", "size[w] = put_one(topics, counts, start[w], size[w], new)", ""),
    "split: dense rows not updated": ("split", f"{S}._split", "table[row, old] -= one", ""),
    "split: a topic that is used up stays in the list": (
        "split", "topoi.chain.counts.split", "if counts[j] > 0: return n", "return n"),
    "split: coefficients not settled after a move": (
        "split", f"{S}._split", "mass = settle(new, n_d, alpha, scale, c, mass)", ""),
    "split: coefficients not settled after a document": (
        "split", f"{S}._split", "n_d[z[i]] = 0; mass = settle(z[i], ...)", "n_d[z[i]] = 0"),
    "split: bucket of the prior without β": (
        "split", f"{S}._split", "u = uniform(stream) * (word_mass + beta * mass)",
        "u = uniform(stream) * (word_mass + mass)"),
    "delayed with lists: the token not taken out of the document": ("delayed", f"{S}._split", "n_d[old] -= one", ""),
    "delayed with lists: the counts move": (
        "delayed", f"{S}.delayed", "move_split(self.state, factor.rows, None, ...)",
        "move_split(self.state, factor.rows, factor.rows.n_k, ...)"),
    "fast: bound too small": (
        "fast", f"{S}.fast", "rest = np.sqrt(rest) * norm_c", "rest = np.sqrt(rest) * norm_c * 0.3"),
    "fast: correction segment from the wrong end": (
        "fast", f"{S}.fast", "u * z_before - before", "u * z_before - total"),
    "fast: largest scale not that of a topic that lost tokens": (
        "fast", f"{S}.fast", "norm_c, top = np.float64(scale[old]), old", "top = old"),
    "fast: word norm not kept": ("fast", f"{S}.fast", "norms[w] += power(n_wk[w, new] + beta, three)", ""),
    "fast_333: cube root of the wrong product": ("fast_333", f"{S}.fast", "... ** (1.0 / 3.0)", "... ** (1.0 / 2.0)"),
    "light: word proposal accepted without the other factors": (
        "light", f"{S}.light", "to = (n_d[t] + alpha[t]) * (n_k[s] + beta_sum)", "to = (n_d[t] + alpha[t]) * 1e9"),
    "light: acceptance swapped": ("light", f"{S}.light", "uniform(stream) * back < to", "uniform(stream) * to < back"),
    "light: document proposal counts the token itself": (
        "light", f"{S}.light", "propose_document(z, lo, hi, i, False, ...)",
        "propose_document(z, lo, hi, i, True, ...)"),
    "light: word proposal may pick the token itself": ("light", f"{S}.light", "picked = order[hi - 1]", ""),
    "alias: correction dropped": (
        "alias", f"{S}.alias", "uniform(stream) * ((n_d[s] + alpha[s]) * phi_s * q_t) < ...",
        "uniform(stream) * 0.0 < ..."),
    "alias table: donor not reduced": (
        "light_published", f"{S}._stale", "keep[g] = (keep[g] + keep[s]) - 1.0", "keep[g] = keep[g] - 0.5"),
    "light_published: proposal weight without smoothing": (
        "light_published", f"{S}._stale", "weight: float = t.weight[t.start[t.size.shape[0] - 1] + k]",
        "weight: float = 0.0"),
    "partial: token not taken out": ("partial", f"{S}._fixed", "n_d[old] -= one", ""),
    "two documents: the second's token not taken out": ("partial", f"{S}._fixed", "n_b[old_b] -= one", ""),
    "two documents: the first's token not put back": ("delayed", f"{S}._fixed", "n_a[new_a] += one", ""),
    "two documents: both moved by the first's draw": ("partial", f"{S}._fixed", "z[b + j] = new_b", "z[b + j] = new_a"),
    "two documents: the second has the first's α": (
        "partial", f"{S}._fixed", "alpha_b = prior.rows[row_b]", "alpha_b = prior.rows[row_a]"),
    "two documents: α taken to be the same": ("delayed", f"{S}._fixed", "row_a == row_b", "row_a <= row_b"),
    "few topics: α forgotten": (
        "partial", f"{S}._fixed", "n_d[topics[j]] + alpha[topics[j]]", "n_d[topics[j]] + 1.0"),
    "few topics: token not taken out": ("delayed", f"{S}._fixed", "n_d[z[i]] -= one", ""),
    "one α for all documents": (
        "collapsed", f"{S}.collapsed", "alpha = prior.rows[prior.row_of[d]]", "alpha = prior.rows[0]"),
    "split: weights with α of the document before": (
        "split", f"{S}._split", "prior.row_of[d] != row_before", "row_before < 0"),
    "urn: mass with the average α": (
        "polya_urn", f"{S}.polya_urn", "mass = None if state.priors.topics.per_document else factor.mass",
        "mass = factor.mass"),
    "partial, sparse: token not taken out": (
        "partial", f"{S}._fixed", "n = remove_topic(old, n_d, active, place, n)", ""),
    "partial, sparse: prior's part too small": (
        "partial", "topoi.chain.factors._table", "mass[w] = total", "mass[w] = 0.5 * total"),
    "Dirichlet drawn without β": (
        "partial", "topoi.chain.factors.dirichlet", "table[w, k] = gamma(stream, table[w, k] + beta)",
        "table[w, k] = gamma(stream, table[w, k])"),
    "Dirichlet: a draw that is not negligible passed over": (
        "partial", "topoi.chain.factors.dirichlet", "n += int(u >= least)", "n += int(u >= 0.3)"),
    "small gamma: envelope's tail too light": (
        "partial", "topoi.chain.factors.dirichlet", "shape / (math.e * (1.0 - shape))",
        "0.3 * shape / (math.e * (1.0 - shape))"),
    "φ normalised over the wrong axis": (
        "partial", "topoi.chain.factors.dirichlet", "total += part[1]", "total[0] += part[1].sum()"),
    "empty topic's φ not a Dirichlet": (
        "partial", "topoi.chain.factors.dirichlet", "x[w] = log_gamma(stream, beta)", "x[w] = log_gamma(stream, 1.0)"),
    "ad_lda: blocks move each other's counts": (
        "ad_lda", f"{S}._own_counts", "factor.n_k.copy()", "factor.n_k"),
    "ad_lda: the scale is that of all blocks": (
        "ad_lda", f"{S}._own_counts", "factor.scale.copy()", "factor.scale"),
    "ad_lda: rows of other words": ("ad_lda", f"{S}._own_counts", "distinct[n] = w", "distinct[n] = n"),
    "ad_lda: α of the first documents": (
        "ad_lda", f"{S}.ad_lda", "self.prior.row_of[first:last]", "self.prior.row_of[: last - first]"),
    "ad_fast: norms of the words of the whole corpus": (
        "ad_fast", f"{S}.ad_fast", "sum_norms(own.counts.n_wk, ...)", "sum_norms(self.factor.table, ...)"),
    "ad_fast: no norms": ("ad_fast", f"{S}.ad_fast", "sum_norms(...)", ""),
    "delayed: counts not smoothed": ("delayed", "topoi.chain.factors.delayed", "return self.state.beta", "return 0.0"),
    "urn: Poisson without the prior": (
        "polya_urn", "topoi.chain.factors.urn", "c = poisson(stream, n[touched[j]] + beta)",
        "c = poisson(stream, n[touched[j]])"),
    "urn: every zero filled": (
        "polya_urn", "topoi.chain.factors.urn", "k += 1 + geometric_skip(stream, -beta)", "k += 1"),
    "urn: word's prior mass forgotten": (
        "polya_urn", "topoi.chain.factors.urn", "mass[w] += alpha[topics[j]] * phi[j]",
        "mass[w] += 0.5 * alpha[topics[j]] * phi[j]"),
    "urn: topics looked up wrongly": ("polya_urn", f"{S}._sorted_row", "topics[middle] < k", "topics[middle] <= k"),
    "urn_mh: every proposal accepted": (
        "urn_mh", f"{S}._urn_correction", "log_ratio >= 0.0 or uniform(stream) < math.exp(log_ratio)", "True"),
    "urn_mh: the draws have no say": ("urn_mh", f"{S}._urn_correction", "drawn[at] * math.log1p(1.0 / n)", "0.0"),
    "urn_mh: the token counted where it leaves": (
        "urn_mh", f"{S}._urn_correction", "log_lack(correction, w, old, 1, ...)",
        "log_lack(correction, w, old, 0, ...)"),
    "urn_mh: counts do not follow": (
        "urn_mh", f"{S}.polya_urn", "move_token(correction.counts, w, new, 1.0)", ""),
    "urn_mh: a token leaves a topic that has no φ": (
        "urn_mh", f"{S}.polya_urn", "correction is not None and find(topics, row, row_end, old) < 0",
        "correction is not None and row == row_end"),
    "expected: a document begins with nothing": (
        "expected", EXPECT, "n_d[k] = alpha[k] / total * length", "n_d[k] = real(0)"),
    "expected: words that come often count once in their document": (
        "expected", EXPECT, "keep = whole_power(steps[min(v, steps.shape[0] - 1)], times)",
        "keep = steps[min(v, steps.shape[0] - 1)]"),
    "expected: documents take up their words once": ("expected", EXPECT, "DOCUMENT_PASSES = 2", "DOCUMENT_PASSES = 1"),
    "expected: words that come often count once for the word": ("expected", EXPECT, "times[n - 1] += 1", ""),
    "expected: sums not cleared after a word": ("expected", EXPECT, "sums[:] = 0", ""),
    "expected: the table does not decay": (
        "expected", "topoi.chain.factors.expected", "return left if self.last or left < SMALL else 1.0", "return 1.0"),
    "expected: steps begin anew with every sweep": (
        "expected", "topoi.chain.factors.expected", "t, size = self.state.sweep * len(numbers), 1.0",
        "t, size = 0, 1.0"),
    "expected: n_k does not decay": (
        "expected", "topoi.chain.factors.expected", "self.n_k = (1.0 - step.step) * self.n_k + step.step * total",
        "self.n_k = self.n_k + step.step * total"),
    "expected: tokens drawn without their document": (
        "expected", f"{S}.expected", "expect_document(words, lo, hi, ...)", ""),
    "warp: a token proposes to itself": ("warp", f"{S}._passes", "j = hi - 1", ""),
    "warp: α taken to be the same for all topics": ("warp", f"{S}._passes", "k = np.int64(prior.other[k])", ""),
    "warp: documents answer without the scale": (
        "warp", f"{S}._passes", "to = (n_d[t] + alpha[t]) * (n_k[s] - 1.0 + beta_sum)",
        "to = (n_d[t] + alpha[t]) * (n_k[t] + beta_sum)"),
    "warp: documents answer with the token in their counts": (
        "warp", f"{S}._passes", "back = (n_d[s] - 1 + alpha[s]) * ...", "back = (n_d[s] + alpha[s]) * ..."),
    "warp: words answer with the token in their counts": (
        "warp", f"{S}._passes", "back = (n_w[s] - 1 + beta) * ...", "back = (n_w[s] + beta) * ..."),
    "warp: counts of the document do not follow": ("warp", f"{S}._passes", "n_d[s] -= 1; n_d[t] += 1", ""),
    "warp: counts of the document not cleared": ("warp", f"{S}._passes", "n_d[z[i]] = 0", ""),
    "warp: counts of the word not cleared": ("warp", f"{S}._passes", "n_w[z[j]] = 0", ""),
    "warp: pseudo-counts do not propose": ("warp", f"{S}._passes", "u < n - 1 + pseudo", "u < n - 1"),
    "warp: n_k of before the words' pass": ("warp", f"{S}.warp", "self.count([n_k for n_k, _ in parts])", ""),
    "warp: nobody answers between two rounds": ("warp", f"{S}.warp", "number > 0", "number > 1"),
    "warp: proposals of the sweep before": ("warp", f"{S}.warp", "self.documents(2 * number + 1, self.ask)",
        "[self.n_k]"),
    "light: β of another word": ("light", f"{S}.light", "beta = of_word(betas, w)", "beta = of_word(betas, 0)"),
    "split: β of another word": ("split", f"{S}._split", "beta = of_word(betas, w)", "beta = of_word(betas, 0)"),
    "partial: β of the first word for all": (
        "partial", "topoi.chain.factors.dirichlet", "beta != before", "before < 0.0"),
    "delayed: β of words forgotten": (
        "delayed", "topoi.chain.factors.delayed", "np.asarray(self.state.beta)[:, None]", "0.0"),
    "urn: β of another word": ("polya_urn", "topoi.chain.factors.urn", "of_word(betas, w)", "of_word(betas, 0)"),
    "expected: β of another word": ("expected", "topoi.chain.counts.expectations",
        "mass = weigh_topics(n_d, w, weight, alpha, table, of_word(offsets, w), scale)",
        "mass = weigh_topics(n_d, w, weight, alpha, table, of_word(offsets, 0), scale)"),
    "document list not cleared": ("sparse", f"{S}._document", "n_d[active[j]] = 0", ""),
}  # fmt: skip


# The plain run has the first two of every sampler.
BY_SAMPLER = {sampler: [m for m in sorted(MUTANTS) if MUTANTS[m][0] == sampler] for sampler, *_ in MUTANTS.values()}
QUICK = [mutant for mutants in BY_SAMPLER.values() for mutant in mutants[:2]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a bug may divide by zero
@pytest.mark.parametrize("mutant", slow_but(QUICK, sorted(MUTANTS)))
def test_mutant_is_caught(mutant):
    sampler, module, old, new = MUTANTS[mutant]
    samplers = interpreted({module: [(old, new)]})
    with pytest.raises((AssertionError, IndexError, ZeroDivisionError, ValueError)):
        check_all(samplers.SAMPLERS[sampler])


@pytest.mark.slow
def test_unchanged_source_passes(plain_samplers):
    """The same checks pass without a mutant: what catches them is the bug, not the check."""
    check_all(plain_samplers["collapsed"])
    check_all(plain_samplers["partial"])
    check_all(plain_samplers["expected"])
