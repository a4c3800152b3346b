"""CPU time of supervised sweeps: LightMedLDA, Gibbs MedLDA and our own samplers over K, and tomotopy's sLDA."""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.harness import Results, Stopwatch, alone, measure, options, pin, versions
from benchmarks.labelled import newsgroups
from benchmarks.slda import signs, slda_accuracy, slda_model, slda_train
from topoi import MedLDAClassifier
from topoi._machine.pool import Pool
from topoi.chain.priors import fixed_priors
from topoi.chain.responses import RESPONSES
from topoi.chain.responses.supervision import new_supervision
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus

NAME = "med_speed"
GIBBS = "Gibbs MedLDA (dense, Cholesky)"
#: Sampler, its options, tokens that share a table of tilts, passes of coordinate Gibbs (0: Cholesky).
CONTESTANTS: dict[str, tuple[str, dict[str, Any], int, int]] = {
    GIBBS: ("collapsed", {}, 1, 0),
    "light_med, 6 steps": ("light_med", {"n_mh": 6}, 8, 2),
    "light_med, 2 steps": ("light_med", {"n_mh": 2}, 8, 2),
    "light_med_published, 6 steps": ("light_med_published", {"n_mh": 6}, 8, 2),
    "collapsed": ("collapsed", {}, 8, 2),
    "delayed": ("delayed", {}, 8, 2),
    "partial": ("partial", {}, 8, 2),
    "polya_urn": ("polya_urn", {}, 8, 2),
}
START = 15  # sweeps of `delayed` before anything is timed
SWEEPS = 3
PEER, OURS = "tomotopy SLDAModel", "topoi MedLDAClassifier"
PEER_SWEEPS, OUR_SWEEPS, PEER_TOPICS = 50, 15, 20


def main() -> None:
    parser = options(__doc__, [20, 50, 100, 200, 400])
    parser.add_argument("--contestants", nargs="+", default=list(CONTESTANTS), choices=list(CONTESTANTS))
    parser.add_argument("--no-peer", action="store_true", help="leave tomotopy out")
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick}, arguments.fresh)

    @cache
    def start(n_topics: int) -> tuple[NDArray[Any], NDArray[Any]]:
        state = supervised(n_topics, 8, 2)
        sampler = SAMPLERS["delayed"](state)
        for _ in range(1 if arguments.quick else START):
            sampler.sweep()
        assert state.supervision is not None
        return state.z, state.supervision.eta

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        sampler, settings, part, n_gibbs = CONTESTANTS[name]
        state = supervised(n_topics, part, n_gibbs, round_)
        state.z[:], eta = start(n_topics)
        return speed(state, eta, sampler, settings)

    measure(results, arguments.contestants, arguments.topics, arguments.rounds, job)
    if not arguments.no_peer:
        measure(results, [PEER, OURS], [PEER_TOPICS], arguments.rounds, lambda *a: alone(whole_fit, *a))
    write_report(results, pinned, arguments)


@cache
def corpus() -> Corpus:
    return Corpus.from_counts(newsgroups().X)


def supervised(n_topics: int, part: int, n_gibbs: int, seed: int = 0) -> State:
    """A state with 20 hinge tasks, c = 1.6, ℓ = 64, α = 6.4/K, β = 0.01."""
    state = new_state(corpus(), fixed_priors(np.full(n_topics, 6.4 / n_topics), 0.01), seed)
    response = RESPONSES["hinge"](cost=1.6, margin=64.0)
    state.supervision = new_supervision(response, signs(newsgroups().y), n_topics, n_gibbs=n_gibbs, part=part)
    state.supervision.refresh(state, Pool(1))
    return state


def speed(state: State, eta: NDArray[Any], name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds of a sweep over topics and weights; a sweep before compiles what is not yet compiled."""
    assert state.supervision is not None
    state.supervision.eta[:] = eta
    state.supervision.update(state, Pool(1))
    sampler = SAMPLERS[name](state, **settings)
    sampler.sweep()
    seconds = []
    for _ in range(SWEEPS):
        with (watch := Stopwatch()):
            info = sampler.sweep()
        seconds.append(watch.seconds)
    rate = state.corpus.n_tokens / min(seconds)
    said = f"{min(seconds):.3f} s a sweep, {rate / 1e6:.2f} M tokens/s"
    return {"seconds": min(seconds), "rate": rate, "info": info, "said": said}


def whole_fit(name: str, n_topics: int, round_: int) -> dict[str, Any]:
    """Training time and test accuracy of a whole model."""
    fit = tomotopy_slda if name == PEER else ours
    training, testing, accuracy = fit(n_topics, round_)
    said = f"{training:.1f} s training, {testing:.1f} s test, accuracy {accuracy:.4f}"
    return {"train": training, "test": testing, "accuracy": accuracy, "said": said, "versions": versions()}


def ours(n_topics: int, seed: int) -> tuple[float, float, float]:
    data = newsgroups()
    model = MedLDAClassifier(n_topics, doc_topic_prior=6.4 / n_topics, random_state=seed, n_sweeps=OUR_SWEEPS,
                             refit=False)  # fmt: skip
    model.fit(data.X[::50], data.y[::50])  # compiles
    with (training := Stopwatch()):
        model.fit(data.X, data.y)
    with (testing := Stopwatch()):
        accuracy = model.score(data.X_test, data.y_test)
    return training.seconds, testing.seconds, float(accuracy)


def tomotopy_slda(n_topics: int, seed: int) -> tuple[float, float, float]:
    model = slda_model(n_topics, seed)
    with (training := Stopwatch()):
        slda_train(model, PEER_SWEEPS)
    with (testing := Stopwatch()):
        accuracy = slda_accuracy(model)
    return training.seconds, testing.seconds, accuracy


def best(results: Results, name: str, n_topics: int, key: str) -> float:
    """Least seconds over the rounds; nan if there are none."""
    return min((entry[key] for entry in results.rounds(name, n_topics)), default=np.nan)


def write_report(results: Results, pinned: str, arguments: argparse.Namespace) -> None:
    names = [name for name in CONTESTANTS if any(name == found for found, _ in results.pairs())]
    topics = sorted({k for name, k in results.pairs() if name in names})
    tokens = corpus().n_tokens
    rows = []
    for name in names:
        seconds = [best(results, name, k, "seconds") for k in topics]
        rates = [report.number(tokens / s / 1e6) for s in seconds]
        ratios = [
            report.number(best(results, GIBBS, k, "seconds") / s, 2) for k, s in zip(topics, seconds, strict=True)
        ]
        rows.append([name, *(f"{report.number(s)} · {rate} · {ratio}×"
                             for s, rate, ratio in zip(seconds, rates, ratios, strict=True))])  # fmt: skip
    parts = [
        "CPU seconds of a sweep (topics, auxiliary variables and weights) · million tokens/s · speed-up over Gibbs "
        "MedLDA. 20 classes, multi-task.",
        report.table(["sampler", *(f"K = {k}" for k in topics)], rows),
    ]
    whole = [
        [name, *(report.number(best(results, name, PEER_TOPICS, key)) for key in ("train", "test")),
         f"{np.mean([entry['accuracy'] for entry in results.rounds(name, PEER_TOPICS)]):.3f}"]
        for name in (PEER, OURS) if results.rounds(name, PEER_TOPICS)
    ]  # fmt: skip
    if whole:
        title = f"## Whole fits, K = {PEER_TOPICS}: {PEER_SWEEPS} sweeps of tomotopy, {OUR_SWEEPS} of topoi"
        parts += [title, report.table(["", "training, CPU s", "test, CPU s", "test accuracy (mean)"], whole)]
    facts = [
        f"{newsgroups().about}: {corpus().n_documents:,} documents, {tokens:,} tokens. 20 hinge tasks, c = 1.6, "
        f"ℓ = 64, α = 6.4/K, β = 0.01. Start: {START} sweeps of `delayed`; best of {SWEEPS} sweeps and of the rounds.",
        "Gibbs MedLDA: the conditional itself for every token (tables of tilts for one token), weights by Cholesky.",
        "light_med: mixture of word, document and exp proposals. Two passes of coordinate Gibbs over the weights.",
        f"Time: `time.process_time`, one thread, {pinned}.",
        f"tomotopy: `SLDAModel`, 20 binary responses, {PEER_SWEEPS} sweeps, `infer(together=True)`, its quick way.",
    ]
    draw(results, names, topics, arguments)
    body = "\n\n".join([*parts, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "Supervised topic models: time", body)


def draw(results: Results, names: list[str], topics: list[int], arguments: argparse.Namespace) -> None:
    """Seconds of a sweep over K, both logarithmic."""
    figure, (axis,) = report.panels(1, 7.5, 4.4)
    for name, style in report.styles(names).items():
        axis.plot(topics, [best(results, name, k, "seconds") for k in topics], label=name, **style)
    axis.set(xscale="log", yscale="log", xlabel="topics K", ylabel="CPU seconds of a sweep")
    report.plain_ticks(axis.xaxis, topics)
    report.plain_ticks(axis.yaxis, report.decade_ticks(*axis.get_ylim()))
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
