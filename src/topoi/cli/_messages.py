"""The library's error messages in the words of the command line: `--topics` in place of `n_topics`."""

from __future__ import annotations

import re

from topoi.errors import ParameterError, TopoiError

#: Parameters that have an option of another name.
OPTIONS = {
    "n_topics": "--topics",
    "n_sweeps": "--sweeps",
    "n_samples": "--samples",
    "n_chains": "--chains",
    "n_jobs": "--jobs",
    "engine": "--dask",
    "n_words": "--words",
    "doc_topic_prior": "--alpha",
    "topic_word_prior": "--beta",
    "random_state": "--seed",
    "level": "--interval",
    "y": "labels",
    "X": "documents",
    "rows": "--row",
    "covariates": "--covariate",
    "formula": "--prevalence",
    "cv": "--folds",
    "picture": "--picture",
    "groups": "--by",
}
#: Parameters that have an option of the same name.
SAME = (
    "text", "label", "id", "target", "format", "encoding", "delimiter", "quotes", "header", "first_index", "labels",
    "label_separator", "vocabulary_file", "token_pattern", "stop_words", "min_df", "max_df", "max_features",
    "on_error", "tokenized", "lowercase", "burn_in", "sampler", "loss", "cost", "margin", "strategy", "max_seconds",
    "keep_doc_topic", "class_weight", "positive_weight",
    "word_features", "refit", "ngrams", "seeds", "seed_strength", "topic_labels", "topics_per_label", "prevalence",
    "measures", "hold_out", "held_out", "alpha", "beta", "proba", "scores", "interval", "top", "row", "max_memory",
    "by", "period", "date_format", "missing", "weight", "clean", "phrases", "stem", "lemmas",
)  # fmt: skip

# A parameter in the running text: its name has an underscore, and no quotes, in which users' own names stand.
_NAMED = [name for name in (*OPTIONS, *SAME) if "_" in name]
_MENTION = re.compile(rf"(?<!['\"\w-])({'|'.join(_NAMED)})(?!['\"\w])")
_SETTING = re.compile(rf"\b({'|'.join(SAME)})=('[^']*'|\"[^\"]*\"|[^\s.,;:'\"]+)")


def option(parameter: str) -> str:
    """The option that sets a parameter; the parameter itself if there is none."""
    if parameter in OPTIONS:
        return OPTIONS[parameter]
    return f"--{parameter.replace('_', '-')}" if parameter in SAME else parameter


def in_options(error: TopoiError) -> str:
    """The message of an error, with options in place of parameters."""
    message = str(error)
    if isinstance(error, ParameterError) and message.startswith(f"{error.parameter}: "):
        message = f"{option(error.parameter)}: {message[len(error.parameter) + 2 :]}"
    return in_words(message)


def in_words(message: str) -> str:
    """A message with options in place of parameters, and a full stop."""
    message = _MENTION.sub(lambda found: option(found[1]), _SETTING.sub(_as_option, message))
    return message if message.endswith((".", "!", "…")) else f"{message}."


def _as_option(found: re.Match[str]) -> str:
    name, value = option(found[1]), found[2]
    if value in ("True", "False"):
        return name if value == "True" else name.replace("--", "--no-", 1)
    return f"{name} {value}"
