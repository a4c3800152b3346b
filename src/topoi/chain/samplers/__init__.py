"""All samplers, by name. A new one is a file beside this and a line here; every test then covers it.

A word factor in a table that none of them has gets a sampler of its own name, so that a new factor is only a file and a
line in `topoi.chain.factors`.
"""

from __future__ import annotations

from topoi._registry import Registry
from topoi.chain.factors import FACTORS
from topoi.chain.samplers.base import Sampler

LINES = {
    "collapsed": "collapsed:Collapsed",
    "sparse": "sparse:Sparse",
    "split": "split:Split",
    "fast": "fast:Fast",
    "fast_333": "fast:FastCubic",
    "alias": "alias:Alias",
    "light": "light:Light",
    "light_published": "light_published:LightPublished",
    "light_med": "light_med:LightMed",
    "light_med_published": "light_med_published:LightMedPublished",
    "partial": "partial:Partial",
    "polya_urn": "polya_urn:PolyaUrn",
    "urn_mh": "urn_mh:UrnMH",
    "delayed": "delayed:Delayed",
    "ad_lda": "ad_lda:AdLDA",
    "ad_fast": "ad_fast:AdFast",
    "expected": "expected:Expected",
    "warp": "warp:Warp",
}


def _of_other_factors() -> dict[str, type[Sampler]]:
    """Samplers of the factors that no line has."""
    from topoi.chain.factors._table import TableFactor
    from topoi.chain.samplers.partial import sampler_with

    drawn_from = {SAMPLERS[name].factor_class for name in LINES}
    return {
        name: sampler_with(factor)
        for name, factor in FACTORS.items()
        if issubclass(factor, TableFactor) and factor not in drawn_from
    }


SAMPLERS: Registry[type[Sampler]] = Registry(__name__, LINES, _of_other_factors)

__all__ = ["SAMPLERS", "Sampler"]
