"""topoi: topic models that are fast, supervised and provably right."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from topoi._version import __version__

if TYPE_CHECKING:
    from topoi._disk.remote import Location
    from topoi.chain.checkpoint import Checkpoints
    from topoi.chain.model import TopicModel
    from topoi.corpus import Corpus
    from topoi.errors import CorpusError, FileError, ParameterError, TopoiError
    from topoi.estimators.base import InterruptedFitWarning
    from topoi.estimators.classifier import MedLDAClassifier
    from topoi.estimators.lda import LDA
    from topoi.estimators.regressor import MedLDARegressor
    from topoi.estimators.unpredicted import NeverPredictedWarning
    from topoi.evaluate.topics_by import topics_by
    from topoi.selection import choose

# Where each public name lives. Nothing is imported before it is asked for: `import topoi` loads neither numba nor
# scikit-learn.
_HOME = {
    "LDA": "topoi.estimators.lda",
    "InterruptedFitWarning": "topoi.estimators.base",
    "MedLDAClassifier": "topoi.estimators.classifier",
    "NeverPredictedWarning": "topoi.estimators.unpredicted",
    "MedLDARegressor": "topoi.estimators.regressor",
    "Checkpoints": "topoi.chain.checkpoint",
    "Corpus": "topoi.corpus.corpus",
    "TopicModel": "topoi.chain.model",
    "choose": "topoi.selection",
    "topics_by": "topoi.evaluate.topics_by",
    "TopoiError": "topoi.errors",
    "CorpusError": "topoi.errors",
    "FileError": "topoi.errors",
    "ParameterError": "topoi.errors",
}

__all__ = [
    "LDA",
    "Checkpoints",
    "Corpus",
    "CorpusError",
    "FileError",
    "InterruptedFitWarning",
    "MedLDAClassifier",
    "MedLDARegressor",
    "NeverPredictedWarning",
    "ParameterError",
    "TopicModel",
    "TopoiError",
    "__version__",
    "choose",
    "load",
    "losses_table",
    "samplers_table",
    "topics_by",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'topoi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load(path: str | Location, trusted: bool = False) -> Any:
    """Read a fitted estimator, of whichever class, that its `save` wrote. Nothing in the file is run.

    The path may be a URL, as "s3://bucket/model.topoi".
    Numbers in it that would take hours or all memory (10,001 sweeps over a new document) are refused unless `trusted`.
    """
    from topoi.estimators.saved import Savable

    return Savable.load(path, trusted)


def samplers_table() -> list[dict[str, Any]]:
    """What every sampler is: its name, whether it is exact and parallel, its cost per token and its reference."""
    from topoi.chain.samplers import SAMPLERS

    def facts(sampler: Any, *names: str) -> dict[str, Any]:
        return {name: getattr(sampler, name) for name in names}

    return [
        facts(s, "name", "exact") | {"parallel": s.factor_class.fixed} | facts(s, "cost", "bias", "reference")
        for s in SAMPLERS.values()
    ]


def losses_table() -> list[dict[str, Any]]:
    """What every loss of a supervised model is: its name, what it predicts, its formula, and the settings it has."""
    from topoi.chain.responses import RESPONSES

    facts = ("name", "predicts", "loss_formula")
    return [{fact: getattr(r, fact) for fact in facts} | {"settings": r.setting_names()} for r in RESPONSES.values()]
