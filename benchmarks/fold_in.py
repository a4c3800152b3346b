"""Fold-in of new documents, the topics fixed: CPU seconds and quality of topoi and tomotopy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import ours, peers, report
from benchmarks.data import Problem, load_20ng, priors
from benchmarks.harness import Results, Stopwatch, measure, options, pin
from topoi._machine.rng import HALVES, new_stream
from topoi.chain.diagnostics import choose_half
from topoi.chain.loop import Rules, Schedule, run
from topoi.chain.model import TopicModel
from topoi.chain.plan import make_plan
from topoi.chain.priors import fixed_priors
from topoi.corpus import Corpus
from topoi.predict.fold_in import infer

NAME = "fold_in"
REFERENCE = "tomotopy"

#: θ (D, K) of the documents of a corpus, and the CPU seconds that they took: fold(corpus, n_sweeps, seed).
Fold = Callable[[Corpus, int, int], tuple[NDArray[np.float64], float]]


@dataclass(frozen=True)
class Contestant:
    """A way to fold in, the topics that it uses, and whether it is too slow for all documents."""

    fold: Fold
    phi: NDArray[np.float64]
    is_slow: bool = False


def main() -> None:
    parser = options(__doc__, [100])
    parser.add_argument("--sweeps", type=int, nargs="+", default=[20, 100], help="sweeps over a new document")
    parser.add_argument("--training", type=int, default=100, help="sweeps over the training documents")
    parser.add_argument("--documents", type=int, default=500, help="documents of a slow method's sample, -1 for all")
    arguments = parser.parse_args()
    pinned = pin(arguments.core)
    problem = load_20ng(arguments.quick)
    settings = {key: getattr(arguments, key) for key in ("sweeps", "training", "documents", "quick")}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    chosen = sample(problem.test_corpus, arguments.documents)
    seen, scored = halves(problem.test_corpus)

    @cache
    def contestants(n_topics: int) -> dict[str, Contestant]:
        return train(problem, n_topics, arguments.training)

    def job(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        contestant = contestants(n_topics)[name]
        figures = {}
        for n_sweeps in arguments.sweeps:
            seconds = cost(contestant, problem.test_corpus, chosen, n_sweeps, round_)
            value = quality(contestant, seen, scored, chosen, n_sweeps, round_)
            figures[str(n_sweeps)] = {"seconds": seconds, "perplexity": value}
        said = "; ".join(
            f"{n} sweeps: {found['seconds']:.2f} s, perplexity {found['perplexity']:.1f}"
            for n, found in figures.items()
        )
        return {"figures": figures, "said": said}

    measure(results, CONTESTANTS, arguments.topics, arguments.rounds, job)
    write_report(results, problem, arguments, pinned, len(chosen))


# ---- The contestants ---------------------------------------------------------------------------------------

CONTESTANTS = {
    "tomotopy": "`infer(docs, workers=1)`, each document alone, as it comes; one sample",
    "tomotopy, together": "`infer(docs, workers=1, together=True)`: documents change each other's topics; one sample",
    "topoi, tomotopy's topics": "`fold_in.infer` with the counts of tomotopy's model; average of half the sweeps",
    "topoi": "the same with topoi's own model",
    "topoi, mean field": "the same by expected counts, not draws (`method='mean_field'`), at most so many rounds",
}


def train(problem: Problem, n_topics: int, n_sweeps: int) -> dict[str, Contestant]:
    """Both models, and every way to use them, compiled."""
    theirs = peers.tomotopy_model(problem, n_topics, seed=0)
    peers.tomotopy_train(theirs, n_sweeps)
    their_phi = peers.tomotopy_topics(theirs, problem.corpus.n_words)
    state = ours.start(problem.corpus, n_topics, seed=0)
    plan = make_plan("auto", problem.corpus, n_topics)
    model = run(state, plan, Schedule(n_sweeps), Rules(evaluate_every=n_sweeps)).model
    for method in ("gibbs", "mean_field"):
        infer(model, problem.test_corpus.take([0, 1]), 2, method=method)  # compiles
    found = {
        "tomotopy": Contestant(tomotopy_fold(theirs, together=False), their_phi, is_slow=True),
        "tomotopy, together": Contestant(tomotopy_fold(theirs, together=True), their_phi),
        "topoi, tomotopy's topics": Contestant(topoi_fold(as_topoi(theirs, problem.corpus.n_words)), their_phi),
        "topoi": Contestant(topoi_fold(model), model.topic_word()),
        "topoi, mean field": Contestant(topoi_fold(model, "mean_field"), model.topic_word()),
    }
    assert found.keys() == CONTESTANTS.keys()
    return found


def as_topoi(theirs: Any, n_words: int) -> TopicModel:
    """tomotopy's counts as a model of ours: the same φ."""
    alpha, beta = priors(theirs.k)
    counts = np.zeros((n_words, theirs.k), np.int64)
    words = peers.tomotopy_words(theirs)
    for k in range(theirs.k):
        counts[words, k] = np.rint(np.asarray(theirs.get_topic_word_dist(k, normalize=False)) - beta)
    rows = sparse.csr_array(counts)
    return TopicModel(rows, rows, 1, fixed_priors(np.full(theirs.k, alpha), beta))


def topoi_fold(model: TopicModel, method: str = "gibbs") -> Fold:
    """Fold-in by topoi; all of the call is timed."""

    def fold(corpus: Corpus, n_sweeps: int, seed: int) -> tuple[NDArray[np.float64], float]:
        with Stopwatch() as watch:
            theta = infer(model, corpus, n_sweeps, seed, method=method)
        return theta, watch.seconds

    return fold


def tomotopy_fold(model: Any, together: bool) -> Fold:
    """Fold-in by tomotopy; only `infer` is timed. It takes no empty document, which gets the prior's mean here."""

    def fold(corpus: Corpus, n_sweeps: int, seed: int) -> tuple[NDArray[np.float64], float]:
        import tomotopy

        theta = np.full((corpus.n_documents, model.k), 1.0 / model.k)
        documents = [model.make_doc(words) for words in peers.tomotopy_documents(corpus) if words]
        none = tomotopy.ParallelScheme.NONE
        with Stopwatch() as watch:
            shares, _ = model.infer(documents, iterations=n_sweeps, workers=1, parallel=none, together=together)
        theta[corpus.doc_lengths > 0] = np.array(shares)
        return theta, watch.seconds

    return fold


# ---- What is measured --------------------------------------------------------------------------------------


def sample(corpus: Corpus, n: int) -> NDArray[np.int64]:
    """Numbers of the documents of the sample, ascending."""
    order = np.random.default_rng(0).permutation(corpus.n_documents)
    return np.sort(order if n < 0 else order[:n])


def halves(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """The seen and the scored halves of every document, as in `topoi.chain.diagnostics.completion`."""
    seen = np.zeros(corpus.n_tokens, np.bool_)
    for d in range(corpus.n_documents):
        choose_half(seen[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], new_stream(0, HALVES, 0, d))
    return part(corpus, seen), part(corpus, ~seen)


def part(corpus: Corpus, kept: NDArray[np.bool_]) -> Corpus:
    """The corpus with only some of its tokens."""
    ends = np.concatenate(([0], np.cumsum(kept)))
    return Corpus(corpus.words[kept], ends[corpus.doc_ptr], corpus.n_words)


def cost(contestant: Contestant, corpus: Corpus, chosen: NDArray[np.int64], n_sweeps: int, seed: int) -> float:
    """CPU seconds to fold in all documents; a slow contestant's are scaled up from the sample."""
    documents = corpus.take(chosen) if contestant.is_slow else corpus
    _, seconds = contestant.fold(documents, n_sweeps, seed)
    return seconds * corpus.n_documents / documents.n_documents


def quality(
    contestant: Contestant, seen: Corpus, scored: Corpus, chosen: NDArray[np.int64], n_sweeps: int, seed: int
) -> float:
    """Perplexity of the scored halves of the sample, with θ folded in from the seen halves."""
    if contestant.is_slow:
        theta, _ = contestant.fold(seen.take(chosen), n_sweeps, seed)
    else:
        theta = contestant.fold(seen, n_sweeps, seed)[0][chosen]
    score, n = 0.0, 0
    for shares, d in zip(theta, chosen, strict=True):
        words = scored.document(int(d))
        score += float(np.log(shares @ contestant.phi[:, words]).sum())
        n += len(words)
    return float(np.exp(-score / n))


# ---- The report --------------------------------------------------------------------------------------------


def figure_of(results: Results, name: str, n_topics: int, n_sweeps: int) -> tuple[float, float]:
    """Seconds of the best round, perplexity averaged over the rounds."""
    found = [entry["figures"][str(n_sweeps)] for entry in results.rounds(name, n_topics)]
    return min(one["seconds"] for one in found), float(np.mean([one["perplexity"] for one in found]))


def section(results: Results, n_topics: int, sweeps: list[int]) -> str:
    """Table of one number of topics."""
    names = [name for name, k in results.pairs() if k == n_topics]
    rows = []
    for n_sweeps in sweeps:
        reference, _ = figure_of(results, REFERENCE, n_topics, n_sweeps)
        for name in names:
            seconds, value = figure_of(results, name, n_topics, n_sweeps)
            ratio = f"1/{reference / seconds:.1f}" if seconds < reference else f"{seconds / reference:.2f}"
            rows.append([name, str(n_sweeps), f"**{report.number(seconds)}**", ratio, f"{value:.1f}"])
    header = ["method", "sweeps", "CPU s, all documents", "× tomotopy", "perplexity"]
    return f"## K = {n_topics}\n\n{report.table(header, rows)}"


def write_report(results: Results, problem: Problem, arguments: argparse.Namespace, pinned: str, n_chosen: int) -> None:
    topics = sorted({k for _, k in results.pairs()})
    n_documents = problem.test_corpus.n_documents
    facts = [
        problem.describe(),
        f"CPU seconds: `time.process_time`, one thread, {pinned}, methods taking turns, best round; all "
        f"{n_documents:,} whole test documents, apart from *tomotopy*, measured on {n_chosen:,} of them and scaled. "
        f"Making tomotopy's documents and compiling are not counted.",
        f"Perplexity: one half of a test document is folded in, the other half scored, on the same {n_chosen:,} "
        f"documents for all methods; mean over the rounds. Halves as in `topoi.chain.diagnostics.completion`.",
        f"Models: {arguments.training} sweeps, β = 0.01, α = 0.1 up to 200 topics, 50/K above; tomotopy's is its last "
        f"sample, topoi's own the `auto` plan with 10 samples.",
        *(f"{name}: {how}." for name, how in CONTESTANTS.items()),
    ]
    parts = [section(results, k, arguments.sweeps) for k in topics]
    draw(results, topics, arguments)
    body = "\n\n".join([*parts, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "Fold-in of new documents", body)


def draw(results: Results, topics: list[int], arguments: argparse.Namespace) -> None:
    """One panel for each K: perplexity over CPU seconds; a point for each number of sweeps."""
    figure, axes = report.panels(len(topics), 6.8, 4.2)
    styles = report.styles(list(CONTESTANTS), [name for name in CONTESTANTS if name.startswith(REFERENCE)])
    for axis, n_topics in zip(axes, topics, strict=True):
        for name, style in styles.items():
            points = [figure_of(results, name, n_topics, n_sweeps) for n_sweeps in arguments.sweeps]
            axis.plot(*zip(*points, strict=True), label=name, **style)
            for (seconds, value), n_sweeps in zip(points, arguments.sweeps, strict=True):
                axis.annotate(f"{n_sweeps} sweeps", (seconds, value), xytext=(5, 4), textcoords="offset points",
                              fontsize=8, color=style["color"])  # fmt: skip
        axis.set(xscale="log", title=f"K = {n_topics}", xlabel="CPU seconds, all test documents")
        axis.margins(x=0.15, y=0.12)
        report.plain_ticks(axis.xaxis, report.decade_ticks(*axis.get_xlim()))
    axes[0].set_ylabel("perplexity of the other halves")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    report.save(figure, arguments.output, NAME)


if __name__ == "__main__":
    main()
