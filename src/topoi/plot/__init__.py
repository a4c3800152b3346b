"""Pictures of fitted estimators, with matplotlib (``pip install matplotlib``).

Every function takes a fitted estimator, or a fitted `Pipeline` of scikit-learn that ends with one, and an optional `ax`
to draw on, and returns the Axes. Without `ax` a new figure of a fitting size is made, apart from pyplot's own:
``ax.figure.savefig("topics.png")`` writes it, and a notebook shows ``ax.figure``. Nothing is ever shown by itself.
Documents that are given with a Pipeline pass through the steps before the last, which also name the words.

Colours are those of Okabe and Ito, and maps that people who see few colours can read.
"""

from __future__ import annotations

from topoi.plot._choice import choice
from topoi.plot._effects import effects
from topoi.plot._embedding import compare_embeddings, embedding
from topoi.plot._groups import by_group, over_time
from topoi.plot._predictions import calibration, confusion
from topoi.plot._topics import topics
from topoi.plot._traces import traces
from topoi.plot._weights import weights

__all__ = [
    "by_group",
    "calibration",
    "choice",
    "compare_embeddings",
    "confusion",
    "effects",
    "embedding",
    "over_time",
    "topics",
    "traces",
    "weights",
]
