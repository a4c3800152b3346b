"""Topics for the page: share of tokens, and the words that any setting of the slider may show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.counts.by_rows import row_blocks, word_totals
from topoi.chain.factors.base import beta_of, probabilities
from topoi.chain.model import TopicModel
from topoi.report.words import WordTable

N_SHOWN = 30  # words of a topic on the page
N_STEPS = 20  # of the slider, from λ = 0 to 1
N_TELLING = 12  # words that a topic is shown by where there is no slider


def relevance(phi: NDArray[np.float64], p: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
    """λ ln φ + (1 − λ) ln(φ/p) (Sievert & Shirley 2014), of words with φ in the topic and p in all of them."""
    out: NDArray[np.float64] = np.log(phi) - (1.0 - lam) * np.log(p)
    return out


def shown_topics(models: list[TopicModel], words: WordTable) -> list[dict[str, Any]]:
    """All topics, those of several models side by side.

    Of each, `name` is its own, "" if it has none; `words` are the union of the `N_SHOWN` most relevant at every step of
    the slider, so that what is shown is what the whole vocabulary would show; `telling` are the places there of the
    words that `top_words` has, in its order; `counts` are their tokens in the topic,
    summed over the samples, and `overall` their tokens in all topics of the model; `betas` their β where words
    have their own. `share` is of its model.
    """
    out: list[dict[str, Any]] = []
    for number, model in enumerate(models):
        overall = word_totals(model.counts) / model.n_samples
        n_k, scale = model.topic_counts, model.scale
        n_all = max(float(n_k.sum()), 1.0)
        telling = model.top_columns(N_TELLING)
        for k, (found, counts) in enumerate(_candidates(model, overall, scale)):
            phi = _phi(model, counts, found, scale[k])
            kept = most_relevant(phi, overall[found] / n_all)
            place = {w: j for j, w in enumerate(found[kept].tolist())}
            out.append(
                {
                    "model": number,
                    "name": model.topic_names[k] if model.topic_names else "",
                    "share": n_k[k] / n_all,
                    "tokens": n_k[k],
                    "words": [words.add(model, w) for w in found[kept].tolist()],
                    "telling": [place[w] for w in telling[k] if w in place],
                    "counts": counts[kept].tolist(),
                    "overall": overall[found[kept]].tolist(),
                }
                | ({"betas": model.beta[found[kept]].tolist()} if isinstance(model.beta, np.ndarray) else {})
            )
    return out


def _phi(model: TopicModel, counts: NDArray[Any], words: NDArray[Any], scale: float) -> NDArray[np.float64]:
    """Probabilities of some words in a topic."""
    return probabilities(counts / model.n_samples, beta_of(model.beta, words), scale)


def _candidates(
    model: TopicModel, overall: NDArray[np.float64], scale: NDArray[np.float64]
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Words of each topic, and their counts: all, or of a large model those that are among the most relevant of a part.

    A word that is among the most relevant of all is so among those of a part, whatever part it is in.
    """
    n_all = max(float(model.topic_counts.sum()), 1.0)
    found: list[list[tuple[NDArray[Any], NDArray[Any]]]] = [[] for _ in range(model.n_topics)]
    for first, block in row_blocks(model.counts):
        by_topic = block.tocsc()
        by_topic.sort_indices()
        for k in np.flatnonzero(np.diff(by_topic.indptr)).tolist():
            part = slice(by_topic.indptr[k], by_topic.indptr[k + 1])
            words, counts = by_topic.indices[part] + first, by_topic.data[part]
            if block is not model.counts:
                kept = np.sort(most_relevant(_phi(model, counts, words, scale[k]), overall[words] / n_all))
                words, counts = words[kept], counts[kept]
            found[k].append((words, counts))
    none = (np.zeros(0, np.int64), np.zeros(0, model.counts.dtype))
    return [
        (np.concatenate([words for words, _ in parts]), np.concatenate([counts for _, counts in parts]))
        for parts in ([none, *parts] for parts in found)
    ]


def most_relevant(phi: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Places of all words that are among the `N_SHOWN` most relevant at some step of the slider, by falling φ."""
    if len(phi) <= N_SHOWN:
        kept = np.arange(len(phi))
    else:
        each = np.stack([relevance(phi, p, step / N_STEPS) for step in range(N_STEPS + 1)])
        kept = np.unique(np.argpartition(-each, N_SHOWN - 1, axis=1)[:, :N_SHOWN])
    order: NDArray[np.int64] = kept[np.argsort(-phi[kept], kind="stable")]
    return order
