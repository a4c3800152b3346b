"""The number of topics from the data: how good it is, what a sweep of it costs, and tomotopy's HDP beside it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours, peers, report
from benchmarks.data import Problem, load_20ng
from benchmarks.harness import Recorder, Results, Stopwatch, alone, measure, options, pin, versions
from topoi._machine.pool import Pool
from topoi.chain.diagnostics import completion
from topoi.chain.engines.local import Local
from topoi.chain.loop import Progress, Rules, Schedule, run
from topoi.chain.model import sample_counts
from topoi.chain.plan import Plan, make_plan
from topoi.chain.priors import Priors, fixed_priors, resolve_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.small_topics import find_places
from topoi.chain.state import State, new_state
from topoi.corpus import Corpus
from topoi.estimators.number_of_topics import AUTO, first_priors, settling

NAME = "hdp"
PEER = "tomotopy HDP"
FOUND = "topoi auto"
FOUND_GIVEN = "topoi auto, β = 0.01"
FIXED = "topoi, K given"
COSTS = ("partial", "polya_urn")
SWEEPS = (1, 2, 3, 5, 10, 20, 30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200, 250, 300, 400, 500, 600, 800, 1000)
#: Sweeps that are timed for the cost of a sweep, of each kind in turn.
TIMED = 10

Topics = tuple[NDArray[Any], NDArray[Any]]


def main() -> None:
    parser = options(__doc__, [50, 100, 200, 400])
    parser.add_argument("--sweeps", type=int, default=200, help="sweeps of a fit of topoi, half of them burn-in")
    parser.add_argument("--cap", type=float, default=300.0, help="CPU seconds after which tomotopy is stopped")
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sweeps, arguments.cap = 40, 10.0
    pinned = pin(arguments.core)
    settings = {key: getattr(arguments, key) for key in ("sweeps", "cap", "quick")}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        work = one_cost if name.startswith("cost ") else one_fit
        return alone(work, name, n_topics, round_, settings)

    measure(results, [FIXED], arguments.topics, arguments.rounds, job)
    measure(results, [FOUND, FOUND_GIVEN, *(f"cost {sampler}" for sampler in COSTS), PEER], [0], arguments.rounds, job)
    write_report(results, arguments, pinned)


# ---- Fits --------------------------------------------------------------------------------------------------


def perplexity(problem: Problem, topics: Topics) -> float:
    """Document-completion perplexity of topics φ (K, V) with their own α."""
    return completion(*topics, problem.test_corpus).perplexity


def one_fit(name: str, n_topics: int, round_: int, settings: dict[str, Any]) -> dict[str, Any]:
    """A fit, seeded by the round: its curve, and the number of topics after every check point."""
    problem = load_20ng(settings["quick"])
    numbers: list[int] = []

    def evaluate(topics: Topics) -> float:
        numbers.append(len(topics[0]))
        return perplexity(problem, topics)

    check_points = [step for step in SWEEPS if name == PEER or step < settings["sweeps"]]
    if name != PEER:
        check_points.append(settings["sweeps"])
    recorder = Recorder(evaluate, check_points, settings["cap"] if name == PEER else np.inf)
    n_words = problem.corpus.n_words
    completion(np.full((2, n_words), 1 / n_words), np.ones(2), problem.test_corpus)  # compiles
    if name == PEER:
        fit_tomotopy(problem, round_, recorder)
    else:
        fit_topoi(problem, n_topics if name == FIXED else AUTO, round_, recorder, 0.01 if name == FOUND_GIVEN else None)
    step, seconds, value = recorder.points[-1]
    said = f"{value:.1f} with {numbers[-1]} topics after {step} sweeps, {seconds:.1f} CPU s"
    return {"points": recorder.points, "numbers": numbers, "said": said, "versions": versions()}


def priors_and_plan(corpus: Corpus, n_topics: Any, n_sweeps: int, beta: float | None = None) -> tuple[Priors, Plan]:
    """What an estimator begins with; α of a given number of topics is learned."""
    burn_in = Schedule(n_sweeps).n_burn_in
    if n_topics == AUTO:
        priors = first_priors(AUTO, None, beta, corpus, burn_in)
        return priors, settling(make_plan("auto", corpus, priors.n_topics))
    return resolve_priors("learn", None, n_topics, corpus), make_plan("auto", corpus, n_topics)


def fit_topoi(problem: Problem, n_topics: Any, seed: int, recorder: Recorder, beta: float | None = None) -> None:
    """The loop of the estimator; a check point sees the topics of its sweep alone, those that count."""
    small = ours.small_corpus(problem)
    priors, plan = priors_and_plan(small, n_topics, 48, beta)
    run(new_state(small, priors, 0), plan, Schedule(48, 1))  # compiles
    n_sweeps = max(recorder.check_points)
    recorder.begin()
    priors, plan = priors_and_plan(problem.corpus, n_topics, n_sweeps, beta)
    state = new_state(problem.corpus, priors, seed)

    def callback(progress: Progress) -> bool:
        return recorder.step(lambda: topics_of(state))

    run(state, plan, Schedule(n_sweeps, 1), Rules(evaluate_every=n_sweeps + 1), callbacks=[callback])


def topics_of(state: State) -> Topics:
    """φ and α of the topics of a state that count."""
    model = replace(ours.last_model(state), priors=state.priors.given(None))
    model = model.joined(find_places(model, model.counts, state.priors)[1])
    return model.topic_word(), model.alpha


def fit_tomotopy(problem: Problem, seed: int, recorder: Recorder) -> None:
    """tomotopy's HDPModel with its own settings, but for β."""
    import tomotopy

    model = tomotopy.HDPModel(eta=0.01, seed=seed + 1)
    for words in peers.tomotopy_documents(problem.corpus):
        if words:
            model.add_doc(words)
    peers.tomotopy_train(model, 0)

    def topics() -> Topics:
        live = np.array([k for k in range(model.k) if model.is_live_topic(k)])
        sizes = np.array(model.get_count_by_topics(), float)[live]
        phi = peers.tomotopy_topics(model, problem.corpus.n_words)[live]
        return phi, np.maximum(model.alpha * sizes / sizes.sum(), 1e-6)

    recorder.begin()
    while True:
        peers.tomotopy_train(model, 1)
        if recorder.step(topics):
            return


# ---- The cost of a sweep -----------------------------------------------------------------------------------


def one_cost(name: str, n_topics: int, round_: int, settings: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds of a sweep with the number of topics sought, and given: the same topics, sweeps taking turns."""
    problem = load_20ng(settings["quick"])
    sampler = SAMPLERS[name.removeprefix("cost ")]
    n_sweeps = settings["sweeps"] // 2
    priors, plan = priors_and_plan(problem.corpus, AUTO, n_sweeps)
    state = new_state(problem.corpus, priors, round_)
    run(state, replace(plan, sampling=sampler.name), Schedule(n_sweeps, 1), Rules(evaluate_every=n_sweeps + 1))
    model = replace(ours.last_model(state), priors=state.priors.given(None))
    places, number = find_places(model, sample_counts(state), state.priors)
    alpha = model.joined(number).alpha
    given = State(problem.corpus, fixed_priors(alpha, state.beta), number[state.z].astype(state.z.dtype), round_)
    given.sweep, given.real = state.sweep, state.real
    sought, fixed = Local(state, Pool(1)), Local(given, Pool(1))
    seconds: dict[str, list[float]] = {"sought": [], "given": []}
    for _ in range(TIMED + 1):
        with Stopwatch() as watch:
            sought.sweep(sampler, {})
            sought.update_priors()
        seconds["sought"].append(watch.seconds)
        with Stopwatch() as watch:
            fixed.sweep(sampler, {})
        seconds["given"].append(watch.seconds)
    middle = {key: float(np.median(values[1:])) for key, values in seconds.items()}  # the first makes tables
    said = f"{middle['sought']:.3f} s a sweep, {middle['given']:.3f} with {len(places)} topics given"
    return {**middle, "n_topics": state.n_topics, "found": len(places), "said": said, "versions": versions()}


# ---- The report --------------------------------------------------------------------------------------------


def write_report(results: Results, arguments: argparse.Namespace, pinned: str) -> None:
    pairs = [(name, k) for name, k in results.pairs() if not name.startswith("cost ") and results.rounds(name, k)]
    rows = []
    for name, k in pairs:
        for entry in results.rounds(name, k):
            step, seconds, value = entry["points"][-1]
            best = min(entry["points"], key=lambda point: point[2])
            rows.append([name, str(k or "–"), str(entry["numbers"][-1]), f"**{value:.1f}**", str(step),
                         report.number(seconds), f"{best[2]:.1f} ({report.number(best[1])} s)"])  # fmt: skip
    header = ["model", "K asked for", "topics", "perplexity at the end", "sweeps", "CPU s", "lowest (CPU s)"]
    costs = []
    for sampler in COSTS:
        for entry in results.rounds(f"cost {sampler}", 0):
            ratio = entry["sought"] / entry["given"]
            costs.append([sampler, str(entry["found"]), str(entry["n_topics"]), report.number(entry["sought"]),
                          report.number(entry["given"]), f"**{ratio:.2f}**"])  # fmt: skip
    cost_header = ["sampler", "topics that count", "K of the chain", "CPU s a sweep, sought", "given", "ratio"]
    facts = [
        load_20ng(arguments.quick).describe(),
        "Quality: perplexity of one half of each test document given the other half, with the α of the model, one "
        "sample of each; the same function for all, its time not counted.",
        f"Time: `time.process_time`, one thread, {pinned}, every fit in a fresh process. Reading data and compiling "
        "are not counted.",
        f"topoi: the estimator's plan for {arguments.sweeps} sweeps, half of them burn-in. Where the number of topics "
        "is sought, α is drawn and β learned, as the estimator does by default, or given; where it is given, α is "
        "learned and β = 0.01.",
        f"tomotopy: `HDPModel` with its own settings but β = 0.01, stopped above {arguments.cap:g} CPU seconds.",
        f"Cost of a sweep: median of {TIMED}, updates of the prior included, taking turns, from the same topics; given "
        "are as many topics as count.",
    ]
    parts = [
        '`n_topics="auto"` beside numbers of topics that are given, and beside tomotopy\'s HDP.',
        compared(results),
        f"## Quality\n\n{report.table(header, rows)}",
        f"## Cost of a sweep\n\n{report.table(cost_header, costs)}",
        f"## How\n\n{report.provenance(results, facts)}",
    ]
    draw(results, pairs, arguments)
    report.write(arguments.output, NAME, "The number of topics from the data", "\n\n".join(filter(None, parts)))


def ends(results: Results, name: str, n_topics: int) -> float | None:
    """Perplexity at the end, averaged over the rounds."""
    found = [entry["points"][-1][2] for entry in results.rounds(name, n_topics)]
    return float(np.mean(found)) if found else None


def compared(results: Results) -> str:
    """The figures that matter, in words."""
    said = []
    auto = ends(results, FOUND, 0)
    given = {k: value for name, k in results.pairs() if name == FIXED and (value := ends(results, name, k)) is not None}
    for name in (FOUND, FOUND_GIVEN):
        if given and (end := ends(results, name, 0)) is not None:
            best = min(given, key=lambda k: given[k])
            said.append(f"- {name}: perplexity {end:.1f}; the best of the numbers that were given, {best} topics, has "
                        f"{given[best]:.1f}: {end / given[best] - 1:+.1%}.")  # fmt: skip
    if auto is not None and (rounds := results.rounds(PEER, 0)):
        goal = min(point[2] for point in rounds[0]["points"])
        there = next(point[1] for point in rounds[0]["points"] if point[2] == goal)
        reached = [point[1] for entry in results.rounds(FOUND, 0) for point in entry["points"] if point[2] <= goal]
        said.append(f"- tomotopy's lowest, {goal:.1f}, is there after {there:.0f} CPU s; topoi is as low after "
                    f"{min(reached):.1f}, 1/{there / min(reached):.0f} of it." if reached
                    else f"- tomotopy's lowest, {goal:.1f} after {there:.0f} CPU s, was not reached.")  # fmt: skip
    return "\n".join(said)


def draw(results: Results, pairs: list[tuple[str, int]], arguments: argparse.Namespace) -> None:
    """Perplexity, and the number of topics, over CPU seconds."""
    figure, axes = report.panels(2, 5.4, 4.4)
    labels = [f"topoi, K = {k}" if name == FIXED else name for name, k in pairs]
    styles = report.styles(labels, [PEER])
    for label, (name, k) in zip(labels, pairs, strict=True):
        entry = results.rounds(name, k)[0]
        points = np.array(entry["points"])
        axes[0].plot(points[:, 1], points[:, 2], label=label, **styles[label])
        if name != FIXED:
            axes[1].plot(points[:, 1], entry["numbers"], **styles[label])
    axes[0].set(xscale="log", yscale="log", xlabel="CPU seconds of training", title="Perplexity of test documents")
    axes[1].set(xscale="log", xlabel="CPU seconds of training", title="Number of topics")
    report.plain_ticks(axes[0].yaxis, report.even_ticks(*axes[0].get_ylim()))
    for axis in axes:
        report.plain_ticks(axis.xaxis, report.decade_ticks(*axis.get_xlim()))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
