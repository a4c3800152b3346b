"""How well a fit explains its own documents and new ones, and whether its chains have mixed.

The log joint is a product of predictive probabilities: given the topics before it, a token of a document has
topic k with probability (n_dk + α_k)/(n_d + Σα), and a token of topic k is word w in proportion to n_wk + β.
So lnΓ is not needed for each count: the factors of the documents are multiplied, and one logarithm is taken where
the product nears the limits of a float64; those of the words follow from how often each count n_wk occurs. The cost
is one pass over the tokens by document and one by word, whatever the number of topics.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from topoi._machine.arrays import Flags, Floats, Int, Ints, Stream
from topoi._machine.jit import kernel
from topoi._machine.pool import Pool
from topoi._machine.rng import HALVES, integer, seed_stream
from topoi._machine.simd import LANES, pad
from topoi.chain.alpha import AlphaRows, DocumentAlpha
from topoi.chain.counts.spectra import Spectrum, above, word_spectrum
from topoi.chain.priors.beta_of_words import beta_of_kinds
from topoi.chain.state import State
from topoi.corpus import Corpus
from topoi.corpus.batches import batches_by_words
from topoi.corpus.checks import running_total
from topoi.errors import ParameterError

# A factor of the log joint lies between the smallest prior (1e-10) and the largest count, far inside these
# bounds, so a product that is within them stays a normal float64 after one more factor.
HUGE = 1e150
TINY = 1e-150
ROW_SUM_TOLERANCE = 1e-3  # a row of φ in float32, summed over a large vocabulary


# ---- Log joint ---------------------------------------------------------------------------------------------


@kernel
def log_topics(doc_ptr: Ints, first: Int, last: Int, z: Ints, prior: AlphaRows, sums: Floats) -> float:
    """Log probability of the topics of documents first … last − 1; `sums` has Σα of every row.

    Equivalent to ``(gammaln(n_dk + alpha) - gammaln(alpha)).sum() - (gammaln(n_d + A) - gammaln(A)).sum()``;
    mutates nothing.
    """
    n_d = np.zeros(prior.rows.shape[1])
    total = 0.0
    product = 1.0
    for d in range(first, last):
        lo, hi = doc_ptr[d], doc_ptr[d + 1]
        alpha, alpha_sum = prior.rows[prior.row_of[d]], sums[prior.row_of[d]]
        for i in range(lo, hi):
            k = z[i]
            product *= (n_d[k] + alpha[k]) / (np.float64(i - lo) + alpha_sum)
            n_d[k] += 1.0
            if not TINY < product < HUGE:
                total += math.log(product)
                product = 1.0
        for i in range(lo, hi):
            n_d[z[i]] = 0.0
    return total + math.log(product)


def log_joint(state: State, pool: Pool | None = None) -> float:
    """log p(words, topics | α, β, δ), with θ and φ integrated out."""
    pool = pool or Pool(1)
    return join_logs(state, topic_logs(state, pool), *word_spectrum(state, pool))


def topic_logs(state: State, pool: Pool) -> list[float]:
    """Log probability of the topics of every block of documents."""
    corpus, ptr = state.corpus, state.corpus.block_ptr
    prior = state.priors.topics.alpha_of(corpus).for_kernels(corpus.n_documents, np.float64)
    sums = prior.rows.sum(1)

    def work(block: int) -> float:
        return float(log_topics(corpus.doc_ptr, ptr[block], ptr[block + 1], state.z, prior, sums))

    return pool.map(work, range(len(ptr) - 1))


@kernel
def logs_above(times: Ints, beta: float) -> Floats:
    """Equivalent to ``times * np.log(np.arange(len(times)) + beta)``, but np.log has another last bit with AVX-512."""
    logs = np.empty(times.shape[0])
    for n in range(times.shape[0]):
        logs[n] = times[n] * math.log(n + beta)
    return logs


def join_logs(state: State, parts: list[float], spectrum: Spectrum, n_k: NDArray[np.int64]) -> float:
    """The log joint from `topic_logs`, and from the histogram of n_wk and n_k, both with pseudo-counts.

    A word that has a topic n times adds log β + log(1 + β) + … + log(n − 1 + β), so log(n + β) is taken as many times
    as there are counts above n.
    """
    before = np.full(state.n_topics, state.beta_sum)
    counts, kinds = state.priors.words.pseudo_counts, state.priors.words.kinds
    if counts is not None:
        before += counts.sum(0)
    if kinds is None:
        times = above(spectrum)
        if counts is not None:
            size = counts.data.astype(np.int64)
            times[: size.max(initial=0)] -= above(Spectrum(np.zeros_like(size), size, np.ones_like(size)))
        logs = logs_above(times, float(state.beta))
    else:
        logs = _logs_of_kinds(spectrum, beta_of_kinds(np.asarray(state.beta), kinds))
        if counts is not None:
            word = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
            known = Spectrum(kinds[word], counts.data.astype(np.int64), np.ones(counts.nnz, np.int64))
            logs = np.append(logs, -_logs_of_kinds(known, beta_of_kinds(np.asarray(state.beta), kinds)))
    norms = gammaln(before) - gammaln(state.beta_sum + n_k)
    # An exact sum: neither the order of the parts nor the version of Python matters.
    return math.fsum([*parts, *logs.tolist(), *norms.tolist()])


def _logs_of_kinds(spectrum: Spectrum, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """What counts of words of each kind add, given how often they occur and β of the kinds."""
    kind, size, times = spectrum
    own: NDArray[np.float64] = times * (gammaln(size + beta[kind]) - gammaln(beta[kind]))
    return own


# ---- Document completion -----------------------------------------------------------------------------------


class Completion(NamedTuple):
    """How well the second halves of documents were foretold from the first."""

    perplexity: float
    n_scored: int
    n_seen: int
    n_unknown: int  # tokens left out of both halves


@kernel
def choose_half(seen: Flags, stream: Stream) -> None:
    """Mark every second place of a random order in `seen`, all others not.

    Equivalent to ``seen[:] = False; seen[permutation(n)[1::2]] = True``.
    """
    n = seen.shape[0]
    place = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = integer(stream, i + 1)
        place[i], place[j] = place[j], place[i]
    for i in range(n):
        seen[place[i]] = i % 2 == 1


@kernel
def count_half(tokens: Ints, seen: Flags, half: bool, row_of: Ints, rows: Ints, times: Floats) -> Int:
    """Put the rows of the words in one half of a document into `rows`, their counts into `times`; returns n.

    Equivalent to ``rows[:n], times[:n] = np.unique(row_of[tokens[seen == half]], return_counts=True)``, for
    sorted tokens.
    """
    n = 0
    for i in range(tokens.shape[0]):
        if seen[i] == half:
            row = row_of[tokens[i]]
            if n == 0 or rows[n - 1] != row:
                rows[n] = row
                times[n] = 0.0
                n += 1
            times[n - 1] += 1.0
    return n


@kernel
def total_weight(theta: Floats, phi: Floats, row: Int, share: Floats, lanes: Floats) -> float:
    """Fill `share` with θ_k φ_kw and return its sum; `lanes` is overwritten.

    Equivalent to ``share[:] = theta * phi[row]; return share.sum()``, the sum in an order that vectorises.
    """
    lanes[:] = 0.0
    for first in range(0, theta.shape[0], LANES):
        for lane in range(LANES):
            share[first + lane] = theta[first + lane] * phi[row, first + lane]
            lanes[lane] += share[first + lane]
    total = 0.0
    for lane in range(LANES):
        total += lanes[lane]
    return total


@kernel
def find_theta(rows: Ints, times: Floats, n: Int, phi: Floats, alpha: Floats, n_steps: Int, theta: Floats) -> None:
    """EM on the topic shares of one document with φ fixed; overwrites `theta`, whose padding is 0.

    Equivalent to ``r = theta * phi[rows]; theta = normalised(alpha + (times / r.sum(1)) @ r)``, `n_steps`
    times from uniform. A token to which no topic gives any probability is passed over.
    """
    width = theta.shape[0]
    share, lanes, gathered = np.zeros(width), np.zeros(LANES), np.zeros(width)
    n_topics = 0.0
    for k in range(width):
        n_topics += alpha[k] > 0.0
    for k in range(width):
        theta[k] = (alpha[k] > 0.0) / n_topics
    for _ in range(n_steps):
        for k in range(width):
            gathered[k] = alpha[k]
        for j in range(n):
            total = total_weight(theta, phi, rows[j], share, lanes)
            if total > 0.0:
                weight = times[j] / total
                for k in range(width):
                    gathered[k] += weight * share[k]
        total = 0.0
        for k in range(width):
            total += gathered[k]
        for k in range(width):
            theta[k] = gathered[k] / total


@kernel
def complete_documents(
    words: Ints, doc_ptr: Ints, first: Int, last: Int, row_of: Ints, phi: Floats, prior: AlphaRows, n_steps: Int,
    seed: Int,
) -> float:  # fmt: skip
    """Log probability of the second halves of documents first … last − 1, given the first; mutates nothing.

    Equivalent to ``(times * np.log(phi[rows] @ theta)).sum()`` with `theta` from `find_theta`, summed over
    documents.
    """
    width = phi.shape[1]
    theta, share, lanes = np.zeros(width), np.zeros(width), np.zeros(LANES)
    stream = np.zeros(3, np.uint64)
    score = 0.0
    for d in range(first, last):
        tokens = words[doc_ptr[d] : doc_ptr[d + 1]]
        seen = np.zeros(tokens.shape[0], np.bool_)
        rows, times = np.zeros(tokens.shape[0], np.int64), np.zeros(tokens.shape[0])
        seed_stream(stream, seed, HALVES, 0, d)
        choose_half(seen, stream)
        n = count_half(tokens, seen, True, row_of, rows, times)
        find_theta(rows, times, n, phi, prior.rows[prior.row_of[d]], n_steps, theta)
        n = count_half(tokens, seen, False, row_of, rows, times)
        for j in range(n):
            total = total_weight(theta, phi, rows[j], share, lanes)
            if not total > 0.0:
                return -np.inf
            score += times[j] * math.log(total)
    return score


def completion(
    phi: ArrayLike,
    alpha: ArrayLike | DocumentAlpha,
    X_test: Any,
    *,
    known: ArrayLike | None = None,
    n_steps: int = 30,
    seed: int = 0,
    pool: Pool | None = None,
) -> Completion:
    """Perplexity of one half of every test document given the other half, for any model's topics.

    Parameters
    ----------
    phi : (K, V)
        Probability of each word in each topic; rows sum to 1.
    alpha : (K,) or DocumentAlpha
        Weight of each topic in the topic shares θ of a new document. A `DocumentAlpha` has weights for each of the test
        documents; where one is 0, the document does not have the topic.
    X_test : (D, V)
        Counts, as `Corpus.from_counts` takes them, or a `Corpus`.
    known : (V,) of bool
        Words that may be used, normally those that occur in the training documents. Tokens of other words are
        left out of both halves, before the split. All words by default.
    n_steps : int
        EM steps θ ∝ α + Σ_i p(k | word i, θ) over the seen tokens, from uniform θ.
    seed : int
        Seeds the split. The tokens of document number d, in ascending order of words, are shuffled with a
        random stream that depends on (seed, d) alone; those at places 1, 3, 5, … are seen, those at 0, 2, 4,
        … are scored. So the same halves are used for every model; of an odd number of tokens the larger half
        is scored.

    Perplexity is exp(−Σ log Σ_k θ_k φ_kw / n_scored); infinite if a scored word has probability 0, nan if
    nothing is scored.
    """
    phi = np.asarray(phi)
    weights = alpha if isinstance(alpha, DocumentAlpha) else _same_for_all(np.asarray(alpha, np.float64))
    _check_topics(phi, weights)
    corpus = X_test if isinstance(X_test, Corpus) else Corpus.from_counts(X_test, allow_empty=True)
    if corpus.n_words != phi.shape[1]:
        raise ParameterError("phi", f"covers {phi.shape[1]} words, but the test documents have {corpus.n_words}")
    n_all = corpus.n_tokens
    if known is not None:
        corpus = _restrict(corpus, np.asarray(known))
    found = completion_by(lambda words: phi[:, words].T, weights, corpus, n_steps=n_steps, seed=seed, pool=pool)
    return found._replace(n_unknown=n_all - corpus.n_tokens)


def completion_by(
    rows_of: Callable[[NDArray[np.int64]], Floats],
    alpha: DocumentAlpha,
    corpus: Corpus,
    *,
    n_steps: int = 30,
    seed: int = 0,
    pool: Pool | None = None,
) -> Completion:
    """The same of a model that gives φ (len(words), K) of some words: φ of all of them is never made."""
    if n_steps < 0:
        raise ParameterError("n_steps", f"{n_steps} steps cannot be made; use 0 or more")
    n_topics, pool = alpha.rows.shape[1], pool or Pool(1)
    prior = alpha.for_kernels(corpus.n_documents, np.float64, pad(n_topics))
    ptr, row_of = corpus.block_ptr, np.zeros(corpus.n_words, np.int64)

    def batch(begin: int, end: int) -> list[float]:
        # Only the words that occur, one row each: V×K in float64 may be much more than the test documents need.
        used = np.unique(corpus.words[corpus.doc_ptr[ptr[begin]] : corpus.doc_ptr[ptr[end]]]).astype(np.int64)
        rows = np.zeros((len(used), pad(n_topics)))
        rows[:, :n_topics] = rows_of(used)
        row_of[used] = np.arange(len(used))

        def work(block: int) -> float:
            return float(
                complete_documents(
                    corpus.words, corpus.doc_ptr, ptr[block], ptr[block + 1], row_of, rows, prior, n_steps,
                    np.uint64(seed),
                )
            )  # fmt: skip

        return pool.map(work, range(begin, end))

    scores = [score for batch_of in batches_by_words(corpus, pad(n_topics)) for score in batch(*batch_of)]
    score = math.fsum(scores)
    n_seen = int((corpus.doc_lengths // 2).sum())
    n_scored = corpus.n_tokens - n_seen
    perplexity = float(np.exp(-score / n_scored)) if n_scored else math.nan
    return Completion(perplexity, n_scored, n_seen, 0)


def completion_perplexity(
    phi: ArrayLike,
    alpha: ArrayLike | DocumentAlpha,
    X_test: Any,
    n_steps: int = 30,
    seed: int = 0,
    *,
    known: ArrayLike | None = None,
    pool: Pool | None = None,
) -> float:
    """The perplexity alone of `completion`."""
    return completion(phi, alpha, X_test, known=known, n_steps=n_steps, seed=seed, pool=pool).perplexity


def unigram_completion(X_train: Any, X_test: Any, *, seed: int = 0, pool: Pool | None = None) -> Completion:
    """The same with the words' shares of the training tokens as the only topic: what topics have to beat.

    Words that do not occur in `X_train` are left out of the test documents.
    """
    train = X_train if isinstance(X_train, Corpus) else Corpus.from_counts(X_train)
    share = train.word_counts / train.n_tokens
    return completion(share[None, :], [1.0], X_test, known=train.word_counts > 0, n_steps=0, seed=seed, pool=pool)


def _same_for_all(alpha: NDArray[np.float64]) -> DocumentAlpha:
    """Weights that all documents have, checked."""
    if alpha.ndim != 1:
        raise ParameterError("alpha", f"has shape {alpha.shape}; must be one number for each topic")
    if not np.all((alpha > 0) & np.isfinite(alpha)):
        k = int(np.flatnonzero(~((alpha > 0) & np.isfinite(alpha)))[0])
        raise ParameterError("alpha", f"entry {k} is {alpha[k]}; entries must be positive and finite")
    return DocumentAlpha(alpha[None])


def _check_topics(phi: Floats, alpha: DocumentAlpha) -> None:
    if phi.ndim != 2 or len(phi) == 0 or not np.issubdtype(phi.dtype, np.number) or np.iscomplexobj(phi):
        raise ParameterError("phi", f"must be a real matrix (topics, words), not {phi.shape} of {phi.dtype}")
    if alpha.rows.shape[1] != phi.shape[0]:
        raise ParameterError("alpha", f"has shape {alpha.rows.shape[1:]}; phi has {phi.shape[0]} topics")
    for k, row in enumerate(phi):
        # One comparison finds negative entries and nan, the other infinity and sums above 1.
        if not row.min(initial=0) >= 0 or not row.sum(dtype=np.float64) <= 1 + ROW_SUM_TOLERANCE:
            raise ParameterError("phi", f"row {k} is no probability distribution: sum {row.sum()}, min {row.min()}")


def _restrict(corpus: Corpus, known: NDArray[Any]) -> Corpus:
    """The corpus without the tokens of words that are not known; all documents stay."""
    if known.shape != (corpus.n_words,) or known.dtype != np.bool_:
        raise ParameterError("known", f"must be a mask of bool for {corpus.n_words} words, not {known!r}")
    keep = known[corpus.words]
    doc_ptr = running_total(keep)[corpus.doc_ptr]
    return Corpus(corpus.words[keep], doc_ptr, corpus.n_words).with_about(**corpus.about)


# ---- Chains ------------------------------------------------------------------------------------------------


FEWEST_FOR_RHAT = 4  # arviz-stats' own limit: halves of chains are compared, and a half has a variance
# arviz-stats takes four here too. But it looks for correlations in halves of chains, and up to nine draws has none to
# look at: whatever the draws, the answer is n log10(n) then, more than there are. From twenty on, chains whose draws a
# distance t apart correlate by 0.5^t are seen 1.4 to 1.8 times too well, by 0.9^t 2.4 to 4.6 times (three chains, one).
FEWEST_FOR_ESS = 20


def rhat_ess(values: ArrayLike) -> dict[str, float]:
    """Rank-normalised R-hat and bulk effective sample size (Vehtari et al. 2021), (n_chains, n_draws) given.

    `rhat` needs two chains of four draws, `ess_bulk` twenty draws of each chain; with fewer they are nan.
    """
    draws = np.asarray(values, np.float64)
    if draws.ndim != 2:
        raise ParameterError("values", f"must be an array (n_chains, n_draws), not {draws.ndim}-d")
    n_chains, n_draws = draws.shape
    result = {"rhat": math.nan, "ess_bulk": math.nan}
    if n_chains < 1 or n_draws < FEWEST_FOR_RHAT or not np.isfinite(draws).all():
        return result
    from arviz_stats.base.array import array_stats

    arviz: Any = array_stats  # its functions have no types
    if n_draws >= FEWEST_FOR_ESS:
        result["ess_bulk"] = float(arviz.ess(draws, method="bulk"))
    if n_chains > 1:
        result["rhat"] = float(arviz.rhat(draws, method="rank"))
    return result
