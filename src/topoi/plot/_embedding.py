"""Documents in the plane, near each other if their topics are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.model import check_whole
from topoi.errors import ParameterError
from topoi.estimators.fitted import check_fitted
from topoi.estimators.pipelines import open_pipeline
from topoi.plot._figure import PALE, SMALL, check_axes, name_width, new_axes, new_figure, short, style

MOST_DOCUMENTS = 3000
MOST_LABELS = 18


def embedding(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_documents: int = MOST_DOCUMENTS,
    perplexity: float = 30.0,
    seed: int = 0,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Documents by t-SNE of their topic shares, coloured by label; returns the Axes.

    Distances are Hellinger's, between the square roots of the shares. Documents without words, which all have the same
    shares, are left out.

    Parameters
    ----------
    X : Corpus, counts or None
        New documents; the training documents by default.
    y : labels (n_documents,) or None
        The 18 most frequent labels have a colour and a marker of their own, the others are grey.
    n_documents : int
        At most so many documents are drawn, evenly spaced: t-SNE takes a while.
    perplexity : float
        Of t-SNE: about how many neighbours count; a third of the documents at most.
    """
    estimator, X = open_pipeline(estimator, X)
    theta = _shares(estimator, X)
    labels = _labels(y, len(theta))
    rows = _spaced(_with_words(estimator, X, len(theta)), n_documents)
    return _draw(_place(theta[rows], perplexity, seed), None if labels is None else labels[rows], legend, ax)


def compare_embeddings(
    supervised: Any,
    unsupervised: Any,
    X: Any,
    y: Any,
    *,
    n_documents: int = MOST_DOCUMENTS,
    perplexity: float = 30.0,
    seed: int = 0,
    titles: tuple[str, str] | None = None,
) -> Any:
    """The same documents by the topics of two estimators, side by side; returns the two Axes of a new figure.

    What supervision does to topics: documents of one label come together.
    """
    figure = new_figure(9.6 + 0.35 + name_width(_legend_names(_labels(y, None))), 4.8)
    left, right = figure.subplots(1, 2)
    kinds = [type(open_pipeline(fitted).estimator).__name__ for fitted in (supervised, unsupervised)]
    common: dict[str, Any] = {"n_documents": n_documents, "perplexity": perplexity, "seed": seed}
    for ax, fitted, title in zip((left, right), (supervised, unsupervised), titles or kinds, strict=True):
        embedding(fitted, X, y, **common, legend=ax is right, ax=ax)
        ax.set_title(title, fontsize=SMALL + 2)
    return np.array([left, right], dtype=object)


def _shares(estimator: Any, X: Any) -> NDArray[np.float64]:
    check_fitted(estimator)
    theta = np.asarray(estimator.doc_topic_ if X is None else estimator.transform(X), np.float64)
    if theta.shape[1] < 2:
        raise ParameterError("estimator", "has one topic, so that all documents are in the same place")
    return theta


def _with_words(estimator: Any, X: Any, n: int) -> NDArray[np.int64]:
    if X is None:
        return np.arange(n)
    return np.flatnonzero(estimator.as_corpus(X).doc_lengths > 0)


def _labels(y: Any, n: int | None) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.ndim != 1 or (n is not None and len(labels) != n):
        raise ParameterError("y", f"has shape {labels.shape}; it must have one label for each of {n} documents")
    return labels


def _spaced(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    check_whole("n_documents", n, 4)
    if len(rows) < 4:
        raise ParameterError("X", f"has {len(rows)} documents with words; a picture of them needs 4")
    n = min(n, len(rows))
    return rows[np.arange(n) * len(rows) // n]


def _place(theta: NDArray[np.float64], perplexity: float, seed: int) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    if not perplexity > 0:
        raise ParameterError("perplexity", f"must be a positive number, not {perplexity!r}")
    usable = min(float(perplexity), (len(theta) - 1) / 3)
    roots = np.sqrt(theta)
    # Random starts differ more from run to run than those from principal components, which need a spread.
    start = "pca" if np.ptp(roots, axis=0).max() > 1e-6 else "random"
    points: NDArray[np.float64] = TSNE(2, perplexity=usable, init=start, random_state=seed).fit_transform(roots)
    return points


def _groups(labels: NDArray[Any]) -> list[Any]:
    """Labels that have a colour of their own, in order."""
    names, sizes = np.unique(labels, return_counts=True)
    return sorted(names[np.argsort(-sizes, kind="stable")[:MOST_LABELS]].tolist())


def _legend_names(labels: NDArray[Any] | None) -> list[str]:
    return [] if labels is None else [f"{short(name, 24)}   " for name in _groups(labels)]


def _draw(points: NDArray[np.float64], labels: NDArray[Any] | None, legend: bool, ax: Any) -> Any:
    if ax is None:
        ax = new_axes(5.4 + 0.35 + name_width(_legend_names(labels)), 5.0)
    check_axes(ax)
    size = float(np.clip(9000 / len(points), 5, 40))
    if labels is None:
        ax.scatter(*points.T, s=size, color=style(0)[0], linewidth=0, alpha=0.7)
    else:
        names = _groups(labels)
        rest = ~np.isin(labels, names)
        if rest.any():
            n_other = len(np.unique(labels[rest]))
            ax.scatter(*points[rest].T, s=size, color=PALE, linewidth=0, label=f"{n_other} others", zorder=1)
        for number, name in enumerate(names):
            colour, marker = style(number)
            own = points[labels == name]
            ax.scatter(*own.T, s=size, color=colour, marker=marker, linewidth=0, alpha=0.85, label=short(name, 24))
        if legend:
            ax.legend(
                fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), handletextpad=0.3,
                markerscale=float(np.sqrt(45 / size)), labelspacing=0.45,
            )  # fmt: skip
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_color(PALE)
    return ax
