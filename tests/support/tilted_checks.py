"""Checks of responses, used on topoi itself, on its interpreted copy, and on mutants of that copy.

A *core* is a bundle of topoi's modules: `COMPILED`, or `interpreted_core(edits)`.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import sys
from types import SimpleNamespace

import numpy as np
from scipy import integrate, special, stats

from support import polya_gamma_law
from support.copies import interpreted

MODULES = {
    "samplers": "topoi.chain.samplers",
    "state": "topoi.chain.state",
    "corpus": "topoi.corpus",
    "responses": "topoi.chain.responses",
    "supervision": "topoi.chain.responses.supervision",
    "weights": "topoi.chain.responses.weights",
    "design": "topoi.chain.counts.shares",
}
COMPILED = SimpleNamespace(**{name: importlib.import_module(module) for name, module in MODULES.items()})
NEVER = 1e-4  # level of a family of statistical tests: a right program fails once in ten thousand choices of the seed


def interpreted_core(edits=None):
    """A core without the compiler, with `edits` (see copies.py)."""
    found = {}

    def names():
        for name, module in MODULES.items():
            yield module
            found[name] = sys.modules[module]  # imported by now, and still the copy

    interpreted(edits, names())
    return SimpleNamespace(**found)


def half_line(zeta, c, log_joint):
    """log ∫ (2πλ)^−½ exp(log_joint(λ)) dλ, where log_joint is −(λ + cζ)²/(2λ): its peak is at λ = c|ζ|.

    With λ = s² the singularity at 0 is gone and the integrand is about a Gaussian of width ½ around √(c|ζ|).
    """
    peak = np.sqrt(c * abs(zeta))
    height = -2.0 * c * max(zeta, 0.0)

    def integrand(s):
        return np.sqrt(2.0 / np.pi) * np.exp(log_joint(s * s) - height)

    value = sum(
        integrate.quad(integrand, lo, hi, epsabs=1e-8, epsrel=1e-8, limit=500)[0]
        for lo, hi in [(1e-6, max(peak, 1e-3)), (max(peak, 1e-3), peak + 10.0)]
    )
    return np.log(value) + height


class HingeIntegral:
    """With ζ = ℓ − y f and ω = c²/λ,  −(λ + cζ)²/(2λ) = κ f − ½ω f² − λ/2 − cℓ − ½ωℓ²  for  κ = y (c + ωℓ)."""

    settings = ({"cost": 1.6, "margin": 4.0}, {"cost": 0.3, "margin": 1.0}, {"cost": 5.0, "margin": 0.25})
    targets = (-1.0, 1.0)
    scores = (-6.0, -1.3, -0.2, 0.3, 0.9, 7.0)

    def log_integral(self, r, c, y, f):
        def log_joint(x):
            omega = c * c / x
            kappa = y * (c + omega * r.margin)
            return kappa * f - 0.5 * omega * f * f - x / 2 - c * r.margin - 0.5 * omega * r.margin**2

        return half_line(r.margin - y * f, c, log_joint)

    def on_the_edge(self, r):
        return [(y, y * r.margin) for y in self.targets]

    def check_kappa(self, r, c, y, f, kappa, omega):
        np.testing.assert_allclose(kappa, y * (c + omega * r.margin), rtol=1e-12)

    def laws(self, r, c, y, f, kappa, omega):
        """Draws and the cdf that they must follow. SciPy's invgauss(μ/s, scale=s) has mean μ and shape s."""
        return [(omega, stats.invgauss(1 / (c * abs(r.margin - y * f)), scale=c * c).cdf)]

    def log_conditional(self, r, c, y, f, x):
        """log density of ω from the integrand (λ = c²/ω, dλ = c²/ω² dω), up to a constant."""
        kappa = y * (c + x * r.margin)
        return kappa * f - 0.5 * x * f * f - c * c / x / 2 - 0.5 * x * r.margin**2 - 1.5 * np.log(x)


class EpsilonInsensitiveIntegral:
    """Two hinges, ζ₁ = y − ε − f with a = 1/λ₁ and ζ₂ = f − y − ε with b = 1/λ₂; their terms ±c f cancel."""

    settings = ({"cost": 1.6, "epsilon": 0.5}, {"cost": 0.7, "epsilon": 2.0}, {"cost": 6.0, "epsilon": 0.125})
    targets = (-1.3, 0.0, 2.2)
    scores = (-4.0, -1.0, 0.1, 0.6, 3.0)

    def log_integral(self, r, c, y, f):
        def one(edge, sign):
            # −(λ + cζ)²/(2λ) with ζ = sign·(edge − f): linear and square in f, and the rest, which is free of f.
            def log_joint(x):
                omega = c * c / x
                kappa = sign * c + omega * edge
                return kappa * f - 0.5 * omega * f * f - x / 2 - sign * c * edge - 0.5 * omega * edge**2

            return half_line(sign * (edge - f), c, log_joint)

        return one(y - r.epsilon, 1.0) + one(y + r.epsilon, -1.0)

    def on_the_edge(self, r):
        return [(y, y + sign * r.epsilon) for y in self.targets for sign in (-1, 1)]

    def parts(self, r, c, y, kappa, omega):
        difference = (kappa - y * omega) / (r.epsilon * c * c)  # b − a
        both = omega / (c * c)
        return 0.5 * (both - difference), 0.5 * (both + difference)

    def check_kappa(self, r, c, y, f, kappa, omega):
        a, b = self.parts(r, c, y, kappa, omega)
        assert min(a.min(), b.min()) > -1e-9 * np.max(omega), "κ is between (y − ε) ω and (y + ε) ω"

    def laws(self, r, c, y, f, kappa, omega):
        a, b = self.parts(r, c, y, kappa, omega)
        return [
            (a, stats.invgauss(1 / (c * abs(y - f - r.epsilon))).cdf),
            (b, stats.invgauss(1 / (c * abs(y - f + r.epsilon))).cdf),
            # Independent, so the sum of their values of the cdf has the triangular distribution on (0, 2).
            (
                stats.invgauss(1 / (c * abs(y - f - r.epsilon))).cdf(a)
                + stats.invgauss(1 / (c * abs(y - f + r.epsilon))).cdf(b),
                stats.triang(0.5, scale=2.0).cdf,
            ),
        ]

    def log_conditional(self, r, c, y, f, x):
        """log density of a; b's is the same with −ε."""
        return c * c * x * ((y - r.epsilon) * f - 0.5 * f * f - 0.5 * (y - r.epsilon) ** 2) - 0.5 / x - 1.5 * np.log(x)


def log_mean_of_polya_gamma(c, f):
    """log E exp(−ω f²/2) for ω ~ PG(c, 0)."""
    # PG(c, 0) is Σ_k g_k / (2π²(k − ½)²) with g_k ~ Gamma(c): the expectation is a product over k.
    x, last = (f / (2 * np.pi)) ** 2, 10**5
    rest = x / last  # Σ_{k > last} log(1 + x/(k − ½)²)
    return -c * (np.log1p(x / (np.arange(last) + 0.5) ** 2).sum() + rest)


class LogisticIntegral:
    """ψ = 2^−c exp(c y f/2) cosh(f/2)^−c, and cosh(f/2)^−c = E exp(−ω f²/2) for ω ~ PG(c, 0)."""

    settings = ({"cost": 0.5}, {"cost": 1.0}, {"cost": 6.0})
    targets = (-1.0, 1.0)
    scores = (-5.0, -0.7, 0.0, 0.4, 3.0)

    def log_integral(self, r, c, y, f):
        log_mean = log_mean_of_polya_gamma(c, f)
        if c <= 1:  # by quadrature as well, where the density's series does not cancel

            def integrand(t):  # ω = e^t
                omega = np.exp(t)
                return np.exp(-0.5 * omega * f * f) * polya_gamma_law.pdf(omega, c, 0.0) * omega

            middle = np.log(c / 4)
            halves = [(middle - 12, middle), (middle, middle + 6)]
            by_quadrature = sum(integrate.quad(integrand, *half, epsrel=1e-10, limit=400)[0] for half in halves)
            np.testing.assert_allclose(np.log(by_quadrature), log_mean, rtol=0, atol=1e-7)
        return 0.5 * c * y * f + log_mean

    def on_the_edge(self, r):
        return [(y, 0.0) for y in self.targets]

    def check_kappa(self, r, c, y, f, kappa, omega):
        np.testing.assert_allclose(kappa, c * y / 2, rtol=1e-12)

    def laws(self, r, c, y, f, kappa, omega):
        return [(omega, lambda x: polya_gamma_law.cdf(x, c, f))]

    log_conditional = None  # ∝ exp(−½ω f²) PG(ω | c, 0), which is what PG(c, f) is defined to be


class SquaredIntegral:
    """Nothing is integrated: −c (y − f)²/2 = c y f − c f²/2 − c y²/2."""

    drawn = False
    settings = ({"cost": 0.5}, {"cost": 4.0})
    targets = (-2.0, 0.3)
    scores = (-3.0, 0.0, 0.3, 2.0)

    def log_integral(self, r, c, y, f):
        return c * y * f - 0.5 * c * f * f

    def on_the_edge(self, r):
        return [(y, y) for y in self.targets]

    def check_kappa(self, r, c, y, f, kappa, omega):
        np.testing.assert_allclose(omega, c, rtol=1e-12)
        np.testing.assert_allclose(kappa, c * y, rtol=1e-12)

    def laws(self, r, c, y, f, kappa, omega):
        return []

    log_conditional = None


class CountsIntegral:
    """ψ ∝ σ(t)^cy σ(−t)^cr = 2^−B exp(c (y − r) t/2) cosh(t/2)^−B with B = c (y + r), as the logistic loss has it."""

    settings = ({"cost": 1.0}, {"cost": 0.4}, {"cost": 3.0})
    targets = (0.0, 1.0, 7.0)
    scores = (-5.0, -0.7, 0.0, 0.4, 3.0)
    own = np.array([[2.5, 1.9]])  # dispersion and level
    log_conditional = None

    def of(self, c, y, f):
        r, level = self.own[0]
        return c * (y + r), c * (y - r) / 2, level - np.log(r), f + level - np.log(r)

    def log_integral(self, r, c, y, f):
        b, half, _, t = self.of(c, y, f)
        return half * t + log_mean_of_polya_gamma(b, t)

    def on_the_edge(self, r):
        return [(y, self.of(1.0, y, 0.0)[2]) for y in self.targets]

    def check_kappa(self, r, c, y, f, kappa, omega):
        _, half, offset, _ = self.of(c, y, f)
        np.testing.assert_allclose(kappa, half - offset * omega, rtol=1e-10, atol=1e-10)

    def laws(self, r, c, y, f, kappa, omega):
        b, _, _, t = self.of(c, y, f)
        return [(omega, lambda x: polya_gamma_law.cdf(x, b, t))] if b < 5 else []  # where its series does not cancel


class OrdinalIntegral:
    """Nothing but the utility u is integrated: exp(−c (u − f)²/2) = exp(κ f − ½ω f² − c u²/2), κ = c u, ω = c."""

    settings = ({"cost": 1.0}, {"cost": 0.3}, {"cost": 4.0})
    targets = (0.0, 1.0, 2.0)
    scores = (-4.0, -1.0, 0.1, 0.6, 3.0)
    own = np.array([[-0.8, 0.5]])  # cut-points
    log_conditional = None

    def ends(self, y):
        return np.concatenate(([-np.inf], self.own[0], [np.inf]))[[int(y), int(y) + 1]]

    def log_integral(self, r, c, y, f):
        low, high = np.clip(self.ends(y), -40.0, 40.0)
        top = -0.5 * c * (np.clip(f, low, high) - f) ** 2

        def integrand(u):
            return np.exp(c * u * f - 0.5 * c * f * f - 0.5 * c * u * u - top)

        middle = np.clip(f, low, high)
        parts = [(low, middle - 2), (max(low, middle - 2), middle), (middle, min(high, middle + 2)), (middle + 2, high)]
        value = sum(integrate.quad(integrand, *part, epsabs=1e-13, limit=300)[0] for part in parts if part[0] < part[1])
        return np.log(value) + top

    def on_the_edge(self, r):
        return [(y, end) for y in self.targets for end in self.own[0]]

    def check_kappa(self, r, c, y, f, kappa, omega):
        np.testing.assert_allclose(omega, c, rtol=1e-12)
        low, high = self.ends(y)
        assert (kappa / c >= low - 1e-12).all()
        assert (kappa / c <= high + 1e-12).all()

    def laws(self, r, c, y, f, kappa, omega):
        low, high = (np.sqrt(c) * (end - f) for end in self.ends(y))
        return [(np.sqrt(c) * (kappa / c - f), stats.truncnorm(low, high).cdf)]


INTEGRALS = {
    "hinge": HingeIntegral(),
    "counts": CountsIntegral(),
    "ordinal": OrdinalIntegral(),
    "softmax": LogisticIntegral(),  # one score: two labels. test_softmax.py has more
    "epsilon_insensitive": EpsilonInsensitiveIntegral(),
    "logistic": LogisticIntegral(),
    "squared": SquaredIntegral(),
}


class UnknownIntegral:
    """Of a response without an integral of its own: what can be said of any, so that a new one is checked at once.

    `check_bridge` needs no more. An integral here is sharper where the law of the draws is known in closed form.
    """

    log_conditional = None

    def __init__(self, kind):
        self.kind = kind
        defaults = {name: getattr(kind(), name) for name in kind.setting_names()}
        self.settings = (dict.fromkeys(defaults, 1.5), defaults)
        self.targets = kind.examples
        self.scores = (-4.0, -1.0, 0.1, 0.6, 3.0)

    def on_the_edge(self, r):
        """Where a loss may have a kink: at the target, at the decision, and a unit away from it."""
        return [(y, f) for y in self.targets for f in (y, 0.0, y * r.unit)]

    def check_kappa(self, r, c, y, f, kappa, omega):
        """Nothing: how κ goes with ω is the loss's own affair."""

    def laws(self, r, c, y, f, kappa, omega):
        return []


def integral_of(name):
    return INTEGRALS.get(name) or UnknownIntegral(COMPILED.responses.RESPONSES[name])


def own_of(response, n_tasks=1):
    """Parameters of the loss of its own to test it at: those of its integral, or others than those that it begins with.

    What it begins with may be special, as a level of 0 is. Positive numbers stay so, and numbers in order too.
    """
    own = response.first_own(n_tasks)
    if own is None:
        return None
    given = getattr(integral_of(response.name), "own", None)
    return 1.5 * own + 0.7 if given is None else np.tile(given, (n_tasks, 1))


def log_loss(response, y, f):
    """log ψ(y | f) at these parameters."""
    own = own_of(response)
    return response.log_loss(y, f) if own is None else response.log_loss(y, f, own)


def targets_for(name, shape, rng):
    """Random targets (documents, tasks) that a loss takes, all known."""
    kind = COMPILED.responses.RESPONSES[name]
    if shape[1] > 1 and getattr(kind, "joint", False) and not kind.ordered:  # one label is right
        return np.where(rng.integers(0, shape[1], shape[0])[:, None] == np.arange(shape[1]), 1.0, -1.0)
    return rng.choice(integral_of(name).targets, shape)


def by_document(name):
    """Whether a document has all of its targets or none."""
    return getattr(COMPILED.responses.RESPONSES[name], "joint", False)


def draw(response, y, f, weight=1.0, seed=0, sweep=0, own=None):
    """κ and ω in float64 for arrays y and f."""
    y, f, weight = (np.ascontiguousarray(np.broadcast_to(x, np.shape(y)), float) for x in (y, f, weight))
    kappa, omega = np.full(y.shape, np.nan), np.full(y.shape, np.nan)
    own = own_of(response, y.shape[1]) if own is None else own
    response.draw(y, f, weight, kappa, omega, seed, sweep, 0, len(y), 0, own)
    return kappa, omega


def check_response(core, name, n=2000, weights=(1.0, 0.5)):
    """κ goes with ω, and the draws follow their law, over a grid of settings, targets and scores."""
    integral = integral_of(name)
    cells = [
        (settings, y, f, weight)
        for settings in integral.settings
        for y in integral.targets
        for f in integral.scores
        for weight in weights
    ]
    level = NEVER / (3 * len(cells))  # three laws a cell at most
    for number, (settings, y, f, weight) in enumerate(cells):
        response = core.responses.RESPONSES[name](**settings)
        c = response.cost * weight
        kappa, omega = draw(response, np.full((n, 1), y), f, weight, seed=31, sweep=number)
        assert np.isfinite(kappa).all()
        assert (omega > 0).all()
        integral.check_kappa(response, c, y, f, kappa, omega)
        for draws, cdf in integral.laws(response, c, y, f, kappa.ravel(), omega.ravel()):
            assert stats.kstest(draws, cdf).pvalue > level, (settings, y, f, weight)


def check_bridge(core, name, n=2000, weights=(1.0, 0.5)):
    """The draws of (κ, ω) at one score against those at another: their densities differ as the losses do.

    The draws at f have the density p_f ∝ exp(κ f − ½ω f²) h, normalised by ψ(y | f). So with

        W = exp(κ (b − a) − ½ω (b² − a²)) · ψ(y | a)/ψ(y | b)

    p_b = W p_a, and E_a[W/(1 + W) t] = E_b[1/(1 + W) t] for any function t (Bennett 1976; Meng & Wong 1996). Both are
    means of numbers between 0 and 1, whatever the tails of ω, and nothing but `log_loss` needs to be known.
    """
    integral = integral_of(name)
    scores = [-1.6, -0.7, -0.2, 0.3, 1.1, 2.5]
    cells = [
        (settings, y, pair, weight)
        for settings in integral.settings
        for y in integral.targets
        for pair in itertools.pairwise(scores)
        for weight in weights
    ]
    limit = stats.norm.isf(NEVER / (2 * 3 * len(cells)))  # three functions a cell
    for number, (settings, y, (a, b), weight) in enumerate(cells):
        response = core.responses.RESPONSES[name](**settings)
        scaled = dataclasses.replace(response, cost=response.cost * weight)
        loss = log_loss(scaled, y, b) - log_loss(scaled, y, a)
        parts = []
        for f, sign, seed in ((a, 1.0, 33), (b, -1.0, 34)):
            kappa, omega = (x.ravel() for x in draw(response, np.full((n, 1), y), f, weight, seed=seed, sweep=number))
            log_w = kappa * (b - a) - 0.5 * omega * (b * b - a * a) - loss
            size = scaled.cost / (scaled.cost + omega)
            share = special.expit(sign * log_w)
            parts.append(np.stack([share, share * size, share * (np.abs(kappa) < np.abs(y * omega))]))
        difference = parts[0].mean(1) - parts[1].mean(1)
        error = np.sqrt((parts[0].var(1) + parts[1].var(1)) / n) + 2 / n  # … and an event or two, where it is rare
        assert (np.abs(difference) < limit * error).all(), (settings, y, a, b, weight, difference / error)
