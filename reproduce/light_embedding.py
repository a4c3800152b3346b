"""Documents in the plane by their topics, learned with and without labels: t-SNE, and how often neighbours agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier

from reproduce.drawing import panels
from reproduce.harness import Figure, Scale, Verdict
from reproduce.lessons import NEWSGROUP_WORDS, WEIGHED, newsgroups
from reproduce.medlda import LIGHT, fit
from reproduce.table import Row, Table
from topoi import LDA

N_TOPICS, SWEEPS, ALPHA_SUM = 100, 50, 6.4
DATA: dict[Scale, tuple[int, ...]] = {"quick": (6, 80, 60), "fits": (20, 100, 100), "full": ()}
MOST = 1_000  # documents in the picture
NEIGHBOURS = 10
UNSUPERVISED = "LDA"


def measure(scale: Scale, seed: int) -> list[Row]:
    """Agreement of neighbours for both models, on training and on test documents; the first seed has the points too."""
    data = newsgroups(*DATA[scale])
    prior = {"doc_topic_prior": ALPHA_SUM / N_TOPICS}
    supervised = fit(LIGHT, data, N_TOPICS, SWEEPS, seed, by_gibbs=False, cost=1.6, margin=64.0, **prior).model
    plain = LDA(
        N_TOPICS, sampler="collapsed", topic_word_prior=0.01, n_sweeps=SWEEPS, random_state=seed, n_jobs=1, **prior
    ).fit(data.X)
    rows: list[Row] = []
    for method, model in ((LIGHT, supervised), (UNSUPERVISED, plain)):
        for part, shares, y in (
            ("training", model.doc_topic_, data.y),
            ("test", model.transform(data.X_test), data.y_test),
        ):
            rows.append({"method": method, "part": part, "document": -1, "agreement": agreement(shares, y)})
            if seed == 0:
                rows += points(shares, y, method, part)
    return rows


def agreement(shares: NDArray[Any], y: NDArray[Any]) -> float:
    """Share of the documents whose nearest ones, themselves left out, mostly have their label; Hellinger distance."""
    roots = np.sqrt(shares)
    near = KNeighborsClassifier(NEIGHBOURS).fit(roots, y).kneighbors(return_distance=False)
    votes = [np.bincount(y[nearest]).argmax() for nearest in near]
    return float(np.mean(votes == y))


def points(shares: NDArray[Any], y: NDArray[Any], method: str, part: str) -> list[Row]:
    """Where t-SNE puts the documents, at most MOST of them, evenly spaced."""
    rows = np.arange(min(MOST, len(y))) * len(y) // min(MOST, len(y))
    places = TSNE(2, random_state=0).fit_transform(np.sqrt(shares[rows]))
    return [
        {
            "method": method,
            "part": part,
            "document": int(d),
            "x": round(float(x), 2),
            "y": round(float(at), 2),
            "label": int(y[d]),
        }
        for d, (x, at) in zip(rows, places, strict=True)
    ]


def judge(table: Table) -> Verdict:
    """Neighbours agree more often with supervised topics."""
    found = {
        (method, part): table.mean("agreement", method=method, part=part, document=-1)
        for method in (LIGHT, UNSUPERVISED)
        for part in ("training", "test")
    }
    train, test = (found[LIGHT, part] - found[UNSUPERVISED, part] for part in ("training", "test"))
    holds = "yes" if min(train, test) > 0.02 else "in part" if max(train, test) > 0.02 else "no"
    return Verdict(
        holds,
        f"The {NEIGHBOURS} nearest documents mostly have a document's own label for {found[LIGHT, 'training']:.0%} of "
        f"the training documents with LightMedLDA and {found[UNSUPERVISED, 'training']:.0%} with LDA; for "
        f"{found[LIGHT, 'test']:.0%} and {found[UNSUPERVISED, 'test']:.0%} of the test documents, whose labels no "
        "model has seen.",
    )


def draw(table: Table, figure: Any) -> None:
    """Training and test documents by the topics of the two models."""
    wanted = [(method, part) for part in ("training", "test") for method in (LIGHT, UNSUPERVISED)]
    for axis, (method, part) in zip(panels(figure, 4), wanted, strict=True):
        lines = [line for line in table.where(method=method, part=part).lines if "x" in line.mean]
        x, y, label = (np.array([line.mean[name] for line in lines]) for name in ("x", "y", "label"))
        axis.scatter(x, y, c=label, cmap="tab20", s=5, linewidth=0)
        axis.set(xticks=[], yticks=[], title=f"{method}, {part}")
        axis.title.set_fontsize(9)


FIGURE = Figure(
    name="light_embedding",
    paper="LightMedLDA thesis, Fig. 1",
    title="Supervised and unsupervised topics in the plane",
    claim=(
        "By t-SNE of the topics at K = 100 after 50 sweeps, classes are well separated with LightMedLDA, and not "
        "with LDA."
    ),
    stand_in="",
    settings=(
        "6 of the 20 newsgroups, the first 80 + 60 documents of each; c = 1.6, ℓ = 64, α = 6.4/K, K = 100, 50 "
        "sweeps; t-SNE of the square roots of topic shares, one colour per newsgroup. The paper shows one plane, of "
        "documents that it does not name; here are both.",
        "all 20 newsgroups; at most 1,000 documents are drawn.",
    ),
    seeds=(2, 5),
    fits=("all 20 newsgroups, the first 100 + 100 documents of each.", 4),
    measure=measure,
    keys=("method", "part", "document"),
    judge=judge,
    draw=draw,
    departures=f"{NEWSGROUP_WORDS}; {WEIGHED}; topics of test documents are by mean field.",
)
