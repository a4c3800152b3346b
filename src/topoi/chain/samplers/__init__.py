"""All samplers, by name. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from topoi.chain.samplers.alias import Alias
from topoi.chain.samplers.base import Sampler
from topoi.chain.samplers.collapsed import Collapsed
from topoi.chain.samplers.delayed import Delayed
from topoi.chain.samplers.fast import Fast, FastCubic
from topoi.chain.samplers.light import Light
from topoi.chain.samplers.light_med import LightMed
from topoi.chain.samplers.light_med_published import LightMedPublished
from topoi.chain.samplers.light_published import LightPublished
from topoi.chain.samplers.partial import Partial
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

__all__ = ["SAMPLERS", "Sampler"]
