"""What people do with an installed topoi: fit, look, predict, save, load, and go on with a fit that was killed.

    pip install . && python .ci/installed.py

It needs topoi alone, without extras, and works in a folder of its own. Nothing is timed.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import topoi
from topoi.datasets import Texts, python_docs

OPTIONS = ["--text", "text", "--label", "module", "--topics", "10", "--sweeps", "20", "--checkpoint-seconds", "0"]
# The command line in a process that ends at once, as if it were killed, after its 13th sweep.
KILLED = """
import os
from topoi.cli import fit, main
class Speed(fit.Speed):
    def __call__(self, progress):
        super().__call__(progress)
        if progress.sweep == 13:
            os._exit(9)
fit.Speed = Speed
main()
"""


def run(*arguments: str, code: int = 0, program: tuple[str, ...] = ("-m", "topoi")) -> str:
    """What a command prints; it must end with the exit code that is expected."""
    ended = subprocess.run(
        [sys.executable, *program, *arguments],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
        check=False,
    )
    assert ended.returncode == code, f"{arguments[0]} ended with {ended.returncode}:\n{ended.stdout}"
    return ended.stdout


def command_line(docs: Texts) -> None:
    """Fit a table of texts, look at the model, predict."""
    with open("docs.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "module"), *zip(docs.texts, docs.labels, strict=True)])
    run("fit", "docs.csv", *OPTIONS, "-o", "model")
    assert len(run("topics", "model").splitlines()) > 10
    assert len(run("predict", "model", "docs.csv").splitlines()) == len(docs.texts) + 1
    print("fit, topics, predict: done")


def killed_and_resumed() -> None:
    """The same fit, killed on its way and resumed, gives the same model."""
    run("fit", "docs.csv", *OPTIONS, "-o", "killed", code=9, program=("-c", KILLED))
    assert not Path("killed", "topoi.json").exists(), "the fit was not killed"
    assert list(Path("killed").rglob("sweep-*.topoi")), "no checkpoint"
    told = run("resume", "killed")
    assert Path("killed", "estimator.topoi").read_bytes() == Path("model", "estimator.topoi").read_bytes(), told
    print("killed, resumed: the same bytes")


def saved_and_loaded() -> None:
    """In Python."""
    X = np.random.default_rng(0).poisson(0.5, (60, 40))
    lda = topoi.LDA(n_topics=5, n_sweeps=20, random_state=0).fit(X)
    lda.save("lda.topoi")
    assert np.array_equal(topoi.load("lda.topoi").transform(X), lda.transform(X))
    assert topoi.load("model/estimator.topoi").n_sweeps_ == 20
    print("saved, loaded: the same topics")


if __name__ == "__main__":
    packages = ("numpy", "scipy", "numba", "scikit-learn", "safetensors")
    print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in packages), sep=", ")
    print("topoi", topoi.__version__, "in", Path(topoi.__file__).parent)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        command_line(python_docs())
        killed_and_resumed()
        saved_and_loaded()
        os.chdir("/")  # Windows removes no folder that is in use
