"""Lemmas by a pipeline of spaCy: "was" becomes "be", "cities" "city", by the sentence in which a word stands.

A model keeps the name and the version of the pipeline, never the pipeline: nothing of spaCy is imported before there
are texts to read. Whoever wrote the file of a model chose the name in it. So a name from a file finds packages that are
installed as pipelines of spaCy, and pipelines that the user has loaded; a folder must be named by the user.
"""

from __future__ import annotations

import os
import re
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from topoi.errors import PackageMissingError, ParameterError, warn_user

#: Components that give no lemmas; the first two would take most of the time.
NOT_NEEDED = ("parser", "ner", "entity_linker", "textcat", "textcat_multilabel", "spancat")
LONGEST = 10**9  # characters of a text: spaCy's limit of a million is for the parser and "ner", which need memory
SIGN = re.compile(r"[\w.-]{1,100} [\w.+-]{1,40}")  # what a pipeline is called in a model: "en_core_web_sm 3.8.0"

_loaded: dict[str, Lemmatizer] = {}  # by name without version: what the user has loaded in this process


class Lemmatizer:
    """What puts the lemma in the place of each word of a text; `sign` is the name and version of the pipeline."""

    def __init__(self, pipeline: Any, called: str) -> None:
        meta = pipeline.meta
        self.sign = f"{meta['lang']}_{meta['name']} {meta['version']}"
        self._pipeline = pipeline
        if not SIGN.fullmatch(self.sign):
            raise ParameterError("lemmas", f"{called} is called {self.sign!r:.100}, which no model can keep; rename it")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the word that is tried
                makes_lemmas = pipeline("Words").has_annotation("LEMMA")
        except ValueError as error:  # tables that a lemmatizer needs, for instance
            raise ParameterError("lemmas", f"spaCy cannot use {called}: {error}") from error
        if not makes_lemmas:
            components = ", ".join(pipeline.pipe_names) or "none"
            raise ParameterError("lemmas", f"{called} makes no lemmas; its components are: {components}")

    @property
    def name(self) -> str:
        """Its name without the version."""
        return self.sign.split(" ")[0]

    def __call__(self, text: str) -> str:
        """The lemmas of a text, with blanks between; a word without a lemma stays as it is."""
        return " ".join(token.lemma_ or token.text for token in self._pipeline(text))


def check_lemmas(asked: Any) -> None:
    """Raise unless it may name a pipeline of spaCy, or be one."""
    if asked is None or (isinstance(asked, str | os.PathLike) and str(asked)):
        return
    if not (callable(asked) and hasattr(asked, "pipe_names") and hasattr(asked, "meta")):
        raise ParameterError(
            "lemmas", f"must name a pipeline of spaCy, as 'en_core_web_sm', or its folder, or be one; not {asked!r:.80}"
        )


def load_lemmas(asked: Any) -> Lemmatizer:
    """The lemmatizer that a user asks for: the name of an installed pipeline, a folder, or a pipeline itself."""
    check_lemmas(asked)
    found = _load(str(asked)) if isinstance(asked, str | os.PathLike) else Lemmatizer(asked, "the pipeline")
    _loaded[found.name] = found
    return found


def find_lemmas(sign: str) -> Lemmatizer:
    """The lemmatizer that a model names; an error that says what it needs if it is not at hand."""
    name, _, version = sign.partition(" ")
    if name not in _loaded:
        if not is_installed(name):
            raise ParameterError(
                "X", f"the words of the model are lemmas by the spaCy pipeline {sign}, which is not installed. Install "
                f"it, with spaCy: pip install 'topoi[lemmas]' && python -m spacy download {name}; or, if it is a "
                "folder that you trust, read the texts with like=model and lemmas='FOLDER'"
            )  # fmt: skip
        _loaded[name] = _load(name)
    found = _loaded[name]
    if found.sign != sign:
        warn_user(
            f"the words of the model are lemmas by the spaCy pipeline {name} {version}, but {found.sign} is here: "
            "some words may get other lemmas."
        )
    return found


def is_installed(name: str) -> bool:
    """Whether a package of this name is installed that says of itself that it is a pipeline of spaCy."""
    return name in entry_points(group="spacy_models").names


def _load(asked: str) -> Lemmatizer:
    try:
        import spacy
    except ImportError as error:
        raise PackageMissingError(
            "lemmas need spaCy, which is not installed: pip install 'topoi[lemmas]', then for instance "
            "python -m spacy download en_core_web_sm"
        ) from error
    if not is_installed(asked) and not Path(asked).is_dir():
        raise ParameterError(
            "lemmas", f"no spaCy pipeline {asked!r} is installed, and no folder has this name. Pipelines are listed at "
            f"https://spacy.io/models, and installed by: python -m spacy download {asked}"
        )  # fmt: skip
    try:
        pipeline = spacy.load(asked if is_installed(asked) else Path(asked), exclude=NOT_NEEDED)
    except (OSError, ValueError, ImportError) as error:
        raise ParameterError("lemmas", f"spaCy cannot load {asked!r}: {error}") from error
    pipeline.max_length = LONGEST
    return Lemmatizer(pipeline, f"the spaCy pipeline {asked!r}")
