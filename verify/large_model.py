"""A model larger than memory is saved, loaded, asked and saved again: python verify/large_model.py [millions] [folder]

Makes the counts of a synthetic model of a million words and 10,000 topics in files, 500 million entries unless another
number is given, with half as many of its last sample; 24 bytes an entry on the disk, and as much again for the model
file. Every step then has a process of its own, whose peak of resident memory, pages of mapped files included, must stay
below `BOUND`. The files are deleted. Linux only, which tells the peak in /proc.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi import LDA, Corpus, load
from topoi._disk.blocks import map_file, new_file
from topoi.chain.model import TopicModel
from topoi.chain.priors import fixed_priors

WORDS, TOPICS = 10**6, 10**4
BOUND = 2.0  # GB
AT_ONCE = 2**22
STEPS = ("save", "load", "top_words", "transform", "perplexity", "save again")
PARTS = {"data": np.int64, "indices": np.int64}


def indptr_of(n: int) -> np.ndarray:
    """Where words begin: Zipf's law, at most as many topics as tokens, and as there are."""
    tokens = 1 / (np.arange(WORDS) + 10.0)
    low, high = 1.0, 1e12
    for _ in range(100):  # so many tokens that there are n entries
        middle = (low * high) ** 0.5
        low, high = (middle, high) if np.minimum(tokens * middle, TOPICS).sum() < n else (low, middle)
    return np.concatenate(([0], np.cumsum(np.minimum(tokens * low, TOPICS).astype(np.int64))))


def make(folder: Path, name: str, n: int) -> None:
    """The parts of a matrix, in files."""
    indptr, rng = indptr_of(n), np.random.default_rng(0)
    np.save(folder / f"{name}-indptr.npy", indptr)
    with new_file(folder / f"{name}-data") as data, new_file(folder / f"{name}-indices") as indices:
        first = 0
        while first < WORDS:
            last = max(int(np.searchsorted(indptr, indptr[first] + AT_ONCE)) - 1, first + 1)
            sizes = np.diff(indptr[first : last + 1])
            place = np.arange(sizes.sum()) - np.repeat(indptr[first:last] - indptr[first], sizes)
            step = np.repeat(TOPICS // np.maximum(sizes, 1), sizes)  # rising, and different for each word
            indices.write(((place + np.repeat(rng.random(len(sizes)), sizes)) * step).astype(np.int64).data)
            data.write((1 + 10 * rng.exponential(size=len(place))).astype(np.int64).data)
            first = last


def matrix(folder: Path, name: str) -> sparse.csr_array:
    """The matrix in files, mapped."""
    indptr = np.load(folder / f"{name}-indptr.npy")
    data, indices = (map_file(folder / f"{name}-{part}", PARTS[part], (int(indptr[-1]),), "r") for part in PARTS)
    return sparse.csr_array((data, indices, indptr), shape=(WORDS, TOPICS))


def documents() -> Corpus:
    """A thousand documents of 100 tokens."""
    rng = np.random.default_rng(1)
    words = np.sort((rng.zipf(1.1, (1000, 100)) * 7) % WORDS, axis=1).astype(np.int32)
    return Corpus(words.ravel(), np.arange(0, 100_001, 100), WORDS)


def estimator(folder: Path) -> LDA:
    """One that has been fitted, as far as its file goes."""
    vocabulary = np.array([f"w{w}" for w in range(WORDS)], object)
    priors = fixed_priors(np.full(TOPICS, 0.1), 0.01)
    model = TopicModel(matrix(folder, "counts"), matrix(folder, "last"), 3, priors, vocabulary)
    lda = LDA(n_topics=TOPICS, random_state=0)
    rest = {"_seed": 0, "n_features_in_": WORDS, "n_sweeps_": 1, "stopped_": "finished", "rhat_": float("nan")}
    for name, value in (rest | {"model_": model, "chains_": [model], "traces_": []}).items():
        setattr(lda, name, value)
    return lda


def step(name: str, folder: Path) -> str:
    """Do a step; returns what came of it."""
    file = folder / "model.topoi"
    if name == "save":
        estimator(folder).save(file)
        return f"{file.stat().st_size / 1e9:.1f} GB"
    lda = load(file)
    if name == "load":
        return f"{lda.model_.counts.nnz:,} entries"
    if name == "top_words":
        return " ".join(lda.model_.top_words(5)[0])
    if name == "transform":
        theta = lda.transform(documents())
        return f"{theta.shape}, rows sum to {theta.sum(1).min():.3f} … {theta.sum(1).max():.3f}"
    if name == "perplexity":
        return f"{lda.perplexity(documents()):.0f}"
    lda.save(folder / "again.topoi")
    return "the same bytes" if not subprocess.run(["cmp", file, folder / "again.topoi"]).returncode else "OTHER BYTES"


def main(millions: float = 500, folder: str | None = None) -> None:
    """All steps, each in a process of its own."""
    fine = True
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        begun = time.monotonic()
        make(Path(scratch), "counts", int(millions * 1e6))
        make(Path(scratch), "last", int(millions * 5e5))
        print(f"made in {time.monotonic() - begun:.0f} s")
        for name in STEPS:
            done = subprocess.run([sys.executable, __file__, "step", name, scratch], capture_output=True, text=True)
            said, peak, seconds = [*done.stdout.splitlines(), "", "", ""][:3]
            good = done.returncode == 0 and float(peak) < BOUND and "OTHER" not in said
            fine &= good
            print(f"{name:12s} {seconds:>6s} s  peak {peak} GB  {said}  {'' if good else 'NOT FINE ' + done.stderr}")
    print(f"every peak is below {BOUND} GB" if fine else "NOT FINE")
    sys.exit(not fine)


if __name__ == "__main__":
    if sys.argv[1:2] == ["step"]:
        started = time.monotonic()
        print(step(sys.argv[2], Path(sys.argv[3])))
        lines = Path("/proc/self/status").read_text().splitlines()
        print(f"{sum(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) / 1e6:.2f}")
        print(f"{time.monotonic() - started:.0f}")
    else:
        main(*[float(value) for value in sys.argv[1:2]], *sys.argv[2:3])
