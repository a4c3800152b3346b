"""Record a terminal, from a CSV file to a report, as a picture that moves: python docs/pictures/terminal.py

A new virtual environment is made and topoi installed in it, as the README says; then the commands below are run there,
in a terminal of 100 columns. Nothing is written by hand but the commands. Waits are shortened, and the time that all of
it really took is printed. Needs `pip install pyte` (a terminal in memory) and POSIX; writes docs/images/terminal.svg.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import resource
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pyte

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "terminal.svg"
COLUMNS, ROWS = 100, 34
INSTALL = ("python3 -m venv .venv && . .venv/bin/activate", "pip install -q .")
COMMANDS = (
    "head -4 docs.csv | cut -c 1-90",
    "topoi fit docs.csv --id number --label module --topics 40 --hold-out 0.1 -o modules",
    "topoi predict modules docs.csv | head -4",
    "topoi explain modules --text 'Send an HTTP request and read the response' --topics 3 --words 4",
    "topoi evaluate modules docs.csv --held-out",
    "topoi report modules docs.csv --held-out -o report.html && du -h report.html",
)
# The file of the tour in docs/command_line.md.
MAKE_CSV = """
import csv
from collections import Counter
from topoi.datasets import python_docs

docs = python_docs()
largest = {module for module, _ in Counter(docs.labels).most_common(10)}
with open("docs.csv", "w", encoding="utf-8", newline="") as file:
    table = csv.writer(file)
    table.writerow(["number", "text", "module"])
    for n, (text, module) in enumerate(zip(docs.texts, docs.labels)):
        if module in largest:
            table.writerow([n, " ".join(text.split()), module])
"""
LONGEST = 5.0  # seconds of the picture that a command may take; longer ones are shown faster
PAUSE, TYPING = 2.5, 0.03  # seconds after a command, and for a letter
FRAME = 0.15  # seconds between pictures
LETTER, LINE, EDGE = 8.4, 18, 16  # of the picture, in pixels
COLOURS = {
    "default": "#d8dee9", "black": "#4c566a", "red": "#e0707a", "green": "#a3c98a", "brown": "#ebcb8b",
    "blue": "#7fa6d6", "magenta": "#c49ac0", "cyan": "#8ccfd8", "white": "#eceff4", "brightblack": "#7b88a1",
    "brightred": "#f07178", "brightmagenta": "#f07ec8",
}  # fmt: skip


class Run(NamedTuple):
    """Letters of a row in one colour."""

    column: int
    text: str
    colour: str
    bold: bool


Row = tuple[Run, ...]
Frames = list[tuple[float, list[Row]]]


class Recorder:
    """A terminal in memory, and what it showed when."""

    def __init__(self) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.frames: Frames = []
        self.now = 0.0

    def show(self, text: str, at: float) -> None:
        """Write to the terminal; keep what it shows then, unless it was looked at a moment ago."""
        self.stream.feed(text)
        self.now = max(self.now, at)
        if not self.frames or self.now - self.frames[-1][0] >= FRAME:
            self.frames.append((self.now, self.rows()))

    def rest(self, seconds: float) -> None:
        """Keep what is shown now, and wait."""
        self.frames.append((self.now, self.rows()))
        self.now += seconds

    def rows(self) -> list[Row]:
        """What is shown now."""
        return [row_of(self.screen.buffer[number]) for number in range(ROWS)]


def row_of(cells: Any) -> Row:
    """Runs of equal colour; blanks at the end are left out."""
    runs: list[Run] = []
    for column in range(COLUMNS):
        cell = cells[column]
        if cell.data == " " and (not runs or not cell.reverse):
            continue
        colour = COLOURS.get(cell.fg, f"#{cell.fg}" if len(cell.fg) == 6 else COLOURS["default"])
        last = runs[-1] if runs else None
        gap = 0 if last is None else column - last.column - len(last.text)
        if last is not None and (last.colour, last.bold) == (colour, cell.bold) and gap <= 1:
            runs[-1] = last._replace(text=last.text + " " * gap + cell.data)
        else:
            runs.append(Run(column, cell.data, colour, cell.bold))
    return tuple(runs)


def record(recorder: Recorder, command: str, folder: Path, environment: dict[str, str]) -> None:
    """Type a command, run it in a pseudo-terminal, and show what it writes as it comes."""
    recorder.stream.feed("\x1b[1;32m$\x1b[0m ")
    for letter in command:
        recorder.show(letter, recorder.now + TYPING)
    recorder.rest(0.3)
    recorder.stream.feed("\n")
    chunks = run(command, folder, environment)
    real = chunks[-1][0] if chunks else 0.0
    scale, begun = min(1.0, LONGEST / max(real, 1e-9)), recorder.now
    for at, text in chunks:
        recorder.show(text, begun + at * scale)
    recorder.rest(PAUSE)


def run(command: str, folder: Path, environment: dict[str, str]) -> list[tuple[float, str]]:
    """What a command writes to a terminal, with the seconds since it began; raise if it fails."""
    begun = time.monotonic()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "-c", command], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    decode = codecs.getincrementaldecoder("utf-8")("replace")
    chunks: list[tuple[float, str]] = []
    while True:
        select.select([terminal], [], [])
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux tells so that the other side has been closed
            data = b""
        if not data:
            break
        chunks.append((time.monotonic() - begun, decode.decode(data)))
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"{command}: failed\n" + "".join(text for _, text in chunks))
    return chunks


def draw(frames: Frames, seconds: float) -> str:
    """An SVG in which every row that was ever shown has its time. Where nothing moves, the last picture is seen."""
    width, height = COLUMNS * LETTER + 2 * EDGE, ROWS * LINE + 2 * EDGE + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="14">',
        "<title>From a CSV file to a report in a terminal</title>",
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#242933"/>',
        *(f'<circle cx="{EDGE + 6 + 20 * n}" cy="18" r="6" fill="{colour}"/>'
          for n, colour in enumerate(("#e0707a", "#ebcb8b", "#a3c98a"))),
        # A clock: every row counts its time from here, and when it ends all begins anew.
        f'<rect width="0" height="0"><animate id="t" attributeName="x" from="0" to="0" begin="0;t.end" '
        f'dur="{seconds:.1f}s"/></rect>',
    ]  # fmt: skip
    for number in range(ROWS):
        y = EDGE + 20 + (number + 0.75) * LINE
        begun, shown = 0.0, ()  # type: tuple[float, Row]
        for at, rows in [*frames, (seconds, [()] * ROWS)]:
            if rows[number] == shown:
                continue
            if shown:
                parts.append(row(shown, y, begun, at, last=at == seconds))
            begun, shown = at, rows[number]
    return "\n".join([*parts, "</svg>\n"])


def row(runs: Row, y: float, begin: float, end: float, last: bool) -> str:
    """A row that is seen from `begin` to `end`."""
    spans = "".join(
        f'<tspan x="{EDGE + run.column * LETTER:.1f}" textLength="{len(run.text) * LETTER:.1f}" fill="{run.colour}"'
        + (' font-weight="bold"' if run.bold else "")
        + f">{escape(run.text)}</tspan>"
        for run in runs
    )
    if last:  # what is seen where nothing moves; hidden until its time comes
        timing = f'<set attributeName="visibility" to="hidden" begin="t.begin" end="t.begin+{begin:.2f}s"/>'
        return f'<text y="{y:g}" xml:space="preserve">{spans}{timing}</text>'
    timing = f'<set attributeName="visibility" to="visible" begin="t.begin+{begin:.2f}s" end="t.begin+{end:.2f}s"/>'
    return f'<text y="{y:g}" visibility="hidden" xml:space="preserve">{spans}{timing}</text>'


@contextlib.contextmanager
def new_place() -> Iterator[tuple[Path, dict[str, str]]]:
    """A copy of the repository with nothing installed, and the environment of somebody who begins there."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "topoi"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "__pycache__", "site", "*.egg-info"))
        keep = ("HOME", "LANG", "PIP_", "SSL_", "http", "HTTP", "no_proxy")
        environment = {name: value for name, value in os.environ.items() if name.startswith(keep)}
        environment |= {
            "PATH": f"{folder}/.venv/bin:{os.environ['PATH']}",
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
        }
        environment["PIP_QUIET"] = "3"  # no remarks on how this machine's pip is set up
        environment["COLUMNS"], environment["LINES"] = str(COLUMNS), str(ROWS)
        yield folder, environment


def cpu_seconds() -> float:
    """CPU time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Install, record, draw."""
    begun = time.monotonic()
    with new_place() as (folder, environment):
        recorder = Recorder()
        for command in INSTALL:
            record(recorder, command, folder, environment)
        installed = time.monotonic()
        subprocess.run([folder / ".venv/bin/python", "-c", MAKE_CSV], check=True, cwd=folder, env=environment)
        for command in COMMANDS:
            record(recorder, command, folder, environment)
        ended = time.monotonic()
    seconds = recorder.now + 2 * PAUSE
    PICTURE.write_text(draw(recorder.frames, seconds), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1e3:.0f} kB, {seconds:.0f} s")
    print(f"really: {installed - begun:.0f} s to install, {ended - installed:.0f} s from the CSV file to the report;")
    print(f"CPU time of all commands: {cpu_seconds():.0f} s")


if __name__ == "__main__":
    main()
