"""Whether a verdict follows from the seeds: the judge is asked again about means that the seeds leave possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reproduce.harness import Verdict
from reproduce.table import Line, Row, Table

DRAWS = 400
SURE = 0.975  # share of the draws that must give the same verdict: those above the lower end of a 95 % interval
FAR = 10.0  # e^FAR-fold is as far as a positive mean is moved: one seed more than none says little of the spread


def decide(judge: Callable[[Table], Verdict], rows_of_seeds: Sequence[Sequence[Row]], keys: Sequence[str]) -> Verdict:
    """The judge's verdict on the mean over seeds, or "not decided" where the seeds allow another as well.

    The means of all numbers are drawn DRAWS times from a t distribution about the mean of the seeds, with their
    covariance: a judge that compares one number with a limit is then sure exactly where the 95 % t interval lies on
    one side of it. One seed decides nothing.
    """
    table = Table.average(rows_of_seeds, keys)
    verdict = judge(table)
    n = len(rows_of_seeds)
    if n < 2:
        return Verdict(
            "not decided", f"One seed decides nothing; its numbers would say {verdict.holds!r}. {verdict.text}"
        )
    found: Counter[str] = Counter()
    for drawn in possible_means(rows_of_seeds, keys):
        try:
            found[judge(drawn).holds] += 1
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):  # of numbers that far away
            found["no verdict"] += 1
    share = found[verdict.holds] / DRAWS
    if share >= SURE:
        return verdict
    others = ", ".join(
        f"{holds!r} {count / DRAWS:.0%}" for holds, count in found.most_common() if holds != verdict.holds
    )
    return Verdict(
        "not decided",
        f"The means of the {n} seeds would say {verdict.holds!r}, but so do only {share:.0%} of the means that the "
        f"seeds leave possible ({others}). {verdict.text}",
    )


def possible_means(rows_of_seeds: Sequence[Sequence[Row]], keys: Sequence[str]) -> Iterator[Table]:
    """Tables of means, from the multivariate t distribution about the mean of the seeds; positive numbers by logs."""
    table = Table.average(rows_of_seeds, keys)
    singles = [Table.average([rows], keys) for rows in rows_of_seeds]
    by_keys = [{tuple(line.keys.values()): line.mean for line in single.lines} for single in singles]
    values = {  # of the numbers that differ between seeds, one for each seed
        (i, name): np.array([one[identity][name] for one in by_keys if name in one.get(identity, {})])
        for i, line in enumerate(table.lines)
        for identity in [tuple(line.keys.values())]
        for name in line.mean
    }
    n = len(rows_of_seeds)
    offsets = {place: _offsets(found) for place, found in values.items() if len(found) == n and np.ptp(found) > 0}
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        weights = rng.normal(size=n) / np.sqrt(n * (n - 1)) / np.sqrt(rng.chisquare(n - 1) / (n - 1))
        lines = []
        for i, line in enumerate(table.lines):
            mean = {name: _moved(value, offsets.get((i, name)), weights) for name, value in line.mean.items()}
            lines.append(Line(line.keys, mean, line.sd, line.n_seeds))
        yield Table(tuple(lines))


def _offsets(found: NDArray[np.float64]) -> tuple[bool, NDArray[np.float64]]:
    """How far the seeds are from their mean, and whether in logarithms."""
    positive = bool((found > 0).all())
    levels = np.log(found) if positive else found
    return positive, levels - levels.mean()


def _moved(
    mean: float, offsets: tuple[bool, NDArray[np.float64]] | None, weights: NDArray[np.float64]
) -> float:  # fmt: skip
    if offsets is None:
        return mean
    positive, off = offsets
    by = float(weights @ off)
    return mean * float(np.exp(np.clip(by, -FAR, FAR))) if positive else mean + by
