"""The number of topics as users ask for it: a number, or "auto", which is found (chain/priors/hdp.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoi.chain.loop import Run, Schedule
from topoi.chain.model import check_whole
from topoi.chain.plan import Plan
from topoi.chain.priors import TOPIC_PRIORS, Priors, resolve_priors
from topoi.chain.priors.hdp import HDP
from topoi.chain.priors.learned_beta import LearnedBeta
from topoi.chain.priors.seeds import Seeds
from topoi.corpus import Corpus
from topoi.errors import ParameterError

AUTO = "auto"
#: Topics that are found, at most: two bytes hold a topic, and a token may cost as many steps.
MOST = 2_000
#: A chain begins with one for so many tokens, but not with fewer or more than these. Too many is better than too few:
#: those that the corpus does not need are joined sooner than those that it lacks are found.
TOKENS_PER_TOPIC, LEAST_FIRST, MOST_FIRST = 500, 50, 500
#: Sweeps, unless users say how many: topics are joined and added one by one, which takes longer than to settle.
SWEEPS_TO_FIND_TOPICS = 200
#: The share of the burn-in without new topics: at first there would be many, of chance alone.
QUICK = 0.5
#: Sweeps before topics are joined or added, at least: topics that have not yet come apart are all alike.
EARLIEST = 20


class TopicNumber(NamedTuple):
    """The posterior of the number of topics in use: its mean, and 90 % of it."""

    mean: float
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} (90 %: {self.low} to {self.high})"


def check_n_topics(value: Any) -> None:
    """Raise unless it is a whole number of at least 1, or "auto"."""
    if isinstance(value, str):
        if value != AUTO:
            raise ParameterError("n_topics", f'must be a whole number of at least 1, or "auto", not {value!r}')
        return
    check_whole("n_topics", value)


def first_number(corpus: Corpus) -> int:
    """Topics that a chain begins with where their number is to be found."""
    return int(np.clip(corpus.n_tokens // TOKENS_PER_TOPIC, LEAST_FIRST, MOST_FIRST))


def settling(plan: Plan) -> Plan:
    """The plan of a chain that finds the number of topics: the sampler of its samples runs before they are taken.

    The quick one of the burn-in counts a token that it moves: topics of a few tokens would keep them for ever.
    """
    return replace(plan, quick=QUICK)


def first_priors(
    n_topics: Any, doc_topic_prior: Any, topic_word_prior: Any, corpus: Corpus, burn_in: int, seeds: Seeds | None = None
) -> Priors:
    """The priors that a chain begins with; topics are added, where their number is to be found, until `burn_in`."""
    if n_topics != AUTO:
        return resolve_priors(doc_topic_prior, topic_word_prior, n_topics, corpus, seeds)
    for kind in TOPIC_PRIORS.values():
        if kind.about in corpus.about:
            raise ParameterError(
                "n_topics",
                f'must be a number, not "auto", where documents have a prior of their own (from {kind.about}): the '
                "number of topics is found with a prior that all documents share",
            )
    if doc_topic_prior is not None and not (isinstance(doc_topic_prior, str) and doc_topic_prior == HDP.word):
        raise ParameterError(
            "doc_topic_prior",
            f'is {doc_topic_prior!r}; leave it out with n_topics="auto", where α is drawn with the number of topics',
        )
    if topic_word_prior is None:  # the wider the topics, the fewer there are: β is not for us to say
        topic_word_prior = LearnedBeta.word
    n = first_number(corpus)
    priors = resolve_priors(HDP.word, topic_word_prior, n, corpus, seeds)
    return Priors(HDP.begin(n, MOST, max(EARLIEST, round(QUICK * burn_in)), max(burn_in, 2)), priors.words)


def found_by(run: Run) -> dict[str, NDArray[np.float64]]:
    """Fitted attributes that tell of the number of topics over a run; none where it was given."""
    figures = run.trace.figures
    if "n_topics" not in figures:
        return {}
    columns = {name: np.array(values, np.float64) for name, values in figures.items()}
    return {
        "n_topics_trace_": np.column_stack((columns["sweep"], columns["n_topics"])),
        "concentrations_": np.column_stack((columns["sweep"], columns["concentration"], columns["top_concentration"])),
    }


def posterior(trace: NDArray[np.float64], schedule: Schedule) -> TopicNumber:
    """The posterior of the number of topics from its trace after the burn-in; of the last sweep, if none came after."""
    numbers = trace[trace[:, 0] > schedule.n_burn_in, 1]
    if not len(numbers):
        numbers = trace[-1:, 1]
    low, high = np.quantile(numbers, [0.05, 0.95], method="nearest")
    return TopicNumber(float(numbers.mean()), int(low), int(high))
