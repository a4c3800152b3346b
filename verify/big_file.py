"""A big file of texts is fitted in the memory of its model and corpus: python verify/big_file.py [megabytes] [folder]

Makes a JSONL file of documents with labels and Zipfian words, fits it by `topoi fit` in a process of its own, and tells
the peak of its memory beside what corpus, topics and tables take. The first tenth of the documents is fitted twice: as
it is, and with dashes between its words that make its file as large as that of all. Then all are fitted twice more,
stopped by SIGTERM and by Ctrl-C (SIGINT), resumed by `topoi resume`, and the bytes compared. The files are deleted.
POSIX only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

N_LABELS = 5
N_WORDS = 200_000
LENGTH = 120  # words of a document
TOPICS, SWEEPS = 20, 8
FIT = ("--text", "text", "--label", "label", "--topics", str(TOPICS), "--sweeps", str(SWEEPS), "--hold-out", "0.01")


def vocabulary(rng: np.random.Generator) -> np.ndarray:
    """Words of 2 to 12 letters; those that come first are short, as frequent words are."""
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    sizes = np.minimum(2 + np.log2(1 + np.arange(N_WORDS)) * rng.uniform(0.3, 0.9, N_WORDS), 12).astype(int)
    return np.array(["".join(rng.choice(letters, size)) for size in sizes], object)


def make(path: Path, megabytes: float) -> None:
    """Documents of one label each; a third of the words of a document are of its label."""
    rng = np.random.default_rng(0)
    words = vocabulary(rng)
    size = number = 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            label = int(rng.integers(N_LABELS))
            drawn = rng.zipf(1.3, LENGTH) * 7 % N_WORDS
            own = rng.random(LENGTH) < 1 / 3
            drawn[own] = drawn[own] // N_LABELS * N_LABELS + label
            record = {"id": number, "label": f"label {label}", "text": " ".join(words[drawn])}
            size += file.write(json.dumps(record) + "\n")
            number += 1


def widened(line: str) -> str:
    """The same document in ten times as many letters."""
    record = json.loads(line)
    record["text"] = " ".join(word + " " + "-" * (9 * len(word) + 8) for word in record["text"].split())
    return json.dumps(record) + "\n"


class Usage(NamedTuple):
    """What a process took."""

    code: int
    megabytes: float  # the peak of its memory
    cpu_seconds: float


def topoi(*arguments: str, stop: int | None = None, folder: Path | None = None) -> Usage:
    """Run a command; with `stop`, send that signal once its first checkpoint is in `folder`."""
    process = subprocess.Popen([sys.executable, "-c", "import topoi.cli; topoi.cli.main()", *arguments])
    if stop is not None:
        assert folder is not None
        while not any(folder.rglob("sweep-*.topoi")):
            time.sleep(0.05)
            assert process.poll() is None, "it ended before its first checkpoint"
        os.kill(process.pid, stop)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Usage(process.returncode, usage.ru_maxrss / unit, usage.ru_utime + usage.ru_stime)


def tell(what: str, usage: Usage) -> None:
    """One line about a process."""
    print(
        f"{what}: exit code {usage.code}, {usage.cpu_seconds:,.0f} s CPU, peak memory {usage.megabytes:,.0f} MB",
        flush=True,
    )


def expected(about: dict[str, dict[str, int]]) -> dict[str, float]:
    """Megabytes of what must be in memory at once, from the counts of `topoi.json`."""
    n = about["counts"]
    return {
        "corpus (4 bytes a token, 8 a document)": (4 * n["tokens"] + 8 * n["documents"]) / 1e6,
        "corpus without the documents held out": (4 * n["tokens"] + 8 * n["learned_from"]) / 1e6,
        "topics of the tokens": 2 * n["tokens"] / 1e6,
        "tokens by word": 4 * n["tokens"] / 1e6,
        "words by topics": 4 * n["words"] * TOPICS / 1e6,
        "documents by topics": 4 * n["learned_from"] * TOPICS / 1e6,
    }


def main() -> None:
    """Make the file, fit, stop, resume, compare, delete."""
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1000.0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it, and so would the fits
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as place:
        folder = Path(place)
        file = folder / "documents.jsonl"
        make(file, megabytes)
        print(f"{file.stat().st_size / 1e6:,.0f} MB of JSON lines", flush=True)
        few, tenth, wide = (folder / name for name in ("few.jsonl", "tenth.jsonl", "wide.jsonl"))
        with file.open(encoding="utf-8") as source, few.open("w", encoding="utf-8") as sink:
            sink.writelines(islice(source, 500))
        n_tenth = sum(1 for _ in file.open("rb")) // 10
        with file.open(encoding="utf-8") as source, tenth.open("w", encoding="utf-8") as sink:
            sink.writelines(islice(source, n_tenth))
        with tenth.open(encoding="utf-8") as source, wide.open("w", encoding="utf-8") as sink:
            sink.writelines(widened(line) for line in source)
        models = []
        for path, what in ((few, "the first 500 documents"), (tenth, "a tenth of the documents"), (wide, "the same")):
            model = folder / path.stem
            usage = topoi("fit", str(path), *FIT, "-q", "-o", str(model))
            tell(f"fit of {what}, {path.stat().st_size / 1e6:,.0f} MB", usage)
            models.append((model / "estimator.topoi").read_bytes())
            path.unlink()
        print(f"  both of these are the same model: {models[1] == models[2]}")
        through = folder / "through"
        usage = topoi("fit", str(file), *FIT, "-q", "-o", str(through))
        tell("fit", usage)
        about = json.loads((through / "topoi.json").read_text("utf-8"))
        print(about["counts"], {k: v for k, v in about["held_out"].items() if k in ("documents", "accuracy")})
        for what, size in expected(about).items():
            print(f"  {what}: {size:,.0f} MB")
        for name, number in (("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT)):
            stopped = folder / name
            options = ("--checkpoint-seconds", "0", "-q", "-o", str(stopped))
            usage = topoi("fit", str(file), *FIT, *options, stop=number, folder=stopped)
            tell(f"{name} after the first checkpoint", usage)
            sweeps = json.loads((stopped / "topoi.json").read_text("utf-8"))["sweeps"]
            left = sum(path.stat().st_size for path in stopped.rglob("sweep-*.topoi")) / 1e6
            print(f"  stopped after {sweeps} of {SWEEPS} sweeps; checkpoints of {left:,.0f} MB")
            tell("  resumed", topoi("resume", str(stopped), "-q"))
            same = (stopped / "estimator.topoi").read_bytes() == (through / "estimator.topoi").read_bytes()
            print(f"  same bytes as the fit that was not stopped: {same}", flush=True)
            if not same or usage.code != 130:
                sys.exit(1)


if __name__ == "__main__":
    main()
