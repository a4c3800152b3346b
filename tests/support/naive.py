"""Slow, obvious twins of the samplers: transition matrices written down from the formulas."""

from __future__ import annotations

import itertools
from math import lgamma

import numpy as np


class Tiny:
    """A corpus so small that every state can be listed; α (K) of all documents, or a row (D, K) for each.

    Of documents with a row the states have topics whose α is not 0 alone. β is that of all words, or one for each (V).
    `base` (V, K) are pseudo-counts of words.
    """

    def __init__(self, documents, alpha, beta, n_words, base=None):
        self.documents = [sorted(d) for d in documents]
        self.alpha, self.beta, self.n_words = np.array(alpha), beta, n_words
        self.n_topics = self.alpha.shape[-1]
        self.base = None if base is None else np.array(base)
        self.beta_of = np.broadcast_to(np.asarray(beta, float), (n_words,))
        self.prior = self.beta_of[:, None] + (np.zeros((n_words, self.n_topics)) if base is None else self.base)
        self.own = np.broadcast_to(self.alpha, (len(documents), self.n_topics))
        self.tokens = [(d, w) for d, words in enumerate(self.documents) for w in words]
        self.states = list(itertools.product(*(np.flatnonzero(self.own[d]).tolist() for d, _ in self.tokens)))
        self.index = {z: i for i, z in enumerate(self.states)}

    def counts(self, z, skip=None):
        """n_dk, n_wk and n_k, without token `skip`."""
        n_dk = np.zeros((len(self.documents), self.n_topics))
        n_wk = np.zeros((self.n_words, self.n_topics))
        for i, (d, w) in enumerate(self.tokens):
            if i != skip:
                n_dk[d, z[i]] += 1
                n_wk[w, z[i]] += 1
        return n_dk, n_wk, n_wk.sum(0)

    def log_documents(self, z):
        """log p(z | α) up to a constant."""
        n_dk, _, _ = self.counts(z)
        return sum(lgamma(n + a) for n, a in zip(n_dk.ravel(), self.own.ravel(), strict=True) if a > 0)

    def posterior(self, phi=None):
        """p(z | w) of every state: collapsed, or given φ (V, K)."""
        logs = []
        for z in self.states:
            value = self.log_documents(z)
            if phi is None:
                _, n_wk, n_k = self.counts(z)
                value += sum(map(lgamma, (n_wk + self.prior).ravel()))
                value -= sum(map(lgamma, n_k + self.prior.sum(0)))
            else:
                with np.errstate(divide="ignore"):
                    # A word without any mass, where the document can have it, says nothing about its topic.
                    said = [(phi[w, k], (phi[w] * self.own[d]).any()) for (d, w), k in zip(self.tokens, z, strict=True)]
                    value += sum(np.log(p) for p, says in said if says)
            logs.append(value)
        p = np.exp(np.array(logs) - np.max(logs))
        return p / p.sum()

    def factors(self, z, i, phi=None):
        """Document and word factor of the conditional of token i, without the token."""
        d, w = self.tokens[i]
        n_dk, n_wk, n_k = self.counts(z, skip=i)
        word = (n_wk[w] + self.prior[w]) / (n_k + self.prior.sum(0)) if phi is None else phi[w]
        return n_dk[d] + self.own[d], word

    def document_range(self, d):
        return [i for i, (e, _) in enumerate(self.tokens) if e == d]

    def compose(self, token_matrix, tokens):
        """Transition matrix of the steps of `tokens`, one after the other; token_matrix(z, i) is K × K."""
        total = np.eye(len(self.states))
        for i in tokens:
            step = np.zeros_like(total)
            for a, z in enumerate(self.states):
                row = token_matrix(z, i)[z[i]]
                for k in np.flatnonzero(row):
                    step[a, self.index[(*z[:i], int(k), *z[i + 1 :])]] += row[k]
            total = total @ step
        return total


def gibbs(p):
    """Move to k with probability p_k, from anywhere; stay where nothing has mass."""
    if not p.any():
        return np.eye(len(p))
    return np.tile(p / p.sum(), (len(p), 1))


def metropolis(q, p):
    """Independence Metropolis–Hastings: propose from q, target p."""
    q = q / q.sum()
    n = len(p)
    m = np.zeros((n, n))
    for s in range(n):
        for t in range(n):
            if s != t and q[t] > 0:  # a topic that has lost all its mass is left for any other
                m[s, t] = q[t] * (min(1.0, p[t] * q[s] / (p[s] * q[t])) if p[s] > 0 else 1.0)
        m[s, s] = 1 - m[s].sum()
    return m


def gibbs_matrix(tiny, d, phi=None):
    """One sweep over document d by Gibbs steps: what every exact `gibbs` sampler must do."""
    return tiny.compose(lambda z, i: gibbs(np.prod(tiny.factors(z, i, phi), axis=0)), tiny.document_range(d))


def blocks_matrix(tiny):
    """A sweep of AD-LDA, every document a block: each does as if the others kept the topics that they had before."""
    alone = [gibbs_matrix(tiny, d) for d in range(len(tiny.documents))]
    total = np.ones((len(tiny.states),) * 2)
    for a, z in enumerate(tiny.states):
        for d, matrix in enumerate(alone):
            own = tiny.document_range(d)
            for b, other in enumerate(tiny.states):
                moved = tuple(other[i] if i in own else z[i] for i in range(len(z)))
                total[a, b] *= matrix[a, tiny.index[moved]]
    return total


def urn_mh_matrix(tiny, d, drawn):
    """Proposals from the urn's φ, whose counts were `drawn` (V, K), for the conditional given these counts."""
    phi = drawn / np.maximum(drawn.sum(0), 1)

    def step(z, i):
        w = tiny.tokens[i][1]
        document, word = tiny.factors(z, i)
        n = tiny.counts(z, skip=i)[1][w] + tiny.prior[w]
        proposal = document * phi[w]
        if not proposal.any():
            return np.eye(tiny.n_topics)
        return metropolis(proposal, document * word * ((n + 1) / n) ** drawn[w])

    return tiny.compose(step, tiny.document_range(d))


def light_matrix(tiny, d):
    """LightLDA's cycle with both proposals made of the other tokens."""

    def step(z, i):
        document, word = tiny.factors(z, i)
        _, n_wk, _ = tiny.counts(z, skip=i)
        target = document * word
        w = tiny.tokens[i][1]
        by_word = metropolis(n_wk[w] + tiny.beta_of[w], target)
        return by_word @ metropolis(document, target)

    return tiny.compose(step, tiny.document_range(d))


def composed(steps, composition, n_mh, turn):
    """`n_mh` steps, of which each is one of `steps`: at random, in turn from number `turn` on, or the one named."""
    total = np.eye(len(next(iter(steps.values()))))
    for j in range(n_mh):
        if composition == "mixture":
            total = total @ np.mean(list(steps.values()), axis=0)
        elif composition == "cycle":
            total = total @ steps[("word", "doc", "exp")[(turn + j) % 3]]
        else:
            total = total @ steps[composition]
    return total


class NoTilt:
    """The tilt of a document without a label. Every tilt is a function of topics z, token i, or the tokens `inside`."""

    labelled = False

    def __init__(self, n_topics):
        self.n_topics = n_topics

    def of_token(self, z, i):
        """Tilt of every topic for token i, all others as in z, up to a constant."""
        return np.ones(self.n_topics)

    def table(self, z, inside, floor):
        """Tilt as it seems from the tokens of the document that are not `inside`, at least e^−floor of the best."""
        return np.ones(self.n_topics)


def light_med_matrix(tiny, d, composition, n_mh, tilt=None):
    """LightMedLDA with word and document proposals made of the other tokens, and an exp table from the other half."""
    tilt = tilt or NoTilt(tiny.n_topics)
    tokens = tiny.document_range(d)
    halves = [tokens]
    if tilt.labelled and composition not in ("word", "doc") and len(tokens) > 1:
        halves = [tokens[::2], tokens[1::2]]
    turns = {i: j * n_mh for j, i in enumerate(itertools.chain(*halves))}
    total = np.eye(len(tiny.states))
    for half in halves:

        def step(z, i, half=half):
            document, word = tiny.factors(z, i)
            target = document * word * tilt.of_token(z, i)
            w = tiny.tokens[i][1]
            proposals = {
                "word": tiny.counts(z, skip=i)[1][w] + tiny.beta_of[w],
                "doc": document,
                "exp": tilt.table(z, half, 60.0 if len(half) == 1 else 4.0),
            }
            steps = {name: metropolis(q, target) for name, q in proposals.items()}
            return composed(steps, composition, n_mh, turns[i])

        total = total @ tiny.compose(step, half)
    return total


def published_matrix(tiny, d, name, composition="mixture", n_mh=1, tilt=None):
    """One sweep of a published sampler over document d, with tables that hold the tokens and grow stale.

    The table of a word is made when the word is first met, that of the smoothing part with the first token. Both are
    made anew only after K draws, which documents of up to K tokens do not reach before their last token.
    """
    tilt = tilt or NoTilt(tiny.n_topics)
    tokens = tiny.document_range(d)
    assert len(tokens) * n_mh <= tiny.n_topics
    v = tiny.alpha if name == "alias" else np.ones(tiny.n_topics)
    matrix = np.zeros((len(tiny.states),) * 2)

    def go_on(start, z, j, tables, probability):
        if j == len(tokens):
            matrix[start, tiny.index[z]] += probability
            return
        i = tokens[j]
        w = tiny.tokens[i][1]
        n_dk, n_wk, n_k = tiny.counts(z)
        scale = 1 / (n_k + tiny.n_words * tiny.beta)
        tables = {"smooth": v * tiny.beta * scale, w: v * n_wk[w] * scale} | tables
        stale = tables[w] + tables["smooth"]
        if name == "light_med_published":
            target = np.prod(tiny.factors(z, i), axis=0) * tilt.of_token(z, i)
            proposals = {"word": stale, "doc": n_dk[d] + tiny.alpha, "exp": tilt.table(tiny.states[start], [], 60.0)}
            steps = {proposal: metropolis(q, target) for proposal, q in proposals.items()}
            row = composed(steps, composition, n_mh, j * n_mh)[z[i]]
        else:
            row = published_step(tiny, z, i, name, stale, n_dk[d])[z[i]]
        for k in range(tiny.n_topics):
            go_on(start, (*z[:i], k, *z[i + 1 :]), j + 1, tables, probability * row[k])

    for start, z in enumerate(tiny.states):
        go_on(start, z, 0, {}, 1.0)
    return matrix


def published_step(tiny, z, i, name, stale, n_d):
    document, word = tiny.factors(z, i)
    target = document * word
    if name == "alias":
        return metropolis((document - tiny.alpha) * word + stale, target)
    return metropolis(stale, target) @ metropolis(n_d + tiny.alpha, target)
