"""Topics by field and year: 100,000 arXiv abstracts, CPU time beside tomotopy's DMRModel, and the effects found."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks import report
from benchmarks.harness import Results, Stopwatch, alone, measure, options, pin, versions
from topoi import LDA
from topoi.corpus import Corpus
from topoi.estimators.marginal import TopicEffect

NAME = "prevalence"
OURS, PEER = "topoi", "tomotopy DMRModel"
FORMULA = "~ field + s(year, df=5)"
#: Archives that are fields of their own; all others are "other".
FIELDS = ("astro-ph", "cond-mat", "cs", "hep", "math", "physics", "q-bio", "stat")
SWEEPS, SAMPLES, PERIOD = 200, 20, 5  # years of a period: metadata of the peer are categories
SHOWN = 6  # topics in the picture


class Papers(NamedTuple):
    """Abstracts as counts, and what is known of each."""

    corpus: Corpus
    field: NDArray[np.str_]
    year: NDArray[np.int64]


def year_of(identifier: str) -> int:
    """The year in an arXiv id: 0704.0560, or hep-th/9901001."""
    digits = identifier.rsplit("/", 1)[-1][:2]
    year = int(digits)
    return 1900 + year if year > 80 else 2000 + year


def field_of(labels: Sequence[str]) -> str:
    """The archive of the first category; the archives of high-energy physics are one.

    The data do not say which of the categories of a paper is the primary one: the first is that of the alphabet.
    """
    archive = labels[0].split(".")[0]
    archive = "hep" if archive.startswith("hep") else archive
    return archive if archive in FIELDS else "other"


@cache
def papers(quick: bool) -> Papers:
    folder = Path(os.environ["TOPOI_DATA"]) / "arxiv_120k"
    names = (folder / "labels.txt").read_text("utf-8").split()
    labels = sparse.csr_array(sparse.load_npz(folder / "train_labels.npz"))
    with gzip.open(folder / "train_ids.txt.gz", "rt", encoding="utf-8") as file:
        ids = file.read().split()
    X = sparse.csr_array(sparse.load_npz(folder / "train.npz"))
    rows = np.arange(X.shape[0])[:: 50 if quick else 1]
    own = [labels.indices[labels.indptr[d] : labels.indptr[d + 1]] for d in rows]
    field = np.array([field_of([names[j] for j in found] or ["other"]) for found in own])
    year = np.array([year_of(ids[d]) for d in rows])
    vocabulary = (folder / "vocab.txt").read_text("utf-8").split()
    return Papers(Corpus.from_counts(X[rows], vocabulary), field, year)


def main() -> None:
    parser = options(__doc__, [50])
    parser.add_argument("--sweeps", type=int, default=SWEEPS)
    parser.add_argument("--no-peer", action="store_true", help="leave tomotopy out")
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    sweeps = 20 if arguments.quick else arguments.sweeps
    pinned = pin(arguments.core)
    results = Results(arguments.output / f"{NAME}.json", {"quick": arguments.quick, "sweeps": sweeps}, arguments.fresh)
    names = [OURS] if arguments.no_peer else [OURS, PEER]
    measure(
        results, names, arguments.topics, arguments.rounds,
        lambda *turn: alone(one_fit, *turn, arguments.quick, sweeps),
    )  # fmt: skip
    write_report(results, pinned, arguments)


def one_fit(name: str, n_topics: int, round_: int, quick: bool, sweeps: int) -> dict[str, Any]:
    return (ours if name == OURS else theirs)(n_topics, round_, quick, sweeps)


def ours(n_topics: int, seed: int, quick: bool, sweeps: int) -> dict[str, Any]:
    """CPU seconds of a fit, and its effects."""
    data = papers(quick)
    model = LDA(n_topics, prevalence=FORMULA, n_sweeps=sweeps, n_samples=SAMPLES, random_state=seed)
    some = np.arange(0, data.corpus.n_documents, data.corpus.n_documents // 200)
    few = {"field": data.field[some], "year": data.year[some]}
    model.set_params(n_sweeps=8, n_samples=1).fit(data.corpus.take(some), covariates=few)  # compiles
    model.set_params(n_sweeps=sweeps, n_samples=SAMPLES)
    with (watch := Stopwatch()):
        model.fit(data.corpus, covariates={"field": data.field, "year": data.year})
    with (after := Stopwatch()):
        found = model.effects(grid=21)
    return {
        "seconds": watch.seconds, "effects_seconds": after.seconds, "effects": [list(row) for row in found],
        "words": model.top_words(8), "documents": data.corpus.n_documents, "tokens": data.corpus.n_tokens,
        "said": f"{watch.seconds:.1f} CPU s", "versions": versions(),
    }  # fmt: skip


def theirs(n_topics: int, seed: int, quick: bool, sweeps: int) -> dict[str, Any]:
    """The same by tomotopy, with the field and a period of years as categories; λ is climbed to, not drawn."""
    import tomotopy

    data = papers(quick)
    model = tomotopy.DMRModel(k=n_topics, eta=0.01, seed=seed + 1)
    assert data.corpus.vocabulary is not None
    words = data.corpus.vocabulary
    for d, (field, year) in enumerate(zip(data.field.tolist(), data.year.tolist(), strict=True)):
        text = [str(words[w]) for w in data.corpus.document(d)]
        model.add_doc(text, metadata=field, multi_metadata=[f"from {year // PERIOD * PERIOD}"])
    with (watch := Stopwatch()):
        model.train(sweeps, workers=1, parallel=tomotopy.ParallelScheme.NONE)
    top = [[word for word, _ in model.get_topic_words(k, top_n=8)] for k in range(n_topics)]
    return {"seconds": watch.seconds, "words": top, "said": f"{watch.seconds:.1f} CPU s", "versions": versions()}


def write_report(results: Results, pinned: str, arguments: Any) -> None:
    rows = []
    for name, n_topics in results.pairs():
        found = results.rounds(name, n_topics)
        if found:
            best = min(entry["seconds"] for entry in found)
            effects = [entry["effects_seconds"] for entry in found if "effects_seconds" in entry]
            rows.append([name, str(n_topics), report.number(best), report.number(min(effects, default=None))])
    shown = picture(results, arguments)
    header = ["", "K", "fit, CPU s", "effects, CPU s"]
    facts = [
        f"arXiv, abstracts of arxiv_120k (training part); `{FORMULA}`: {len(FIELDS)} archives and one for all "
        "others, and a spline of the year of the id. The data do not say which of the categories of a paper is the "
        "primary one: the field is the archive of the first by the alphabet. "
        f"{results.settings['sweeps']} sweeps, {SAMPLES} samples.",
        f"tomotopy: DMRModel with the field as metadata and periods of {PERIOD} years as multi_metadata, since it "
        "takes categories alone; as many sweeps, one worker, its defaults otherwise (it climbs to the best λ every 20 "
        "sweeps).",
        pinned,
    ]
    body = f"{report.table(header, rows)}\n\n{shown}\n\n## How\n\n{report.provenance(results, facts)}"
    report.write(arguments.output, NAME, "Topics by field and year", body)


def picture(results: Results, arguments: Any) -> str:
    """Shares over the years of the topics that change most, and by field; returns a table of the largest effects."""
    n_topics = arguments.topics[0]
    entry = results.rounds(OURS, n_topics)[0]
    found = [TopicEffect(*row) for row in entry["effects"]]
    years: dict[int, list[TopicEffect]] = {}
    fields: dict[int, list[TopicEffect]] = {}
    for row in found:
        (years if row.covariate == "year" else fields).setdefault(row.topic, []).append(row)
    change = {k: own[-1].mean - own[0].mean for k, own in years.items()}
    order = sorted(change, key=lambda k: change[k])
    chosen = order[: SHOWN // 2] + order[-SHOWN // 2 :]
    figure, (left, right) = report.panels(2, 5.4, 4.2)
    for k in chosen:
        x, mean, low, high = (np.array([getattr(row, name) for row in years[k]], float) for name in
                              ("value", "mean", "low", "high"))  # fmt: skip
        (line,) = left.plot(x, 100 * mean, label=" ".join(entry["words"][k][:3]))
        left.fill_between(x, 100 * low, 100 * high, color=line.get_color(), alpha=0.2, linewidth=0)
    left.set_xlabel("year")
    left.set_ylabel("change of the share, percentage points")
    left.legend(fontsize=7, frameon=False)
    strongest = sorted((row for own in fields.values() for row in own), key=lambda row: -row.mean)[:12][::-1]
    mean = np.array([row.mean for row in strongest])
    bars = 100 * np.array([[row.mean - row.low for row in strongest], [row.high - row.mean for row in strongest]])
    right.errorbar(100 * mean, np.arange(len(strongest)), xerr=bars, fmt="o", markersize=4)
    labels = [f"{row.value}: {' '.join(entry['words'][row.topic][:3])}" for row in strongest]
    right.set_yticks(np.arange(len(strongest)), labels, fontsize=7)
    right.set_xlabel("change of the share by field, percentage points")
    for axis in (left, right):
        report.tidy(axis)
    report.save(figure, arguments.output, NAME)
    lines = [[str(row.value), " ".join(entry["words"][row.topic][:5]), f"{100 * row.mean:+.1f}",
              f"{100 * row.low:+.1f} … {100 * row.high:+.1f}"] for row in strongest[::-1]]  # fmt: skip
    return report.table(["field", "topic", "change, points", "90 % interval"], lines)


if __name__ == "__main__":
    main()
