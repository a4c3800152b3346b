"""Which number of topics to take, by a rule that can be told in two sentences.

1. Numbers whose topics fall apart are left out: those whose coherence is below 0 by more than a standard error, so that
   the top words of a topic are together in held-out documents less often than by chance (unless no number has a
   coherence above 0); and those whose topics are no more like their partners, found without other documents, than like
   their neighbours in the same model.
2. Of the others, the smallest is taken that is within one standard error of the best: of the held-out log-likelihood,
   or of the score of predictions where there is one (Breiman, Friedman, Olshen & Stone 1984, §3.4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Recommendation:
    """A number of topics and the reason for it, in a sentence; None if nothing can be said.

    `remarks` are what else to know, `left_out` the numbers whose topics fall apart.
    """

    best: int | None
    reason: str
    remarks: tuple[str, ...] = ()
    left_out: tuple[int, ...] = ()


def criterion_of(table: Sequence[Row]) -> str:
    """The column that decides: the score of predictions, if there is one."""
    return "score" if any(not math.isnan(row.get("score", math.nan)) for row in table) else "log_likelihood"


def recommend(table: Sequence[Row], score_name: str = "score") -> Recommendation:
    """The number of topics to take, given a row for each, with the columns of `Choice.table`.

    `score_name` is what the score of predictions is called in sentences.
    """
    criterion = criterion_of(table)
    known = sorted((row for row in table if not math.isnan(row[criterion])), key=lambda row: row["n_topics"])
    name = f"held-out {score_name if criterion == 'score' else 'log-likelihood per token'}"
    if not known:
        return Recommendation(None, f"No number can be recommended: the {name} is not a number for any of them.")
    fallen = {row["n_topics"]: why for row in known if (why := _falls_apart(row, known))}
    sound = [row for row in known if row["n_topics"] not in fallen] or known
    top = max(sound, key=lambda row: row[criterion])
    chosen = next(row for row in sound if row[criterion] >= top[criterion] - _error(top, criterion))
    has_smaller = chosen is not sound[0]
    remarks = [_shape(known, criterion, name), *_left_out(fallen, len(known)), *_edge(chosen, known)]
    if math.isnan(top[f"{criterion}_se"]):
        remarks.append("With one fold there is no standard error: the best was taken. More folds say more.")
    left_out = tuple(fallen) if len(fallen) < len(known) else ()
    reason = _reason(chosen, top, criterion, name, has_smaller, bool(left_out))
    return Recommendation(chosen["n_topics"], reason, tuple(remarks), left_out)


def _error(row: Row, criterion: str) -> float:
    error = float(row[f"{criterion}_se"])
    return 0.0 if math.isnan(error) else error


def _falls_apart(row: Row, known: Sequence[Row]) -> str:
    """Why the topics of a number cannot be trusted; "" if they can."""
    highest = max((other["coherence"] for other in known if not math.isnan(other["coherence"])), default=math.nan)
    if row["coherence"] + _error(row, "coherence") < 0 <= highest:
        return "their top words are together less often than by chance"
    if row["stability"] <= row["nearest"]:
        return "other documents give topics no more like them than their neighbours are"
    return ""


def _reason(chosen: Row, top: Row, criterion: str, name: str, has_smaller: bool, some_left_out: bool) -> str:
    value, error = f"{top[criterion]:.3f}", f"{_error(top, criterion):.3f}"
    left = " of the numbers that are left" if some_left_out else ""
    if chosen is top:
        compared = has_smaller and _error(top, criterion)
        smaller = f", and no smaller number is within one standard error ({error}) of it" if compared else ""
        return f"{chosen['n_topics']} topics: they have the best {name}{left} ({value}){smaller}."
    own = f"{chosen['n_topics']} topics: the smallest number whose {name} ({chosen[criterion]:.3f})"
    return f"{own} is within one standard error ({error}) of the best{left} ({value}, {top['n_topics']} topics)."


def _shape(known: Sequence[Row], criterion: str, name: str) -> str:
    """What the curve looks like."""
    if len(known) == 1:
        return "Only one number was tried: there is nothing to compare it with."
    top = max(range(len(known)), key=lambda i: known[i][criterion])
    error = _error(known[top], criterion)
    drop = [known[top][criterion] - known[i][criterion] for i in (0, -1)]
    rises, falls = top > 0 and drop[0] > error, top < len(known) - 1 and drop[1] > error
    best = known[top]["n_topics"]
    if rises and falls:
        return f"The {name} rises up to {best} topics and falls after them."
    if rises:
        at_end = top == len(known) - 1
        how = "is still rising at" if at_end else f"rises up to {best} topics, and then stays level up to"
        return f"The {name} {how} {known[-1]['n_topics']} topics."
    if falls:
        return f"The {name} falls from {best} topics on."
    return f"The {name} is level: over the whole range it differs by no more than a standard error."


def _left_out(fallen: dict[int, str], n_known: int) -> list[str]:
    if not fallen:
        return []
    if len(fallen) == n_known:
        return ["No number was left out, though the topics of all are weak: see coherence and stability."]
    by_reason: dict[str, list[str]] = {}
    for number, why in fallen.items():
        by_reason.setdefault(why, []).append(str(number))
    return [f"Left out: {', '.join(numbers)} topics; {why}." for why, numbers in by_reason.items()]


def _edge(chosen: Row, known: Sequence[Row]) -> list[str]:
    """A warning if the number recommended is the last of those tried, on either side."""
    number = chosen["n_topics"]
    if len(known) == 1:
        return []
    if chosen is known[-1]:
        return [f"Warning: {number} is the largest number tried; a larger one may be better still."]
    if chosen is known[0] and number > 1:
        return [f"Warning: {number} is the smallest number tried; a smaller one may be as good."]
    return []
