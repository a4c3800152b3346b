"""Word factors: where the probability of a word in a topic comes from.

A new one is a file beside this and a line here; every test then covers it.
"""

from __future__ import annotations

from topoi.chain.factors.base import WordFactor
from topoi.chain.factors.delayed import DelayedFactor
from topoi.chain.factors.dirichlet import DirichletFactor
from topoi.chain.factors.live import LiveFactor
from topoi.chain.factors.urn import UrnFactor

FACTORS: dict[str, type[WordFactor]] = {
    factor.name: factor
    for factor in (
        LiveFactor,
        DelayedFactor,
        DirichletFactor,
        UrnFactor,
    )
}

__all__ = ["FACTORS", "WordFactor"]
