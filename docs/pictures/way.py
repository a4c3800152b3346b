"""Count the files that a document passes, for docs/architecture.md: python docs/pictures/way.py

Runs the two commands of the page on eight documents, with the kernels interpreted, and notes which files of the package
they enter: by a call, or by the body of a class. Writes the numbers into the page.
"""

from __future__ import annotations

import csv
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "topoi"
COMMANDS = (
    ["fit", "posts.csv", "--text", "body", "--label", "topic", "--topics", "50", "-o", "model"],
    ["predict", "model", "posts.csv", "-o", "predictions.csv"],
)
ROOMS = {"chain": ("chain",), "read": ("readers", "corpus"), "cli": ("cli",), "estimators": ("estimators",),
         "write": ("_disk", "writers")}  # fmt: skip


def is_class(code: CodeType) -> bool:
    """Whether it is the body of a class: neither a module nor a function."""
    return code.co_name != "<module>" and not code.co_flags & inspect.CO_OPTIMIZED


def watch(arguments: list[str]) -> None:
    """Run a command, and print what it entered: files with calls, those with bodies of classes, both before a sweep."""
    import threading

    called: dict[str, None] = {}
    named: dict[str, None] = {}
    before: list[int] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name == "<module>" or not code.co_filename.startswith(str(PACKAGE)):
            return
        if code.co_name == "sweep" and not before:
            before.append(len(called | named))
        (named if is_class(code) else called)[code.co_filename] = None

    threading.setprofile(note)
    sys.setprofile(note)
    from topoi.cli import app

    app(arguments, prog_name="topoi", standalone_mode=False)
    sys.setprofile(None)
    names = [[str(Path(file).relative_to(PACKAGE)) for file in files] for files in (called, named)]
    print(json.dumps({"called": names[0], "named": names[1], "before": before[0] if before else 0}))


def entered(folder: Path, arguments: list[str]) -> dict[str, Any]:
    """What a command enters, in a process of its own."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PACKAGE.parent)}
    given = [sys.executable, str(Path(__file__).resolve()), *arguments]
    out = subprocess.run(given, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def main() -> None:
    """Count, and write the numbers into the page."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with open(folder / "posts.csv", "w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["body", "topic"])
            table.writerows([["red cats and dogs", "pets"], ["long trains and boats", "travel"]] * 4)
        fit, predict = (entered(folder, command) for command in COMMANDS)
    files = {*fit["called"], *fit["named"]}
    of_rooms = Counter(Path(file).parts[0] for file in files)
    n = {name: sum(of_rooms[room] for room in rooms) for name, rooms in ROOMS.items()}
    only_named = len(set(fit["named"]) - set(fit["called"]))
    numbers = {
        r"interpreted: \d+ for the fit": f"interpreted: {len(files)} for the fit",
        r"\d+ of them before the first sweep": f"{fit['before']} of them before the first sweep",
        r"\d+ for the prediction": f"{len({*predict['called'], *predict['named']})} for the prediction",
        r"of the \d+, \d+ are of the chain": f"of the {len(files)}, {n['chain']} are of the chain",
        r"\d+ read \(": f"{n['read']} read (",
        r"\d+ are of the command line, \d+ of the\nestimators and \d+ write files; and \d+ are":
            f"{n['cli']} are of the command line, {n['estimators']} of the\nestimators and {n['write']} write files; "
            f"and {only_named} are",
    }  # fmt: skip
    text = PAGE.read_text("utf-8")
    for old, new in numbers.items():
        text, times = re.subn(old, new, text)
        assert times == 1, old
        print(" ".join(new.split()))
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        watch(sys.argv[1:])
    else:
        main()
