"""Checks of topics under a tilt: transition matrices of the samplers' source, their twins, and a sweep's other draws.

For cores see tilted_checks.py. A sampler that can tilt has its twin in `twin_matrix` and its cases in `tilted_cases`.
"""

from __future__ import annotations

import copy
from math import lgamma

import numpy as np

from support import naive
from support.exact import PROPOSALS, REPEATED, block_matrix, state_of
from support.naive import NoTilt, Tiny
from support.tilted_checks import by_document, draw, integral_of, own_of, targets_for
from support.weight_checks import dense_shares, gaussian_of
from topoi._machine.pool import Pool
from topoi._machine.rng import WEIGHTS, new_stream, normal
from topoi.chain.counts.shares import design_of
from topoi.chain.priors import fixed_priors
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.samplers._tilted import FLOOR, FLOOR_OF_PART
from topoi.chain.state import new_state

# Five tokens: with part = 2 three parts (2, 2 and 1 tokens), with part = 8 two (3 and 2).
LONG = Tiny([[0, 0, 1, 2, 2]], alpha=[0.3, 0.7], beta=0.4, n_words=3)
# For blocks of several documents: the last has no label.
APART = Tiny([[0, 1], [], [0, 0]], alpha=[0.3, 0.7], beta=0.4, n_words=2)
THREE = Tiny([[0, 0, 2], [], [1]], alpha=[0.2, 0.5, 1.1], beta=0.3, n_words=3)
# For proposals, which branch a lot: halves of two tokens and one; and single tokens, for several steps each.
HALVES = Tiny([[0, 0, 1], [0]], alpha=[0.3, 0.7], beta=0.4, n_words=2)
SINGLE = Tiny([[0], [0], [1]], alpha=[0.3, 0.7], beta=0.4, n_words=2)
# Documents with an α of their own, the second without two of the topics.
OWN_APART = Tiny(
    [[0, 1, 1], [], [0, 0]],
    alpha=[[0.2, 0.5, 1.1], [0.3, 0.3, 0.3], [0.4, 0.0, 0.7]],
    beta=0.4,
    n_words=2,
)
N_TASKS = 2


def tilted_cases(kind):
    """(corpus, size of the parts, options): small enough that every path can be followed."""
    if "composition" not in kind.options:
        walks = [{}, {"look_up": 0}] if "look_up" in kind.options else [{}]
        return [(REPEATED, part, option) for part in (1, 8) for option in walks]
    # The size of the parts plays no role where there are two halves, or no parts at all.
    one = [(PROPOSALS, 8, {"composition": name, "n_mh": 1}) for name in kind.options["composition"]]
    if not kind.exact:
        return one
    return [
        *one,
        (PROPOSALS, 8, {"composition": "cycle", "n_mh": 2}),
        (PROPOSALS, 8, {"composition": "exp", "n_mh": 2}),
        (SINGLE, 8, {"composition": "mixture", "n_mh": 2}),
        (HALVES, 8, {"composition": "cycle", "n_mh": 1}),
        (HALVES, 8, {"composition": "exp", "n_mh": 1}),
    ]


def quick_options(kind):
    """Options with few paths, for corpora on which all documents run in one block."""
    if "composition" not in kind.options:
        return {}
    # Word tables of the published form live for a whole block: leave them out.
    return {"composition": "cycle" if kind.exact else "exp", "n_mh": 1}


def targets_of(tiny, name, seed):
    """Random targets; the last document has no label at all, the first lacks that of the second task."""
    rng = np.random.default_rng(seed)
    y = targets_for(name, (len(tiny.documents), N_TASKS), rng)
    if len(tiny.documents) > 1:
        y[-1] = np.nan
        if not by_document(name):
            y[0, 1] = np.nan
    return y


def supervision_of(core, tiny, name, part, seed=0, strength=1.5):
    """Supervision at random weights, κ and ω drawn by the response itself."""
    integral = integral_of(name)
    response = core.responses.RESPONSES[name](**integral.settings[0])
    s = core.supervision.new_supervision(response, targets_of(tiny, name, seed), tiny.n_topics, part=part)
    rng = np.random.default_rng(seed + 1)
    s.eta[:, : tiny.n_topics] = rng.normal(0, strength, (N_TASKS, tiny.n_topics))
    f = rng.normal(0, strength, s.y.shape)
    if s.own is not None:
        s.own[:] = own_of(s.response, N_TASKS)
    s.response.draw(s.y, f, s.weight, s.kappa, s.omega, seed, 0, 0, len(s.y), 0, s.own)
    return s


def log_tilts(tiny, s):
    """Σ_l κ f − ½ω f² for every state and document."""
    eta = s.eta[:, : tiny.n_topics].astype(float)
    n = np.maximum([len(words) for words in tiny.documents], 1)
    f = np.array([tiny.counts(z)[0] @ eta.T / n[:, None] for z in tiny.states])
    return (s.kappa.astype(float) * f - 0.5 * s.omega.astype(float) * f * f).sum(2)


def log_posterior(tiny, phi, base):
    """log p(z | words) of every state up to a constant; `base` has counts of other tokens (V, K)."""
    if base is None:
        with np.errstate(divide="ignore"):
            return np.log(tiny.posterior(phi))
    logs = []
    for z in tiny.states:
        n_wk = tiny.counts(z)[1] + base
        words = sum(lgamma(n + tiny.beta) for n in n_wk.ravel())
        logs.append(tiny.log_documents(z) + words - sum(lgamma(n + tiny.n_words * tiny.beta) for n in n_wk.sum(0)))
    return np.array(logs)


def tilted_posterior(tiny, s, phi=None, base=None):
    log_p = log_posterior(tiny, phi, base) + log_tilts(tiny, s).sum(1)
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def order_of(n, labelled, part):
    """The parts of a document of n tokens, each a list of places: interleaved, at least two where there are two."""
    n_parts = min(n, max(2, -(-n // part))) if labelled else min(n, 1)
    return [list(range(first, n, n_parts)) for first in range(n_parts)]


class DocumentTilt(NoTilt):
    """The tilt of document d from the formulas: that of all states computed anew, and tables from some tokens."""

    def __init__(self, tiny, d, s):
        super().__init__(tiny.n_topics)
        self.tiny, self.tokens = tiny, tiny.document_range(d)
        self.labelled = bool(s.omega[d].any()) and len(self.tokens) > 0
        self.eta = s.eta[:, : tiny.n_topics].astype(float)
        self.kappa, self.omega = s.kappa[d].astype(float), s.omega[d].astype(float)
        self.log_tilt = log_tilts(tiny, s)[:, d]

    def of_token(self, z, i):
        at = [self.tiny.index.get((*z[:i], k, *z[i + 1 :])) for k in range(self.n_topics)]
        tilts = np.array([-np.inf if state is None else self.log_tilt[state] for state in at])
        return np.exp(tilts - tilts.max())

    def slopes(self, z, inside):
        """log of the tilt of every topic as it seems from the tokens that are not `inside`."""
        n = len(self.tokens)
        outside = [self.eta[:, z[j]] for j in self.tokens if j not in inside]
        scale = (n if len(inside) != 1 else n - 1) / len(outside) if outside else 0.0
        m = sum(outside, np.zeros(N_TASKS)) * scale
        return (self.kappa / n) @ self.eta - self.omega @ (self.eta**2 + 2 * self.eta * m[:, None]) / (2 * n * n)

    def table(self, z, inside, floor):
        if not self.labelled:
            return np.ones(self.n_topics)
        g = self.slopes(z, inside)
        return np.exp(np.maximum(g - g.max(), -floor))

    def sparse_table(self, z, inside, floor):
        """Tilts of the topics of the tokens that are not `inside`, their mean over these tokens 1; others 1."""
        tilts = np.ones(self.n_topics)
        outside = [z[j] for j in self.tokens if j not in inside]
        if self.labelled and outside:
            there = np.unique(outside)
            g = self.slopes(z, inside)[there]
            tilts[there] = np.exp(np.maximum(g - g.max(), -floor))
            tilts[there] /= tilts[outside].mean()
        return tilts


def twin_matrix(kind, tiny, d, s, part, phi=None, option=None):
    """Transition matrix of document d from the formulas."""
    tilt = DocumentTilt(tiny, d, s)
    if kind.name == "light_med":
        return naive.light_med_matrix(tiny, d, tilt=tilt, **option)
    if kind.name == "light_med_published":
        return naive.published_matrix(tiny, d, kind.name, tilt=tilt, **option)
    assert kind.draw == "gibbs", f"write a twin for {kind.name} here"
    return parts_matrix(kind, tiny, tilt, part, phi)


def parts_matrix(kind, tiny, tilt, part, phi):
    """A draw from the product with a table of tilts for each part of the document, and one step that corrects it.

    With part = 1 and all topics in the table this is the Gibbs step of Gibbs MedLDA: the conditional itself.
    """
    matrix = np.eye(len(tiny.states))
    for places in order_of(len(tilt.tokens), tilt.labelled, part):
        inside = [tilt.tokens[place] for place in places]
        floor = FLOOR if len(inside) == 1 else FLOOR_OF_PART

        def step(z, i, inside=inside, floor=floor):
            document, word = tiny.factors(z, i, phi)
            target = document * word * tilt.of_token(z, i)
            if not (document * word).any():
                return np.eye(tiny.n_topics)
            if not tilt.labelled or (part == 1 and kind.name != "polya_urn"):
                return naive.gibbs(target)
            if kind.name == "polya_urn":
                alpha = tiny.own[tiny.tokens[i][0]]
                proposal = word * ((document - alpha) * tilt.sparse_table(z, inside, floor) + alpha)
            else:
                proposal = document * word * tilt.table(z, inside, floor)
            return naive.metropolis(proposal, target)

        matrix = matrix @ tiny.compose(step, inside)
    return matrix


def tilted_maker(core, sampler, tiny, s, seed=3, base=None, option=None):
    """A maker of samplers at topics z (see exact.block_matrix), and their φ where it is fixed."""
    kind = core.samplers.SAMPLERS[sampler]

    def sampler_at(z):
        state = state_of(kind, tiny, z, seed)
        state.supervision = s
        if base is not None:
            state.base_table = np.ascontiguousarray(base, state.real)
        made = kind(state, **(option or {}))
        made.begin()
        return made

    if not kind.factor_class.fixed or kind.live_in_block:
        return sampler_at, None
    fixed = sampler_at(tiny.states[len(tiny.states) // 3])
    return (lambda z: fixed), fixed.factor.to_dense()


def phi_seeds(kind):
    """Seeds of φ: several for the urn, which may leave a word a topic or two, or none."""
    return range(5) if kind.name == "polya_urn" else (3,)


def check_tilted(core, sampler, tiny, name, part, seed=0, strength=1.5, **more):
    """The sampler's own source on every path: its twin's transitions, and the tilted posterior unchanged."""
    kind = core.samplers.SAMPLERS[sampler]
    s = supervision_of(core, tiny, name, part, seed, strength)
    return [check_tilted_at(core, kind, tiny, s, phi_seed, **more) for phi_seed in phi_seeds(kind)]


def check_tilted_at(core, kind, tiny, s, phi_seed, twin=True, together=False, base=None, option=None):
    """The same given φ; returns the sweep's transition matrix."""
    make, phi = tilted_maker(core, kind.name, tiny, s, phi_seed, base, option)
    sweep = np.eye(len(tiny.states))
    for d in range(len(tiny.documents)):
        matrix = block_matrix(tiny, d, d + 1, make)
        np.testing.assert_allclose(matrix.sum(1), 1, rtol=0, atol=1e-12)
        if twin:
            # The table's exponential is (1 + x/256 + …)^256: short of e^x by 2e-7 at x = −10, and by less above.
            expected = twin_matrix(kind, tiny, d, s, s.part, phi, option)
            np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-6)
        sweep = sweep @ matrix
    if together:  # all documents in one block: what one leaves behind must not reach the next
        np.testing.assert_allclose(block_matrix(tiny, 0, len(tiny.documents), make), sweep, rtol=0, atol=1e-12)
    if kind.exact or kind.draw == "gibbs":
        posterior = tilted_posterior(tiny, s, phi, base)
        assert np.abs(posterior @ sweep - posterior).max() < 1e-12
    return sweep


def check_update(core, sampler, tiny, name):
    """After a sweep the scores are those of topics and weights, κ and ω are drawn for them, counts are kept."""
    for n_gibbs in (0, 2):
        s = supervision_of(core, tiny, name, part=8)
        s.n_gibbs = n_gibbs
        kind = core.samplers.SAMPLERS[sampler]
        state = state_of(kind, tiny, tiny.states[-1])
        state.supervision = s
        made = kind(state)
        for _ in range(3):
            before = s.eta.copy()
            made.sweep()
            assert (s.eta[:, : tiny.n_topics] != before[:, : tiny.n_topics]).all(), "every weight is drawn anew"
            f = dense_shares(state) @ s.eta[:, : tiny.n_topics].T.astype(float)
            found = s.scores(core.design.design_of(state, Pool(1)), Pool(1))
            np.testing.assert_allclose(found, f, rtol=1e-5, atol=1e-5)
            # ω is a smooth function of f given the stream's numbers.
            kappa, omega = draw(s.response, s.y, found, s.weight, state.seed, 2 * state.sweep + 1, s.own)
            np.testing.assert_allclose(s.omega, omega, rtol=1e-6)
            np.testing.assert_allclose(s.kappa, kappa, rtol=1e-6)
            if not made.factor.fixed:
                np.testing.assert_array_equal(made.factor.kept_counts(), tiny.counts(tuple(state.z))[1])


def check_weights_see_topics(core, sampler, tiny, name):
    """The weights of a sweep are drawn given κ and ω at the new topics and the old weights: the twin of `update`."""
    s = supervision_of(core, tiny, name, part=8)
    s.n_gibbs = 1
    kind = core.samplers.SAMPLERS[sampler]
    state = state_of(kind, tiny, tiny.states[1], seed=8)
    state.supervision = s
    old, own = s.eta[:, : tiny.n_topics].astype(float), copy.copy(s.own)
    kind(state).sweep()
    shares = dense_shares(state)
    kappa, omega = draw(s.response, s.y, shares @ old.T, s.weight, 8, 2, own)
    for task in range(N_TASKS):
        stream = new_stream(8, WEIGHTS, 1, task)
        mean, precision = gaussian_of(shares, kappa[:, task], omega[:, task], s.nu)
        b = precision @ mean
        x = old[task]
        for k in range(tiny.n_topics):
            others = precision[k] @ x - precision[k, k] * x[k]
            x[k] = (b[k] - others) / precision[k, k] + normal(stream) / np.sqrt(precision[k, k])
        np.testing.assert_allclose(s.eta[task, : tiny.n_topics], x, rtol=1e-4, atol=1e-4)


def supervised_state(corpus, loss, seed=3, part=8, n_gibbs=2, weight=None, n_topics=6, n_tasks=3, priors=None):
    rng = np.random.default_rng(seed)
    integral = integral_of(loss)
    y = targets_for(loss, (corpus.n_documents, n_tasks), rng)
    missing = rng.random(y.shape) < 0.1
    y[missing[:, 0] if by_document(loss) else missing] = np.nan
    y[::5] = np.nan
    response = RESPONSES[loss](**integral.settings[0])
    state = new_state(corpus, priors or fixed_priors(np.linspace(0.05, 0.4, n_topics), 0.05), seed)
    weights = None if weight is None else np.full(y.shape, float(weight))
    state.supervision = new_supervision(response, y, n_topics, weights, n_gibbs=n_gibbs, part=part)
    with Pool(1) as pool:
        # No sweep draws number 0: they start with 2.
        state.supervision.draw_auxiliary(state, design_of(state, pool), 0, pool)
    return state
