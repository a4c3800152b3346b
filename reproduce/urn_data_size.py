"""Pólya Urn LDA, Section 3: does the error of the urn vanish with the size of the data?"""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.chains import begun, copy
from reproduce.corpora import corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Verdict
from reproduce.table import Row, Table
from reproduce.urns import ALPHA, BETA
from reproduce.verdicts import together
from topoi.chain.diagnostics import log_joint
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State

TOPICS = 20
NEGLIGIBLE = 0.01  # of the log joint per token
DOCUMENTS = {True: (100, 300, 1000, 3000), False: (100, 300, 1000, 3000, 11_269)}
SWEEPS = {True: (30, 15, 15), False: (300, 200, 200)}  # burn-in, of each sampler unused, and averaged


def measure(quick: bool, seed: int) -> list[Row]:
    burn_in, unused, used = SWEEPS[quick]
    rows: list[Row] = []
    for size in DOCUMENTS[quick]:
        state = begun(corpus("20ng", size), TOPICS, ALPHA, BETA, seed, burn_in)
        level = {name: average(state, name, unused, used) for name in ("partial", "polya_urn")}
        kept = level["polya_urn"][1]
        rows.append({
            "documents": size, "tokens": state.corpus.n_tokens, "partial": level["partial"][0],
            "polya_urn": level["polya_urn"][0], "gap": level["polya_urn"][0] - level["partial"][0], "kept": kept,
        })  # fmt: skip
    return rows


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
    size, gap, _ = table.curve("documents", "gap")
    kept = table.curve("documents", "kept")[1]
    share = np.abs(gap) / np.abs(table.curve("documents", "partial")[1])
    shares = ", ".join(f"{s:.1%}" for s in share)
    text = (
        f"With {', '.join(f'{n:,}' for n in size)} documents the urn's log joint per token differs from that of the "
        f"partially collapsed sampler by {', '.join(f'{g:+.3f}' for g in gap)} ({shares}); "
        f"{', '.join(f'{x:.2%}' for x in kept)} of the tokens keep their topic because their word drew no φ at all."
    )
    text += f" Negligible would be {NEGLIGIBLE} per token, one per cent of the perplexity."
    return Verdict(together(abs(gap[-1]) < abs(gap[0]), abs(gap[-1]) < NEGLIGIBLE), text)


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    for y, label, look in (("partial", "partially collapsed", "o-"), ("polya_urn", "Pólya urn", "s--")):
        x, mean, sd = table.curve("documents", y)
        left.errorbar(x, mean, np.nan_to_num(sd), fmt=look, ms=4, label=label, capsize=2)
    x, mean, sd = table.curve("documents", "gap")
    right.errorbar(x, -mean, np.nan_to_num(sd), fmt="o-", ms=4, capsize=2, label="log joint per token")
    x, mean, sd = table.curve("documents", "kept")
    right.errorbar(x, mean, np.nan_to_num(sd), fmt="s--", ms=4, capsize=2, label="share of tokens without φ")
    left.set(xscale="log", xlabel="documents", ylabel="log joint per token")
    right.set(xscale="log", yscale="log", xlabel="documents", ylabel="what the urn loses")
    legend(left)
    legend(right)


FIGURE = Figure(
    name="urn_data_size",
    paper="Pólya Urn LDA, Section 3",
    title="Does the error of the urn vanish with data?",
    claim="The approximation error vanishes with the size of the data, so that the sampler is asymptotically exact; in "
    "practice it is negligible.",
    stand_in="20 Newsgroups without stop words, samples of its documents.",
    settings=(
        "100 to 3,000 documents, K = 20, α = 0.1, β = 0.01; 30 sweeps of each sampler from the same topics, the "
        "later 15 averaged.",
        "up to all 11,269 documents; 400 sweeps of each sampler after 300 of burn-in, the later 200 averaged.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("documents",),
    judge=judge,
    draw=draw,
)
