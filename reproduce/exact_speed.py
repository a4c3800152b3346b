"""What exactness costs: the exact forms of LightLDA and LightMedLDA against the published ones, CPU time of a token."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from benchmarks.harness import Stopwatch
from benchmarks.labelled import Labelled, newsgroups
from benchmarks.med_speed import signs
from benchmarks.report import plain_ticks
from reproduce.chains import copy
from reproduce.corpora import sample
from reproduce.drawing import curves, legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import TABLE_AGES
from reproduce.pieces import piece
from reproduce.table import Row, Table
from topoi._machine.pool import Pool
from topoi.chain.priors import fixed_priors
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus

#: Model: exact form, published form, steps for a token.
FORMS = {"LDA": ("light", "light_published", 2), "MedLDA": ("light_med", "light_med_published", 6)}
TOPICS = (20, 100, 400)
DOCUMENTS: dict[Scale, int | None] = {"quick": 600, "fits": 4000, "full": None}
BURN_IN, TIMED = 10, {"quick": 2, "fits": 5, "full": 10}


def measure(scale: Scale, seed: int) -> list[Row]:
    size = DOCUMENTS[scale]
    data = newsgroups() if size is None else sample(newsgroups(), size, 1)
    rows: list[Row] = []
    for model, (exact, published, n_mh) in FORMS.items():
        for k in TOPICS:
            start = begun(data, k, model == "MedLDA", seed)
            for form, name in (("exact", exact), ("published", published)):
                found = piece((model, k, form), speed, start, name, n_mh, TIMED[scale])
                rows.append({"model": model, "K": k, "form": form, **found})
    return rows


def begun(data: Labelled, n_topics: int, labelled: bool, seed: int) -> State:
    """A state after some sweeps of `delayed`; the settings of the supervised benchmarks."""
    state = new_state(Corpus.from_counts(data.X), fixed_priors(np.full(n_topics, 6.4 / n_topics), 0.01), seed)
    if labelled:
        response = RESPONSES["hinge"](cost=1.6, margin=64.0)
        state.supervision = new_supervision(response, signs(data.y), n_topics, n_gibbs=2, part=8)
        state.supervision.refresh(state, Pool(1))
    sampler = SAMPLERS["delayed"](state)
    for _ in range(BURN_IN):
        sampler.sweep()
    return state


def speed(state: State, name: str, n_mh: int, n_sweeps: int) -> Row:
    """Nanoseconds of the steps of a token (weights are not counted: they are the same), and how many are accepted."""
    state = copy(state)
    state.supervision = deepcopy(state.supervision)  # a sweep draws weights too
    sampler = SAMPLERS[name](state, n_mh=n_mh)
    sampler.sweep()  # compiles what is not yet compiled
    watch = Stopwatch()
    block = sampler.block

    def timed(*arguments: Any) -> Any:
        with watch:
            return block(*arguments)

    sampler.block = timed  # type: ignore[method-assign]
    begin = sampler.begin

    def timed_begin() -> None:
        with watch:
            begin()

    sampler.begin = timed_begin  # type: ignore[method-assign]
    for _ in range(n_sweeps):
        info = sampler.sweep()
    return {"ns": 1e9 * watch.seconds / (n_sweeps * state.corpus.n_tokens), "acceptance": info["acceptance"]}


def judge(table: Table) -> Verdict:
    ratios = {
        model: table.curve("K", "ns", model=model, form="published")[1]
        / table.curve("K", "ns", model=model, form="exact")[1]
        for model in FORMS
    }
    accepted = {
        (model, form): table.curve("K", "acceptance", model=model, form=form)[1].mean()
        for model in FORMS
        for form in ("exact", "published")
    }
    text = " ".join(
        f"{model}: the exact form is {ratio.min():.2f} to {ratio.max():.2f} times as fast as the published one (mean "
        f"{ratio.mean():.2f}); of its steps {accepted[model, 'exact']:.0%} are accepted, of the published "
        f"{accepted[model, 'published']:.0%}."
        for model, ratio in ratios.items()
    )
    means = [ratio.mean() for ratio in ratios.values()]
    return Verdict("yes" if min(means) >= 0.9 else "in part" if max(means) >= 0.9 else "no", text)


def draw(table: Table, figure: Any) -> None:
    for axis, (model, (_, _, n_mh)) in zip(panels(figure, len(FORMS)), FORMS.items(), strict=True):
        curves(axis, table.where(model=model), "K", "ns", "form")
        axis.set(
            xscale="log", xlabel="topics K", ylabel="ns for a token", title=f"{model}, {n_mh} steps", ylim=(0, None)
        )
        plain_ticks(axis.xaxis, TOPICS)
        legend(axis)


FIGURE = Figure(
    name="exact_speed",
    paper="topoi: exactness",
    title="What exactness costs",
    claim="topoi: LightLDA with proposals by other tokens, and LightMedLDA with an exp table in two halves, are "
    "exact and as fast as the published forms.",
    stand_in="",
    settings=(
        f"{DOCUMENTS['quick']} documents of 20 Newsgroups without stop words; MedLDA with 20 hinge tasks, c = 1.6, ℓ "
        f"= 64; α = 6.4/K, β = 0.01; {TIMED['quick']} sweeps after {BURN_IN} of `delayed`. Tables and topics, not the "
        f"weights.",
        f"all documents, {TIMED['full']} sweeps.",
    ),
    seeds=(2, 5),
    fits=(f"{DOCUMENTS['fits']:,} documents, {TIMED['fits']} sweeps.", 5),
    measure=measure,
    keys=("model", "K", "form"),
    judge=judge,
    draw=draw,
    departures=f"{TABLE_AGES}.",
    timed=True,
)
