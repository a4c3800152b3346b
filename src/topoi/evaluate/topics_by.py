"""Shares of topics by group or period, with intervals, for any fitted model and any column.

The share of topic k in group g is the mean over its documents of x_dk = n_dk / N_d, the part of their tokens that has
the topic (document_shares.py). The interval is about documents like these: it holds the expected share of another
document of the group. It is that of a Beta posterior with Jeffreys' prior, of T·share tokens of one kind among T. A
document counts for 1/φ of them, where φ is the variance of x_dk in units of share·(1 − share), which is at most 1. So φ
has in it how much documents differ and how little is known of short ones. It is that of the group where there are many
documents; where there are few, documents of the other groups have a say too, as if they were DEGREES of its own.
Compared with normal intervals, bounds lie between 0 and 1, and a topic that no document of a small group has is not
taken for impossible. verify/topics_by.py measures the coverage.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import betaincinv
from scipy.stats import norm
from scipy.stats import t as student

from topoi.chain.names import topic_labels
from topoi.errors import ParameterError, warn_user
from topoi.estimators.fitted import check_fitted
from topoi.estimators.marginal import check_level
from topoi.estimators.pipelines import open_pipeline
from topoi.evaluate.document_shares import pieces
from topoi.evaluate.groups import Groups, as_groups
from topoi.evaluate.share_table import TopicsBy

Array = NDArray[np.float64]
DEGREES = 10
WEIGHTS = ("documents", "tokens")
LEAST = 1e-6  # of φ


def topics_by(
    model: Any, groups: Any, documents: Any = None, *, level: float = 0.9, kind: str | None = None,
    period: str | None = "auto", date_format: str | None = None, missing: str = "drop", weight: str = "documents",
    name: str | None = None,
) -> TopicsBy:  # fmt: skip
    """The share of every topic in every group of documents, or over time, each with an interval.

    The model need not have learned from the column. For effects of several columns at once, all else equal, see
    `topic_effects`.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        Any of topoi's, or a Pipeline of scikit-learn that ends with one.
    groups : sequence, array or Series
        A value for each document: dates (datetime64, `datetime`, or texts as 2024-03-05), numbers, texts or booleans.
        Dates are cut into periods. Numbers of more than 100 different values are cut into 10 groups of about equally
        many documents.
    documents : Corpus, counts, texts or None
        What `transform` takes; None: the documents of the fit, in their order.
    level : float, default 0.9
        Probability that an interval has.
    kind : "dates", "numbers", "categories" or None, default None
        What the values are; None tells it from them: texts are dates if at least half of them can be read as one, and
        numbers if all can.
    period : "auto", "day", "week", "month", "quarter", "year" or None, default "auto"
        How dates are cut; "auto" takes the shortest period of which there are at most 48, at least half of them
        with documents. None takes dates as categories.
    date_format : str or None, default None
        How texts are read as dates, as ``"%d/%m/%Y"`` for `datetime.strptime`; None is ISO 8601 and the like.
    missing : "drop" or "group", default "drop"
        Documents with no value (None, NaN, NaT, an empty text) are left out, or are a group of their own. A warning
        says how many there are.
    weight : "documents" or "tokens", default "documents"
        Whether every document counts the same, or in proportion to its length. With tokens, `documents` are needed.
    name : str or None, default None
        What the column is called; None is the name of a Series.

    Returns
    -------
    TopicsBy
        Arrays ``share``, ``low`` and ``high`` (groups, topics) and the names of the groups; `to_frame()` makes a data
        frame of it, `write("shares.csv")` a file.

    Notes
    -----
    Documents without a known word are left out. Intervals take the topics of the model, that is their words, for
    given.
    """
    model, documents = open_pipeline(model, documents)
    estimator = check_fitted(model)
    check_level(level)
    if weight not in WEIGHTS:
        raise ParameterError("weight", f"must be 'documents' or 'tokens', not {weight!r}")
    if weight == "tokens" and documents is None:
        raise ParameterError("weight", "is 'tokens', but lengths of documents of the fit are not kept; give documents")
    found = groups
    if not isinstance(groups, Groups):
        found = as_groups(groups, name=name, kind=kind, period=period, date_format=date_format, missing=missing)
    sums = _gathered(model, documents, found.codes, len(found.names), weight)
    n_empty = int((found.codes >= 0).sum()) - int(sums.n.sum())
    if n_empty:
        which = f"1 document with a value in {found.name!r} has" if n_empty == 1 else (
            f"{n_empty:,} documents with a value in {found.name!r} have"
        )  # fmt: skip
        done = "is left out" if n_empty == 1 else "are left out"
        warn_user(f"{which} no word that the model knows, and {done}.")
    there = np.flatnonzero(sums.n)
    if not len(there):
        raise ParameterError("documents", "none of them has both a value in groups and a word that the model knows")
    sums = Sums(*(part[there] for part in sums))
    share, low, high = share_intervals(sums, level)
    return TopicsBy(
        by=found.name,
        kind=found.kind,
        period=found.period,
        groups=[found.names[g] for g in there],
        positions=[found.positions[g] for g in there],
        runs=[found.runs[g] for g in there],
        n_documents=sums.n.astype(np.int64),
        topics=topic_labels(estimator.topic_models_),
        share=share,
        low=low,
        high=high,
        overall=np.clip(sums.wx.sum(0) / sums.w.sum(), 0.0, 1.0),
        level=level,
        weight=weight,
        n_missing=found.n_missing,
        n_empty=n_empty,
    )


class Sums(NamedTuple):
    """Of every group: number of documents, sums of weights w and w², and (groups, K) of wx, w²x and w²x²."""

    n: Array
    w: Array
    ww: Array
    wx: Array
    wwx: Array
    wwxx: Array


def _gathered(model: Any, documents: Any, codes: NDArray[np.int64], n_groups: int, weight: str) -> Sums:
    sums: Sums | None = None
    for piece in pieces(model, documents, len(codes)):
        inside = codes[piece.rows] >= 0
        own, x = codes[piece.rows][inside], piece.shares[inside]
        w = piece.lengths[inside] if weight == "tokens" else np.ones(len(own))
        if sums is None:
            zeros = [np.zeros(n_groups) for _ in range(3)], [np.zeros((n_groups, x.shape[1])) for _ in range(3)]
            sums = Sums(*zeros[0], *zeros[1])
        for total, weights in zip(sums[:3], (np.ones(len(own)), w, w**2), strict=True):
            total += np.bincount(own, weights, n_groups)
        once, twice = _by_group(own, w, n_groups), _by_group(own, w**2, n_groups)
        for total, part in zip(sums[3:], (once @ x, twice @ x, twice @ x**2), strict=True):
            total += part
    if sums is None:
        raise ParameterError("documents", "none of them has a word that the model knows")
    return sums


def _by_group(codes: NDArray[np.int64], weights: Array, n_groups: int) -> sparse.csr_array:
    """A matrix (groups, documents) that adds up documents with their weights."""
    return sparse.csr_array((weights, (codes, np.arange(len(codes)))), (n_groups, len(codes)))


def share_intervals(sums: Sums, level: float) -> tuple[Array, Array, Array]:
    """Shares, and the bounds of their intervals (groups, K)."""
    n, w = sums.n[:, None], sums.w[:, None]
    share = np.clip(sums.wx / w, 0.0, 1.0)
    effective = w**2 / sums.ww[:, None]  # documents of equal weight that would say as much
    squares = np.maximum(sums.wwxx - 2 * share * sums.wwx + share**2 * sums.ww[:, None], 0.0)
    variance = squares / sums.ww[:, None] * n / np.maximum(n - 1, 1)
    # One document of the largest variance that there can be, so that few do not seem to be all alike.
    overall = np.clip(sums.wx.sum(0) / sums.w.sum(), 0.0, 1.0)
    one = np.maximum(overall * (1 - overall), LEAST)
    pooled = (one + ((n - 1) * variance).sum(0)) / (one + ((n - 1) * share * (1 - share)).sum(0))
    pooled = np.clip(pooled, LEAST, 1.0)
    smooth = (effective * share + 0.5 * pooled) / (effective + pooled)
    unit = smooth * (1 - smooth)
    # Of a topic that few documents have, the others, all near 0, say little about the variance.
    having = np.divide(sums.wx**2, sums.wwxx, out=np.zeros_like(share), where=sums.wwxx > 0)
    own = np.minimum(having, n - 1)
    phi = (DEGREES * pooled * unit + own * variance) / ((DEGREES + own) * unit)
    phi = np.clip(phi, LEAST, 1.0)
    # φ is itself uncertain: as Student's t is wider than the normal.
    degrees = np.minimum(DEGREES + own, max(float(n.sum()) - len(n), 1.0))
    wider = student.ppf(0.5 + level / 2, degrees) / norm.ppf(0.5 + level / 2)
    trials = effective / phi / wider**2
    a, b = trials * share + 0.5, trials * (1 - share) + 0.5
    low, high = (betaincinv(a, b, p) for p in (0.5 - level / 2, 0.5 + level / 2))
    return share, np.minimum(low, share), np.maximum(high, share)
