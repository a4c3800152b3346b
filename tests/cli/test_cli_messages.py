"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from support.cli_files import call
from support.places import ROOT
from topoi import cli
from topoi.cli._groups import described
from topoi.cli._messages import OPTIONS, SAME, in_options, option
from topoi.errors import FileError, ParameterError


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("a.csv: give delimiter=';'.", "a.csv: give --delimiter ';'."),
        ("a.csv: read quotes as text: quotes=False.", "a.csv: read quotes as text: --no-quotes."),
        ("a.svm: give first_index=0.", "a.svm: give --first-index 0."),
        ("a.csv: Name one: text=….", "a.csv: Name one: --text …."),
        ("a.txt: see token_pattern, stop_words and min_df.", "a.txt: see --token-pattern, --stop-words and --min-df."),
        ("a.csv: has no column 'min_df'.", "a.csv: has no column 'min_df'."),
        ("no full stop", "no full stop."),
    ],
)
def test_in_options(message, expected):
    assert in_options(FileError(message)) == expected


def test_parameters():
    assert in_options(ParameterError("n_topics", "must be 1, not 0")) == "--topics: must be 1, not 0."
    assert in_options(ParameterError("unheard", "of")) == "unheard: of."


def test_every_option_that_is_named_is_there():
    """What a message tells the user to give exists somewhere."""
    commands = typer.main.get_command(cli.app).commands.values()
    known = {name for command in commands for parameter in command.params for name in parameter.opts}
    named = {option(name) for name in (*OPTIONS, *SAME)}
    assert {name for name in named if name.startswith("--")} <= known


@pytest.mark.parametrize(
    "command", sorted(command.name or command.callback.__name__ for command in cli.app.registered_commands)
)
def test_help_teaches_by_an_example(command):
    result = call(command, "--help")
    assert result.exit_code == 0
    assert command == "demo" or re.search(rf"topoi {command} ", result.output)


@pytest.mark.parametrize("page", ["README.md", "docs/command_line.md", "help"])
def test_commands_that_are_written_down_exist(page):
    """Every `topoi …` in a block of code has a command and options that there are."""
    if page == "help":
        text = "\n".join(described(command) for group in cli.COMMANDS.values() for command in group)
    else:
        whole = (ROOT / page).read_text("utf-8")
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", whole, re.MULTILINE | re.DOTALL)
        text = "".join(block for language, block in blocks if not language)
    lines = re.findall(r"^(?: *|\$ |.*\| )topoi (\w.*)$", text, re.MULTILINE)
    assert len(lines) >= 5
    commands = typer.main.get_command(cli.app).commands
    for line in lines:
        name, *rest = shlex.split(re.split(r" [|>] ", line)[0])
        known = {option for parameter in commands[name].params for option in parameter.opts} | {"--help"}
        assert {part for part in rest if part.startswith("-") and part != "-"} <= known, line


def test_a_fault_of_our_own_is_no_bad_input(monkeypatch):
    def fail(path):
        raise RuntimeError("a bug")

    monkeypatch.setattr("topoi.cli.topics.open_model", fail)
    result = call("topics", "model")
    assert result.exit_code == 1
    assert isinstance(result.exception, RuntimeError)
