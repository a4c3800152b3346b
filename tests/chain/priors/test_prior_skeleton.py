"""The prior that the guide tells people to copy passes every test, once added the way the guide says; so do seeds."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from support.corpora import random_counts
from support.places import ROOT
from support.skeletons import SKELETONS, package_with, run_with
from topoi import Corpus
from topoi._machine.pool import Pool
from topoi.chain.priors import Priors
from topoi.chain.priors.fixed_beta import FixedBeta
from topoi.chain.priors.minka import log_gamma_density
from topoi.chain.state import document_counts, new_state

#: A prior of words: pseudo-counts that pull some words to some topics.
SEEDS = """
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topoi.chain.priors.base import WordPrior


@dataclass(frozen=True, eq=False)
class Seeds(WordPrior):
    name = "seeded"
    word = "seed"

    @classmethod
    def from_value(cls, value, n_topics, corpus):
        if value != cls.word:
            return None
        counts = np.zeros((corpus.n_words, n_topics), np.int64)
        counts[np.arange(n_topics), np.arange(n_topics)] = 300
        return cls(0.01, pseudo_counts=sparse.csr_array(counts))
"""


def add(folder, text, name, kind, after):
    """Add a prior: a file and a registry line, which comes after another one."""
    edits = [(line := f'        "fixed": "{after}",\n', f'{line}        "{name}": "{name}:{kind}",\n')]
    package_with(folder, "chain/priors", {}, edits)
    (folder / "topoi" / "chain" / "priors" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def passed(package, name):
    """Run the tests of every prior for one of a copy, without the compiler: returns how many have passed."""
    options = ["-p", "no:cacheprovider", "-n", "0", "-k", name, "--rootdir", ROOT, "-c", ROOT / "pyproject.toml"]
    tests = Path(__file__).with_name("test_every_prior.py")
    printed = run_with(package, "-m", "pytest", *map(str, options), str(tests), NUMBA_DISABLE_JIT="1")
    return int(printed.split(" passed")[0].split()[-1])


def test_skeleton_passes_the_tests_of_every_prior(tmp_path):
    text = (SKELETONS / "prior.py").read_text(encoding="utf-8")
    assert passed(add(tmp_path, text, "drawn", "DrawnAlpha", "fixed_alpha:FixedAlpha"), "drawn") >= 15


@pytest.mark.slow
def test_seeds_pass_the_tests_of_every_prior(tmp_path):
    assert passed(add(tmp_path, SEEDS, "seeded", "Seeds", "fixed_beta:FixedBeta"), "seeded") >= 15


# ---- The skeleton by itself ----------------------------------------------------------------------------------------


@pytest.fixture
def drawn_alpha(monkeypatch):
    spec = importlib.util.spec_from_file_location("drawn", SKELETONS / "prior.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "drawn", module)
    spec.loader.exec_module(module)
    return module.DrawnAlpha


def test_a_step_leaves_the_posterior_unchanged(drawn_alpha):
    """α drawn from its posterior, by a fine grid, and moved by a step: still from the posterior (level 1e-3)."""
    n_topics, n = 4, 4000
    corpus = Corpus.from_counts(random_counts(30, 20, 8, seed=5))
    state = new_state(corpus, Priors(drawn_alpha(np.ones(n_topics)), FixedBeta(0.1)), 3)
    n_dk = document_counts(state)
    log_a = np.linspace(-6, 4, 20_001)
    a = np.exp(log_a)[:, None]
    log_p = np.zeros(len(a))
    for row in n_dk:
        log_p += (gammaln(row + a) - gammaln(a)).sum(1)
        log_p += gammaln(n_topics * a[:, 0]) - gammaln(row.sum() + n_topics * a[:, 0])
    log_p += [log_gamma_density(x) + math.log(x) for x in a[:, 0]]
    p = np.exp(log_p - log_p.max())
    below = np.cumsum(p) / p.sum()
    first = np.interp((np.arange(n) + 0.5) / n, below, log_a)
    observed = [state.priors.topics.observe(state, Pool(1))]
    last = []
    for sweep, start in enumerate(first):
        state.sweep = sweep
        prior = drawn_alpha(np.full(n_topics, math.exp(start)))
        last.append(math.log(prior.update(state, observed).alpha[0]))
    moved = np.mean(np.array(last) != first)
    assert 0.3 < moved < 1
    assert stats.kstest(last, lambda x: np.interp(x, log_a, below)).pvalue > 1e-3
