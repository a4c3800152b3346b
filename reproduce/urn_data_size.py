"""Pólya Urn LDA, Section 3: does the error of the urn vanish with the size of the data?"""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.chains import begun, copy
from reproduce.corpora import NAMES, corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.urns import ALL_WORDS, ALPHA, BETA, LIMITED, STAND_IN, WORDS
from reproduce.verdicts import together
from topoi.chain.diagnostics import log_joint
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State

TOPICS = 20
NEGLIGIBLE = 0.01  # of the log joint per token
SIZES = {
    "quick": {"20ng": (100, 300, 1000, 3000), "reuters": (100, 1000), "arxiv": (100, 1000)},
    "fits": {
        "20ng": (100, 300, 1000, 3000, 11_269),
        "reuters": (100, 300, 1000, 3000, 7000),
        "arxiv": (100, 300, 1000, 3000, 10_000),
    },
    "full": {
        "20ng": (100, 300, 1000, 3000, 11_269),
        "reuters": (100, 300, 1000, 3000, 7000),
        "arxiv": (100, 300, 1000, 3000, 30_000),
    },
}
#: Burn-in, of each sampler unused, and averaged.
SWEEPS = {"quick": (30, 15, 15), "fits": (50, 25, 25), "full": (300, 200, 200)}


def measure(scale: Scale, seed: int) -> list[Row]:
    rows: list[Row] = []
    cases = [(name, size, words) for name, sizes in SIZES[scale].items() for size in sizes for words in WORDS]
    for name, size, words in cases:
        found = piece((name, size, words), compare, name, size, words, seed, SWEEPS[scale])
        rows.append({"corpus": name, "words": words, "documents": size, **found})
    return rows


def compare(name: str, size: int, words: str, seed: int, sweeps: tuple[int, int, int]) -> Row:
    """Where both samplers go from the same topics."""
    burn_in, unused, used = sweeps
    state = begun(corpus(name, size, least=WORDS[words]), TOPICS, ALPHA, BETA, seed, burn_in)
    level = {sampler: average(state, sampler, unused, used) for sampler in ("partial", "polya_urn")}
    return {
        "tokens": state.corpus.n_tokens, "partial": level["partial"][0], "polya_urn": level["polya_urn"][0],
        "gap": level["polya_urn"][0] - level["partial"][0], "kept": level["polya_urn"][1],
    }  # fmt: skip


def average(start: State, name: str, unused: int, used: int) -> tuple[float, float]:
    """Log joint per token over the later sweeps, and the share of tokens that kept their topic for want of φ."""
    state = copy(start)
    sampler = SAMPLERS[name](state)
    joint, kept = [], []
    for sweep in range(unused + used):
        info = sampler.sweep()
        if sweep >= unused:
            joint.append(log_joint(state) / state.corpus.n_tokens)
            kept.append(info.get("tokens_kept", 0.0) / state.corpus.n_tokens)
    return float(np.mean(joint)), float(np.mean(kept))


def judge(table: Table) -> Verdict:
    vanishes, negligible, parts = [], [], []
    for name in table.different("corpus"):
        told = []
        for words in WORDS:
            size, gap, _ = table.curve("documents", "gap", corpus=name, words=words)
            kept = table.curve("documents", "kept", corpus=name, words=words)[1]
            told.append(
                f"{', '.join(f'{g:+.3f}' for g in gap)} ({', '.join(f'{x:.2%}' for x in kept)} of the tokens keep "
                "their topic because their word drew no φ at all)"
            )
            if words == LIMITED:
                vanishes.append(abs(gap[-1]) <= abs(gap[0]) or abs(gap[0]) < NEGLIGIBLE)
                negligible.append(bool((np.abs(gap) < NEGLIGIBLE).all()))
        parts.append(
            f"{NAMES[name]}, {', '.join(f'{n:,}' for n in size)} documents: with the paper's limit for rare words the "
            f"urn's log joint per token differs from that of the partially collapsed sampler by {told[0]}; without it, "
            f"our own finding, by {told[1]}."
        )
    parts.append(f"Negligible is below {NEGLIGIBLE} per token, one per cent of the perplexity, at every size.")
    return Verdict(together(all(vanishes), all(negligible)), " ".join(parts))


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    colours = ("#0072B2", "#D55E00", "#009E73")
    for name, colour in zip(table.different("corpus"), colours, strict=True):
        for words, style in ((LIMITED, "o-"), (ALL_WORDS, "s--")):
            look = {"fmt": style, "ms": 4, "capsize": 2, "color": colour, "label": f"{NAMES[name]}, words: {words}"}
            for axis, what in ((left, "gap"), (right, "kept")):
                x, mean, sd = table.curve("documents", what, corpus=name, words=words)
                axis.errorbar(x, mean, np.nan_to_num(sd), **look)
    left.axhspan(-NEGLIGIBLE, NEGLIGIBLE, color="#dddddd")
    left.set(xscale="log", xlabel="documents", ylabel="log joint per token, urn less partially collapsed")
    right.set(xscale="log", xlabel="documents", ylabel="share of tokens without φ")
    legend(left)


FIGURE = Figure(
    name="urn_data_size",
    paper="Pólya Urn LDA, Section 3",
    title="Does the error of the urn vanish with data?",
    claim="The approximation error vanishes with the size of the data, so that the sampler is asymptotically exact; in "
    "practice it is negligible.",
    stand_in=STAND_IN,
    settings=(
        "100 to 3,000 documents of 20 Newsgroups, 100 and 1,000 of Reuters and arXiv; their words with 10 tokens or "
        "more, as in the paper, and all words; K = 20, α = 0.1, β = 0.01; 30 sweeps of each sampler from the same "
        "topics, the later 15 averaged.",
        "up to 11,269 documents of 20 Newsgroups, 7,000 of Reuters and 30,000 of arXiv; 400 sweeps of each sampler "
        "after 300 of burn-in, the later 200 averaged.",
    ),
    seeds=(2, 5),
    fits=(
        "up to 11,269 documents of 20 Newsgroups, 7,000 of Reuters and 10,000 of arXiv; 50 sweeps of each sampler "
        "after 50 of burn-in, the later 25 averaged.",
        4,
    ),
    measure=measure,
    keys=("corpus", "words", "documents"),
    judge=judge,
    draw=draw,
)
