"""Small files for the tests of the command line, and ways to call it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from topoi import cli

SUBJECTS = {
    "fruit": ["apple", "pear", "cherry", "plum", "orchard", "juice", "basket"],
    "metal": ["iron", "copper", "zinc", "nickel", "furnace", "alloy", "forge"],
    "weather": ["rain", "wind", "cloud", "snow", "storm", "thunder", "fog"],
}
FILES = ["estimator.topoi", "model_card.md", "topoi.json"]  # of a model
QUICK = ("--topics", "4", "--sweeps", "12", "--jobs", "1")


def records(n=60):
    """Posts about one subject or two; every eleventh has no label."""
    rng = np.random.default_rng(7)
    names = list(SUBJECTS)
    out = []
    for i in range(n):
        first, second = names[i % 3], names[rng.integers(3)]
        words = [
            *rng.choice(SUBJECTS[first], 12),
            *rng.choice(SUBJECTS[second], 3),
            "hapax" + chr(97 + i // 26) + chr(97 + i % 26),
        ]
        stars = round(sum(word in SUBJECTS["fruit"] for word in words) / 3 + rng.normal(0, 0.1), 3)
        out.append(
            {
                "key": f"post-{i}",
                "body": " ".join(rng.permutation(words)).capitalize() + ".",
                "subject": "" if i % 11 == 10 else first,
                "tags": ";".join(sorted({first, second})),
                "stars": stars,
            }
        )
    return out


def write_csv(path, rows=None):
    rows = records() if rows is None else rows
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def call(*arguments, input=None):
    """Run a command in this process."""
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], input=input)


def done(*arguments, input=None):
    """Run a command that must succeed."""
    result = call(*arguments, input=input)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result


def as_json(*arguments):
    """What a command prints to standard output, which must be JSON and nothing else."""
    return json.loads(done(*arguments).stdout, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))


def table(text):
    """The rows of a CSV text."""
    return list(csv.DictReader(text.splitlines()))


def process(*arguments, **more):
    """Start the command as a process of its own."""
    environment = os.environ | {"PYTHONUTF8": "1"}
    return subprocess.Popen([sys.executable, "-m", "topoi", *map(str, arguments)], env=environment, **more)
