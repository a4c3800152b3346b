"""FastLDA, Section 6: the same histograms of draws and the same perplexity as dense LDA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.ours import last_model
from reproduce import scalar_dense
from reproduce.chains import begun, sweeps
from reproduce.corpora import corpus, counts
from reproduce.corpora import rows as sample_rows
from reproduce.drawing import legend, panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.pieces import piece
from reproduce.speedups import BETA, STAND_IN
from reproduce.table import Row, Table
from topoi.chain.diagnostics import completion
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers.fast import bound_and_refine
from topoi.chain.state import State, new_state, topic_counts
from topoi.corpus import Corpus

TOPICS = 50
METHODS = {"LDA": "scalar_dense", "FastLDA (2, 2, ∞)": "fast", "FastLDA (3, 3, 3)": "fast_333"}
DRAWS = 1000
QUICK = {"tokens": 100, "documents": 80, "runs": 4, "sweeps": 50}
FITS = {"tokens": 500, "documents": 120, "runs": 50, "sweeps": 60}
FULL = {"tokens": 3000, "documents": 1500, "runs": 50, "sweeps": 500}


def measure(scale: Scale, seed: int) -> list[Row]:
    size = {"quick": QUICK, "fits": FITS, "full": FULL}[scale]
    state = begun(corpus("nips", size["documents"]), TOPICS, 2 / TOPICS, BETA, seed, 40)
    p_values: dict[str, list[float]] = {method: [] for method in METHODS}
    rng = np.random.default_rng(seed)
    n_wk, n_k = topic_counts(state)
    for i in rng.permutation(state.corpus.n_tokens)[: size["tokens"]]:
        for method, p in zip(METHODS, draw_token(state, int(i), n_wk, n_k, rng), strict=True):
            if np.isfinite(p):
                p_values[method].append(p)
    rows: list[Row] = [
        {"check": "histogram", "method": method, "p": float(stats.kstest(p, "uniform").pvalue),
         "smallest_p": float(min(p)), "n": len(p)}
        for method, p in p_values.items()
    ]  # fmt: skip
    for method, name in METHODS.items():
        runs = range(seed * size["runs"], (seed + 1) * size["runs"])
        found = [piece((name, run), perplexity, name, run, size) for run in runs]
        error = float(np.std(found, ddof=1) / np.sqrt(len(found)))
        rows.append({"check": "perplexity", "method": method, "perplexity": float(np.mean(found)), "error": error})
    return rows


def draw_token(
    state: State, i: int, n_wk: NDArray[np.int64], n_k: NDArray[np.int64], rng: np.random.Generator
) -> list[float]:
    """p-values (χ², 1,000 draws) of every method's draws of the topic of token i, all others as they are."""
    corpus, k = state.corpus, state.n_topics
    w, d = int(corpus.words[i]), int(np.searchsorted(corpus.doc_ptr, i, "right") - 1)
    own = np.bincount(state.z[i : i + 1], minlength=k)
    n_d = (np.bincount(state.z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=k) - own).astype(float)
    table = (n_wk[w] - own)[None, :].astype(state.real)
    scale = (1 / (n_k - own + state.beta_sum)).astype(state.real)
    a, b = n_d + state.alpha, table[0] + state.beta
    order, below = np.argsort(-n_d, kind="stable"), np.zeros(k)
    probability = a * b * scale
    probability = probability / probability.sum()

    def by_bound(u: float, three: bool, norms: tuple[float, float, float]) -> int:
        place, _ = bound_and_refine(u, 0, n_d, state.alpha, table, state.beta, scale, order, three, *norms, below)
        return int(order[place])

    c = scale.astype(float)
    two = (float((a**2).sum()), float((b.astype(float) ** 2).sum()), float(c.max()))
    three = (float((a**3).sum()), float((b.astype(float) ** 3).sum()), float((c**3).sum()))
    draws = [
        [scalar_dense.draw_topic(u, 0, n_d, state.alpha, table, state.beta, scale, below) for u in rng.random(DRAWS)],
        [by_bound(u, False, two) for u in rng.random(DRAWS)],
        [by_bound(u, True, three) for u in rng.random(DRAWS)],
    ]
    return [chi_square(np.bincount(found, minlength=k), probability) for found in draws]


def chi_square(found: NDArray[np.int64], probability: NDArray[np.float64]) -> float:
    """p-value of a histogram; topics that are expected less than five times are put together."""
    expected = probability * found.sum()
    common = expected >= 5
    f_obs = np.append(found[common], found[~common].sum())
    f_exp = np.append(expected[common], expected[~common].sum())
    if f_exp[-1] < 1:  # too few for χ²
        f_obs, f_exp = f_obs[:-1], f_exp[:-1]
    if len(f_exp) < 2:
        return np.nan  # one topic has all: nothing to compare
    return float(stats.chisquare(f_obs, f_exp * f_obs.sum() / f_exp.sum()).pvalue)


def perplexity(name: str, seed: int, size: dict[str, int]) -> float:
    """Document completion of the documents that were not learned from, after a run from random topics."""
    matrix = sample_rows(counts("nips"), size["documents"])
    train, test = matrix[: -len(matrix.indptr) // 4], matrix[-len(matrix.indptr) // 4 :]
    words = np.unique(train.indices)
    state = new_state(Corpus.from_counts(train[:, words]), fixed_priors(np.full(TOPICS, 2 / TOPICS), BETA), seed)
    sweeps(state, name, size["sweeps"])
    held_out = Corpus.from_counts(test[:, words], allow_empty=True)
    return completion(last_model(state).topic_word(), state.alpha, held_out).perplexity


def judge(table: Table) -> Verdict:
    methods = list(METHODS)
    p = [table.mean("p", check="histogram", method=method) for method in methods]
    smallest = [table.mean("smallest_p", check="histogram", method=method) for method in methods]
    n = table.mean("n", check="histogram", method=methods[0])
    level = {method: table.mean("perplexity", check="perplexity", method=method) for method in methods}
    error = {method: table.mean("error", check="perplexity", method=method) for method in methods}
    gaps = [abs(level[m] - level["LDA"]) / np.hypot(error[m], error["LDA"]) for m in methods[1:]]
    text = (
        f"Histograms of {DRAWS} draws for {n:.0f} tokens: the p-values of χ² against the exact probabilities are "
        f"uniform (Kolmogorov–Smirnov, mean p over seeds {', '.join(f'{x:.2f}' for x in p)} for {', '.join(methods)}). "
        f"Perplexity of held-out documents: {', '.join(f'{level[m]:.0f} ± {error[m]:.0f} ({m})' for m in methods)} "
        f"(standard errors over runs)."
    )
    same = min(p) > 0.01 and min(smallest) > 0.01 / (n * len(methods)) and max(gaps) < 3
    return Verdict("yes" if same else "no", text)


def draw(table: Table, figure: Any) -> None:
    left, right = panels(figure, 2)
    for axis, check, y, label in (
        (left, "histogram", "p", "p-value: draws are from the conditional"),
        (right, "perplexity", "perplexity", "perplexity of held-out documents"),
    ):
        lines = table.where(check=check).lines
        x = np.arange(len(lines))
        spread = [line.sd["p"] if check == "histogram" else line.mean["error"] for line in lines]
        axis.errorbar(x, [line.mean[y] for line in lines], np.nan_to_num(spread), fmt="o", capsize=3)
        axis.set_xticks(x, [str(line.keys["method"]) for line in lines], fontsize=8)
        axis.set(ylabel=label, xlim=(-0.5, len(lines) - 0.5))
    left.axhline(0.01, color="#D55E00", lw=0.8, ls="--", label="0.01: below it, doubt")
    left.set_ylim(0, 1.3)
    legend(left)


FIGURE = Figure(
    name="fast_histogram",
    paper="FastLDA, Section 6",
    title="FastLDA draws what LDA draws",
    claim="With all other topics kept, histograms of 1,000 draws are the same for LDA and FastLDA; so is the "
    "perplexity over 100 runs on NIPS.",
    stand_in=f"{STAND_IN['nips']}.",
    settings=(
        f"{QUICK['documents']} documents, K = {TOPICS}, α = 2/K, β = 0.01; {QUICK['tokens']} tokens; {QUICK['runs']} "
        f"runs of {QUICK['sweeps']} sweeps for each seed and sampler.",
        f"all documents; {FULL['tokens']:,} tokens; {FULL['runs']} runs of {FULL['sweeps']} sweeps for each of two "
        "seeds, 100 in all as in the paper.",
    ),
    seeds=(2, 2),
    fits=(
        f"{FITS['documents']} documents; {FITS['tokens']} tokens; {FITS['runs']} runs of {FITS['sweeps']} sweeps, for "
        "each of two seeds, 100 in all as in the paper.",
        2,
    ),
    measure=measure,
    keys=("check", "method"),
    judge=judge,
    draw=draw,
    decided_by="its own tests: χ² of every histogram, and standard errors over runs",
)
