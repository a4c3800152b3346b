"""The tests of joining topics are tested: bugs put into it must each be caught by one of them.

The checks are those of `test_merging`, run on a copy of topoi without the compiler.
"""

from __future__ import annotations

import importlib.util
import sys

import pytest

from support import joining
from support.copies import interpreted_modules

MERGING, ELSEWHERE = "topoi.chain.merging", "topoi.chain.counts.elsewhere"
#: Where the tests take their names from.
USED = [
    "topoi._machine.pool", ELSEWHERE, "topoi.chain.diagnostics", "topoi.chain.engines.local", MERGING,
    "topoi.chain.priors", "topoi.chain.priors.hdp", "topoi.chain.state", "topoi.corpus",
]  # fmt: skip


def copied_checks(edits=None):
    """The checks of support/joining.py, with the names of a copy of topoi with bugs."""
    modules = interpreted_modules(edits, USED)
    given = importlib.util.spec_from_file_location("copied_joining", joining.__file__)
    copy = importlib.util.module_from_spec(given)
    saved = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        given.loader.exec_module(copy)
    finally:
        sys.modules.update({name: module for name, module in saved.items() if module is not None})
    return copy.CHECKS


#: Bugs: the check that catches one, its module, and what is put in the place of what.
MUTANTS = {
    "joined without the surprise": (
        "topics_that_share_words_stay_apart", MERGING, "apart = alone + surprise", "apart = alone"),
    "nothing is joined": (
        "halves_of_a_topic_are_joined", MERGING, "b[joint[a] <= apart[a] + apart[b]]", "b"),
    "all pairs are joined": (
        "topics_that_share_words_stay_apart", MERGING, "b[joint[a] <= apart[a] + apart[b]]", "b[:0]"),
    "α of one half": (
        "halves_of_a_topic_are_joined", MERGING,
        "np.bincount(number, alpha, n).astype(np.float64)", "np.full(n, 1e-30)"),
    "named topics are joined": (
        "named_topics_are_neither_joined_nor_moved", MERGING, "(n_k > 0) & ~named", "n_k > 0"),
    "no reserve": (
        "empty_topics_beyond_the_reserve_go", MERGING,
        "stays[empty[: state.priors.topics.reserve(int(stays.sum()))]] = True", ""),
    "no leftover is given up": (
        "a_leftover_is_given_up", MERGING, "closed & (best > alone)", "closed & (best > np.inf)"),
    "every small topic is given up": (
        "a_small_topic_of_its_own_stays", MERGING, "closed & (best > alone)", "closed.copy()"),
    "the first pair is taken": (
        "the_most_alike_come_first", MERGING,
        "np.argsort(-alike[a[near], b[near]], kind='stable')", "np.arange(len(near))"),
    "topics in two pairs": (
        "pairs_are_the_most_alike", MERGING, "free[a[i]] = free[b[i]] = False", ""),
    "Γ(α) forgotten": (
        "the_change_of_the_log_joint", MERGING, "gammaln(size + alpha[topic]) - gammaln(alpha[topic])",
                       "gammaln(size + alpha[topic])"),
    "Γ(β) forgotten": (
        "the_change_of_the_log_joint", MERGING, "gammaln(counts.data + beta) - gammaln(beta)",
                       "gammaln(counts.data + beta)"),
    "Γ(Vβ) forgotten": (
        "the_change_of_the_log_joint", MERGING, "gammaln(n_k + beta_sum) - gammaln(beta_sum)",
                        "gammaln(n_k + beta_sum)"),
    "the token is left in": (
        "how_tokens_would_do_elsewhere", ELSEWHERE, "(n_d[own] - 1 + alpha[own])", "(n_d[own] + alpha[own])"),
    "its word is left in": (
        "how_tokens_would_do_elsewhere", ELSEWHERE, "(times - 1 + beta)", "(times + beta)"),
    "a closed topic is a place": (
        "how_tokens_would_do_elsewhere", ELSEWHERE, "(other == ANY and rival[k] == NOTHING)", "other == ANY"),
    "a topic without the word is none": (
        "how_tokens_would_do_elsewhere", ELSEWHERE,
        "best = (n_d[other] + alpha[other]) * beta * of.inverse[other]", "best = 1e-9"),
    "β of another word": (
        "how_tokens_would_do_elsewhere", ELSEWHERE, "of_word(of.beta, words[i])", "of_word(of.beta, 0)"),
    "documents run together": (
        "how_tokens_would_do_elsewhere", ELSEWHERE, "n_d[z[i]] = 0.0", "pass"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_mutant_is_caught(mutant):
    check, module, old, new = MUTANTS[mutant]
    checks = copied_checks({module: [(old, new)]})
    with pytest.raises((AssertionError, AttributeError, IndexError, TypeError)):
        checks[check]()


@pytest.fixture(scope="module")
def plain():
    return copied_checks()


@pytest.mark.parametrize("check", joining.CHECKS)
def test_unchanged_source_passes(check, plain):
    plain[check]()
