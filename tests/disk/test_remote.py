"""Objects in object stores: what is a URL, what is read and written, and what errors say."""

from __future__ import annotations

import errno
import pickle
import sys
import traceback
from pathlib import Path

import pytest

from support.object_store import SECRET, objects
from topoi._disk import remote
from topoi._disk.remote import Remote, locate
from topoi._disk.whole import local_copy, write_whole, writing_whole
from topoi.errors import MissingObjectError, PackageMissingError, StorageError


@pytest.mark.parametrize("path", ["a", "a/b", "s3:/a", "C:\\a", "C://a", "://a", "see http://a.b", "", Path("a//b")])
def test_paths(path):
    assert locate(path) == Path(path)
    assert not remote.is_url(path)


@pytest.mark.parametrize("url", ["s3://bucket/a", "memory://a", "abfs://box@account.dfs.core.windows.net/a"])
def test_urls(url):
    assert locate(url) == locate(url + "/") == locate(locate(url)) == Remote(url)
    assert locate(url) / "b.topoi" == Remote(f"{url}/b.topoi")
    assert (locate(url) / "b.topoi").name == "b.topoi"
    assert remote.is_url(url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///tmp/a", "give the path without file://"),
        ("s3://", "names no object"),
        ("simplecache::s3://bucket/a", "a single protocol"),
        ("sftp://me:hunter2@host/a", r"^sftp://me@host/a: a URL must hold no password"),
        (Path("s3://bucket/a"), "give the URL as a text"),
    ],
)
def test_urls_that_are_refused(url, says):
    with pytest.raises(StorageError, match=says) as caught:
        locate(url)
    assert "hunter2" not in str(caught.value)


def test_objects(store):
    at = locate(store) / "a"
    assert remote.size(at / "x") is None
    assert remote.below(at) == {}
    remote.put_bytes(at / "x", b"hello")
    remote.put_bytes(at / "b" / "y", b"")
    assert remote.below(at) == {"x": 5, "b/y": 0}
    assert (remote.size(at / "x"), remote.size(at), remote.size(at / "b" / "y")) == (5, None, 0)
    assert (remote.read(at / "x"), remote.read(at / "x", 1, 3), remote.read(at / "x", 2, 99)) == (
        b"hello", b"el", b"llo")  # fmt: skip
    remote.put_bytes(at / "x", b"bye")
    assert remote.read(at / "x") == b"bye", "nothing that was read before is remembered"
    remote.remove(at, ["x", "gone"])
    assert remote.below(at) == {"b/y": 0}


@pytest.mark.parametrize("at_once", [remote.AT_ONCE, 3])
def test_files(at_once, store, tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "AT_ONCE", at_once)
    (tmp_path / "from").write_bytes(bytes(range(256)))
    remote.put(locate(store) / "x", tmp_path / "from")
    remote.fetch(locate(store) / "x", tmp_path / "to")
    assert (tmp_path / "to").read_bytes() == bytes(range(256))


def test_whole_or_not_at_all(store):
    url = f"{store}/x"
    write_whole(url, b"old")

    def stop_half_way():
        with writing_whole(url) as file:
            file.write(b"new")
            file.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop_half_way()
    with local_copy(url) as copy:
        assert copy.read_bytes() == b"old"
    assert not copy.exists()
    assert objects(store) == ["x"]


def test_what_is_not_there(store):
    with pytest.raises(MissingObjectError, match=rf"^{store}/x: there is no such object"):
        remote.read(locate(f"{store}/x"))
    with pytest.raises(FileNotFoundError):
        remote.fetch(locate(f"{store}/x"), Path("nowhere"))
    with pytest.raises(StorageError) as caught:
        remote.read(locate(f"{store}/x"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value), "it comes whole from a worker"


def test_no_bucket(s3):
    with pytest.raises(MissingObjectError, match="bucket does not exist"):
        remote.put_bytes(locate("s3://nobodys/x"), b"")


def test_no_credentials(s3, monkeypatch):
    from s3fs import S3FileSystem

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    S3FileSystem.clear_instance_cache()
    with pytest.raises(StorageError, match=rf"{s3}/x: the store does not let us in .*AWS_ACCESS_KEY_ID") as caught:
        remote.put_bytes(locate(f"{s3}/x"), b"")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_store_that_is_lost(s3, monkeypatch):
    from s3fs import S3FileSystem

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    S3FileSystem.clear_instance_cache()
    with pytest.raises(StorageError, match=rf"{s3}/x: the store cannot be reached.*127\.0\.0\.1:9.*call again"):
        remote.read(locate(f"{s3}/x"))


def test_a_full_disk_is_not_the_store(memory, monkeypatch):
    from fsspec.implementations.memory import MemoryFileSystem

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(MemoryFileSystem, "get_file", full)
    with pytest.raises(OSError, match="No space left") as caught:
        remote.fetch(locate(f"{memory}/x"), Path("x"))
    assert not isinstance(caught.value, StorageError)


@pytest.mark.parametrize("url", ["gs://bucket/x", "az://bucket/x"])
def test_a_package_that_is_missing(url, own_cache, monkeypatch):
    pytest.importorskip("fsspec")
    for name in ("gcsfs", "adlfs"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PackageMissingError, match=f"^{url}: the package of this store is not installed.*(gcsfs|adlfs)"):
        remote.read(locate(url))


def test_fsspec_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(PackageMissingError, match=r"needs fsspec.*pip install 'topoi\[cloud\]' s3fs"):
        remote.read(locate("s3://bucket/x"))


def test_an_unknown_protocol():
    pytest.importorskip("fsspec")
    with pytest.raises(StorageError, match="Protocol not known: nowhere"):
        remote.read(locate("nowhere://bucket/x"))


def test_signed_urls_are_not_shown(monkeypatch):
    """Neither in messages nor in tracebacks."""
    fsspec = pytest.importorskip("fsspec")
    url = "https://host/x?X-Amz-Signature=hunter2"

    def fail(*_, **__):
        raise RuntimeError(f"403, url='{url}'")

    monkeypatch.setattr(fsspec.core, "url_to_fs", fail)
    with pytest.raises(StorageError, match=r"https://host/x: .*403, url='https://host/x'") as caught:
        remote.read(locate(url))
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
