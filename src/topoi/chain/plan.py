"""Which sampler runs when: one for the whole run, or quick ones for the burn-in and an exact one after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topoi.chain.counts.split import SPLIT_ABOVE
from topoi.chain.priors import Priors
from topoi.chain.samplers import SAMPLERS
from topoi.corpus import Corpus
from topoi.errors import ParameterError


@dataclass(frozen=True)
class Plan:
    """`burn_in` runs until the burn-in is over, `sampling` from then on; `options` are for their constructors.

    The first `opening` sweeps of the burn-in are those of `OPENING` instead, with topics in groups of `parts` that are
    learned as one. With a `quick` share below 1 `sampling` runs earlier: after this share of the burn-in.
    """

    burn_in: str
    sampling: str
    options: Mapping[str, Any] | None = None
    # Fingerprints of checkpoints are made of what a plan looks like. What follows from all else is not shown.
    opening: int = field(default=0, repr=False)
    parts: int = field(default=1, repr=False)
    quick: float = field(default=1.0, repr=False)

    def __post_init__(self) -> None:
        for name in {self.burn_in, self.sampling}:
            SAMPLERS[name].check_options(self.options or {})

    def groups_of(self, sweep: int, n_burn_in: int) -> int:
        """How many topics are learned as one in sweep number `sweep` (counted from 0)."""
        return self.parts if sweep < min(self.opening, n_burn_in) else 1

    @property
    def samplers(self) -> list[str]:
        """The samplers that may run, in turn."""
        return list(dict.fromkeys([*([OPENING] if self.opening else []), self.burn_in, self.sampling]))

    def sampler(self, sweep: int, n_burn_in: int) -> str:
        """Name of the sampler of sweep number `sweep` (counted from 0)."""
        if sweep < min(self.opening, n_burn_in):
            return OPENING
        return self.burn_in if sweep < self.quick * n_burn_in else self.sampling


def going_on(plan: Plan) -> Plan:
    """The plan of a chain that goes on from topics that were sampled: no burn-in, which would blur them."""
    return Plan(plan.sampling, plan.sampling, plan.options)


#: The sampler of the first sweeps: from random topics on, each is worth many of the others (benchmarks/burn_in.py).
OPENING = "expected"
OPENING_SWEEPS = 2
#: Topics that it learns, at most; where there are more they begin as parts of these.
OPENING_TOPICS = 256

# Nanoseconds measured on 20 Newsgroups, one core of an AMD EPYC (docs/experiments.md).
NS_PER_GAMMA = 14.0  # one entry of a Dirichlet φ
NS_PER_TOKEN = 65.0  # a dense draw: so much for the token …
NS_PER_TOPIC = 0.28  # … and so much for each topic, as long as all are weighed


def auto(
    corpus: Corpus, n_topics: int, supervised: bool = False, parallel: bool = False, known: bool = False,
    own_alpha: bool = False,
) -> Plan:  # fmt: skip
    """The plan for a corpus and a number of topics; every sampler of it is to be parallel where `parallel` says so.

    Burn-in with delayed counts: parallel, and near in few sweeps; LDA is nearer still after two sweeps with expected
    counts. Many topics learn little in these, at a high cost: they begin in groups that are learned as one, unless
    documents have an α of their own, which groups have not. Then an exact kernel: `partial`, which is parallel, unless
    drawing φ costs more than all else. That is so with many topics for few tokens; there it is `split`. The number of
    threads has no say: the bytes of a fit would then depend on it.

    Where something is `known` of the words of topics, by seeds or an earlier fit, topics do not begin at random, and
    expected counts would only blur them: named topics of the docstrings lost two thirds of their coherence.

    Supervised models whose topics begin without the responses predict worse in the end. So do those whose φ is drawn
    from too few tokens, if only a little (docs/experiments.md): below one for each entry of φ they take `collapsed`.
    """
    n_entries = np.count_nonzero(corpus.word_counts) * n_topics
    if supervised:
        return Plan("delayed", "partial" if parallel or corpus.n_tokens >= n_entries else "collapsed")
    z_cost = corpus.n_tokens * (NS_PER_TOKEN + NS_PER_TOPIC * min(n_topics, SPLIT_ABOVE))
    phi_cost = n_entries * NS_PER_GAMMA
    opening = 0 if known or (own_alpha and n_topics > SPLIT_ABOVE) else OPENING_SWEEPS
    parts = -(-n_topics // OPENING_TOPICS) if opening and not own_alpha else 1
    sampling = "partial" if parallel or phi_cost <= z_cost else "split"
    return Plan("delayed", sampling, opening=opening, parts=parts)


def check_sampler(name: str, supervised: bool = False, options: Mapping[str, Any] | None = None) -> None:
    """Raise an error that lists the choices unless `name` is one; a supervised model needs one that can tilt."""
    known = isinstance(name, str) and (
        name == "auto" or (name in SAMPLERS and (SAMPLERS[name].tilts or not supervised))
    )
    if not known:
        choices = ["auto", *sorted(name for name, kind in SAMPLERS.items() if kind.tilts or not supervised)]
        what = "no sampler for supervised models is called" if supervised else "unknown sampler"
        raise ParameterError("sampler", f"{what} {name!r}; choose one of {', '.join(choices)}")
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise ParameterError("sampler_options", f"must be a dict of the sampler's options or None, not {options!r}")
    if name == "auto":
        raise ParameterError("sampler_options", 'must be None for sampler="auto": name the sampler that they are for')
    SAMPLERS[name].check_options(options)


def check_parallel(plan: Plan, name: str) -> None:
    """Raise unless several processes can each move some of the documents, in any order, with the samplers of a plan."""
    for sampler in plan.samplers:
        if not SAMPLERS[sampler].spreads():
            choices = ", ".join(sorted(other for other, kind in SAMPLERS.items() if kind.spreads()))
            does = (
                "needs all tokens of a word in one process" if SAMPLERS[sampler].by_words
                else "moves one token after another"
            )  # fmt: skip
            raise ParameterError("sampler", f"{name!r} {does}, but an engine needs one of auto, {choices}")


def check_priors(plan: Plan, priors: Priors) -> None:
    """Raise unless the samplers of a plan can be used with these priors."""
    for sampler in plan.samplers:
        if priors.words.kinds is not None and not SAMPLERS[sampler].takes_beta_per_word():
            choices = ", ".join(sorted(other for other, kind in SAMPLERS.items() if kind.takes_beta_per_word()))
            raise ParameterError(
                "sampler",
                f"{sampler!r} uses the same β for all words, but the prior {priors.words.name!r} that topic_word_prior "
                f"asks for has a β for each; samplers that can use it: {choices or 'none yet'}",
            )
        if priors.topics.per_document and not SAMPLERS[sampler].alpha_per_document:
            choices = ", ".join(sorted(other for other, kind in SAMPLERS.items() if kind.alpha_per_document))
            raise ParameterError(
                "sampler",
                f"{sampler!r} uses the same α for all documents, but the prior {priors.topics.name!r} that "
                f"doc_topic_prior asks for has an α for each; samplers that can use it: {choices or 'none yet'}",
            )


def make_plan(
    name: str, corpus: Corpus, n_topics: int, supervised: bool = False, options: Mapping[str, Any] | None = None,
    parallel: bool = False, known: bool = False, own_alpha: bool = False,
) -> Plan:  # fmt: skip
    """The plan that a user means by `sampler=name` and `sampler_options=options`."""
    check_sampler(name, supervised, options)
    return (
        auto(corpus, n_topics, supervised, parallel, known, own_alpha) if name == "auto" else Plan(name, name, options)
    )
