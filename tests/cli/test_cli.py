"""The command line: what it prints, and how it ends."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import topoi
from topoi import cli, datasets
from topoi.datasets import Texts
from topoi.errors import CorpusError

SUBJECTS = {
    "fruit": "apple pear cherry plum orchard",
    "metal": "iron copper zinc nickel furnace",
    "weather": "rain wind cloud snow storm",
}


@pytest.fixture
def small_docs(monkeypatch):
    """Sixty documents about three subjects in place of the standard library."""
    labels = list(SUBJECTS) * 20
    texts = [" ".join(SUBJECTS[label].split()[i % 3 :] * 3) for i, label in enumerate(labels)]
    monkeypatch.setattr(datasets, "python_docs", lambda: Texts(texts, labels))


def call(*arguments):
    return CliRunner().invoke(cli.app, arguments)


def call_main(monkeypatch, *arguments):
    """Exit code of the entry point itself."""
    monkeypatch.setattr(sys, "argv", ["topoi", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code


def test_help_names_every_command():
    result = call("--help")
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "info" in result.output


def test_help_is_quick():
    """Nothing heavy is imported before a command runs."""
    code = "import sys, topoi.cli; sys.exit(bool({'numba', 'sklearn', 'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_as_a_module():
    """`python -m topoi` is the command, by its own name."""
    command = [sys.executable, "-m", "topoi"]
    asked = subprocess.run([*command, "--help"], check=True, capture_output=True, encoding="utf-8")
    assert "Usage: topoi [OPTIONS] COMMAND" in asked.stdout
    wrong = subprocess.run([*command, "no-such"], check=False, capture_output=True, encoding="utf-8")
    assert wrong.returncode == 2
    assert "Usage: topoi [OPTIONS] COMMAND" in wrong.stderr


def test_version():
    result = call("--version")
    assert result.exit_code == 0
    assert result.output == f"topoi {topoi.__version__}\n"


def test_info_lists_every_sampler():
    result = call("info")
    assert result.exit_code == 0
    for row in topoi.samplers_table():
        assert row["name"] in result.output
    for word in (topoi.__version__, "numba", "cache"):
        assert word in result.output


@pytest.mark.parametrize("long", [0.0, 1e9])
def test_demo_finds_the_subjects(small_docs, monkeypatch, long):
    monkeypatch.setattr("topoi.cli._demo.LONG", long)
    result = call("demo", "--topics", "3", "--sweeps", "60", "--jobs", "1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    for subject, words in SUBJECTS.items():
        (line,) = [line for line in lines if f"{subject} 100%" in line or f"{subject} 9" in line]
        assert words.split()[-1] in line
    assert "60 sweeps" in result.stdout
    assert "held-out documents" in result.stdout
    assert "54 docstrings of 3 modules" in result.stderr
    assert ("kernels compiled, once" in result.stderr) == (long == 0.0)
    assert "Predicting the module of a docstring (MedLDA, 3 modules" in result.stdout
    assert "words of the topic that speaks most for it" in result.stdout


def test_demo_predicts_the_modules_with_the_most_docstrings(small_docs, monkeypatch):
    docs = datasets.python_docs()
    texts, labels = [*["needle " * 12] * 5, *docs.texts], [*["rare"] * 5, *docs.labels]
    monkeypatch.setattr(datasets, "python_docs", lambda: Texts(texts, labels))
    monkeypatch.setattr("topoi.cli._demo.MODULES", 3)
    result = call("demo", "--topics", "3", "--sweeps", "20", "--jobs", "1")
    topics, modules = result.stdout.split("Predicting the module of a docstring (MedLDA, 3 modules")
    assert "rare" in topics
    assert [name for name in [*SUBJECTS, "rare"] if name in modules] == list(SUBJECTS)


def test_demo_of_two_modules_has_topics_alone(small_docs, monkeypatch):
    monkeypatch.setattr("topoi.cli._demo.MODULES", 2)
    result = call("demo", "--topics", "3", "--sweeps", "20", "--jobs", "1")
    assert result.exit_code == 0, result.output
    assert "Predicting" not in result.stdout


def test_demo_is_the_same_for_any_number_of_threads(small_docs):
    outputs = []
    for jobs in ("1", "2"):
        result = call("demo", "--topics", "3", "--sweeps", "20", "--jobs", jobs)
        assert result.exit_code == 0, result.output
        outputs.append(re.sub(r"[\d.]+ (s\b|M tokens)", "", " ".join(result.stdout.split())))  # without the times
    assert outputs[0] == outputs[1]


def test_demo_stopped_by_the_user_shows_what_it_has(small_docs, monkeypatch):
    from topoi.estimators import base

    class Pressed(base.Interrupt):
        requested = property(lambda self: True, lambda self, value: None)

    monkeypatch.setattr("topoi.cli._demo.compile_kernels", lambda documents, n_topics: None)
    monkeypatch.setattr(base, "Interrupt", Pressed)
    result = call("demo", "--topics", "3", "--sweeps", "60")
    assert result.exit_code == 130
    assert "stopped by Ctrl-C" in result.stderr
    assert "most telling words" in result.stdout


@pytest.mark.parametrize("option", [("--topics", "0"), ("--sweeps", "x"), ("--seed", "-1"), ("--nonsense",)])
def test_bad_option(option):
    assert call("demo", *option).exit_code == 2


def test_error_has_no_traceback(monkeypatch, capsys):
    def fail():
        raise CorpusError("there are no source files [here]")

    monkeypatch.setattr(datasets, "python_docs", fail)
    assert call_main(monkeypatch, "demo") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Error: there are no source files [here]" in printed.err
    assert "Traceback" not in printed.err


def test_ctrl_c_outside_the_fit(monkeypatch, capsys):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "python_docs", stop)
    assert call_main(monkeypatch, "demo") == 130
    assert "Traceback" not in capsys.readouterr().err
