"""The bias of stale proposals, by enumeration: what the papers' Metropolis–Hastings steps do to the posterior."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from math import lgamma
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.table import Row, Table

# The slow, obvious twins that the samplers are tested against.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.exact import stationary
from support.naive import Tiny, gibbs, metropolis

Matrix = NDArray[np.float64]
LDA = Tiny([[0, 0, 1], [1, 0]], alpha=[0.3, 0.7], beta=0.4, n_words=2)
ROUNDING = 1e-12


def measure(scale: Scale, seed: int) -> list[Row]:
    rows: list[Row] = []
    for name, (form, sweep) in {**lda_sweeps(), **tilted_sweeps(seed)}.items():
        matrix, posterior = sweep()
        away = float(0.5 * np.abs(stationary(matrix) - posterior).sum())
        moved = float(np.abs(posterior @ matrix - posterior).max())
        rows.append({"sampler": name, "form": form, "distance": away, "moved": moved})
    return rows


# ---- LDA: five tokens, 32 states -----------------------------------------------------------------------------------


def lda_sweeps() -> dict[str, tuple[str, Callable[[], tuple[Matrix, Matrix]]]]:
    """Name, form and transition matrix of one sweep, with the posterior."""

    def word(counts: Matrix) -> Matrix:
        return (counts + LDA.beta) / (counts.sum(0) + LDA.n_words * LDA.beta)

    def step(make: Callable[..., Matrix]) -> Callable[[], tuple[Matrix, Matrix]]:
        """make(z at the start of the sweep, z, i, target) is the K × K matrix of a token's step."""
        return lambda: (sweep_matrix(make), LDA.posterior())

    def by_document(start: Any, z: Any, i: int, p: Matrix, own: bool) -> Matrix:
        d, _ = LDA.tokens[i]
        matrix: Matrix = metropolis(LDA.counts(z, skip=None if own else i)[0][d] + LDA.alpha, p)
        return matrix

    def by_word(start: Any, z: Any, i: int, p: Matrix, stale: bool) -> Matrix:
        _, w = LDA.tokens[i]
        counts = LDA.counts(start)[1] if stale else LDA.counts(z, skip=i)[1]
        matrix: Matrix = metropolis(word(counts)[w], p)
        return matrix

    return {
        "Gibbs": ("exact", step(lambda s, z, i, p: gibbs(p))),
        "document, of the other tokens": ("exact", step(lambda *a: by_document(*a, own=False))),
        "word, of the other tokens": ("exact", step(lambda *a: by_word(*a, stale=False))),
        "document, with the token itself": ("published", step(lambda *a: by_document(*a, own=True))),
        "word, frozen for a sweep": ("published", step(lambda *a: by_word(*a, stale=True))),
        "cycle of both (LightLDA)": (
            "published", step(lambda *a: by_word(*a, stale=True) @ by_document(*a, own=True))),
    }  # fmt: skip


def sweep_matrix(make: Callable[..., Matrix]) -> Matrix:
    """Transition matrix of a sweep whose steps may depend on the topics at its start."""
    matrix = np.zeros((len(LDA.states),) * 2)
    for a, start in enumerate(LDA.states):
        here = {start: 1.0}
        for i in range(len(LDA.tokens)):
            there: dict[tuple[int, ...], float] = {}
            for z, probability in here.items():
                row = make(start, z, i, np.prod(LDA.factors(z, i), axis=0))[z[i]]
                for k in range(LDA.n_topics):
                    moved = (*z[:i], k, *z[i + 1 :])
                    there[moved] = there.get(moved, 0.0) + probability * row[k]
            here = there
        for z, probability in here.items():
            matrix[a, LDA.index[z]] += probability
    return matrix


# ---- MedLDA: one document of five tokens with a response, φ given, 243 states ---------------------------------------

WORDS, ALPHA = (0, 1, 1, 2, 3), np.array([0.3, 0.7, 0.5])
KAPPA, OMEGA = 3.0, 4.0
N, K = len(WORDS), len(ALPHA)


def tilted_sweeps(seed: int) -> dict[str, tuple[str, Callable[[], tuple[Matrix, Matrix]]]]:
    """The exp table of a document: frozen as its turn comes, or made in two halves; φ and η depend on the seed."""
    rng = np.random.default_rng(seed)
    phi, eta = rng.dirichlet(np.ones(4), K).T, rng.normal(0, 2, K)
    return {
        f"{label}, {kind}": (form, lambda h=halves, m=mixed: tilted_matrix(phi, eta, h, m))
        for label, form, halves in (("exp table in halves", "exact", True), ("exp table, frozen", "published", False))
        for kind, mixed in (("with the other factors", False), ("in LightMedLDA's mixture", True))
    }  # fmt: skip


def tilted_matrix(phi: Matrix, eta: Matrix, halves: bool, mixed: bool) -> tuple[Matrix, Matrix]:
    """Transition matrix of the document's tokens, and the posterior."""
    states = list(itertools.product(range(K), repeat=N))
    index = {z: a for a, z in enumerate(states)}

    def log_p(z: tuple[int, ...]) -> float:
        counts = np.bincount(z, minlength=K)
        score = eta @ counts / N
        topics = sum(lgamma(n + a) for n, a in zip(counts, ALPHA, strict=True))
        words = sum(np.log(phi[w, k]) for w, k in zip(WORDS, z, strict=True))
        return float(topics + words + KAPPA * score - 0.5 * OMEGA * score**2)

    def tilt(m: float) -> Matrix:
        """exp(g(k)) where the other tokens have the weights m in all."""
        log_tilt: Matrix = KAPPA * eta / N - 0.5 * OMEGA * (eta**2 + 2 * eta * m) / N**2
        return np.exp(log_tilt)

    def step(z: tuple[int, ...], i: int, reference: float) -> Matrix:
        others = np.bincount([*z[:i], *z[i + 1 :]], minlength=K)
        document, word = others + ALPHA, phi[WORDS[i]]
        target = document * word * tilt(eta @ others)
        if mixed:
            return np.mean([metropolis(q, target) for q in (word, document, tilt(reference))], axis=0)
        matrix: Matrix = metropolis(document * word * tilt(reference), target)
        return matrix

    blocks = [range(0, N, 2), range(1, N, 2)] if halves else [range(N)]
    matrix = np.eye(len(states))
    for block in blocks:
        part = np.zeros_like(matrix)
        for a, start in enumerate(states):
            outside = [j for j in range(N) if j not in block] or list(range(N))
            reference = float(sum(eta[start[j]] for j in outside) * N / len(outside))
            here = {start: 1.0}
            for i in block:
                there: dict[tuple[int, ...], float] = {}
                for z, probability in here.items():
                    row = step(z, i, reference)[z[i]]
                    for k in range(K):
                        moved = (*z[:i], k, *z[i + 1 :])
                        there[moved] = there.get(moved, 0.0) + probability * row[k]
                here = there
            for z, probability in here.items():
                part[a, index[z]] += probability
        matrix = matrix @ part
    p = np.exp([log_p(z) for z in states])
    return matrix, p / p.sum()


def judge(table: Table) -> Verdict:
    exact = [line for line in table.lines if line.keys["form"] == "exact"]
    published = [line for line in table.lines if line.keys["form"] == "published"]
    largest = max(max(line.mean["distance"], line.mean["moved"]) for line in exact)
    each = "; ".join(f"{line.keys['sampler']}: {line.mean['distance']:.3f}" for line in published)
    text = (
        f"Total variation between where a sampler ends and the posterior, on five tokens: {each}. With proposals "
        f"that do not depend on the token being moved it is at most {largest:.0e}, which is rounding. A frozen table "
        f"holds the token's own topic: the way back would have been proposed from another table."
    )
    if largest > ROUNDING:
        return Verdict("in part", f"A form that should be exact is not. {text}")
    return Verdict("no" if min(line.mean["distance"] for line in published) > ROUNDING else "yes", text)


def draw(table: Table, figure: Any) -> None:
    (axis,) = panels(figure)
    lines = table.lines[::-1]
    for form, colour in (("published", "#D55E00"), ("exact", "#0072B2")):
        at = [j for j, line in enumerate(lines) if line.keys["form"] == form]
        mean = [max(lines[j].mean["distance"], 1e-17) for j in at]
        axis.barh(at, mean, color=colour, label={"published": "as published", "exact": "made exact"}[form])
    axis.set_yticks(range(len(lines)), [str(line.keys["sampler"]) for line in lines], fontsize=8)
    axis.set(xscale="log", xlabel="total variation from the posterior", xlim=(1e-17, 1))
    legend(axis, loc="upper right")


FIGURE = Figure(
    name="stale_proposals",
    paper="topoi: exactness",
    title="The bias of stale proposals, by enumeration",
    claim="LightMedLDA (and LightLDA, AliasLDA): a proposal frozen earlier may be used, since the Metropolis–Hastings "
    "correction leaves the stationary density unchanged.",
    stand_in="",
    settings=(
        "LDA: two documents of five tokens, 2 topics, all 32 states. MedLDA: a document of five tokens, 3 topics, a "
        "Gaussian tilt, all 243 states, φ and η by the seed. Transition matrices in NumPy from the formulas.",
        "as quick, more seeds.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("sampler", "form"),
    judge=judge,
    draw=draw,
    decided_by="enumeration, which has no noise; seeds are other examples",
)
