"""The tests of joining topics are tested: bugs put into it must each be caught by one of them.

The tests are those of `test_merging`, run on a copy of topoi without the compiler.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from support.copies import interpreted_modules
from topoi.chain.counts.elsewhere import ANY, NOTHING

MERGING, ELSEWHERE = "topoi.chain.merging", "topoi.chain.counts.elsewhere"
#: Where the tests take their names from.
USED = [
    "topoi._machine.pool", ELSEWHERE, "topoi.chain.diagnostics", "topoi.chain.engines.local", MERGING,
    "topoi.chain.priors", "topoi.chain.priors.hdp", "topoi.chain.state", "topoi.corpus",
]  # fmt: skip


def copied_tests(edits=None):
    """The module `test_merging`, with the names of a copy of topoi with bugs."""
    modules = interpreted_modules(edits, USED)
    given = importlib.util.spec_from_file_location("copied_test_merging", Path(__file__).with_name("test_merging.py"))
    tests = importlib.util.module_from_spec(given)
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        given.loader.exec_module(tests)
    finally:
        sys.modules.update({name: module for name, module in saved.items() if module is not None})
    return tests


def elsewhere(tests):
    for own in (False, True):
        for rival in ([NOTHING, NOTHING, NOTHING, ANY], [1, 0, 3, 2], [3, NOTHING, ANY, 0]):
            tests.test_how_tokens_would_do_elsewhere(own, rival)


CHECKS = {
    "halves": lambda tests: tests.test_halves_of_a_topic_are_joined(),
    "log joint": lambda tests: tests.test_the_change_of_the_log_joint(),
    "different": lambda tests: tests.test_different_topics_stay(),
    "shared words": lambda tests: tests.test_topics_that_share_words_stay_apart(),
    "empty": lambda tests: tests.test_empty_topics_beyond_the_reserve_go(),
    "named": lambda tests: tests.test_named_topics_are_neither_joined_nor_moved(),
    "pairs": lambda tests: tests.test_pairs_are_the_most_alike(),
    "order": lambda tests: tests.test_the_most_alike_come_first(),
    "elsewhere": elsewhere,
    "leftover": lambda tests: tests.test_a_leftover_is_given_up(),
    "own word": lambda tests: tests.test_a_small_topic_of_its_own_stays(),
    "named leftover": lambda tests: tests.test_a_named_leftover_stays(),
}
#: Bugs: the check that catches one, its module, and what is put in the place of what.
MUTANTS = {
    "joined without the surprise": ("shared words", MERGING, "apart = alone + surprise", "apart = alone"),
    "nothing is joined": ("halves", MERGING, "b[joint[a] <= apart[a] + apart[b]]", "b"),
    "all pairs are joined": ("shared words", MERGING, "b[joint[a] <= apart[a] + apart[b]]", "b[:0]"),
    "α of one half": (
        "halves", MERGING, "np.bincount(number, alpha, n).astype(np.float64)", "np.full(n, 1e-30)"),
    "named topics are joined": (
        "named", MERGING, "(n_k > 0) & ~named", "n_k > 0"),
    "no reserve": (
        "empty", MERGING, "stays[empty[: state.priors.topics.reserve(int(stays.sum()))]] = True", ""),
    "no leftover is given up": ("leftover", MERGING, "closed & (best > alone)", "closed & (best > np.inf)"),
    "every small topic is given up": ("own word", MERGING, "closed & (best > alone)", "closed.copy()"),
    "the first pair is taken": ("order", MERGING,
        "np.argsort(-alike[a[near], b[near]], kind='stable')", "np.arange(len(near))"),
    "topics in two pairs": ("pairs", MERGING, "free[a[i]] = free[b[i]] = False", ""),
    "Γ(α) forgotten": ("log joint", MERGING, "gammaln(size + alpha[topic]) - gammaln(alpha[topic])",
                       "gammaln(size + alpha[topic])"),
    "Γ(β) forgotten": ("log joint", MERGING, "gammaln(counts.data + beta) - gammaln(beta)",
                       "gammaln(counts.data + beta)"),
    "Γ(Vβ) forgotten": ("log joint", MERGING, "gammaln(n_k + n_words * beta) - gammaln(n_words * beta)",
                        "gammaln(n_k + n_words * beta)"),
    "the token is left in": ("elsewhere", ELSEWHERE, "(n_d[own] - 1 + alpha[own])", "(n_d[own] + alpha[own])"),
    "its word is left in": ("elsewhere", ELSEWHERE, "(times - 1 + of.beta)", "(times + of.beta)"),
    "a closed topic is a place": (
        "elsewhere", ELSEWHERE, "(other == ANY and rival[k] == NOTHING)", "other == ANY"),
    "a topic without the word is none": (
        "elsewhere", ELSEWHERE, "best = (n_d[other] + alpha[other]) * of.beta * of.inverse[other]", "best = 1e-9"),
    "documents run together": ("elsewhere", ELSEWHERE, "n_d[z[i]] = 0.0", "pass"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    check, module, old, new = MUTANTS[mutant]
    tests = copied_tests({module: [(old, new)]})
    with pytest.raises((AssertionError, AttributeError, IndexError, TypeError)):
        CHECKS[check](tests)


@pytest.fixture(scope="module")
def plain():
    return copied_tests()


@pytest.mark.parametrize("check", CHECKS)
def test_unchanged_source_passes(check, plain):
    CHECKS[check](plain)
