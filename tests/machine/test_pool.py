"""How many threads: all cores unless somebody says how many, and one where others work beside us."""

from __future__ import annotations

import multiprocessing

import joblib
import numpy as np
import pytest

from support.corpora import random_counts
from topoi import LDA, ParameterError
from topoi._machine.pool import Pool, resolve_n_jobs


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)


def test_numbers(four_cores):
    asked = [None, 1, 3, 9, -1, -2, -4, -9]
    assert [resolve_n_jobs(n) for n in asked] == [4, 1, 3, 9, 4, 3, 1, 1]
    with pytest.raises(ParameterError, match=r"^n_jobs: 0 threads cannot work"):
        resolve_n_jobs(0)


def test_cores_that_the_process_may_use(monkeypatch):
    """As joblib counts them: affinity, the limits of containers, and its own variable."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert resolve_n_jobs(None) == resolve_n_jobs(-1) == 1


def in_a_task(_):
    return resolve_n_jobs(None), resolve_n_jobs(3)


@pytest.mark.parametrize("backend", ["threading", "multiprocessing", "loky"])
def test_workers_of_joblib(backend, four_cores):
    assert joblib.Parallel(2, backend=backend)(joblib.delayed(in_a_task)(i) for i in range(2)) == [(1, 3)] * 2
    assert resolve_n_jobs(None) == 4


def test_workers_of_multiprocessing():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(in_a_task, [0]) == [(1, 3)]


def test_workers_of_dask(four_cores):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as client:
        assert client.submit(in_a_task, 0).result() == (1, 3)
        assert resolve_n_jobs(None) == 4  # not in the process that has started them


def test_default_of_the_estimators(four_cores, monkeypatch):
    """The threads that there are work, and change nothing."""
    used = set()
    map_ = Pool.map
    monkeypatch.setattr(Pool, "map", lambda pool, *given: used.add(pool.n_jobs) or map_(pool, *given))
    X = random_counts(400, 300, 60, seed=2)
    many, one = (LDA(5, n_sweeps=8, random_state=0, n_jobs=n).fit(X) for n in (None, 1))
    np.testing.assert_array_equal(many.components_, one.components_)
    assert used == {4, 1}
