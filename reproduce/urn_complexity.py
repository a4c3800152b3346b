"""Pólya Urn LDA, Theorem 6: a token costs min(K_d, K_v), the topics of its document or of its word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import decade_ticks, plain_ticks
from reproduce.chains import begun, copy, seconds_by_part
from reproduce.corpora import NAMES, corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.table import Row, Table
from reproduce.urns import ALPHA, BETA, DOCUMENTS, LIMIT, METHODS, OPPONENT, STAND_IN, URN
from reproduce.verdicts import together
from topoi.chain.samplers.polya_urn import PolyaUrn
from topoi.chain.state import document_counts

TOPICS = (10, 30, 100, 300, 1000)
SWEEPS = {"quick": (20, 2), "fits": (40, 4), "full": (100, 10)}  # burn-in, timed


def measure(scale: Scale, seed: int) -> list[Row]:
    rows: list[Row] = []
    burn_in, timed = SWEEPS[scale]
    for name, size in DOCUMENTS[scale].items():
        documents = corpus(name, size, least=LIMIT)
        for k in TOPICS:
            state = begun(documents, k, ALPHA, BETA, seed, burn_in)
            urn = PolyaUrn(copy(state))
            urn.begin()
            of_document = np.repeat((document_counts(state) > 0).sum(1), documents.doc_lengths)
            of_word = urn.factor.size[documents.words]
            row: Row = {
                "corpus": name, "K": k, "K_d": float(of_document.mean()), "K_v": float(of_word.mean()),
                "min": float(np.minimum(of_document, of_word).mean()),
                "word_is_less": float((of_word < of_document).mean()),
            }  # fmt: skip
            for method, column in ((URN, "ns_urn"), (OPPONENT, "ns_partial")):
                sampler, options = METHODS[method]
                row[column] = 1e9 * seconds_by_part(state, sampler, timed, **options)[1] / documents.n_tokens
            rows.append(row)
    return rows


def judge(table: Table) -> Verdict:
    document, word, least = (table.curve("K", y)[1] for y in ("K_d", "K_v", "min"))
    doubly = bool((least < np.minimum(document, word)).all())
    parts, kept, explained = [], [], []
    for name in table.different("corpus"):
        first, last = (table.where(corpus=name, K=k).lines[0].mean for k in (TOPICS[0], TOPICS[-1]))
        growth = {key: last[key] / first[key] for key in ("min", "ns_urn")}
        kept.append(growth["ns_urn"] <= growth["min"])
        left = {key: left_over(*table.curve(key, "ns_urn", corpus=name)[:2]) for key in ("min", "K_d", "K_v")}
        explained.append(left["min"] < min(left["K_d"], left["K_v"]))
        parts.append(
            f"{NAMES[name]}: at K = {TOPICS[-1]} a token's document has {last['K_d']:.0f} topics, its word "
            f"{last['K_v']:.0f}, the smaller of the two is {last['min']:.1f}. From K = {TOPICS[0]} on, while K grows "
            f"{TOPICS[-1] // TOPICS[0]}-fold, the smaller grows {growth['min']:.1f}-fold and the time for a token "
            f"{growth['ns_urn']:.1f}-fold, to {last['ns_urn']:.0f} ns (partially collapsed: {last['ns_partial']:.0f}). "
            f"A line over the smaller leaves {left['min']:.0f} ns of the time unexplained, over the document's topics "
            f"{left['K_d']:.0f}, over the word's {left['K_v']:.0f}."
        )
    return Verdict(together(doubly and all(kept), all(explained)), " ".join(parts))


def left_over(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Root mean square of what a straight line leaves of y."""
    return float(np.sqrt(np.mean((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2)))


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    for name, style in zip(table.different("corpus"), ("-", ":", "--"), strict=True):
        for y, colour, label in (("K_d", "#0072B2", "document"), ("K_v", "#D55E00", "word, in φ"),
                                 ("min", "#009E73", "the smaller")):  # fmt: skip
            k, mean, sd = table.curve("K", y, corpus=name)
            left.errorbar(
                k, mean, np.nan_to_num(sd), fmt=f"o{style}", ms=4, color=colour, label=f"{label}, {NAMES[name]}"
            )
        x, mean, sd = table.curve("min", "ns_urn", corpus=name)
        right.errorbar(x, mean, np.nan_to_num(sd), fmt=f"o{style}", ms=4, color="#009E73", label=f"urn, {NAMES[name]}")
        x, mean, sd = table.curve("K_d", "ns_partial", corpus=name)
        label = f"partially collapsed over $K_d$, {NAMES[name]}"
        right.errorbar(x, mean, np.nan_to_num(sd), fmt=f"s{style}", ms=4, color="#0072B2", label=label)
    left.set(xscale="log", yscale="log", xlabel="topics K", ylabel="topics per token")
    plain_ticks(left.xaxis, TOPICS)
    plain_ticks(left.yaxis, decade_ticks(*left.get_ylim()))
    right.set(
        xlabel="topics walked: min($K_d$, $K_v$) or $K_d$, mean over tokens",
        ylabel="ns for a token",
        xlim=(0, None),
        ylim=(0, None),
    )
    legend(left)
    legend(right)


FIGURE = Figure(
    name="urn_complexity",
    paper="Pólya Urn LDA, Theorem 6",
    title="Pólya Urn LDA: cost of a token",
    claim="A sweep costs the sum over tokens of min(K_d, K_v): the topics in the token's document, or those with φ > "
    "0 for its word, whichever are fewer.",
    stand_in=STAND_IN,
    settings=(
        "1,500 documents of 20 Newsgroups and Reuters and 4,000 of arXiv, words with 10 tokens or more; 2 sweeps after "
        "20 of burn-in; α = 0.1, β = 0.01. The "
        "sampler looks topics up in a sorted row (some steps), so it walks the word's row up to four times the "
        "document's number.",
        "all documents of 20 Newsgroups and Reuters and 30,000 of arXiv; 10 sweeps after 100 of burn-in.",
    ),
    seeds=(5, 5),
    fits=("4,000 documents of 20 Newsgroups and Reuters and 8,000 of arXiv; 4 sweeps after 40 of burn-in.", 3),
    measure=measure,
    keys=("corpus", "K"),
    judge=judge,
    draw=draw,
    timed=True,
)
