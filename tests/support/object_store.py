"""Object stores for the tests: one in this process, and a server on this machine that speaks as S3 does."""

from __future__ import annotations

import contextlib
import logging
import uuid
from pathlib import Path

import pytest

#: What s3fs needs to know; the secret must never be seen again.
SECRET = "secret-" + "5" * 33
S3 = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "nowhere",
    "AWS_SHARED_CREDENTIALS_FILE": "nowhere",
    "AWS_MAX_ATTEMPTS": "1",
    "NO_PROXY": "127.0.0.1",
}


class Server:
    """An S3 server, which has nothing; it can go, and come back at its address with what it had."""

    def __init__(self):
        self.module = pytest.importorskip("moto.server", reason="needs pip install moto[server]")
        pytest.importorskip("s3fs")
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.port, self.thread = 0, None

    def start(self):
        if self.thread is None:
            self.thread = self.module.ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
            self.thread.start()
            self.port = self.thread.get_host_and_port()[1]

    def stop(self):
        if self.thread is not None:
            self.thread.stop()
            self.thread = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def serving():
    """The address of a new server."""
    with running() as server:
        yield server.address


@contextlib.contextmanager
def running():
    """A new server."""
    server = Server()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def use(monkeypatch, address):
    """Make a server the S3 of this process, and of those that it starts."""
    from s3fs import S3FileSystem

    for name, value in (S3 | {"AWS_ENDPOINT_URL": address}).items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    S3FileSystem.clear_instance_cache()


def new_bucket():
    """The URL of a new bucket."""
    import fsspec

    name = f"bucket-{uuid.uuid4().hex[:8]}"
    fsspec.filesystem("s3").mkdir(name)
    return f"s3://{name}"


def copy(folder, url):
    """Put the files of a folder below a URL, as `aws s3 cp --recursive` does."""
    import fsspec

    for path in Path(folder).rglob("*"):
        if path.is_file():
            with fsspec.open(f"{url}/{path.relative_to(folder).as_posix()}", "wb") as file:
                file.write(path.read_bytes())


def change(url, how):
    """Change the bytes of an object by a function."""
    import fsspec

    store, path = fsspec.core.url_to_fs(url)
    store.pipe_file(path, how(store.cat_file(path)))


def objects(url):
    """The names of all objects below a URL."""
    from topoi._disk import remote

    return sorted(remote.below(remote.locate(url)))
