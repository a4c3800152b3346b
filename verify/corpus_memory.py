"""The peak memory of building a corpus in parts, for inputs of three sizes with the same vocabulary, beside one go.

    python verify/corpus_memory.py [--documents 50000] [--jobs 2]

Texts are random words of a Zipf vocabulary in files of Parquet. Each size is built in a process of its own, whose peak
(with that of its own processes) is printed, less that of a process that builds a corpus of one document. In parts the
growth should be that of documents, some 50 bytes each, not the 4 bytes of each token; in one go it is both.
Fails if parts take more than half of what the tokens of the largest size take.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LENGTH, WORDS, FILES = 200, 30_000, 8

RUN = """
import resource, sys
from topoi.readers import read_documents
pattern, folder, jobs = sys.argv[1:]
more = {} if folder == "-" else {"save_to": folder, "n_jobs": int(jobs)}
corpus = read_documents(pattern, text="body", min_df=1, max_df=1.0, stop_words=None, clean="none", **more).corpus
peak = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(corpus.n_tokens, *peak)
"""


def write(folder: Path, n_documents: int) -> str:
    """Random texts, in files of Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng = np.random.default_rng(n_documents)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(word) for word in np.random.default_rng(0).choice(letters, (WORDS, 7))])
    p = 1 / np.arange(1, WORDS + 1)
    for i in range(FILES):
        n = -(-n_documents // FILES)
        drawn = words[rng.choice(WORDS, (n, LENGTH), p=p / p.sum())]
        table = pa.table({"body": [" ".join(text) for text in drawn.tolist()]})
        pq.write_table(table, folder / f"part-{i}.parquet", row_group_size=2000)
    return f"{folder}/*.parquet"


def peak(pattern: str, folder: str, jobs: int) -> tuple[int, float, float]:
    """Tokens, and MB of the process that adds up and of the largest that reads."""
    run = subprocess.run(
        [sys.executable, "-c", RUN, pattern, folder, str(jobs)], capture_output=True, text=True, check=True
    )
    n_tokens, own, others = map(int, run.stdout.split())
    return n_tokens, own / 1024, others / 1024


def main() -> None:
    """Measure, print, and fail if memory is not bounded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        base = peak(write(place / "one", FILES), f"{place}/corpus-0", asked.jobs)
        print("documents      tokens   MB of tokens   MB in parts: adds up, reads   MB in one go")
        found = []
        for i, n in enumerate((asked.documents, 2 * asked.documents, 4 * asked.documents), 1):
            pattern = write(place / f"files-{i}", n)
            n_tokens, own, others = peak(pattern, f"{place}/corpus-{i}", asked.jobs)
            whole = peak(pattern, "-", 1)[1]
            found.append((n_tokens, own - base[1], others - base[2], whole - base[1]))
            row = found[-1]
            print(f"{n:9,} {n_tokens:11,} {4e-6 * n_tokens:14.0f} {row[1]:21.0f} {row[2]:7.0f} {row[3]:14.0f}")
    growth = [found[-1][i] - found[0][i] for i in (1, 2)]
    tokens = 4e-6 * (found[-1][0] - found[0][0])
    print(f"from the first to the last: tokens {tokens:.0f} MB; adds up {growth[0]:.0f} MB, reads {growth[1]:.0f} MB")
    if max(growth) > tokens / 2:
        sys.exit("memory grows with the tokens")


if __name__ == "__main__":
    main()
