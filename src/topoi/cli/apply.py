"""`topoi apply`: a model with edited topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli._app import note, waiting
from topoi.cli._documents import documents_of_fit
from topoi.cli._folder import Model, named, new_folder, open_model, save_model
from topoi.cli._output import check_sources
from topoi.cli._reading import NewReading
from topoi.errors import FileError

if TYPE_CHECKING:
    from topoi.estimators.edits import Edits


def apply(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    edits: Annotated[str, typer.Argument(metavar="EDITS", help="JSON file that the report has downloaded.")],
    reading: NewReading,
    output: Annotated[str, typer.Option("--output", "-o", help="Folder of the new model.")],
    documents: Annotated[
        str | None,
        typer.Argument(
            metavar="DOCUMENTS", help="Documents of the fit, to split topics; without it, where it had them."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the new topics as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there.")] = False,
) -> None:
    """Make a model with edited topics: named, merged, hidden, split or in another order.

    Edits are made in the report (`topoi report`), which downloads them as a small JSON file, or written by hand:
    docs/howto/edit_topics.md. Merged topics are the sum of their parts. Hidden ones stay in the model, and `topoi
    topics` and the report leave them out. To split a topic the documents of the fit are read again.

    \b
      topoi report model posts.csv -o report.html --open
      topoi apply model edits.json -o model2
      topoi topics model2
    """
    from topoi.estimators.edits import read_edits

    wanted = read_edits(Path(edits))
    check_sources(output, edits, documents)
    if named(output).resolve() == named(model).resolve():
        raise FileError(f"{output}: is the model that is edited, which stays; choose another folder by -o.", output)
    with waiting("loading …", quiet):
        opened = open_model(model)
        if not opened.about:
            raise FileError(f"{model}: is a file; topoi apply takes the folder that topoi fit has made.", model)
        arguments = _documents_to_split(opened, wanted, model, documents, reading)
    with new_folder(output, force) as folder, waiting("editing …", quiet):
        edited = opened.estimator.apply(wanted, **arguments)
        earlier = opened.about.get("edits")
        about = opened.about | {"edits": [*(earlier if isinstance(earlier, list) else []), *wanted.entries]}
        made = Model(folder, edited, about)
        save_model(made)
    _tell(opened, made, json, quiet)


def _documents_to_split(
    opened: Model, wanted: Edits, path: str, source: str | None, reading: NewReading
) -> dict[str, Any]:
    """Arguments of `apply` of an estimator: the documents that it has learned from, if a topic is to be split."""
    if not any(entry["edit"] == "split" for entry in wanted.entries):
        return {}
    usage = f"topoi apply {path} EDITS DOCUMENTS …"
    data = documents_of_fit(opened, path, source, reading, "to split a topic", usage).learned_from
    return {"X": data.corpus, "covariates": data.covariates if opened.topic_covariates else None}


def _tell(before: Model, made: Model, json: bool, quiet: bool) -> None:
    """Print what has come of it."""
    from topoi.cli.topics import print_topics

    n, hidden = made.estimator.n_topics_, len(made.estimator.hidden_topics_)
    more = f", {hidden} of them hidden" if hidden else ""
    note(f"{before.estimator.n_topics_} topics have become {n}{more}. Written: {made.path}", quiet)
    if not quiet:
        print_topics(made, 8, json)
