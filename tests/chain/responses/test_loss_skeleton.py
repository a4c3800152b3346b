"""The loss that the guide tells people to copy passes every test, once added the way the guide says; it can be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import copies
from support.places import ROOT
from support.skeletons import package_with, passed_with, run_with
from support.tilted_checks import INTEGRALS, UnknownIntegral, check_bridge, interpreted_core

# A script, since `python -c` would be one line: fits, predicts, saves, loads, resumes; by estimator and command line.
USE = """
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import topoi
from topoi.cli import app

rng = np.random.default_rng(1)
theta = rng.dirichlet(np.full(3, 0.3), 80)
X = np.array([rng.multinomial(50, p) for p in theta @ (np.kron(np.eye(3), np.full(5, 0.19)) + 0.05 / 15)])
y = 4 + theta @ [2.0, -1.0, 0.0]
y[3] += 50  # a wild value, which an absolute loss forgives

def fitted(**more):
    return topoi.MedLDARegressor(3, loss="absolute", n_sweeps=30, random_state=0, refit=False, **more)

model = fitted().fit(X, y)
assert type(model.response_).__name__ == "Absolute"
assert model.response_.cost == 8.0
assert fitted(cost=2.0).fit(X, y).response_.cost == 2.0
keep = np.arange(80) != 3
assert np.corrcoef(model.predict(X)[keep], y[keep])[0, 1] > 0.8
bounds = model.predict_interval(X)
assert (bounds[:, 0] < bounds[:, 1]).all()
model.save("model.topoi")
assert topoi.load("model.topoi").predict_interval(X).tobytes() == bounds.tobytes()
assert fitted(engine="blocks", sampler="partial").fit(X, y).predict(X).tobytes() == \
    fitted(sampler="partial").fit(X, y).predict(X).tobytes()
stopped = fitted(callbacks=[lambda progress: progress.sweep == 10])
stopped.fit(X, y, checkpoint=topoi.Checkpoints("checkpoints", every_sweeps=5))
assert fitted().fit(X, y, checkpoint="checkpoints").predict(X).tobytes() == model.predict(X).tobytes()
for loss in ("absolut", "hinge"):
    try:
        topoi.MedLDARegressor(loss=loss).fit(X, y)
    except topoi.ParameterError as error:
        assert '"squared", "absolute"' in str(error), error
    else:
        raise AssertionError
try:
    fitted(cost=-1).fit(X, y)
except topoi.ParameterError as error:
    assert str(error).startswith("cost: must be a positive number"), error

words = np.array(["word" + letter for letter in "abcdefghijklmno"])
lines = ["text,stars"] + [" ".join(np.repeat(words, row)) + f",{target}" for row, target in zip(X, y)]
Path("posts.csv").write_text("\\n".join(lines))
run = CliRunner()
options = "--text text --target stars --topics 3 --sweeps 10 --max-df 1.0 --loss absolute".split()
done = run.invoke(app, ["fit", "posts.csv", *options, "-o", "folder"])
assert done.exit_code == 0, done.output
assert run.invoke(app, ["predict", "folder", "posts.csv"]).exit_code == 0
assert "absolute" in run.invoke(app, ["info"]).output
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of topoi with the skeleton in it: a file and a registry line."""
    edits = [(line := '        "squared": "squared:Squared",\n', f'{line}        "absolute": "absolute:Absolute",\n')]
    folder = tmp_path_factory.mktemp("with_loss")
    return package_with(folder, "chain/responses", {"absolute.py": "loss.py"}, edits)


def test_skeleton_passes_the_check_of_any_loss(package, monkeypatch):
    monkeypatch.setattr(copies, "SOURCE", package / "topoi")
    core = interpreted_core()
    monkeypatch.setitem(INTEGRALS, "absolute", UnknownIntegral(core.responses.RESPONSES["absolute"]))
    check_bridge(core, "absolute", n=300, weights=(0.5,))
    wrong = ("inverse_gaussian(stream, ..., c * c)", "inverse_gaussian(stream, ..., c)")
    with pytest.raises(AssertionError):
        check_bridge(interpreted_core({"topoi.chain.responses.absolute": [wrong]}), "absolute", n=300, weights=(0.5,))


@pytest.mark.slow  # every kernel is compiled anew
def test_skeleton_can_be_used(package):
    """Fitted, saved, loaded, resumed, in blocks and by the command line: in a process that imports the copy."""
    run_with(package, "-c", USE)


@pytest.mark.slow
def test_skeleton_passes_the_tests_of_every_loss(package):
    """Compiled too. No file of tests knows it."""
    here = Path(__file__).parent
    files = [here / "test_every_response.py", here / "test_settings.py", ROOT / "tests/estimators/test_strength.py",
             ROOT / "tests/chain/test_checkpoint.py", ROOT / "tests/chain/samplers/test_tilted.py"]  # fmt: skip
    assert passed_with(package, "absolute", *files) >= 40
