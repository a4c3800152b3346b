"""Escape sequences and markup in words, labels, names and messages are shown, never obeyed."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from support.cli_files import QUICK, call, done, process, records, write_csv
from topoi._machine.terminal import Harmless, harmless
from topoi.cli._console import Console

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202egpj\u2066\r[red][link=http://evil]x[/]:skull:"
OBEYED = [chr(code) for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
OBEYED = [character for character in OBEYED if character not in "\n\t"]
posix = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of POSIX")
pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def assert_harmless(text):
    assert not [character for character in OBEYED if character in text]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model whose every word and one of whose labels are evil."""
    folder = tmp_path_factory.mktemp("terminal")
    for record in (rows := records()):
        record["subject"] = record["subject"].replace("metal", EVIL)
        record["body"] = " ".join(f"{word}{EVIL}" for word in record["body"].split())
    write_csv(folder / "posts.csv", rows)
    options = ("--text", "body", "--label", "subject", "--tokenized", *QUICK)
    assert_harmless(done("fit", folder / "posts.csv", *options, "-o", folder / "model").output)
    return folder


def test_what_a_terminal_obeys():
    assert harmless("".join(OBEYED)).isprintable()
    for text in ("plain", "two\nlines\tand a tab", "naïve Ελληνικά 日本 👩\u200d🔬 العربية"):
        assert harmless(text) == text
    assert harmless("\x1b[2J\x7f") == "␛[2J␡"


def test_a_stream_cut_within_a_character():
    out = io.BytesIO()
    stream = Harmless(out)
    for byte in f"é\u202e\x1b{EVIL}日".encode():
        stream.write(bytes([byte]))
    assert out.getvalue().decode("utf-8") == harmless(f"é\u202e\x1b{EVIL}日")


@pytest.mark.parametrize("terminal", [False, True])
def test_console(terminal):
    from rich.table import Table
    from rich.text import Text

    table = Table(EVIL)
    table.add_row(EVIL)
    table.add_row(Text(EVIL))
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=terminal, color_system=None).print(EVIL, table, Text(EVIL))
    assert_harmless(out.getvalue())
    assert out.getvalue().count("[red][link=http://evil]x[/]:skull:") == 5


@pytest.mark.parametrize(
    ("terminal", "lines"), [(True, ["a sentence", "that is long"]), (False, ["a sentence that is long"])]
)
def test_sentences_break_between_words_on_a_terminal_only(terminal, lines):
    """Whoever reads a pipe looks for whole lines."""
    out = io.StringIO()
    Console(file=out, width=14, force_terminal=terminal, color_system=None).say("a sentence that is long")
    assert [line.rstrip() for line in out.getvalue().splitlines()] == lines


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", "model"),
        ("info", "model"),
        ("explain", "model", "posts.csv", "--row", "1"),
        ("evaluate", "model", "posts.csv", "--measures", "predictions"),
        ("topics", "model", "--json"),
        ("predict", f"model{EVIL}", "posts.csv"),
        ("predict", "model", f"none{EVIL}.csv"),
        ("predict", "model", "posts.csv", "--text", EVIL),
        ("topics", "model", EVIL),
        (EVIL,),
        (f"--{EVIL}",),
        ("topics", "model", f"--{EVIL}"),
        ("export", "model", "-o", "x.csv", "-f", EVIL),
        ("fit", "posts.csv", "--topics", EVIL),
    ],
)
def test_commands(place, monkeypatch, arguments):
    monkeypatch.chdir(place)
    result = call(*arguments)
    assert result.output
    assert_harmless(result.output)
    assert_harmless(result.stderr)


def test_a_pipe_gets_the_data(place):
    """A label goes to other programs as it is."""
    out, _ = process("predict", place / "model", place / "posts.csv", **pipes).communicate()
    assert EVIL.encode("utf-8") in out


@posix
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_terminal_gets_no_escape_sequence_in_a_table(place, form):
    import pty

    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # a container may have none
        pytest.skip(f"there is no pseudo-terminal: {error}")
    running = process(
        "predict", place / "model", place / "posts.csv", "--to", form, stdout=theirs, stderr=subprocess.PIPE
    )
    os.close(theirs)
    found = b""
    try:
        while piece := os.read(ours, 65536):
            found += piece
    except OSError:  # the end of a terminal on Linux
        pass
    os.close(ours)
    assert running.wait() == 0, running.stderr.read()
    text = found.decode("utf-8").replace("\r\n", "\n").removesuffix("\x1b[0m")  # colorama's last word, of its own
    assert "skull" in text
    assert_harmless(text)


def test_faults_and_warnings(tmp_path):
    """What Python itself would print."""
    code = (
        "import sys, warnings\n"
        "from topoi.cli import main, topics\n"
        f"evil = {EVIL!r}\n"
        "def fail(path):\n"
        "    warnings.warn(evil)\n"
        "    raise RuntimeError(evil)\n"
        "topics.open_model = fail\n"
        "sys.argv = ['topoi', 'topics', 'model']\n"
        "main()\n"
    )
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, encoding="utf-8")
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "UserWarning" in done.stderr
    assert "please report it" in done.stderr
    assert_harmless(done.stderr)
