"""How often corrections of the Pólya urn are accepted: a token, a document or a block of documents at a time.

    TOPOI_DATA=... python verify/urn_correction.py [--documents 600] [--topics 20] [--seeds 3]

At a state where `collapsed` has settled on the first posts of UCI KOS, counts c are drawn as the urn does, and the
tokens of some documents are moved one after the other given φ = c / Σc. That is a proposal z′ for all of them together,
for the target p(z | words) · Π Poisson(c_wk; n_wk + β), which is accepted with probability min(1, A),

    log A = Σ_wk [log Γ(n′_wk + β) − log Γ(n_wk + β) + c_wk log((n′_wk + β)/(n_wk + β)) − (n′_wk − n_wk) log φ_wk]
            − Σ_k [log Γ(n′_k + Vβ) − log Γ(n_k + Vβ)]

if the order of the tokens is forward or backward by a coin: the document's part of the posterior cancels. (Tokens whose
topic has c_wk = 0 stay, see `urn_mh`.) The first row is `urn_mh` itself, which decides token by token. Then: where
`urn_mh`, `collapsed` and `polya_urn` are after some sweeps from random topics. Prints the tables of docs/exactness.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.special import gammaln

sys.path.insert(0, str(Path(__file__).parent.parent))

from reproduce.bias_corpus import ALPHA, BETA, width
from reproduce.chains import begun, copy, sweeps
from reproduce.corpora import corpus
from topoi._machine.pool import Pool
from topoi.chain.diagnostics import log_joint
from topoi.chain.factors import FACTORS
from topoi.chain.priors import fixed_priors
from topoi.chain.samplers import SAMPLERS
from topoi.chain.state import State, new_state, topic_counts


def propose(state: State, phi: np.ndarray, documents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Topics after the tokens of some documents were moved given φ, in plain Python."""
    z, words, ptr = state.z.astype(int), state.corpus.words, state.corpus.doc_ptr
    for d in documents:
        n_d = np.bincount(z[ptr[d] : ptr[d + 1]], minlength=state.n_topics).astype(float)
        order = np.arange(ptr[d], ptr[d + 1])
        for i in order if rng.random() < 0.5 else order[::-1]:
            row = phi[words[i]]
            if row[z[i]] > 0:
                n_d[z[i]] -= 1
                below = np.cumsum((n_d + state.alpha) * row)
                z[i] = np.searchsorted(below, rng.random() * below[-1])
                n_d[z[i]] += 1
    return z


def log_acceptance(state: State, z: np.ndarray, drawn: np.ndarray, phi: np.ndarray) -> float:
    """log A of a move to topics z."""
    n_wk, n_k = topic_counts(state)
    to_wk, to_k = topic_counts(State(**{**vars(state), "z": z}))
    changed = n_wk != to_wk
    n, to, c = n_wk[changed] + BETA, to_wk[changed] + BETA, drawn[changed]
    words = gammaln(to) - gammaln(n) + c * np.log(to / n) - (to - n) * np.log(phi[changed])
    return float(words.sum() - (gammaln(to_k + state.beta_sum) - gammaln(n_k + state.beta_sum)).sum())


def acceptance(state: State, sizes: list[int], tries: int, seed: int) -> list[tuple[float, float]]:
    """For numbers of documents: mean number of tokens that would move, and mean probability to accept them."""
    rng, found = np.random.default_rng(seed), []
    for size in sizes:
        moved, accepted = [], []
        for number in range(tries):
            state.sweep = number  # other draws of the urn
            factor = FACTORS["urn"](state, Pool(1))
            factor.begin()
            drawn = np.zeros((state.corpus.n_words, state.n_topics), int)
            drawn[np.repeat(np.arange(len(drawn)), factor.size), factor.topics] = factor.counts
            phi = drawn / np.maximum(drawn.sum(0), 1)
            documents = rng.choice(state.corpus.n_documents, size, replace=False)
            z = propose(state, phi, documents, rng)
            moved.append((z != state.z).sum())
            accepted.append(np.exp(min(0.0, log_acceptance(state, z, drawn, phi))))
        found.append((float(np.mean(moved)), float(np.mean(accepted))))
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 3, 10, 30])
    parser.add_argument("--sweeps", type=int, nargs="+", default=[50, 200, 800])
    given = parser.parse_args()
    documents = corpus("kos", given.documents)
    print(f"{documents}, K = {given.topics}, α = {ALPHA}, β = {BETA}, {given.seeds} seeds\n")
    single, several = [], []
    for seed in range(given.seeds):
        state = begun(documents, given.topics, ALPHA, BETA, seed, 20)
        sweeps(state, "collapsed", 300)
        several.append(acceptance(copy(state), given.sizes, given.tries, seed))
        told = SAMPLERS["urn_mh"](state).sweep()
        single.append((told["acceptance"], told["tokens_kept"] / documents.n_tokens))
    accepted, kept = np.mean(single, 0)
    print("| decided together | tokens that would move | accepted |\n|---|---|---|")
    print(f"| a token (`urn_mh`; {kept:.1%} of the tokens had to stay) | 1 | {accepted:.3f} |")
    for size, (moved, rate) in zip(given.sizes, np.mean(several, 0), strict=True):
        print(f"| {size} document{'s' * (size > 1)} | {moved:.0f} | {rate:.2g} |", flush=True)
    heads = " | ".join(f"{n} sweeps" for n in given.sweeps)
    print(f"\n| log joint per token (topics of a document) | {heads} |\n|---|{'---|' * len(given.sweeps)}")
    priors = fixed_priors(np.full(given.topics, ALPHA), BETA)
    for name in ("collapsed", "partial", "urn_mh", "polya_urn"):
        found = []
        for seed in range(given.seeds):
            state = new_state(documents, priors, seed)
            for last in given.sweeps:
                sweeps(state, name, last - state.sweep)
                found.append((log_joint(state) / documents.n_tokens, width(state)))
        mean = np.mean(np.array(found).reshape(given.seeds, -1, 2), 0)
        print(f"| `{name}` | " + " | ".join(f"{joint:.3f} ({wide:.1f})" for joint, wide in mean) + " |", flush=True)


if __name__ == "__main__":
    main()
