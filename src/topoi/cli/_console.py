"""The console of all commands: texts of others are shown as they are, and never obeyed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from topoi._machine.terminal import harmless


class Console(RichConsole):
    """Rich's console without markup, emoji codes and colours found in texts, and without control characters in them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string of a message or of a table's cell, cleaned before its width is measured."""
        return super().render_str(harmless(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Everything that is printed comes through here; Rich's own control codes are marked as such."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)

    def say(self, sentence: str, style: str | None = None) -> None:
        """Print a sentence: on a terminal broken between words, elsewhere as one line, for whatever reads it."""
        self.print(sentence, style=style, soft_wrap=not self.is_terminal)

    def on_broken_pipe(self) -> None:
        """Whoever reads has enough, as `head`: the command ends as for any other output (Rich exits with 1)."""
        self.quiet = True
        raise BrokenPipeError
