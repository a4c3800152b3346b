"""All samplers, by name. A new one is a file beside this and a line here; every test then covers it."""

from __future__ import annotations

from topoi.samplers.alias import Alias
from topoi.samplers.base import Sampler
from topoi.samplers.collapsed import Collapsed
from topoi.samplers.delayed import Delayed
from topoi.samplers.fast import Fast, FastCubic
from topoi.samplers.light import Light
from topoi.samplers.light_med import LightMed
from topoi.samplers.light_med_published import LightMedPublished
from topoi.samplers.light_published import LightPublished
from topoi.samplers.partial import Partial
from topoi.samplers.polya_urn import PolyaUrn
from topoi.samplers.sparse import Sparse
from topoi.samplers.split import Split

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
