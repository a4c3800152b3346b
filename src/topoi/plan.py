"""Which sampler runs when: one for the whole run, or a quick one for the burn-in and an exact one after it."""

from __future__ import annotations

from dataclasses import dataclass

from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.samplers import SAMPLERS, find_sampler


@dataclass(frozen=True)
class Plan:
    """`burn_in` runs for the first `share` of the burn-in sweeps, `sampling` from then on."""

    burn_in: str
    sampling: str
    share: float = 1.0

    def sampler(self, sweep: int, n_burn_in: int) -> str:
        """Name of the sampler of sweep number `sweep` (counted from 0)."""
        return self.burn_in if sweep < self.share * n_burn_in else self.sampling


def auto(corpus: Corpus | None, n_topics: int) -> Plan:
    """The plan for a corpus and a number of topics, by the rules measured in docs/performance.md.

    It does not look at the number of threads: the bytes of a fit would then depend on them.
    """
    return Plan("delayed", "partial")


def make_plan(name: str, corpus: Corpus | None, n_topics: int) -> Plan:
    """The plan that a user means by `sampler=name`."""
    if not isinstance(name, str) or name not in {"auto", *SAMPLERS}:
        choices = ", ".join(["auto", *sorted(SAMPLERS)])
        raise ParameterError("sampler", f"unknown sampler {name!r}; choose one of {choices}")
    if name == "auto":
        return auto(corpus, n_topics)
    find_sampler(name)
    return Plan(name, name)
