"""All samplers, by name. A new one is a file beside this and a line here; every test then covers it.

A word factor in a table that none of them has gets a sampler of its own name, so that a new factor is only a file and a
line in `topoi.chain.factors`.
"""

from __future__ import annotations

from topoi.chain.factors import FACTORS
from topoi.chain.factors._table import TableFactor
from topoi.chain.samplers.alias import Alias
from topoi.chain.samplers.base import Sampler
from topoi.chain.samplers.collapsed import Collapsed
from topoi.chain.samplers.delayed import Delayed
from topoi.chain.samplers.fast import Fast, FastCubic
from topoi.chain.samplers.light import Light
from topoi.chain.samplers.light_med import LightMed
from topoi.chain.samplers.light_med_published import LightMedPublished
from topoi.chain.samplers.light_published import LightPublished
from topoi.chain.samplers.partial import Partial, sampler_with
from topoi.chain.samplers.polya_urn import PolyaUrn
from topoi.chain.samplers.sparse import Sparse
from topoi.chain.samplers.split import Split

SAMPLERS: dict[str, type[Sampler]] = {
    sampler.name: sampler
    for sampler in (
        Collapsed,
        Sparse,
        Split,
        Fast,
        FastCubic,
        Alias,
        Light,
        LightPublished,
        LightMed,
        LightMedPublished,
        Partial,
        PolyaUrn,
        Delayed,
    )
}
_drawn_from = {sampler.factor_class for sampler in SAMPLERS.values()}
SAMPLERS |= {
    name: sampler_with(factor)
    for name, factor in FACTORS.items()
    if issubclass(factor, TableFactor) and factor not in _drawn_from
}

__all__ = ["SAMPLERS", "Sampler"]
