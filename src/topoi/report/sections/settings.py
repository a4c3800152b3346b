"""With what the model was made: settings, versions, sizes, and what was left out of its texts."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from topoi._version import __version__
from topoi.report.subject import Subject

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
LONGEST = 120  # characters of a value


def data(subject: Subject) -> dict[str, Any]:
    """Settings, versions and sizes, as pairs of texts; and sentences about what was left out, none for counts."""
    parameters = subject.estimator.get_params(deep=False)
    return {
        "parameters": [[name, plain(value)] for name, value in sorted(parameters.items())],
        "versions": _versions(),
        "sizes": _sizes(subject),
        "left_out": what_was_left_out(subject.estimator),
    }


def what_was_left_out(estimator: Any) -> list[str]:
    """Sentences about the texts that a model learned from, as `topoi fit` prints them; none where it had counts."""
    made = estimator.preparation_
    return [] if made is None else made.sentences()


def _versions() -> list[list[str]]:
    found = [["topoi", __version__], ["Python", platform.python_version()]]
    for name in PACKAGES:
        try:
            found.append([name, version(name)])
        except PackageNotFoundError:  # installed without its metadata
            found.append([name, "not known"])
    return found


def _sizes(subject: Subject) -> list[list[str]]:
    models, corpus = subject.models, subject.corpus
    first = models[0]
    sizes = []
    if len(models) > 1:
        sizes += [["models", f"{len(models):,}"], ["topics of each", f"{first.n_topics:,}"]]
    else:
        sizes += [["topics", f"{first.n_topics:,}"]]
        if (number := getattr(subject.estimator, "n_topics_posterior_", None)) is not None:
            sizes.append(["topics on average over the sweeps", str(number)])
        if (trained := getattr(subject.estimator, "doc_topic_", None)) is not None:
            sizes.append(["documents learned from", f"{len(trained):,}"])
        sizes.append(["tokens learned from", f"{round(float(first.topic_counts.sum())):,}"])
    sizes.append(["words of the vocabulary", f"{first.n_words:,}"])
    if corpus is not None:
        sizes += [
            ["documents given to the report", f"{corpus.n_documents:,}"],
            ["of which shown", f"{len(subject.rows):,}"],
            ["tokens of these documents", f"{corpus.n_tokens:,}"],
        ]
    return sizes


def plain(value: Any) -> str:
    """A setting as text that is the same at every run: no addresses of objects, no long arrays."""
    if value is None or isinstance(value, bool | int | float | str | np.number):
        text = str(value.item() if isinstance(value, np.number) else value) if value != "" else "''"
    elif isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=8, edgeitems=3, precision=4, separator=", ")
        text = " ".join(text.split()).replace("[ ", "[")
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{plain(key)}: {plain(entry)}" for key, entry in value.items()) + "}"
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(map(plain, value)) + "]"
    elif callable(value) and hasattr(value, "__qualname__"):
        text = f"{value.__module__}.{value.__qualname__}"
    else:
        text = type(value).__qualname__
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
