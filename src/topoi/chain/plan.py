"""Which sampler runs when: one for the whole run, or a quick one for the burn-in and an exact one after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi.chain.counts.split import SPLIT_ABOVE
from topoi.chain.priors import Priors
from topoi.chain.samplers import SAMPLERS
from topoi.corpus import Corpus
from topoi.errors import ParameterError


@dataclass(frozen=True)
class Plan:
    """`burn_in` runs until the burn-in is over, `sampling` from then on; `options` are for their constructors."""

    burn_in: str
    sampling: str
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in {self.burn_in, self.sampling}:
            SAMPLERS[name].check_options(self.options or {})

    @property
    def parallel(self) -> bool:
        """Whether its samplers can work on parts of a corpus at the same time, in any order."""
        return all(SAMPLERS[name].factor_class.fixed for name in (self.burn_in, self.sampling))

    def sampler(self, sweep: int, n_burn_in: int) -> str:
        """Name of the sampler of sweep number `sweep` (counted from 0)."""
        return self.burn_in if sweep < n_burn_in else self.sampling


# Nanoseconds measured on 20 Newsgroups, one core of an AMD EPYC (docs/performance.md).
NS_PER_GAMMA = 40.0  # one entry of a Dirichlet φ
NS_PER_TOKEN = 65.0  # a dense draw: so much for the token …
NS_PER_TOPIC = 0.28  # … and so much for each topic, as long as all are weighed
# Drawing φ may add this share to a sweep before a sequential kernel is the better buy, threads or not.
WORTH_PARALLEL = 0.5


def auto(corpus: Corpus, n_topics: int, supervised: bool = False) -> Plan:
    """The plan for a corpus and a number of topics.

    Burn-in with delayed counts: parallel, and the quickest per second to a good model. Then an exact kernel: `partial`,
    which is parallel, where the corpus is large enough to pay for drawing φ; else `collapsed`, or `split` for many
    topics. The number of threads has no say: the bytes of a fit would then depend on it.
    """
    z_cost = corpus.n_tokens * (NS_PER_TOKEN + NS_PER_TOPIC * min(n_topics, SPLIT_ABOVE))
    phi_cost = np.count_nonzero(corpus.word_counts) * n_topics * NS_PER_GAMMA
    if phi_cost < WORTH_PARALLEL * z_cost:
        return Plan("delayed", "partial")
    return Plan("delayed", "collapsed" if n_topics <= SPLIT_ABOVE or supervised else "split")


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
    """Raise unless the samplers of a plan can work on parts of a corpus at the same time, in any order."""
    for sampler in (plan.burn_in, plan.sampling):
        if not SAMPLERS[sampler].factor_class.fixed:
            choices = ", ".join(sorted(other for other, kind in SAMPLERS.items() if kind.factor_class.fixed))
            means = (
                f'"auto" means "{sampler}" for a corpus of this size and so many topics, which'
                if name == "auto"
                else f"{name!r}"
            )
            raise ParameterError(
                "sampler", f"{means} moves one token after another, but an engine needs one of {choices}"
            )


def check_priors(plan: Plan, priors: Priors) -> None:
    """Raise unless the samplers of a plan can be used with these priors."""
    if not priors.topics.per_document:
        return
    for sampler in (plan.burn_in, plan.sampling):
        if not SAMPLERS[sampler].alpha_per_document:
            choices = ", ".join(sorted(other for other, kind in SAMPLERS.items() if kind.alpha_per_document))
            raise ParameterError(
                "sampler",
                f"{sampler!r} uses the same α for all documents, but the prior {priors.topics.name!r} that "
                f"doc_topic_prior asks for has an α for each; samplers that can use it: {choices or 'none yet'}",
            )


def make_plan(
    name: str, corpus: Corpus, n_topics: int, supervised: bool = False, options: Mapping[str, Any] | None = None
) -> Plan:
    """The plan that a user means by `sampler=name` and `sampler_options=options`."""
    check_sampler(name, supervised, options)
    return auto(corpus, n_topics, supervised) if name == "auto" else Plan(name, name, options)
