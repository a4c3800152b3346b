"""Sweeps of burn-in of Gibbs MedLDA on two newsgroups: accuracy and training time."""

from __future__ import annotations

from typing import Any

from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import GIBBS_WORDS, MEAN_FIELD, binary
from reproduce.medlda import GIBBS, row
from reproduce.pieces import piece
from reproduce.table import Row, Table
from reproduce.verdicts import growth, listed, noise, score_and_time, together

SWEEPS = (1, 2, 3, 5, 10, 20, 40)
TOPICS = {"quick": (10, 20, 40), "full": (5, 10, 20, 30, 40)}


def measure(scale: Scale, seed: int) -> list[Row]:
    """Accuracy of the first sample after so many sweeps, and seconds."""
    rows: list[Row] = []
    for k in TOPICS[scale]:
        for n in SWEEPS:
            settings = {"cost": 1.0, "margin": 164.0, "doc_topic_prior": 1.0 / k, "infer_sweeps": 10}
            found = piece((k, n), row, GIBBS, binary(), k, n, seed, n_samples=1, burn_in=n - 1, **settings)
            rows.append({"curve": f"K = {k}", "K": k, "sweeps": n, **found})
    return rows


def judge(table: Table) -> Verdict:
    """Stable after 5 to 10 sweeps, and time linear in sweeps and in K."""
    topics = table.different("K")
    at = {n: sum(table.mean("score", K=k, sweeps=n) for k in topics) / len(topics) for n in SWEEPS}
    sure = noise(table, "score")
    settled = max(abs(at[10] - at[n]) for n in (20, 40)) < 0.02
    rises = at[1] < at[10]
    later = Table(tuple(line for line in table.lines if int(line.keys["sweeps"]) >= 5))
    power = growth(later, "train", "sweeps", K=topics[-1])
    in_topics = growth(table, "train", "K", sweeps=SWEEPS[-1])
    return Verdict(
        together(settled, rises, 0.7 < power < 1.15, 0.7 < in_topics < 1.3),
        f"Accuracy after {' / '.join(map(str, SWEEPS))} sweeps, mean over K: {listed(list(at.values()))} (± "
        f"{sure:.3f} over seeds). Ten sweeps are {'enough' if settled else 'not where accuracy stays'}: 20 and 40 "
        f"differ from them by {at[20] - at[10]:+.3f} and {at[40] - at[10]:+.3f}. Training time grows with sweeps (5 "
        f"to 40) to the power {power:.2f}, with K to the power {in_topics:.2f}: sixteen topics at a time cost little.",
    )


def draw(table: Table, figure: Any) -> None:
    """Accuracy and time over the sweeps."""
    score_and_time(table, figure, "accuracy", x="sweeps", by="curve", xlabel="sweeps of burn-in", log_x=True)


FIGURE = Figure(
    name="gibbs_burn_in_binary",
    paper="Gibbs MedLDA, Fig. 4",
    title="Burn-in, two newsgroups",
    claim=(
        "Accuracy rises very fast and is stable after 5 to 10 sweeps of burn-in; training time grows about linearly "
        "with them and with K."
    ),
    stand_in="",
    settings=(
        "alt.atheism against talk.religion.misc, 856 + 569 documents; c = 1, ℓ = 164, α = 1/K, β = 0.01; topics and "
        "weights of one sample, after the last sweep; K = 10, 20, 40.",
        "the same with more K and seeds.",
    ),
    seeds=(2, 5),
    measure=measure,
    keys=("curve", "K", "sweeps"),
    judge=judge,
    draw=draw,
    departures=f"{GIBBS_WORDS}; {MEAN_FIELD}.",
    timed=True,
)
