"""FastLDA, Figure 4: the share of a document that its top topics explain."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.chains import begun
from reproduce.corpora import NAMES, corpus
from reproduce.drawing import curves, legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import BETA, STAND_IN
from reproduce.table import Row, Table
from reproduce.verdicts import together
from topoi.chain.state import document_counts

CORPORA = {"nips": 400, "reuters": 400, "arxiv": 2000}  # topics as in the paper
#: Documents of each corpus; None are all.
DOCUMENTS: dict[Scale, dict[str, int | None]] = {
    "quick": {"nips": 150, "reuters": 2000, "arxiv": 2500},
    "fits": {"nips": 400, "reuters": 4000, "arxiv": 5000},
    "full": {"nips": None, "reuters": None, "arxiv": None},
}
TOP = 20
SWEEPS = {"quick": 40, "fits": 80, "full": 500}


def measure(scale: Scale, seed: int) -> list[Row]:
    rows: list[Row] = []
    for name, k in CORPORA.items():
        found = piece((name,), shares, name, DOCUMENTS[scale][name], k, seed, SWEEPS[scale])
        rows += [{"corpus": name, "top": top, "share": share} for top, share in enumerate(found, 1)]
    return rows


def shares(name: str, size: int | None, k: int, seed: int, sweeps: int) -> list[float]:
    """What the top 1, 2 … topics hold of a document, mean over documents."""
    documents = corpus(name, size)
    state = begun(documents, k, 2 / k, BETA, seed, sweeps)
    lengths = documents.doc_lengths
    n_dk = document_counts(state)[lengths > 0]
    ranked = np.sort(n_dk, axis=1)[:, : -TOP - 1 : -1] / lengths[lengths > 0, None]
    found: list[float] = np.cumsum(ranked, axis=1).mean(0).tolist()
    return found


def judge(table: Table) -> Verdict:
    share = {name: table.mean("share", corpus=name, top=TOP) for name in CORPORA}
    five = {name: table.mean("share", corpus=name, top=5) for name in CORPORA}
    text = "; ".join(
        f"{NAMES[name]}, K = {k}: the top {TOP} topics hold {share[name]:.1%} of a document, the top 5 {five[name]:.0%}"
        for name, k in CORPORA.items()
    )
    least, most = min(share.values()), max(share.values())
    if most > 0.95:
        text += ": more than the paper's 90 %, on corpora that are not the paper's"
    return Verdict(together(least >= 0.85, most <= 0.95), text + ".")


def draw(table: Table, figure: Any) -> None:
    (axis,) = panels(figure)
    curves(axis, table, "top", "share", "corpus", {n: f"{NAMES[n]}, K = {k}" for n, k in CORPORA.items()})
    axis.axhline(0.9, color="#888888", lw=0.8, ls="--")
    axis.annotate("the paper at 20: about 90 %", (13, 0.86), fontsize=8, color="#555555")
    axis.set(xlabel="topics of a document, the most frequent first", ylabel="share of its words", ylim=(0, 1.02))
    axis.set_xticks(range(2, TOP + 1, 2))
    legend(axis, loc="lower right")


FIGURE = Figure(
    name="fast_top_topics",
    paper="FastLDA, Fig. 4",
    title="FastLDA: the top 20 topics of a document",
    claim="On average the top 20 topics of a document account for about 90 % of its words (NYTimes with K = 400, "
    "PubMed with K = 2000).",
    stand_in=f"{STAND_IN['reuters']}; {STAND_IN['arxiv']}. Their documents are short, which leaves room for few "
    "topics: so NIPS, whose documents are long, is here too.",
    settings=(
        f"150 documents of NIPS, 2,000 of Reuters and 2,500 of arXiv, {SWEEPS['quick']} sweeps; α = 2/K, β = 0.01.",
        f"all documents, {SWEEPS['full']} sweeps; α = 2/K, β = 0.01.",
    ),
    seeds=(2, 2),
    fits=(
        f"400 documents of NIPS, 4,000 of Reuters and 5,000 of arXiv, {SWEEPS['fits']} sweeps; α = 2/K, β = 0.01.",
        3,
    ),
    measure=measure,
    keys=("corpus", "top"),
    judge=judge,
    draw=draw,
)  # fmt: skip
