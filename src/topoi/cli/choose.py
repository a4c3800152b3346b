"""`topoi choose`: how many topics?"""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import INTERRUPTED, console, note, print_json, waiting
from topoi.cli._output import check_output
from topoi.cli._reading import Reading, read
from topoi.cli._settings import Settings, new_estimator
from topoi.cli._stop import Stop
from topoi.errors import ParameterError

if TYPE_CHECKING:
    from topoi.selection import Choice

PANEL = "Model"
PICTURES = (".png", ".svg", ".pdf")


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL, **more)


@dataclass(frozen=True)
class Trials:
    """How each number of topics is tried: settings of `topoi fit` that a choice has."""

    sweeps: Annotated[
        int | None, _option("--sweeps", min=1, help="Sweeps over all tokens of each fit; 50, or 100 with labels.")
    ] = None
    samples: Annotated[int | None, _option("--samples", min=1, help="Samples to average, 10 by default.")] = None
    burn_in: Annotated[
        int | None, _option("--burn-in", min=0, help="Sweeps before the first sample; half of them by default.")
    ] = None
    sampler: Annotated[str | None, _option("--sampler", help="One of `topoi info`; `auto` by default.")] = None
    alpha: Annotated[
        str | None, _option("--alpha", help="How evenly documents spread over topics, as for `topoi fit`.")
    ] = None
    beta: Annotated[str | None, _option("--beta", help="How evenly topics spread over words, as for `topoi fit`.")] = (
        None
    )
    seeds: Annotated[str | None, _option("--seeds", help="File of guided topics, as for `topoi fit`.")] = None
    seed_strength: Annotated[
        float | None, _option("--seed-strength", help="Weight of their words, as for `topoi fit`.")
    ] = None
    prevalence: Annotated[
        str | None, _option("--prevalence", help="How topics depend on covariates, as for `topoi fit`.")
    ] = None
    topics_per_label: Annotated[
        int | None, _option("--topics-per-label", min=1, help="Topics of each of --topic-labels, as for `topoi fit`.")
    ] = None
    chains: Annotated[
        int | None, _option("--chains", min=1, help="Chains of each fit; the best counts. 3 smooth out bad luck.")
    ] = None
    loss: Annotated[str | None, _option("--loss", help="What a wrong answer costs (with labels or targets).")] = None
    strategy: Annotated[str | None, _option("--strategy", help="multitask, ovr or ovo (with labels).")] = None
    seed: Annotated[
        int, _option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same choice, to the last bit.")
    ] = 0
    jobs: Annotated[int, _option("--jobs", "-j", help="Threads; -1 is all cores. They do not change the choice.")] = -1


def choose(
    documents: Annotated[str, typer.Argument(metavar="DOCUMENTS", help="A file or folder; - is standard input.")],
    trials: Trials,
    reading: Reading,
    topics: Annotated[
        str, _option("--topics", "-k", help="Numbers of topics to try, divided by commas.")
    ] = "10,20,50,100",
    folds: Annotated[int, _option("--folds", min=2, help="Parts of the documents, each held out once.")] = 3,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write the table (.csv, .tsv, .jsonl, .parquet), and a picture beside it."),
    ] = None,
    picture: Annotated[
        str | None, typer.Option("--picture", help="Where to write the picture: .png, .svg or .pdf.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result and errors.")] = False,
) -> None:
    """Try several numbers of topics, and recommend one.

    Each number is fitted once for every fold, on the other documents, and measured on those of the fold: likelihood of
    their words, coherence of the topics, and how well the topics of different folds agree. The number recommended is
    the smallest within one standard error of the best likelihood, of those whose topics hold together. With --label or
    --target the score of the predictions decides in place of the likelihood. docs/howto/number_of_topics.md says more.

    \b
      topoi choose posts.csv --text body --topics 10,20,50,100
      topoi choose posts.csv --text body -k 5,10,20 -o choose.csv     (also choose.png)
      topoi choose posts.csv --text body --label subject -k 10,20,40 --sweeps 60

    Ctrl-C keeps what was done, and recommends from that; the exit code is then 130.
    """
    numbers = _numbers(topics)
    picture = _picture(output, picture, documents)
    with Stop() as stop:
        chosen = _choose(documents, trials, reading, numbers, folds, stop, quiet)
    if output is not None:
        from topoi.writers import write_table

        write_table({name: [row[name] for row in chosen.table] for name in chosen.table[0]}, output)
    if picture is not None:
        _draw(chosen, picture)
    if json:
        told = {
            name: getattr(chosen, name)
            for name in ("best", "reason", "remarks", "left_out", "criterion", "interrupted", "table")
        }
        print_json({"source": documents, **told})
    else:
        _show(chosen)
    if chosen.interrupted:
        raise typer.Exit(INTERRUPTED)


def _numbers(topics: str) -> list[int]:
    """The numbers that stand in an option, divided by commas."""
    from topoi.selection.choose import as_candidates

    parts = [part.strip() for part in topics.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise ParameterError("n_topics", f"must be whole numbers divided by commas, as 10,20,50; {part!r} is none")
    return as_candidates([int(part) for part in parts])


def _picture(output: str | None, picture: str | None, documents: str) -> str | None:
    """Where the picture goes, if there is to be one; raise before any work if it, or the table, cannot be written."""
    import importlib.util

    if output is not None:
        check_output(output, documents)
        if picture is None and output != "-":
            if importlib.util.find_spec("matplotlib") is None:
                note("No picture is drawn: matplotlib is not installed (pip install matplotlib).")
                return None
            picture = str(Path(output).with_name(Path(output).name.split(".")[0] + ".png"))
    if picture is not None:
        if not picture.lower().endswith(PICTURES):
            raise ParameterError("picture", f"must end in {', '.join(PICTURES)}, not {picture!r}")
        check_output(picture, documents)
    return picture


def _choose(
    documents: str, trials: Trials, reading: Reading, numbers: list[int], folds: int, stop: Stop, quiet: bool
) -> Choice:
    """Read, and choose; SIGTERM stops as Ctrl-C does."""
    with waiting("reading …", quiet):
        from topoi.cli._labels import as_fit_takes_it, to_learn
        from topoi.selection import choose

        data = read(documents, reading)
        if reading.label is None and reading.target is None:
            data = replace(data, labels=None)  # some formats have them all the same
            target = data.target
        else:
            target = to_learn(data, "label" if reading.target is None else "target", quiet)

    def until_stopped(progress: Any) -> None:
        if stop.requested:
            raise KeyboardInterrupt

    until_stopped.hears_pilots = True  # type: ignore[attr-defined]
    settings = Settings(**asdict(trials))
    beside = {"topic_labels": reading.topic_labels is not None, "covariates": bool(reading.covariate)}
    estimator = new_estimator(target.kind, settings, callbacks=[until_stopped], **beside)
    given: dict[str, Any] = {"covariates": data.covariates, "topic_labels": data.topic_labels}
    if target.kind is not None:
        given["y"] = as_fit_takes_it(target, data)
    if target.kind in ("one", "several") and data.unlabelled.any():
        given["unlabelled"] = data.unlabelled
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stop.gentle = True
        shown = sys.stderr.isatty() and not quiet
        chosen = choose(
            data.corpus, numbers, cv=folds, estimator=estimator, random_state=trials.seed, progress=shown, **given
        )
    _tell(caught, quiet)
    return chosen


def _tell(caught: list[warnings.WarningMessage], quiet: bool) -> None:
    """Print the library's warnings, each once; what it says of Ctrl-C is among the remarks of the choice."""
    from topoi.cli._messages import in_words
    from topoi.estimators.base import InterruptedFitWarning

    ours = [one for one in caught if issubclass(one.category, UserWarning)]
    told = [str(one.message) for one in ours if not issubclass(one.category, InterruptedFitWarning)]
    for message in dict.fromkeys(told):
        note(f"Warning: {in_words(message)}", quiet)


def _draw(chosen: Choice, path: str) -> None:
    """Write the picture, whole or not at all."""
    import io

    from topoi._disk.whole import write_whole

    file, figure = io.BytesIO(), chosen.plot()[0].figure
    from matplotlib import rc_context  # by now it is known to be there

    kind = Path(path).suffix[1:].lower()
    metadata = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with rc_context({"svg.hashsalt": "topoi"}):  # the same choice is the same picture
        figure.savefig(file, format=kind, dpi=150, metadata=metadata)
    write_whole(path, file.getvalue())


def _show(chosen: Choice) -> None:
    """Print the table, the reason and the remarks."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    out = console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    heading, *lines = chosen.lines()
    for name in heading:
        table.add_column(name, justify="right")
    for row, line in zip(chosen.table, lines, strict=True):
        table.add_row(*line, style="bold green" if row["n_topics"] == chosen.best else None)
    out.print(table)
    out.say(chosen.reason, "bold")
    for remark in chosen.remarks:
        out.say(remark, "yellow" if remark.startswith("Warning") else None)
