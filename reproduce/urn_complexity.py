"""Pólya Urn LDA, Theorem 6: a token costs min(K_d, K_v), the topics of its document or of its word."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduce.chains import begun, copy, seconds_by_part
from reproduce.corpora import NAMES, corpus
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Verdict
from reproduce.table import Row, Table
from reproduce.urns import ALPHA, BETA, METHODS, OPPONENT, STAND_IN, URN
from topoi.samplers.polya_urn import PolyaUrn
from topoi.state import document_counts

TOPICS = (10, 30, 100, 300, 1000)
DOCUMENTS = {"20ng": 1500, "arxiv": 4000}  # with --quick
SWEEPS = {True: (20, 2), False: (300, 20)}  # burn-in, timed


def measure(quick: bool, seed: int) -> list[Row]:
    rows: list[Row] = []
    burn_in, timed = SWEEPS[quick]
    for name, size in DOCUMENTS.items():
        documents = corpus(name, size if quick else None)
        for k in TOPICS:
            state = begun(documents, k, ALPHA, BETA, seed, burn_in)
            urn = PolyaUrn(copy(state))
            urn.begin()
            of_document = np.repeat((document_counts(state) > 0).sum(1), documents.doc_lengths)
            of_word = np.diff(urn.phi.start)[documents.words]
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
    time = table.curve("K", "ns_urn")[1]
    slope, constant = np.polyfit(least, time, 1)
    fit = np.corrcoef(least, time)[0, 1] ** 2
    against_k = np.corrcoef(table.curve("K", "min")[0], time)[0, 1] ** 2
    top = [table.where(corpus=name, K=TOPICS[-1]).lines[0].mean for name in DOCUMENTS]
    text = (
        f"At K = {TOPICS[-1]} a token's document has {top[0]['K_d']:.0f} and {top[1]['K_d']:.0f} topics "
        f"({', '.join(NAMES[name] for name in DOCUMENTS)}), its word {top[0]['K_v']:.0f} and {top[1]['K_v']:.0f}, the "
        f"smaller of the two {top[0]['min']:.1f} and {top[1]['min']:.1f}. The time for a token is "
        f"{constant:.0f} ns + {slope:.1f} ns · min(K_d, K_v) (R² = {fit:.2f}); against K itself R² = {against_k:.2f}."
    )
    doubly = bool((least < np.minimum(document, word)).all())
    holds = doubly and slope > 0 and fit > 0.8
    return Verdict("yes" if holds else "in part" if doubly and fit > against_k else "no", text)


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    for name, style in zip(DOCUMENTS, ("-", "--"), strict=True):
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
    right.set(xlabel="min($K_d$, $K_v$), mean over tokens", ylabel="ns for a token", xlim=(0, None), ylim=(0, None))
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
        "1,500 documents of 20 Newsgroups and 4,000 of arXiv; 2 sweeps after 20 of burn-in; α = 0.1, β = 0.01. The "
        "sampler looks topics up in a sorted row (some steps), so it walks the word's row up to four times the "
        "document's number.",
        "all documents; 20 sweeps after 300 of burn-in.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("corpus", "K"),
    judge=judge,
    draw=draw,
    timed=True,
)
