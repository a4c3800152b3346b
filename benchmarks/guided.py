"""Guided topics: are the documents of a named topic of the group that its five seed words are about?

    python -m benchmarks.guided
    python -m benchmarks.guided --contestants unguided guided --sweeps 50 --rounds 1     # a minute

20 Newsgroups, without stop words. Ten of its groups have five seed words each, written down from what their names say,
before any fit. Topics are learned from the training documents; the test documents, folded in, are counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from benchmarks import report
from benchmarks.data import data_set
from benchmarks.harness import Results, Stopwatch, measure, options, pin
from topoi import LDA, Corpus

NAME = "guided"
SEEDS = {
    "alt.atheism": ["atheism", "atheist", "atheists", "belief", "agnostic"],
    "comp.graphics": ["graphics", "image", "gif", "jpeg", "polygon"],
    "comp.sys.mac.hardware": ["mac", "apple", "quadra", "centris", "powerbook"],
    "misc.forsale": ["sale", "offer", "shipping", "sell", "condition"],
    "rec.autos": ["car", "cars", "engine", "ford", "toyota"],
    "rec.motorcycles": ["bike", "motorcycle", "bikes", "ride", "helmet"],
    "rec.sport.baseball": ["baseball", "pitcher", "braves", "inning", "hitter"],
    "rec.sport.hockey": ["hockey", "nhl", "playoffs", "goal", "puck"],
    "sci.electronics": ["circuit", "voltage", "resistor", "amp", "battery"],
    "sci.med": ["doctor", "disease", "patients", "medical", "symptoms"],
}
FEWEST_DOCUMENTS = 5  # that a word is in
MOST = 100  # documents with the largest share of a topic
MISSED = 0.5  # a group is missed if of the documents of its best topic less are its own
LEAST = 20  # documents that a topic must be the largest of, to be the match of a group
CONTESTANTS = {
    "unguided": "LDA without seeds; the topic of a group is the one whose training documents are most often of it (one "
    "topic may be that of several groups)",
    "guided": "the same with `seeds` and their default strength; the topic of a group is the one with its name",
    "tomotopy": "`LDAModel` with `set_word_prior`, 1 for a seed word in its topic and 0.1 in others, as its "
    "documentation has it",
}
NOT_THERE = (
    "keyATM and seededlda are packages of R; `pip install keyATM` and `pip install seededlda` find no distribution. "
    "guidedlda 2.0.0.dev22, of 2017, is on PyPI as source that does not compile with Python 3.11: its C file, made by "
    "an old Cython, includes longintrepr.h, which Python 3.11 has moved. So tomotopy stands for the others here"
)
Shares = tuple[NDArray[Any], NDArray[Any]]


class Groups:
    """The documents, and the groups that they are of."""

    def __init__(self, quick: bool) -> None:
        folder = data_set("20ng", "train.npz", "test.npz", "train_y.npy", "test_y.npy", "vocab.txt", "labels.txt")
        train, test = (sparse.csr_array(sparse.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
        self.truth = [np.load(folder / f"{part}_y.npy") for part in ("train", "test")]
        self.names = (folder / "labels.txt").read_text("utf-8").split()
        words = (folder / "vocab.txt").read_text("utf-8").split("\n")[: train.shape[1]]
        if quick:
            chosen = np.sort(np.random.default_rng(0).permutation(train.shape[0])[:3000])
            train, self.truth[0] = train[chosen], self.truth[0][chosen]
        documents = np.bincount(train.indices, minlength=train.shape[1])
        kept = [
            n >= FEWEST_DOCUMENTS and len(word) > 1 and word not in ENGLISH_STOP_WORDS
            for n, word in zip(documents, words, strict=True)
        ]
        vocabulary = np.array(words)[kept]
        self.train, self.test = (
            Corpus.from_counts(sparse.csr_array(part[:, np.flatnonzero(kept)]), vocabulary, allow_empty=True)
            for part in (train, test)
        )
        self.group = [self.names.index(name) for name in SEEDS]

    def describe(self) -> str:
        """Size of the problem, in words."""
        return (
            f"20 Newsgroups without stop words, one-letter words and words in fewer than {FEWEST_DOCUMENTS} training "
            f"documents: {self.train.n_documents:,} training documents, {self.train.n_tokens:,} tokens of "
            f"{self.train.n_words:,} words; {self.test.n_documents:,} test documents"
        )


# ---- Contestants: topic shares of the training and of the test documents -------------------------------------


def ours(seeds: dict[str, list[str]] | None, groups: Groups, n_topics: int, n_sweeps: int, seed: int) -> Shares:
    model = LDA(n_topics, seeds=seeds, n_sweeps=n_sweeps, n_samples=min(10, n_sweeps // 5), random_state=seed)
    model.fit(groups.train)
    return model.doc_topic_, model.transform(groups.test)


def tomotopy_guided(groups: Groups, n_topics: int, n_sweeps: int, seed: int) -> Shares:
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=0.1, eta=0.01, seed=seed + 1)
    for topic, words in enumerate(SEEDS.values()):
        for word in words:
            model.set_word_prior(word, [1.0 if k == topic else 0.1 for k in range(n_topics)])

    def texts(corpus: Corpus) -> list[list[str]]:
        assert corpus.vocabulary is not None
        return [corpus.vocabulary[corpus.document(d)].tolist() for d in range(corpus.n_documents)]

    shares = []
    none = tomotopy.ParallelScheme.NONE
    train, test = texts(groups.train), texts(groups.test)
    for words in filter(None, train):
        model.add_doc(words)
    model.train(n_sweeps, workers=1, parallel=none, show_progress=False)
    fitted = iter([document.get_topic_dist() for document in model.docs])
    shares.append(np.array([next(fitted) if words else np.full(n_topics, 1 / n_topics) for words in train]))
    found = iter(model.infer([model.make_doc(words) for words in test if words], workers=1, parallel=none)[0])
    shares.append(np.array([next(found) if words else np.full(n_topics, 1 / n_topics) for words in test]))
    return shares[0], shares[1]


def contestant(name: str) -> Callable[[Groups, int, int, int], Shares]:
    if name == "tomotopy":
        return tomotopy_guided
    return lambda groups, *given: ours(SEEDS if name == "guided" else None, groups, *given)


# ---- What is measured ------------------------------------------------------------------------------------------


def best_topics(groups: Groups, theta: NDArray[Any]) -> list[int]:
    """Of every group, the topic whose training documents are most often of it."""
    largest, n_topics = theta.argmax(1), theta.shape[1]
    count = np.zeros((n_topics, len(groups.names)))
    np.add.at(count, (largest, groups.truth[0]), 1)
    n = count.sum(1, keepdims=True)
    share = np.where(n >= LEAST, count / np.maximum(n, 1), 0)
    return [int(share[:, group].argmax()) for group in groups.group]


def figures(groups: Groups, topics: list[int], theta: NDArray[Any]) -> dict[str, list[float]]:
    """Of every group, the share of the test documents of its topic that are right: of those in which no topic is
    larger, and of those with the largest shares of it; and how many the first are."""
    largest, truth = theta.argmax(1), groups.truth[1]
    out: dict[str, list[float]] = {"largest": [], "top": [], "documents": []}
    for topic, group in zip(topics, groups.group, strict=True):
        own = largest == topic
        top = np.argsort(-theta[:, topic], kind="stable")[:MOST]
        out["largest"].append(float((truth[own] == group).mean()) if own.any() else 0.0)
        out["top"].append(float((truth[top] == group).mean()))
        out["documents"].append(int(own.sum()))
    return out


def job(groups: Groups, sweeps: list[int]) -> Callable[[str, int, int], dict[str, Any]]:
    def measured(name: str, n_topics: int, round_: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for n_sweeps in sweeps:
            with Stopwatch() as watch:
                train, test = contestant(name)(groups, n_topics, n_sweeps, round_)
            topics = best_topics(groups, train) if name == "unguided" else list(range(len(SEEDS)))
            found[str(n_sweeps)] = figures(groups, topics, test) | {"seconds": watch.seconds}
        said = ", ".join(f"{n}: {np.mean(one['largest']):.2f} right" for n, one in found.items())
        return {"figures": found, "said": said}

    return measured


# ---- The report ------------------------------------------------------------------------------------------------


def mean(results: Results, name: str, n_topics: int, n_sweeps: int, what: str) -> NDArray[Any]:
    """Over the rounds, of every group."""
    return np.mean([entry["figures"][str(n_sweeps)][what] for entry in results.rounds(name, n_topics)], axis=0)


def section(results: Results, names: list[str], n_topics: int, n_sweeps: int) -> str:
    """A table of all groups, and what it says of those that are missed without seeds."""
    by_name = {name: mean(results, name, n_topics, n_sweeps, "largest") for name in names}
    top = {name: mean(results, name, n_topics, n_sweeps, "top") for name in names}
    missed = by_name["unguided"] < MISSED
    rows = []
    for g, group in enumerate(SEEDS):
        cells = [cell for name in names for cell in (f"{by_name[name][g]:.2f}", f"{top[name][g]:.2f}")]
        rows.append([f"**{group}**" if missed[g] else group, *cells])
    for title, which in (("mean of the missed", missed), ("mean of all", np.ones(len(missed), bool))):
        cells = [f"{values[name][which].mean():.2f}" for name in names for values in (by_name, top)]
        rows.append([title, *cells])
    header = ["group", *(cell for name in names for cell in (f"{name}: largest", f"top {MOST}"))]
    said = [f"Missed without seeds, in bold: {missed.sum()} of {len(missed)} groups."]
    for name in names[1:]:
        ratios = by_name[name][missed].mean() / by_name["unguided"][missed].mean()
        tops = top[name][missed].mean() / top["unguided"][missed].mean()
        said.append(
            f"On them documents of the topic of {name} are right {ratios:.1f} times as often as those of the best "
            f"topic of unguided, {tops:.1f} times in the top {MOST}."
        )
    return f"## {n_sweeps:,} sweeps\n\n{report.table(header, rows)}\n\n{' '.join(said)}"


def write_report(results: Results, groups: Groups, arguments: argparse.Namespace) -> None:
    n_topics = arguments.topics[0]
    names = [name for name in CONTESTANTS if results.rounds(name, n_topics)]
    rounds = len(results.rounds("unguided", n_topics))
    facts = [
        groups.describe() + (". **A sample: a quick look, not a measurement.**" if arguments.quick else "."),
        f"K = {n_topics}, α = 0.1, β = 0.01; mean over {rounds} seed{'s' if rounds > 1 else ''}.",
        "Seed words: " + "; ".join(f"{group}: {', '.join(words)}" for group, words in SEEDS.items()) + ".",
        *(f"{name}: {CONTESTANTS[name]}." for name in names),
        NOT_THERE + ".",
    ]
    lead = (
        f"Ten groups of 20 Newsgroups have a named topic with five seed words each; {n_topics - len(SEEDS)} topics are "
        f"free. *Largest*: of the test documents in which no topic is larger, the share that is of the group. *Top "
        f"{MOST}*: the same of the {MOST} test documents with the largest shares of the topic."
    )
    parts = [section(results, names, n_topics, n_sweeps) for n_sweeps in arguments.sweeps]
    draw(results, names, arguments)
    body = "\n\n".join([lead, *parts, "## How", report.provenance(results, facts)])
    report.write(arguments.output, NAME, "Guided topics", body)


def draw(results: Results, names: list[str], arguments: argparse.Namespace) -> None:
    """A panel for each number of sweeps: a dot for each group and contestant."""
    figure, axes = report.panels(len(arguments.sweeps), 5.4, 4.0)
    looks = report.styles(names, ["tomotopy"])
    for axis, n_sweeps in zip(axes, arguments.sweeps, strict=True):
        for name, look in looks.items():
            values = mean(results, name, arguments.topics[0], n_sweeps, "largest")
            axis.plot(values, np.arange(len(SEEDS)), label=name, **look | {"linestyle": "none", "markersize": 7})
        axis.set(title=f"{n_sweeps:,} sweeps", xlim=(0, 1.02), xlabel="documents of the topic that are of the group")
        axis.set_yticks(np.arange(len(SEEDS)), list(SEEDS) if axis is axes[0] else [""] * len(SEEDS))
        axis.invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    report.save(figure, arguments.output, NAME)


def main() -> None:
    parser = options(__doc__ or "", [30])
    parser.add_argument("--sweeps", type=int, nargs="+", default=[50, 1000], help="sweeps of a fit")
    parser.add_argument("--contestants", nargs="+", choices=list(CONTESTANTS), default=list(CONTESTANTS))
    arguments = parser.parse_args()
    pin(arguments.core)
    groups = Groups(arguments.quick)
    settings = {"sweeps": arguments.sweeps, "quick": arguments.quick, "seeds": SEEDS}
    results = Results(arguments.output / f"{NAME}.json", settings, arguments.fresh)
    measure(results, arguments.contestants, arguments.topics[:1], arguments.rounds, job(groups, arguments.sweeps))
    write_report(results, groups, arguments)


if __name__ == "__main__":
    main()
