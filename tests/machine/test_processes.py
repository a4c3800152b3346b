"""Other processes: a fork after a fit, and a package and a home that cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import topoi
from support.waiting import PATIENCE

PACKAGE = Path(topoi.__file__).parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
FIT = """
import hashlib
import numpy as np
from topoi import LDA

X = np.random.default_rng(0).poisson(2.0, (300, 40))

def fitted(n_jobs=2):
    lda = LDA(4, sampler="collapsed", n_sweeps=3, n_chains=2, n_jobs=n_jobs, random_state=0).fit(X)
    return hashlib.blake2b(lda.components_.tobytes() + lda.transform(X).tobytes()).hexdigest()
"""


def run(script, *command, **environment):
    """What a script prints in a process of its own."""
    given = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    # Without it `topoi` would be found where the tests are run from; packages may be there, too.
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [environment["PYTHONPATH"], given.get("PYTHONPATH")]))
    done = subprocess.run(
        [*command, sys.executable, "-B", "-c", FIT + textwrap.dedent(script)],
        env=given | environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@POSIX
def test_fork_after_a_fit():
    """Threads do not survive a fork; those of a fit have ended by then, and the child starts its own."""
    parent, child, again, *pool = run(
        """
        import multiprocessing, os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on: of forks where threads may be
        print(fitted(), flush=True)
        pid = os.fork()
        if pid == 0:
            print(fitted(), flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(fitted())
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(*pool.map(fitted, [1, 2]))
        """,
        PYTHONPATH=str(PACKAGE.parent),
    )
    assert {parent, child, again, *pool} == {parent}
    assert len(pool) == 2


def without_privileges():
    """Root may write anywhere; less one capability it may not."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root, and no setpriv: every folder can be written")
    return [setpriv, "--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]


@POSIX
@pytest.mark.slow  # nothing that it compiles can be kept
def test_read_only_package_and_home(tmp_path):
    """Kernels are compiled and not kept; nothing else changes, and nothing is written."""
    source, home = tmp_path / "source", tmp_path / "home"
    shutil.copytree(PACKAGE, source / "topoi", ignore=shutil.ignore_patterns("__pycache__"))
    home.mkdir()
    before = sorted(tmp_path.rglob("*"))
    for path in (*before, tmp_path):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        found, where, cache = run(
            """
            import topoi
            from topoi._machine.jit import cache_dir
            print(fitted(), topoi.__file__, cache_dir())
            """,
            *without_privileges(), PYTHONPATH=str(source), HOME=str(home), TMPDIR=str(home),
        )  # fmt: skip
    finally:
        for path in (tmp_path, *before):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert Path(where).parent == source / "topoi"
    assert cache == "None"
    assert sorted(tmp_path.rglob("*")) == before
    assert found == run("print(fitted())", PYTHONPATH=str(PACKAGE.parent))[0]
