"""What came of a fit: in numbers for `topoi.json`, and in words for people."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi.cli._console import Console
    from topoi.cli._folder import Model
    from topoi.corpus import Corpus
    from topoi.readers import Dataset

SHOWN = 10  # topics in the summary
#: Scores worth a line, best known first.
HEADLINES = ("accuracy", "subset_accuracy", "macro_f1", "r2", "rmse", "coverage", "perplexity")


def counts(data: Dataset, corpus: Corpus) -> dict[str, int]:
    """Documents and words read, and those learned from."""
    return {
        "documents": len(data),
        "learned_from": corpus.n_documents,
        "empty": int((corpus.doc_lengths == 0).sum()),
        "skipped": data.n_skipped,
        "words": corpus.n_words,
        "tokens": corpus.n_tokens,
    }


def left_out(corpus: Corpus) -> dict[str, Any] | None:
    """What was left out of texts, and the language of their stop words; None for counts."""
    made = corpus.preparation
    return None if made is None else {"language": made.language or None, **made.removed}


class Speed:
    """A callback that keeps how quick the sweeps were. Their median leaves out the first, which loads the kernels.

    With --dask it keeps what they have read and written in files, too.
    """

    def __init__(self) -> None:
        self._rates: list[float] = []
        self._read: list[int] = []
        self._written: list[int] = []

    def __call__(self, progress: Any) -> None:
        """Take a note of one sweep."""
        self._rates.append(progress.tokens_per_second)
        self._read.append(progress.bytes_read)
        self._written.append(progress.bytes_written)

    @property
    def tokens_per_second(self) -> float:
        """Of one chain."""
        return statistics.median(self._rates) if self._rates else 0.0

    @property
    def bytes_moved(self) -> dict[str, int] | None:
        """Read and written for a sweep; None where there are no files."""
        if not any(self._written):
            return None
        return {"read": int(statistics.median(self._read)), "written": int(statistics.median(self._written))}


def outcome(estimator: Any, seconds: float, speed: Speed) -> dict[str, Any]:
    """How the run went."""
    members = estimator.estimators_
    last = [member.log_joint_[-1, 1] for member in members if len(member.log_joint_)]
    return {
        "estimator": type(estimator).__name__,
        "sweeps": int(estimator.n_sweeps_),
        "stopped": estimator.stopped_,
        "seconds": round(seconds, 3),
        "tokens_per_second": speed.tokens_per_second,
        "bytes_per_sweep": speed.bytes_moved,
        "log_joint": float(sum(last)) if len(last) == len(members) else None,
        "rhat": float(estimator.rhat_),
        "topics": _number_of_topics(estimator),
        "refit": getattr(estimator, "refit_settings_", None) or None,
    }


def _number_of_topics(estimator: Any) -> dict[str, float] | None:
    """The posterior of the number of topics, and the concentrations it came with; None where the number was given."""
    if not hasattr(estimator, "n_topics_trace_"):
        return None
    _, of_documents, of_topics = estimator.concentrations_[-1]
    found = dict(zip(("mean", "low", "high"), map(float, estimator.n_topics_posterior_), strict=True))
    return found | {"concentration": float(of_documents), "top_concentration": float(of_topics)}


def number_in_words(found: Any) -> str:
    """The posterior of the number of topics as a sentence; "" where there is none."""
    if not isinstance(found, dict):
        return ""
    numbers = [found.get(name) for name in ("mean", "low", "high")]
    if not all(isinstance(number, int | float) for number in numbers):
        return ""
    mean, low, high = numbers
    return f"{mean:.1f} on average over the sweeps after the burn-in, 90 % of them from {low:.0f} to {high:.0f}"


def summarise(model: Model, data: Dataset, out: Console) -> None:
    """Print a short summary and what to try next."""
    from rich.filesize import decimal

    from topoi.cli._messages import in_words
    from topoi.cli.topics import topic_rows, topic_table
    from topoi.evaluate import convergence_in_words
    from topoi.report.sections.settings import what_was_left_out

    about = model.about
    n, held_out = about["counts"], about["held_out"]
    lines = [f"{n['learned_from']:,} documents, {n['tokens']:,} tokens, {n['words']:,} words"]
    lines += [f"{held_out['documents']:,} more held out"] if held_out["documents"] else []
    lines += [f"{n['empty']:,} without a word of the vocabulary"] if n["empty"] else []
    what = "target" if model.target.kind == "numbers" else "label"
    lines += [f"{about['labels']['unlabelled']:,} without a {what}"] if _some_unlabelled(about) else []
    out.say("; ".join(lines) + ".")
    for sentence in what_was_left_out(model.estimator):
        out.say(in_words(sentence))
    if n["skipped"]:
        remark = f"{n['skipped']:,} documents could not be read; the first: {data.skipped[0]}"
        out.say(remark)
    ended = {"finished": "", "time": " (stopped: time is up)", "converged": " (converged)"}
    speed = f"{about['tokens_per_second'] / 1e6:.2g} M tokens/s"
    if moved := about["bytes_per_sweep"]:
        speed += f", {decimal(moved['read'])} read and {decimal(moved['written'])} written for a sweep"
    joint = "" if about["log_joint"] is None else f"; log joint {about['log_joint']:,.0f}"
    stopped = ended.get(about["stopped"], " (stopped early)")
    out.say(
        f"{about['estimator']}, {model.estimator.n_topics_} topics: {about['sweeps']} sweeps{stopped} "
        f"in {about['seconds']:.1f} s, {speed}{joint}."
    )
    out.say(convergence_in_words(model.estimator))
    if posterior := number_in_words(about["topics"]):
        out.say(f"Number of topics: {posterior}.")
    if depends := model.topic_covariates:
        listed = ", ".join(f"{name} (a {kind})" for name, kind in depends.items())
        out.say(f"Topics depend on {listed}.")
    scores = [f"{name} {held_out[name]:.4g}" for name in HEADLINES if isinstance(held_out.get(name), float)]
    if scores:
        out.say(f"Held-out documents: {', '.join(scores)}.")
    rows = sorted(topic_rows(model, 8), key=lambda row: -row["share"])
    out.print(topic_table(model, rows[:SHOWN], out))
    if len(rows) > SHOWN:
        out.print(f"… and {len(rows) - SHOWN} more.", style="dim")
    if _many_function_words(model, rows[:SHOWN]):
        out.print("Many of these are function words of English: try --stop-words english.", style="yellow")
    out.print("Next:", *(f"  {command}" for command in _next(model)), sep="\n", soft_wrap=True)


def _many_function_words(model: Model, rows: list[dict[str, Any]]) -> bool:
    """Whether the topics are made of them: by their most probable words, as the telling ones are other words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if model.estimator.topic_models_[0].vocabulary is None:  # columns without names
        return False
    from topoi.evaluate.topics import topic_names

    names = topic_names(model.estimator, 8, "probability")
    words = [word for row in rows for word in names[row["topic"]]]
    return sum(word in ENGLISH_STOP_WORDS for word in words) >= len(words) / 4


def _some_unlabelled(about: dict[str, Any]) -> bool:
    return about["labels"]["kind"] is not None and about["labels"]["unlabelled"] > 0


def _next(model: Model) -> list[str]:
    path = model.path
    source = model.about["source"]
    documents = source if source != "-" else "DOCUMENTS"
    use = f"predict {path} NEW -o predictions.csv" if model.target.kind else f"transform {path} NEW -o shares.csv"
    effects = [f"topoi effects {path}"] if model.topic_covariates else []
    return [f"topoi topics {path}", *effects, f"topoi {use}", f"topoi report {path} {documents} -o report.html"]
