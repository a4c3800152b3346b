"""A worker that runs other code than the driver is refused: its topics would be others."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import topoi
from support.corpora import random_counts
from topoi import LDA
from topoi.chain.engines.cluster import EngineError, _stamp
from topoi.chain.engines.cluster._job import Job
from topoi.chain.engines.cluster._stamp import code_stamp, source_digest
from topoi.chain.engines.cluster._workers import checked
from topoi.chain.priors import fixed_priors

PACKAGE = Path(topoi.__file__).parent
X = random_counts(60, 50, 30, seed=2)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package in a folder of its own."""
    return shutil.copytree(PACKAGE, tmp_path / "elsewhere" / "topoi", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize(
    "module", ["errors.py", "chain/engines/cluster/_documents.py", "corpus/corpus.py", "chain/counts/theta.py"]
)
def test_every_module_counts(module, copy):
    """Also those without kernels, which the key of the compile cache leaves out."""
    before = source_digest(PACKAGE)
    assert source_digest(copy) == before
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    assert source_digest(copy) != before


def test_modules_that_come_go_or_move(copy):
    digests = {source_digest(PACKAGE)}
    (copy / "errors.py").rename(copy / "eta.py")
    digests.add(source_digest(copy))
    (copy / "eta.py").unlink()
    digests.add(source_digest(copy))
    (copy / "new.py").touch()
    digests.add(source_digest(copy))
    assert len(digests) == 4


def test_where_it_is_installed_does_not_count(copy, tmp_path):
    """Line endings, compiled files beside the source, an archive: the same code."""
    for path in copy.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "errors.cpython-311.pyc").write_bytes(b"x")
    (copy / "errors.pyc").write_bytes(b"x")
    assert source_digest(copy) == source_digest(PACKAGE)
    with zipfile.ZipFile(tmp_path / "topoi.zip", "w") as archive:
        for path in copy.rglob("*.py"):
            archive.write(path, path.relative_to(copy.parent).as_posix())
    assert source_digest(zipfile.Path(tmp_path / "topoi.zip", "topoi/")) == source_digest(PACKAGE)


def test_without_source(copy):
    """Compiled files alone are told apart."""
    for path in copy.iterdir():
        if path.is_dir():  # fewer to compile
            shutil.rmtree(path)
    compileall.compile_dir(copy, quiet=2, legacy=True)
    for path in copy.glob("*.py"):
        path.unlink()
    assert list(copy.glob("*.pyc"))
    digests = [source_digest(copy)]
    data = (copy / "errors.pyc").read_bytes()
    (copy / "errors.pyc").write_bytes(b"\0" * _stamp.HEADER + data[_stamp.HEADER :])
    digests.append(source_digest(copy))
    (copy / "errors.pyc").write_bytes(data + b"x")
    digests.append(source_digest(copy))
    assert digests[0] == digests[1] != digests[2]


def test_versions_count(monkeypatch):
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]}, numpy " in code_stamp()
    assert "numba " in code_stamp()
    before = code_stamp()
    monkeypatch.setattr(_stamp, "version", lambda package: f"9.{package}")
    assert _stamp.code_stamp.__wrapped__() != before


def test_workers_that_cannot_help(tmp_path):
    job = Job(str(tmp_path), str(tmp_path), 1, 1, 0, "float32", code_stamp(), fixed_priors([1.0], 0.1))
    assert checked(lambda *given: given[1], job, 7) == 7
    with pytest.raises(
        EngineError, match=r"runs other code than the driver.*it has topoi .*; the driver has x\)\. Install"
    ):
        checked(print, Job(str(tmp_path), str(tmp_path), 1, 1, 0, "float32", "x", fixed_priors([1.0], 0.1)))


def test_a_worker_with_a_modified_copy(copy):
    """The same version number, the same kernels, and one line that is another in a file without kernels."""
    distributed = pytest.importorskip("distributed")
    path = copy / "chain" / "engines" / "cluster" / "_documents.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("state.sweep += 1", "state.sweep += 2"), "utf-8")
    assert path.read_text("utf-8") != text
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny"]
        worker = subprocess.Popen(
            [*command, "--nthreads", "1"], env=os.environ | {"PYTHONPATH": str(copy.parent)}, stderr=subprocess.DEVNULL
        )
        try:
            with pytest.raises(EngineError, match="runs other code than the driver") as caught:
                LDA(n_topics=2, n_sweeps=2, sampler="partial", engine=cluster.scheduler_address).fit(X)
        finally:
            worker.kill()
            worker.wait()
    message = str(caught.value)
    assert f"it has topoi {topoi.__version__} (source {source_digest(copy)})" in message
    assert f"the driver has {code_stamp()}" in message
    assert "the worker tcp://127.0.0.1:" in message
    assert f"the source of topoi is {source_digest(copy)} there and {source_digest(PACKAGE)} here (" in message
