"""Objects of which only what is asked for is fetched, and copies that one process fetches for all."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time

import numpy as np
import pytest

from topoi._disk import anywhere, remote, safetensors
from topoi._disk.cache import cached_file
from topoi._disk.moved import counted
from topoi._disk.patience import patient
from topoi._disk.remote import locate
from topoi.chain.engines.cluster._job import read_held
from topoi.errors import MissingObjectError, StorageError

ARRAYS = {"a": np.arange(700, dtype=np.uint32), "b": np.arange(6.0).reshape(2, 3), "none": np.zeros(0, np.uint8)}


def written(arrays):
    file = io.BytesIO()
    safetensors.write_safetensors(file, arrays)
    return file.getvalue()


@pytest.fixture
def ranges(monkeypatch):
    """What is read of objects; none is so small that it is fetched whole."""
    found, read = [], remote.read

    def noted(place, first=0, last=None):
        found.append((first, last))
        return read(place, first, last)

    monkeypatch.setattr(remote, "read", noted)
    monkeypatch.setattr(safetensors, "WHOLE", 0)
    return found


@pytest.mark.parametrize("head", [10, 400])
def test_named_arrays(head, store, ranges, monkeypatch):
    monkeypatch.setattr(safetensors, "HEAD", head)
    place, data = locate(store) / "x", written(ARRAYS)
    remote.put_bytes(place, data)
    found = read_held(place, "b", "none", "absent")
    assert found.keys() == {"b", "none"}
    for name, array in found.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype
        assert array.flags.writeable, "kernels are compiled for such arrays"
    assert sum(last - first for first, last in ranges) < len(data) / 2


@pytest.mark.parametrize("whole", [0, 2**24])
def test_a_small_object_is_fetched_whole(whole, memory, ranges, monkeypatch):
    """So is one that there is a copy of already."""
    monkeypatch.setattr(safetensors, "WHOLE", whole)
    place = locate(memory) / "x"
    remote.put_bytes(place, written(ARRAYS))
    if whole == 0:
        anywhere.here(place)
    np.testing.assert_array_equal(read_held(place, "a")["a"], ARRAYS["a"])
    assert len(ranges) == (whole > 0)
    assert anywhere.held(place.url)


def header(change):
    """The file with another header."""
    data = written(ARRAYS)
    start = 8 + int.from_bytes(data[:8], "little")
    text = json.dumps(change(json.loads(data[8:start]))).encode()
    return len(text).to_bytes(8, "little") + text + data[start:]


DAMAGED = {
    "no header": lambda: bytes(1000),
    "a header without end": lambda: b"\xff" * 1000,
    "a list": lambda: header(lambda found: [1]),
    "cut": lambda: written(ARRAYS)[:-2000],
    "beyond the end": lambda: header(lambda found: found | {"a": found["a"] | {"data_offsets": [10**6, 10**6 + 2800]}}),
    "before the beginning": lambda: header(lambda found: found | {"a": found["a"] | {"data_offsets": [-2800, 0]}}),
    "another shape": lambda: header(lambda found: found | {"a": found["a"] | {"shape": [701]}}),
    "another type": lambda: header(lambda found: found | {"a": found["a"] | {"dtype": "O8"}}),
    "no place": lambda: header(lambda found: found | {"a": {"dtype": "U32", "shape": [700]}}),
    "too much": lambda: header(lambda found: found | {"a": found["a"] | {"more": 1}}),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_damaged(how, memory, ranges, monkeypatch):
    monkeypatch.setattr(safetensors, "HEAD", 10)
    place = locate(memory) / "x"
    remote.put_bytes(place, DAMAGED[how]())
    with pytest.raises(OSError, match="x is damaged"):
        read_held(place, "a", "b")


def test_rows_of_a_part(store, tmp_path):
    """At a URL the others need not even be there."""
    numbers = np.arange(28, dtype=np.float32).reshape(7, 4)
    for place in (tmp_path / "a", locate(store) / "a"):
        anywhere.make_shared(place, 28, np.float32)
        anywhere.write_shared(place, 8, numbers[2:5])
        part = anywhere.map_part(place, np.float32, (7, 4), slice(2, 5))
        np.testing.assert_array_equal(part, numbers[2:5])
        part += 1  # it stays here
        np.testing.assert_array_equal(anywhere.map_part(place, np.float32, (7, 4), slice(2, 5)), numbers[2:5])
        assert anywhere.map_part(place, np.float32, (7, 0), slice(2, 5)).shape == (3, 0)
    with pytest.raises(OSError, match=r"a.000000000000008 is damaged"):
        anywhere.map_part(place, np.float32, (7, 4), slice(2, 4))


def test_rows_of_a_copy(memory):
    """Where there is a copy of the whole array nothing is fetched."""
    place, numbers = locate(memory) / "a", np.arange(6.0)
    anywhere.write_shared(place, 0, numbers)
    anywhere.map_shared(place, np.float64, (6,))
    remote.remove(locate(memory), ["a.000000000000000"])
    np.testing.assert_array_equal(anywhere.map_part(place, np.float64, (6,), slice(0, 6)), numbers)


# ---- Parts of an array, fetched together -----------------------------------------------------------------------------


def put_parts(place, lengths):
    """An array in parts of these lengths, and what it is."""
    numbers, first = np.arange(sum(lengths), dtype=np.float64), 0
    for n in lengths:
        anywhere.write_shared(place, first, numbers[first : first + n])
        first += n
    return numbers


@pytest.mark.parametrize(
    ("n_parts", "n_bytes", "expected"),
    [
        (8, 2**28, [6]),
        (4, 2**28, [4, 2]),
        (8, 240, [2, 1, 1, 1, 1]),
        (8, 400, [2, 2, 2]),
        (1, 2**28, [1, 1, 1, 1, 1, 1]),
    ],
)
def test_parts_are_fetched_together(n_parts, n_bytes, expected, store, monkeypatch):
    """No more at a time than there may be, and all bytes count for the thread that has asked."""
    monkeypatch.setattr(anywhere, "TOGETHER", n_parts)
    monkeypatch.setattr(anywhere, "TOGETHER_BYTES", n_bytes)
    asked, read = [], remote.read_together
    monkeypatch.setattr(remote, "read_together", lambda places: asked.append(len(places)) or read(places))
    place, lengths = locate(store) / "a", [10, 20, 30, 5, 40, 1]
    numbers = put_parts(place, lengths)
    with counted() as moved:
        found = anywhere.map_shared(place, np.float64, (106,))
    np.testing.assert_array_equal(found, numbers)
    assert asked == expected
    assert moved.read == 8 * 106
    with counted() as moved:
        anywhere.map_shared(place, np.float64, (106,))
    assert moved.read == 0, "there is a copy"


def test_a_store_is_asked_for_all_of_them_at_once(s3, monkeypatch):
    from s3fs import S3FileSystem

    cat_file, now, most = S3FileSystem._cat_file, [], []

    async def noted(self, path, **how):
        now.append(path)
        most.append(len(now))
        try:
            return await cat_file(self, path, **how)
        finally:
            now.remove(path)

    monkeypatch.setattr(S3FileSystem, "_cat_file", noted)
    place = locate(s3) / "a"
    numbers = put_parts(place, [3] * 11)
    np.testing.assert_array_equal(anywhere.map_shared(place, np.float64, (33,)), numbers)
    assert len(most) == 11
    assert max(most) == anywhere.TOGETHER == 8


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({33: 8}, MissingObjectError, r"a\.000000000000033: there is no such object"),
        ({30: 16}, OSError, "its part from number 30 on has changed"),
        ({40: 8}, OSError, "its part from number 40 on does not follow"),
    ],
)
def test_parts_that_are_not_as_they_were_listed(change, error, says, store, monkeypatch):
    place, parts = locate(store) / "a", anywhere._parts
    put_parts(place, [3] * 11)
    monkeypatch.setattr(anywhere, "_parts", lambda at: parts(at) | change)
    with pytest.raises(error, match=says):
        anywhere.map_shared(place, np.float64, (33,))
    assert not anywhere.held(place.url)


def test_parts_of_a_store_that_is_silent(s3, monkeypatch):
    """They are asked for again as everything is, where there is patience."""
    from s3fs import S3FileSystem

    cat_file, failed = S3FileSystem._cat_file, []

    async def failing(self, path, **how):
        if path.endswith("6") and len(failed) < 2:
            failed.append(path)
            raise ConnectionError("reset")
        return await cat_file(self, path, **how)

    monkeypatch.setattr(S3FileSystem, "_cat_file", failing)
    monkeypatch.setattr("topoi._disk.patience.FIRST", 0.0)
    place = locate(s3) / "a"
    numbers = put_parts(place, [3] * 4)
    with pytest.raises(StorageError, match=r"a\.000000000000006: the store cannot be reached"):
        anywhere.map_shared(place, np.float64, (12,))
    with patient():
        np.testing.assert_array_equal(anywhere.map_shared(place, np.float64, (12,)), numbers)
    assert len(failed) == 2


# ---- Processes of a machine ------------------------------------------------------------------------------------------

FETCH = """
import sys, time
from pathlib import Path
from topoi._disk.cache import cached_file

folder, name = Path(sys.argv[1]), sys.argv[2]

def fill(new):
    (folder / f"{name} fetches").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    new.write_bytes(b"data")

(folder / f"{name} asks").touch()
assert cached_file("a key", fill).read_bytes() == b"data"
"""


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


def fetching(folder, name):
    return subprocess.Popen([sys.executable, "-c", FETCH, str(folder), name])


@pytest.mark.parametrize("killed", [False, True])
def test_one_process_fetches_for_all(killed, own_cache, tmp_path):
    """And if it is killed, another one does."""
    first = fetching(tmp_path, "first")
    wait_for(tmp_path / "first fetches")
    second = fetching(tmp_path, "second")
    wait_for(tmp_path / "second asks")
    if killed:
        first.kill()
        first.wait()
        wait_for(tmp_path / "second fetches")
    (tmp_path / "go").touch()
    assert second.wait() == 0
    assert killed or first.wait() == 0
    assert (tmp_path / "second fetches").exists() == killed
    assert cached_file("a key", pytest.fail).read_bytes() == b"data"


def test_who_waits_too_long_fetches(own_cache, tmp_path, monkeypatch):
    monkeypatch.setattr("topoi._disk.cache.PATIENCE", 0.0)
    first = fetching(tmp_path, "first")
    wait_for(tmp_path / "first fetches")
    assert cached_file("a key", lambda new: new.write_bytes(b"data")).read_bytes() == b"data"
    (tmp_path / "go").touch()
    assert first.wait() == 0
