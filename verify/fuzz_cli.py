"""The command line: every command and option, with values that nobody should give, ends in one clear message or works.

    python verify/fuzz_cli.py [--cases 10000] [--seed 0]

Commands and options are those that the command line itself declares, so that new ones are covered. A case is a call
that would succeed, in which one to three options or arguments get hostile values (empty, huge, negative, no numbers, no
UTF-8, NUL, like options, devices, folders, very long, terminal escapes), are given twice, or are left out. Work that is
really asked for (a billion sweeps) must end at Ctrl-C. `fuzzing.py` says what else is checked.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
import typer
from fuzz_inputs import TINY, make_all
from fuzzing import Fault, Place, Tell, command
from untouched import snapshot

from topoi import cli

NUMBERS = [
    "0", "-1", "1", "2", "3", "-0", "1e308", "1e-308", "1e999", "nan", "inf", "-inf", "2147483648", "9" * 30, "0x10",
    "1_0", "4294967296", "0.5", "1.0", "١", "²", "1e3", "-1e-3", "100000", "1000000000", "99999999999999999999",
]  # fmt: skip
TEXTS = [
    "", " ", "\0", "a\0b", "x" * 5000, "x" * 300, b"\xff\xfe".decode("utf-8", "surrogateescape"), "\ud83d", "--",
    "-", "--force", "-h", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\r\n", "\n", "\t", ",", ";", "[bold]x[/bold]",
    "[/]", "%s%n", "{0}", "${HOME}", "$(id)", "`id`", "'", '"', "\\", "ünïcode", "日本語", "\u202eevil", "é", "None",
    "null", "true", "auto", "learn", "english", "utf-16", "utf-7", "rot13", "zlib", "idna", "undefined", "csv",
    "jsonl", "npz", "parquet", "svmlight", "uci", "mallet", "folder", "txt", "tsv", "hinge", "logistic", "squared",
    "ovr", "ovo", "skip", "body", "subject", "stars", "key", "(", "(a+)+$", "[", "(?P<a>.)", "\\", "a|b", ".*",
    "(?i)x", "tcp://127.0.0.1:9", "tls://127.0.0.1:9", "tcp://", "blocks", "inproc://x", "127.0.0.1:9",
]  # fmt: skip
PATHS = [
    ".", "empty/..", "/", "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/fd/0", "/proc/self/mem",
    "/nowhere/x", "folder", "model", "documents.csv", "empty", "empty.csv", "loop", "model/topoi.json",
    "model/estimator.topoi", "documents.csv/x", "x/" * 100 + "x", "~", "~nobody/x", "file:///etc/passwd", "C:\\x",
    "NUL", "a.gz", "a.zst", "a.npz", "a.parquet", "a.svm", "docword.a.txt", "a.jsonl.gz", "out.html", "new/deep/er",
]  # fmt: skip
#: Options whose numbers are amounts of work; a user who asks for much gets it, until Ctrl-C.
WORK = ("topics", "sweeps", "samples", "chains", "burn_in", "sampler", "max_seconds")
LEFT_OUT = {"warmup": "compiles, and takes no value", "demo": "learns from 300 documents: seconds at best"}
OUTPUTS = {"fit": "new", "report": "out.html"}
COMMANDS: dict[str, Any] = {
    name: found
    for name, found in typer.main.get_command(cli.app).commands.items()
    if name not in LEFT_OUT  # type: ignore[attr-defined]
}


def good(name: str, rng: np.random.Generator) -> dict[str, list[str]]:
    """Options and arguments, by their names, of a call of a command that succeeds."""
    model = ["lda", "classifier", "regressor"][int(rng.integers(3))]
    known = {
        "model": ["unfinished" if name == "resume" else model], "documents": ["documents.csv"],
        "output": ["out.jsonl"] if name == "convert" else ["-o", OUTPUTS.get(name, "out.csv")],
        "form": ["-f", "topic-word"], "row": ["--row", "1"],
    }  # fmt: skip
    if name in ("fit", "convert"):
        known["text"] = ["--text", "body"]
        if model != "lda":
            known |= {"label": ["--label", "subject"]} if model == "classifier" else {"target": ["--target", "stars"]}
    if name == "fit":
        known |= {option.removeprefix("--").replace("-", "_"): [option, value]
                  for option, value in zip(TINY[::2], TINY[1::2], strict=True)}  # fmt: skip
    declared = {parameter.name for parameter in COMMANDS[name].params}
    return {parameter: given for parameter, given in known.items() if parameter in declared}


def hostile(rng: np.random.Generator) -> str:
    """A value that nobody should give, or one that is good for another option."""
    values = (NUMBERS, TEXTS, PATHS)[int(rng.integers(3))]
    value = values[int(rng.integers(len(values)))]
    return value if rng.random() < 0.95 else value + str(hostile(rng))


def case(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """A command, and a call of it with a few things wrong."""
    name = sorted(COMMANDS)[int(rng.integers(len(COMMANDS)))]
    parameters = [parameter for parameter in COMMANDS[name].params if parameter.name != "open_page"]  # in a browser
    given = good(name, rng)
    much = network = False
    extra: list[str] = []
    for _ in range(int(rng.integers(1, 4))):
        parameter = parameters[int(rng.integers(len(parameters)))]
        value = hostile(rng)
        network |= parameter.name == "dask"
        much |= network or parameter.name in WORK or value.startswith(("/dev/", "/proc"))
        if rng.random() < 0.05:
            given.pop(parameter.name, None)
        elif parameter.param_type_name == "argument":
            given[parameter.name] = [value]
        else:
            spelling = [*parameter.opts, *parameter.secondary_opts]
            option = spelling[int(rng.integers(len(spelling)))]
            words = [option] if parameter.is_flag else [option, value]
            if not parameter.is_flag and option.startswith("--") and rng.random() < 0.3:
                words = [f"{option}={value}"]
            if rng.random() < 0.1:
                extra += words  # once more
            else:
                given[parameter.name] = words
    if rng.random() < 0.03:
        extra.append(hostile(rng))
    arguments = [word for parameter in parameters for word in given.get(parameter.name, [])] + extra
    for folder in ("lda", "classifier", "regressor", "unfinished"):
        shutil.copytree(place.outside / folder, folder)
    shutil.copytree("lda", "model")
    shutil.copyfile(place.outside / "documents.csv", "documents.csv")
    os.mkdir("empty")
    Path("empty.csv").touch()
    os.symlink("loop", "loop")
    tell(f"topoi {' '.join(map(ascii, [name, *arguments]))}", much=much, network=network)
    # What a command reads; any other file that is named is replaced.
    mine = [place.work / path for path in ("model", *given.get("documents", [])) if path in ("model", "documents.csv")]
    before = [snapshot(path) for path in mine]
    outcome = command([name, *arguments], given=Path("documents.csv").read_bytes() if rng.random() < 0.5 else b"")
    after = [snapshot(path) for path in mine]
    if before != after and "--force" not in arguments:
        raise Fault("a model or the documents were replaced, without --force")
    if outcome == "refused: memory" and not much:
        raise Fault("asks for much memory")
    return outcome


if __name__ == "__main__":
    fuzzing.main(__doc__ or "", make_all, case)
