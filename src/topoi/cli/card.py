"""`topoi card`: a page of Markdown to pass on with a model."""

from __future__ import annotations

from typing import Annotated

import typer

from topoi.cli._app import note, waiting
from topoi.cli._card import card_of
from topoi.cli._folder import open_model
from topoi.cli._output import check_output


def card(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of the model.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Write the card of a model: its data, settings, scores and topics, as Markdown.

    `topoi fit` writes one beside the model, model_card.md. This makes it anew, for instance with other names of topics.

    \b
      topoi card model
      topoi card model -o MODEL_CARD.md
    """
    check_output(output, model)
    with waiting("loading …"):
        made = card_of(open_model(model))
    if output == "-":
        typer.echo(str(made), nl=False)
    else:
        made.save(output)
        note(f"Written: {output}")
