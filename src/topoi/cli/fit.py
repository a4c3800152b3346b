"""`topoi fit`: from a file of documents to the folder of a model."""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import INTERRUPTED, console, note, print_json, told_warnings, waiting
from topoi.cli._card import save_card
from topoi.cli._folder import Model, forget, named, new_folder, only_we, save_about, save_model
from topoi.cli._messages import in_words
from topoi.cli._order import Order, begin, can_resume, read_order
from topoi.cli._outcome import Speed, counts, left_out, outcome
from topoi.cli._output import check_sources
from topoi.cli._reading import (
    LemmasOfModel,
    NewReading,
    Reading,
    TokenPattern,
    format_name,
    lemmas_to_use,
    pattern_to_use,
    read,
)
from topoi.cli._settings import Settings, new_estimator
from topoi.cli._stop import Stop
from topoi.errors import FileError, ParameterError

if TYPE_CHECKING:
    from topoi.chain.checkpoint import Checkpoints
    from topoi.corpus.target import Target
    from topoi.readers import Dataset


def fit(
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    settings: Settings,
    reading: Reading,
    output: Annotated[str, typer.Option("--output", "-o", help="Folder of the model.")] = "model",
    hold_out: Annotated[
        float, typer.Option("--hold-out", help="Share of the documents to keep out, and score the model on: 0.1.")
    ] = 0.0,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
    checkpoint_seconds: Annotated[
        float, typer.Option("--checkpoint-seconds", min=0.0, help="Seconds between checkpoints, for `topoi resume`.")
    ] = 300.0,
) -> None:
    """Learn topics from documents; with labels, also how to predict them.

    Without labels the model is LDA. With --label it is MedLDA, which learns topics that tell the labels apart; with
    --target it predicts a number. Documents without a label take part by their words. With --covariate it also predicts
    from other columns, which new documents then need as well; without labels, topics depend on these columns, as they
    do with labels if --prevalence says how: see `topoi effects`. With --topic-labels documents have topics of the names
    in a column only, and those that all share: labelled LDA.

    \b
      topoi fit posts.csv --text body --topics 50
      topoi fit posts.csv --text body --topics 50 --seeds seeds.json
      topoi fit posts.csv --text body --label subject --hold-out 0.1 -o model
      topoi fit offers.csv --label sold --covariate price --covariate brand
      topoi fit posts.csv --text body --topic-labels tags --label-separator ';' --topics 30
      topoi fit speeches.csv --text speech --covariate party --covariate year --prevalence "~ party + s(year)"
      zcat reviews.jsonl.gz | topoi fit - --format jsonl --target stars -o stars

    Ctrl-C (or SIGTERM) stops after the sweep in hand and saves the model so far; the exit code is then 130, and `topoi
    resume` goes on. So it does after a crash, from the last checkpoint.

    --dask lets the workers of a Dask cluster do the sweeps, or does them here with topics in files: docs/cluster.md.

    The first run compiles its kernels; `topoi warmup` does it ahead.

    Of texts these are left out: stop words of their language, which is recognised; addresses, HTML and encoded files;
    headers, quoted replies and signatures of messages; words of few documents, and of more than half of them. The
    summary counts them. See --stop-words, --clean, --min-df and --max-df.
    """
    order = Order(documents, reading, settings, hold_out, checkpoint_seconds)
    check_sources(output, documents, reading.vocabulary_file, reading.stop_words, settings.seeds)
    with new_folder(output, force) as folder:
        follow(order, folder, json, quiet)


def resume(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of a fit that was stopped or killed.")],
    documents: Annotated[
        str | None,
        typer.Argument(metavar="DOCUMENTS", help="With --sweeps: documents of the fit, if they are elsewhere now."),
    ] = None,
    sweeps: Annotated[
        int | None, typer.Option("--sweeps", min=1, help="Sweeps to go on for, from a model that is finished.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="With --sweeps: folder of the new model; else the same.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    dask: Annotated[str | None, typer.Option("--dask", help="Another Dask scheduler than that of the fit.")] = None,
    token_pattern: TokenPattern = None,
    lemmas: LemmasOfModel = None,
) -> None:
    """Go on with a fit that was stopped or killed, from its last checkpoint; or sample more from a finished model.

    The documents are read again as `topoi fit` read them. The model is the same, to the last bit, as that of a fit that
    was never stopped.

    With --sweeps sampling goes on from a model without labels that is finished, for instance one with edited topics
    (`topoi apply`): words find their places in topics that were merged or split; names and hidden topics stay.

    \b
      topoi fit posts.csv --text body --topics 200 --sweeps 1000 -o model     (killed)
      topoi resume model
      topoi apply model edits.json -o model2
      topoi resume model2 --sweeps 50
    """
    if sweeps is not None:
        if dask is not None:
            raise ParameterError("dask", "is for fits that were stopped; more sweeps are made in this process")
        from topoi.cli._more_sweeps import more_sweeps

        more_sweeps(
            model, documents, sweeps, output, NewReading(token_pattern=token_pattern, lemmas=lemmas), json, quiet
        )
        return
    if documents is not None or output is not None:
        which = "documents" if documents is not None else "output"
        raise ParameterError(which, "is for --sweeps; a fit that was stopped goes on where it is")
    folder = named(model)
    read_order(folder)  # there is something to go on with
    with only_we(folder):
        follow(_agreed(read_order(folder), dask, token_pattern, lemmas), folder, json, quiet)


def _agreed(order: Order, dask: str | None, token_pattern: str | None, lemmas: str | None) -> Order:
    """An order from a folder, which somebody else may have written, with what the user says now."""
    asked = order.settings.dask
    if dask is None and asked not in (None, "blocks"):  # whoever wrote the folder does not choose whom we talk to
        raise ParameterError("dask", f"the fit was one of a Dask cluster; name it again: --dask {asked}")
    pattern = pattern_to_use(asdict(order.reading), token_pattern)
    lemmas = lemmas_to_use(order.reading.lemmas, lemmas)
    order = replace(order, reading=replace(order.reading, token_pattern=pattern, lemmas=lemmas))
    if order.started_in not in ("", str(Path.cwd())) and not Path(order.source).exists():
        raise FileError(
            f"{order.source}: is not here; the fit was started in {order.started_in}, call `topoi resume` there.",
            order.source,
        )
    if dask is not None:
        order = replace(order, settings=replace(order.settings, dask=dask))
    return order


def follow(order: Order, folder: Path, json: bool, quiet: bool) -> None:
    """Carry out an order and tell what came of it."""
    with Stop() as stop:
        model, data, interrupted = carry_out(order, folder, stop, quiet)
    if json:
        print_json({"model": str(folder), **model.about})
    elif not quiet:
        from topoi.cli._outcome import summarise

        summarise(model, data, console())
    if interrupted:
        more = f" Go on: topoi resume {folder}" if can_resume(order) else ""
        note(f"Stopped early; the model so far is in {folder}.{more}", quiet)
        raise typer.Exit(INTERRUPTED)


def carry_out(order: Order, folder: Path, stop: Stop, quiet: bool) -> tuple[Model, Dataset, bool]:
    """Read, fit, save, score: the model, its documents, and whether it was stopped."""
    reading, settings = order.reading, order.settings
    check_ngrams(reading, settings)
    reading = replace(reading, ngrams=ngrams_of(order.source, reading, settings))
    with waiting("reading …", quiet):
        import numpy as np

        from topoi.cli._hold_out import hold_out, to_watch
        from topoi.cli._labels import to_learn

        with told_warnings(quiet):
            data = read(order.source, reading)
        if reading.label is None and reading.target is None:
            data = replace(data, labels=None)  # some formats have them all the same
            target = data.target
        else:
            target = to_learn(data, "label" if reading.target is None else "target", quiet)
        test = hold_out(np.flatnonzero(~data.unlabelled | (target.kind is None)), order.hold_out, settings.seed)
        train = data.take(np.setdiff1d(np.arange(len(data)), test)) if len(test) else data
        validation = to_watch(target, data, train, test)
    speed = Speed()
    shown, told = sys.stderr.isatty() and not quiet, [stop, speed]
    beside = {"topic_labels": reading.topic_labels is not None, "covariates": bool(reading.covariate)}
    estimator = new_estimator(target.kind, settings, shown, told, **beside)
    with begin(order, folder) as checkpoints:
        result = learn(estimator, target, train, checkpoints, stop, validation)
    for message in result.warnings:
        note(f"Warning: {message}", quiet)
    about = {
        "source": order.source,
        "reading": asdict(reading) | {"format": format_name(order.source, reading.format)},
        "settings": asdict(settings),
        "labels": {
            "kind": target.kind,
            "names": target.values if target.kind == "several" else None,
            "unlabelled": int(train.unlabelled.sum()),
        },
        "counts": counts(data, train.corpus),
        "left_out": left_out(data.corpus),
        **outcome(estimator, result.seconds, speed),
        "held_out": {"share": order.hold_out, "documents": len(test)},
    }
    model = Model(folder, estimator, about)
    save_model(model)  # before anything else can go wrong
    if len(test) and not result.interrupted:
        from topoi.cli._scores import held_out_scores

        with waiting("scoring held-out documents …", quiet):
            about["held_out"] |= held_out_scores(model, data, test)
        save_about(model)
    save_card(model)
    if not result.interrupted:
        forget(folder)
    return model, data, result.interrupted


def check_ngrams(reading: Reading, settings: Settings) -> None:
    """Raise if n-grams are to be counted for a model that would not look at them: topics are of single words."""
    if not reading.ngrams:
        return
    if reading.label is None and reading.target is None:
        raise ParameterError(
            "ngrams", "is for models with labels, topics are of single words; see --label and --target"
        )
    if settings.refit is False or settings.word_features == "none":
        other = "no_refit" if settings.refit is False else "word_features"
        raise ParameterError("ngrams", f"are word features of the refit; --{other.replace('_', '-')} leaves them out")


def ngrams_of(source: str, reading: Reading, settings: Settings) -> int | list[int] | None:
    """The n-grams to count: as asked for; else the other words of texts, where predictions look at words."""
    if reading.ngrams is not None:
        asked: int | list[int] = reading.ngrams
        return asked or None
    from topoi.readers import FORMATS

    kind = FORMATS.get(format_name(source, reading.format) or "")
    of_texts = kind is not None and kind.documents is not None
    predicts = reading.label is not None or reading.target is not None
    by_words = settings.refit is not False and settings.word_features != "none"
    return 1 if of_texts and predicts and by_words else None


@dataclass(frozen=True)
class Result:
    """How a fit went."""

    seconds: float
    interrupted: bool
    warnings: list[str]


def learn(
    estimator: Any,
    target: Target,
    train: Dataset,
    checkpoints: Checkpoints | None,
    stop: Stop,
    validation: Any,
) -> Result:
    """Fit the estimator: the only place that does."""
    from topoi.cli._labels import as_fit_takes_it
    from topoi.estimators.base import InterruptedFitWarning

    arguments: dict[str, Any] = {"checkpoint": checkpoints, "validation": validation}
    if target.kind is not None:
        arguments["y"] = as_fit_takes_it(target, train)
    if train.covariates is not None:
        arguments["covariates"] = train.covariates
    if train.topic_labels is not None:
        arguments["topic_labels"] = train.topic_labels
    if target.kind in ("one", "several") and train.unlabelled.any():
        arguments["unlabelled"] = train.unlabelled
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop.gentle = True  # from here on there is something to save
        estimator.fit(train.corpus, **arguments)
    ours = [_told(w.message, target) for w in caught if issubclass(w.category, UserWarning)]
    pressed = any(issubclass(w.category, InterruptedFitWarning) for w in caught)
    estimator.set_params(callbacks=None, progress=False, engine=None)  # of this run, not of the model
    return Result(time.perf_counter() - start, pressed or stop.requested, ours)


def _told(warning: Any, target: Target) -> str:
    """A warning of the library in the words of the command line: labels and options have names."""
    from topoi.estimators.unpredicted import NeverPredictedWarning

    if isinstance(warning, NeverPredictedWarning) and target.kind == "several":
        named = [target.values[column] for column in warning.classes]
        warning = NeverPredictedWarning(named, warning.counts, warning.n_documents, warning.losses)
    return in_words(str(warning))
