"""How fast files are read, and with how much memory: python benchmarks/reading.py [megabytes] [format …]

Makes a synthetic file with Zipfian words, reads it in a fresh process and prints MB/s, the peak of its memory, and the
size of the corpus: 4 bytes a token, 8 a document.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SUFFIX = {"jsonl": ".jsonl", "jsonl.gz": ".jsonl.gz", "csv": ".csv", "txt": ".txt", "svmlight": ".svm"}


def words(n: int, rng: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    return ["".join(rng.choice(letters, size)) for size in rng.integers(2, 12, n)]


def make(path: Path, megabytes: int, kind: str) -> None:
    """Documents of some 150 words; a vocabulary of 200,000."""
    rng = np.random.default_rng(0)
    vocabulary = np.array(words(200_000, rng), object)
    size, n = 0, 0
    with gzip.open(path, "wt", 1, "utf-8") if kind.endswith("gz") else path.open("w", encoding="utf-8") as file:
        if kind == "csv":
            file.write("id,label,text\n")
        while size < megabytes * 1e6:
            numbers = rng.zipf(1.2, 150) % len(vocabulary)
            label = int(numbers[0] % 5)
            if kind == "svmlight":
                values, counts = np.unique(numbers, return_counts=True)
                line = f"{label} " + " ".join(f"{w + 1}:{c}" for w, c in zip(values, counts, strict=True)) + "\n"
            else:
                text = " ".join(vocabulary[numbers]).capitalize() + "."
                line = {
                    "csv": f'{n},l{label},"{text}"\n',
                    "txt": f"{text}\n",
                }.get(kind) or json.dumps({"id": n, "label": f"l{label}", "text": text}) + "\n"
            n += 1
            size += file.write(line)


def read(path: str, megabytes: int) -> None:
    """Read in this process and print what it took."""
    from topoi.readers import read_documents

    named = path.endswith(("csv", "jsonl", "gz"))
    before = memory()
    start = time.process_time()
    data = read_documents(path, label="label" if named else None, min_df=2 if named else 1)
    seconds = time.process_time() - start
    corpus = (data.corpus.words.nbytes + data.corpus.doc_ptr.nbytes) / 1e6
    print(f"{data!r}: {seconds:.1f} s CPU, {megabytes / seconds:.0f} MB/s;", end=" ")
    print(f"memory {before:.0f} MB before, {memory():.0f} MB at the peak, corpus {corpus:.0f} MB")


def memory() -> float:
    """The peak so far, in MB."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for kind in sys.argv[2:] or ["jsonl"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"data{SUFFIX[kind]}"
            make(path, megabytes, kind)
            print(kind, end=": ", flush=True)
            subprocess.run([sys.executable, __file__, "--read", str(path), str(megabytes)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], int(sys.argv[3]))
    else:
        main()
