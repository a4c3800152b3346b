"""A model card: what a model was made of, how good it is and what its topics are, as a page of Markdown to pass on.

After Mitchell et al. (2019), "Model cards for model reporting". Words and names are strangers' text: they are escaped,
so that none of them becomes markup or a link.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topoi._disk.whole import write_whole
from topoi._machine.terminal import harmless
from topoi._version import __version__
from topoi.errors import ParameterError
from topoi.estimators.described import describe_topics, most_telling
from topoi.estimators.fitted import check_fitted
from topoi.report.sections.settings import plain, what_was_left_out

N_WORDS = 10
MOST_TOPICS = 1000  # lines of the table; `topoi export` has all
LONGEST = 80  # characters of a word, name or value
LONGEST_SENTENCE = 1000  # characters
#: Settings of a run that say nothing about the model.
OF_THE_RUN = ("callbacks", "engine", "n_jobs", "progress")

USE = """```python
import topoi

model = topoi.load({file})
print(model.top_words(10))
```"""

NO_SCORES = "No scores were given: the model has not been judged on documents that it has not learned from."

LIMITS = (
    "Topics are words that tend to occur in the same documents; they are found by a random search and named by people. "
    "Read some documents of a topic before you rely on its name, and see with several chains (`n_chains=4`, `--chains "
    "4`) which topics are found every time. Shares and predictions hold for documents like those that the model has "
    "learned from."
)


@dataclass(frozen=True)
class ModelCard:
    """A page of Markdown about a model. A notebook shows it as text; `str` and `save` give the Markdown."""

    markdown: str

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return f"ModelCard({len(self.markdown.splitlines())} lines of Markdown)"

    def _repr_markdown_(self) -> str:
        return self.markdown

    def save(self, path: str | Path) -> None:
        """Write the Markdown to a file, whole or not at all."""
        write_whole(path, self.markdown.encode("utf-8", "replace"))


def make_card(
    estimator: Any,
    *,
    title: str | None = None,
    data: Mapping[str, Any] | None = None,
    scores: Mapping[str, Any] | None = None,
    notes: str = "",
    file: str = "model.topoi",
    tasks: Sequence[str] | None = None,
    most_topics: int = MOST_TOPICS,
) -> ModelCard:
    """The card of a fitted estimator.

    `data` and `scores` are what is known of the documents and of how well the model does, by name; `notes` is Markdown
    of the author; `file` is the name of the model file, `tasks` are names of what is predicted; `most_topics` is the
    number of lines of the table of topics.
    """
    check_fitted(estimator)
    for name, given in (("data", data), ("scores", scores)):
        if given is not None and not isinstance(given, Mapping):
            raise ParameterError(name, f"must be a mapping of names to values, or None, not {type(given).__name__}")
    kind = type(estimator).__name__
    rows = describe_topics(estimator, N_WORDS, tasks)
    parts = [
        f"# {inert(title) if title is not None else f'Model card: {kind} with {len(rows):,} topics'}",
        f"Written by topoi {__version__}.",
        *([notes.strip()] if notes.strip() else []),
        "## Data",
        _pairs({**(data or {}), **_sizes(estimator)}),
        *(inert(sentence, LONGEST_SENTENCE) for sentence in what_was_left_out(estimator)),
        "## Settings",
        "Those that are not the default, and how the run went.",
        _pairs(_settings(estimator)),
        "## Scores",
        _pairs(judged) if (judged := _flat(scores or {})) else NO_SCORES,
        "## Topics",
        _topics(rows, estimator.target_.kind, most_topics, estimator.hidden_topics_),
        "## How to use it",
        USE.format(file=json.dumps(file)),
        "## Limits",
        LIMITS,
    ]
    return ModelCard("\n\n".join(parts) + "\n")


def inert(value: Any, longest: int = LONGEST) -> str:
    """A stranger's text as text of Markdown, on one line: nothing in it is markup, HTML or a link."""
    one_line = harmless(" ".join(str(value).encode("utf-8", "replace").decode("utf-8").split()))
    short = one_line if len(one_line) <= longest else one_line[: longest - 1] + "…"
    escaped = re.sub(r"([\\`*\[\]<>|~#!$])", r"\\\1", short.replace("&", "&amp;"))
    # Between letters a low line is a plain character; elsewhere it may begin or end emphasis.
    escaped = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", escaped)
    return re.sub(r"(?i)(www)\.|(:)//", lambda match: f"{match[1]}\\." if match[1] else ":\\//", escaped)


def _pairs(pairs: Mapping[str, Any]) -> str:
    lines = [f"| {inert(name)} | {inert(_number(value))} |" for name, value in pairs.items()]
    return "\n".join(["| | |", "|---|---|", *lines])


def _number(value: Any) -> str:
    """A value as people read it: thousands apart, four digits of what is not whole."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        return f"{float(value):,.4g}" if math.isfinite(value) else "not known"
    return str(value)


def _flat(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores that are one number each, and none that is not known."""
    kept = {str(name): value for name, value in scores.items() if isinstance(value, int | float | np.number)}
    return {name: value for name, value in kept.items() if isinstance(value, int) or math.isfinite(value)}


def _sizes(estimator: Any) -> dict[str, Any]:
    """What the model itself knows of the data."""
    first = estimator.topic_models_[0]
    found: dict[str, Any] = {}
    if (trained := getattr(estimator, "doc_topic_", None)) is not None:
        found["documents learned from"] = len(trained)
    found["tokens learned from"] = round(float(first.topic_counts.sum()))
    found["words of the vocabulary"] = first.n_words
    target = estimator.target_
    if target.kind == "numbers":
        found["predicts"] = "a number" if len(target.names) == 1 else f"{len(target.names)} numbers"
    elif target.kind is not None:
        found["predicts"] = f"{'one' if target.kind == 'one' else 'any'} of {len(target.names):,} labels"
    return found


def _settings(estimator: Any) -> dict[str, Any]:
    """Parameters that differ from the default, and what the run made of all of them."""
    defaults = {name: given.default for name, given in inspect.signature(type(estimator).__init__).parameters.items()}
    changed = {
        name: plain(value)
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in OF_THE_RUN and plain(value) != plain(defaults.get(name))
    }
    one = estimator.estimators_[0]
    models, chains = estimator.topic_models_, getattr(one, "chains_", [])
    run: dict[str, Any] = {"sweeps": estimator.n_sweeps_, "of them burn-in": estimator.burn_in_}
    run |= {"samples of each chain": models[0].n_samples, "chains": max(len(chains), 1), "seed": plain(int(one.seed_))}
    if estimator.stopped_ != "finished":
        run["ended because of"] = estimator.stopped_
    if math.isfinite(estimator.rhat_):
        run["R-hat of the log joint"] = float(estimator.rhat_)
    return changed | run


def _topics(rows: list[dict[str, Any]], kind: str | None, most: int, hidden: Sequence[int]) -> str:
    """The topics, the largest first, as a table."""
    order = sorted(rows, key=lambda row: -row["share"])
    chains = "found_in" in rows[0]
    heads = ["topic", "share", *(["found in"] if chains else []), "most telling words"]
    if "weights" in rows[0]:
        heads.append("raises or lowers" if kind == "numbers" else "speaks for, against")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in order[:most]:
        cells = [f"{inert(row['name'])}{' (hidden)' if row['topic'] in hidden else ''}", f"{row['share']:.1%}"]
        cells += [f"{row['found_in']} of {row['n_chains']}"] if chains else []
        cells.append(", ".join(inert(word["word"]) for word in row["words"]))
        if "weights" in row:
            cells.append(", ".join(f"{inert(name)} {value:+.1f}" for name, value in most_telling(row["weights"])))
        lines.append(f"| {' | '.join(cells)} |")
    if len(order) > most:
        lines.append(f"\n… and {len(order) - most:,} smaller ones.")
    return "\n".join(lines)
