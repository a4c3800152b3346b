"""Who does tasks: answers come in the order of the items, whoever does them; what is kept is there for a later task."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest

from topoi._machine import workers
from topoi._machine.workers import open_workers
from topoi.errors import CorpusError, FileError, ParameterError, WorkersError


def add(item, shared):
    time.sleep(0.02 * (item % 3))  # they end in another order
    return item + shared


def begun(item, keep):
    return item, keep((np.arange(item), np.array([item / 2])))


def ended(kept, shared):
    first, second = kept.taken()
    return first.tolist(), second.tolist(), shared


def process(item, shared):
    return os.getpid()


def fails(item, shared):
    if item == 3:
        raise FileError("posts.csv, line 7: is wrong", "posts.csv", 7)
    return item


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(params=[1, 2, "dask"])
def some(request, tmp_path):
    engine = request.getfixturevalue("client") if request.param == "dask" else None
    with open_workers(None if engine else request.param, engine, tmp_path) as found:
        yield found


def test_answers_in_order(some):
    assert list(some.run(add, range(20), 100)) == list(range(100, 120))
    assert list(some.run(add, [], 100)) == []


def test_what_is_kept(some, tmp_path):
    told, kept = zip(*some.begin(begun, range(7), some.keep), strict=True)
    assert told == tuple(range(7))
    assert list(some.run(ended, kept, "shared")) == [(list(range(n)), [n / 2], "shared") for n in range(7)]
    assert list(tmp_path.iterdir()) == []  # what was taken is kept no longer


def test_an_error_comes_as_it_was(some):
    answers = some.run(fails, range(9), None)
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(FileError, match=r"^posts\.csv, line 7: is wrong$") as found:
        next(answers)
    assert (found.value.path, found.value.line) == ("posts.csv", 7)


def test_items_are_taken_when_there_is_room(some):
    taken = []

    def items():
        for item in range(100):
            taken.append(item)
            yield item

    answers = some.run(add, items(), 0)
    assert next(answers) == 0
    assert len(taken) <= 2 * workers.AHEAD + 1


def test_other_processes_do_it(tmp_path):
    with open_workers(2, None, tmp_path) as two:
        others = set(two.run(process, range(20), None))
    assert os.getpid() not in others
    assert 1 <= len(others) <= 2
    with open_workers(None, None, tmp_path) as one:
        assert set(one.run(process, range(3), None)) == {os.getpid()}


class Large:
    """What tasks share, and which says in a folder that a process has unpacked it."""

    def __init__(self, folder):
        self.folder, self.numbers = folder, np.arange(200_000)

    def __setstate__(self, state):
        vars(self).update(state)
        (self.folder / f"{os.getpid()} {uuid.uuid4().hex}").touch()


def number(item, shared):
    return int(shared.numbers[item])


def test_what_is_shared_goes_to_a_process_once(tmp_path, monkeypatch):
    """1.6 MB, and a task brings a few hundred bytes."""
    sent, scratch, noted = [], tmp_path / "scratch", tmp_path / "noted"
    scratch.mkdir()
    noted.mkdir()
    with open_workers(2, None, scratch) as two:
        submit = two._executor.submit

        def noting(*work):
            sent.append(len(pickle.dumps(work)))
            return submit(*work)

        monkeypatch.setattr(two._executor, "submit", noting)
        for _ in range(2):
            noted_before = len(list(noted.iterdir()))
            assert list(two.run(number, range(30), Large(noted))) == list(range(30))
            assert list(scratch.iterdir()) == []
            processes = [path.name.split()[0] for path in noted.iterdir()]
            assert len(processes) > noted_before, "others, which are unpacked again"
        assert max(map(processes.count, processes)) <= 2, "once for each of the two"
    assert len(sent) == 60
    assert max(sent) < 1000


def test_what_somebody_has_changed_is_not_unpacked(tmp_path):
    packed = workers.Packed.of({"a": 1}, tmp_path)
    assert packed.unpacked() == {"a": 1}
    packed.path.write_bytes(pickle.dumps({"a": 2}))
    with pytest.raises(WorkersError, match="changed by somebody else"):
        packed.unpacked()


def test_answers_that_are_not_waited_for_leave_nothing(tmp_path):
    with open_workers(2, None, tmp_path) as two:
        answers = two.run(add, range(100), 0)
        assert next(answers) == 0
        answers.close()
        assert list(tmp_path.iterdir()) == []


SCRIPT = """
from pathlib import Path
from topoi._machine.workers import open_workers
def double(item, shared):
    return 2 * item
with open_workers(2, None, Path.cwd()) as workers:
    print(list(workers.run(double, range(4), None)))
"""


def test_a_script_without_a_main_block(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (run.stdout, run.returncode) == ("[0, 2, 4, 6]\n", 0), run.stderr


@pytest.mark.parametrize("engine", ["tcp://host:8786", 3, object()])
def test_what_is_no_client(engine, tmp_path):
    with (
        pytest.raises(ParameterError, match="engine: must be None or a Dask Client"),
        open_workers(1, engine, tmp_path),
    ):
        pass


def test_errors_go_through_pickle():
    for error in (ParameterError("stem", "is wrong: all of it"), CorpusError("no", 3), FileError("a: b", "a", 1, 2, 3)):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
