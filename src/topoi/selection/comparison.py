"""What came of a choice of the number of topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topoi import plot
from topoi.selection.recommend import criterion_of

#: Columns for people, by their names in the table: heading and format.
SHOWN = {
    "n_topics": ("topics", "{:d}"),
    "score": ("score", "{:.3f}"),
    "score_se": ("± s.e.", "{:.3f}"),
    "perplexity": ("perplexity", "{:,.1f}"),
    "log_likelihood": ("log-likelihood", "{:.3f}"),
    "log_likelihood_se": ("± s.e.", "{:.3f}"),
    "coherence": ("coherence", "{:.3f}"),
    "stability": ("stability", "{:.2f}"),
    "nearest": ("nearest", "{:.2f}"),
    "same": ("same", "{:.0%}"),
}


@dataclass(frozen=True)
class Choice:
    """Several numbers of topics, measured by cross-validation, and the one that is recommended.

    Attributes
    ----------
    table : list of dicts
        A row for each number, in rising order; ``pandas.DataFrame(choice.table)`` makes a data frame of it. `n_topics`;
        `folds`, of how many; `log_likelihood` of held-out words per token by document completion, its standard error
        over the folds `log_likelihood_se`, and `perplexity`, exp(-log_likelihood); `coherence`, the NPMI of the top
        words in held-out documents, and `coherence_se`; `stability`, the mean overlap of topics with their partners
        in the fit of another fold; `nearest`, that of topics with their neighbours in the same fit; `same`, the share
        of the topics that are found again; with labels or numbers also `score` (accuracy or R²) and `score_se`.
        What cannot be measured is nan.
    best : int or None
        The number recommended. None if there was nothing to compare.
    reason : str
        Why, in a sentence.
    remarks : tuple of str
        What the curve looks like, which numbers were left out and why, and warnings, as of the edge of the range.
    left_out : tuple of int
        The numbers whose topics do not hold together, or are not found again: they are not recommended.
    interrupted : bool
        Whether it was stopped by Ctrl-C; the table has what was done by then.
    """

    table: list[dict[str, Any]]
    best: int | None
    reason: str
    remarks: tuple[str, ...] = ()
    left_out: tuple[int, ...] = ()
    interrupted: bool = False

    @property
    def criterion(self) -> str:
        """The column of the table that decides: "log_likelihood", or "score" where there are labels or numbers."""
        return criterion_of(self.table)

    def plot(self, ax: Any = None) -> Any:
        """Likelihood (or score), coherence and stability over the number of topics: `topoi.plot.choice`."""
        return plot.choice(self, ax=ax)

    def lines(self) -> list[list[str]]:
        """The table for people: headings, then a line for each number."""
        there = [name for name in SHOWN if any(name in row for row in self.table)]
        heading = [SHOWN[name][0] for name in there]
        return [heading, *([SHOWN[name][1].format(row[name]) for name in there] for row in self.table)]

    def __str__(self) -> str:
        """The table, the reason and the remarks."""
        lines = self.lines()
        width = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ["  ".join(cell.rjust(n) for cell, n in zip(line, width, strict=True)) for line in lines]
        return "\n".join([*rows, "", self.reason, *self.remarks])
