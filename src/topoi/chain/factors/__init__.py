"""Word factors: where the probability of a word in a topic comes from.

A new one is a file beside this and a line here; every test then covers it.
"""

from __future__ import annotations

from topoi._registry import Registry
from topoi.chain.factors.base import WordFactor

FACTORS: Registry[type[WordFactor]] = Registry(
    __name__,
    {
        "live": "live:LiveFactor",
        "delayed": "delayed:DelayedFactor",
        "dirichlet": "dirichlet:DirichletFactor",
        "urn": "urn:UrnFactor",
        "expected": "expected:ExpectedFactor",
    },
)

__all__ = ["FACTORS", "WordFactor"]
