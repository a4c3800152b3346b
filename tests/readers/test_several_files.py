"""Several files are one: of a list, a pattern, URLs; and the same bytes if parts are read at the same time."""

from __future__ import annotations

import gzip
import http.server
import json
import os
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topoi import Corpus
from topoi.corpus.text import tokens
from topoi.corpus.text.parts import Notes
from topoi.datasets import python_docs
from topoi.errors import FileError, MissingObjectError, ParameterError
from topoi.readers import _parts, read_documents
from topoi.readers._source import Source

N = 240
LABELS = ["odd" if i % 2 else "even" for i in range(N)]


@pytest.fixture(scope="module")
def texts():
    found = list(python_docs().texts[:N])
    found[9] = found[200] = found[4]
    return found


def rows(texts):
    return [{"nr": i, "body": text, "kind": LABELS[i], "price": i / 4} for i, text in enumerate(texts)]


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows):
    import csv
    import io

    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_txt(rows):
    return "".join(" ".join(row["body"].split()) + "\n" for row in rows).encode()


def as_parquet(rows):
    import io

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=25)
    return file.getvalue()


WRITE = {"jsonl": as_jsonl, "csv": as_csv, "parquet": as_parquet, "txt": as_txt}


def write(folder, texts, name, n):
    """The documents in n files; their names are in order."""
    folder.mkdir()
    ends = np.linspace(0, N, n + 1).astype(int)
    every = rows(texts)
    for i in range(n):
        (folder / f"posts-{i}.{name}").write_bytes(WRITE[name](every[ends[i] : ends[i + 1]]))
    return f"{folder}/posts-*.{name}"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_one_go(texts, folder, name):
    texts = [" ".join(text.split()) for text in texts] if name == "txt" else texts
    Corpus.from_texts(texts).save(folder)
    return files(folder)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts so small that files are cut."""
    monkeypatch.setattr(_parts, "LEAST", 4000)
    monkeypatch.setattr(_parts, "USUAL", 10**9)


def options_of(name):
    return {} if name == "txt" else {"text": "body"}


@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize("name", WRITE)
def test_the_bytes_of_one_go(name, n, texts, tmp_path, small_parts):
    expected = in_one_go(texts, tmp_path / "one", name)
    pattern = write(tmp_path / "files", texts, name, n)
    read_documents(pattern, **options_of(name)).corpus.save(tmp_path / "several")
    assert files(tmp_path / "several") == expected
    steps = []
    data = read_documents(
        pattern, **options_of(name), save_to=tmp_path / "parts", progress=lambda *step: steps.append(step)
    )
    assert files(tmp_path / "parts") == expected
    assert data.corpus.folder == tmp_path / "parts"
    assert steps[-1][1] == steps[-1][2] > (n if name != "csv" else n - 1)  # files were cut, if they can be


@pytest.mark.parametrize("name", WRITE)
def test_processes(name, texts, tmp_path, small_parts):
    expected = in_one_go(texts, tmp_path / "one", name)
    pattern = write(tmp_path / "files", texts, name, 2)
    read_documents(pattern, **options_of(name), n_jobs=2, save_to=tmp_path / "parts")
    assert files(tmp_path / "parts") == expected


def test_a_cluster(texts, tmp_path, small_parts):
    distributed = pytest.importorskip("distributed")
    expected = in_one_go(texts, tmp_path / "one", "parquet")
    pattern = write(tmp_path / "files", texts, "parquet", 3)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        read_documents(pattern, text="body", engine=client, save_to=tmp_path / "parts")
    assert files(tmp_path / "parts") == expected


@pytest.mark.parametrize("name", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_known_of_documents(name, n_jobs, texts, tmp_path, small_parts):
    pattern = write(tmp_path / "files", texts, name, 3)
    data = read_documents(
        pattern, text="body", label="kind", id="nr", covariates=["price"], groups=["kind"], n_jobs=n_jobs
    )
    assert data.labels.tolist() == LABELS
    assert [int(nr) for nr in data.ids] == list(range(N))
    assert data.covariates["price"].tolist() == [i / 4 for i in range(N)]
    assert data.groups["kind"].tolist() == LABELS
    assert data.texts([0, 130, N - 1]) == [texts[0], texts[130], texts[N - 1]]
    assert data.corpus.vocabulary.tolist() == Corpus.from_texts(texts).vocabulary.tolist()


def test_files_that_are_listed(texts, tmp_path):
    write(tmp_path / "a", texts[:120] + [""] * 120, "csv", 2)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(as_jsonl(rows(texts)[120:])))
    named = [tmp_path / "a" / "posts-0.csv", tmp_path / "b.jsonl.gz"]
    for data in (read_documents(named, text="body"), read_documents(tuple(map(str, named)), text="body", n_jobs=2)):
        assert np.array_equal(data.corpus.words, Corpus.from_texts(texts).words)
    mixed = [*named[:1], f"{tmp_path}/b*"]
    assert len(read_documents(mixed, text="body")) == N


def test_a_name_with_a_star_that_is_there(tmp_path):
    for name in ("a[1].txt", "a1.txt"):
        (tmp_path / name).write_text(f"words of {name.replace('1', 'one')}\n")
    assert len(read_documents(tmp_path / "a[1].txt", min_df=1, max_df=1.0)) == 1
    assert len(read_documents(tmp_path / "a*.txt", min_df=1, max_df=1.0)) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_is_found(n_jobs, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for pattern in ("*.csv", "posts-[0-9].csv", "**/*.parquet"):
        with pytest.raises(FileError, match="no file has a name like this; check the pattern"):
            read_documents(f"{tmp_path}/{pattern}", n_jobs=n_jobs)
    with pytest.raises(ParameterError, match="source: is an empty list"):
        read_documents([], n_jobs=n_jobs)
    with pytest.raises(ParameterError, match="source: is a list with '-'"):
        read_documents(["-"], n_jobs=n_jobs)


BROKEN = {
    "jsonl": (b'{"body": 3}\n', "line 81: 'body' is 3"),
    "csv": (b"1,2\n", "the record has 2 fields; there are 4 columns"),
    "txt": (b"caf\xe9 au lait\n", "the byte 0xe9 is not valid UTF-8"),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_names_the_file_and_the_line(name, n_jobs, texts, tmp_path, small_parts):
    pattern = write(tmp_path / "files", texts, name, 3)
    line, what = BROKEN[name]
    path = tmp_path / "files" / f"posts-1.{name}"
    path.write_bytes(path.read_bytes() + line)
    n_lines = path.read_bytes().count(b"\n")
    for more in ({}, {"save_to": tmp_path / "corpus"}):
        with pytest.raises(FileError) as found:
            read_documents(pattern, **options_of(name), n_jobs=n_jobs, **more)
        assert str(found.value).startswith(f"{path}, line {n_lines}")
        assert what in str(found.value)
        assert (found.value.path, found.value.line) == (str(path), n_lines)
    assert not (tmp_path / "corpus").exists()
    data = read_documents(pattern, **options_of(name), n_jobs=n_jobs, on_error="skip")
    assert (len(data), data.n_skipped) == (N, 1)
    assert data.skipped[0].startswith(f"{path}, line {n_lines}")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_broken_row(n_jobs, texts, tmp_path, small_parts):
    pattern = write(tmp_path / "files", texts, "parquet", 3)
    every = rows(texts)[80:160]
    every[60]["body"] = None
    path = tmp_path / "files" / "posts-1.parquet"
    path.write_bytes(as_parquet(every))
    with pytest.raises(FileError, match="row 61: 'body' is null") as found:
        read_documents(pattern, text="body", n_jobs=n_jobs)
    assert (found.value.path, found.value.row) == (str(path), 61)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match="is not a Parquet file, or is damaged") as found:
        read_documents(pattern, text="body", n_jobs=n_jobs)
    assert found.value.path == str(path)


def test_lines_that_are_cut_in_the_middle(tmp_path, monkeypatch):
    """Wherever a part begins and ends, every line is read once: long ones, empty ones, of both kinds, the last one."""
    words = ["a", "bb", "ccc", "dddd" * 30]
    lines = [" ".join(words[: i % 5]) for i in range(57)]
    for end in ("\n", ""):
        path = tmp_path / "lines.txt"
        path.write_bytes(("\r\n".join(lines[:30]) + "\n" + "\n".join(lines[30:]) + end).encode())
        expected = read_documents(path, min_df=1, max_df=1.0, stop_words=None)
        for size in range(1, 140, 3):
            monkeypatch.setattr(_parts, "LEAST", size)
            monkeypatch.setattr(_parts, "USUAL", 10**9)
            texts = []
            parts = _parts.cut_parts(_files(path))
            for part in parts:
                texts += list(_parts.FileReader(_template(), "raise", False)(part, _parts.Notes()))
            assert texts == lines
            assert len(parts) >= path.stat().st_size // size - 1
        assert len(expected) == len(lines)


def _template():
    from topoi.readers._several import new_template

    return new_template()


def _files(path):
    from topoi.readers._faults import Faults
    from topoi.readers._several import found_sources, open_files

    return open_files(found_sources(path), _template(), None, Faults())


def test_what_is_not_read_in_parts(tmp_path, texts):
    (tmp_path / "a.svm").write_text("1 1:2 3:1\n")
    (tmp_path / "b.svm").write_text("1 1:2 3:1\n")
    with pytest.raises(FileError, match="has counts of words; of several files only texts are read together"):
        read_documents(tmp_path / "*.svm")
    with pytest.raises(FileError, match="has counts of words, which are not read in parts"):
        read_documents(tmp_path / "a.svm", n_jobs=2)
    pattern = write(tmp_path / "files", texts, "csv", 2)
    with pytest.raises(ParameterError, match="ngrams: are counted in all texts"):
        read_documents(pattern, text="body", n_jobs=2, ngrams=1)
    with pytest.raises(ParameterError, match="phrases: are looked for in all texts together"):
        read_documents(pattern, text="body", n_jobs=2, phrases=True)
    with open(tmp_path / "files" / "posts-0.csv", "rb") as stream, pytest.raises(FileError, match="only files can"):
        read_documents(stream, format="csv", n_jobs=2)
    assert read_documents(pattern, text="body", ngrams=1, phrases=True).corpus.ngrams is not None


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_long_id_that_comes_often(in_parts, tmp_path, monkeypatch):
    """A small file has it once, but every document has a copy; memory is asked for before all of them are there."""
    monkeypatch.setattr(tokens, "LONG", 10**5)
    pq.write_table(pa.table({"text": ["cats and dogs"] * 200, "id": ["x" * 10_000] * 200}), tmp_path / "few.parquet")
    assert (tmp_path / "few.parquet").stat().st_size < 5000
    options = {"id": "id", "min_df": 1, "max_df": 1.0}
    if in_parts:
        monkeypatch.setattr("topoi.readers._read.resolve_n_jobs", lambda n_jobs: 2)  # but this process does it
    with pytest.raises(FileError, match="Ids, labels and columns of its documents are kept"):
        read_documents(tmp_path / "few.parquet", max_memory="1MB", **options)
    assert len(read_documents(tmp_path / "few.parquet", max_memory="4MB", **options).ids) == 200


def test_a_file_that_has_changed(texts, tmp_path):
    pattern = write(tmp_path / "files", texts, "csv", 3)
    data = read_documents(pattern, text="body", n_jobs=2)
    (tmp_path / "files" / "posts-2.csv").write_bytes(as_csv(rows(texts)[:3]))
    with pytest.raises(FileError, match="the file has changed since it was read"):
        data.texts([0])


def put(folder, url):
    import fsspec

    for path in folder.iterdir():
        with fsspec.open(f"{url}/{path.name}", "wb") as file:
            file.write(path.read_bytes())


@pytest.mark.parametrize("name", WRITE)
def test_urls(name, texts, tmp_path, store, small_parts):
    expected = in_one_go(texts, tmp_path / "one", name)
    write(tmp_path / "files", texts, name, 3)
    put(tmp_path / "files", f"{store}/posts")
    pattern = f"{store}/posts/*.{name}"
    read_documents(pattern, **options_of(name)).corpus.save(tmp_path / "several")
    assert files(tmp_path / "several") == expected
    read_documents(pattern, **options_of(name), save_to=f"{store}/corpus")
    Corpus.load(f"{store}/corpus").save(tmp_path / "parts")
    assert files(tmp_path / "parts") == expected
    one = read_documents(f"{store}/posts/posts-1.{name}", **options_of(name), min_df=1, max_df=1.0)
    assert len(one) == 80
    assert one.texts([3])[0].split() == texts[83].split()


def test_an_object_with_a_star_in_its_name(memory):
    import fsspec

    for name in ("a.txt", "b[1].txt", "*.txt"):
        fsspec.filesystem("memory").pipe(f"{memory}/{name}", f"cats and dogs\nin {name}".encode())
    for name in ("b[1].txt", "*.txt"):
        found = read_documents(f"{memory}/{name}", min_df=1, max_df=1.0)
        assert found.texts([0, 1]) == ["cats and dogs", f"in {name}"]


def test_files_of_a_web_server(texts, tmp_path):
    pytest.importorskip("aiohttp")
    expected = in_one_go(texts, tmp_path / "one", "csv")
    write(tmp_path / "files", texts, "csv", 3)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=tmp_path / "files")

        def log_message(self, *told):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            data = read_documents(f"http://127.0.0.1:{server.server_port}/posts-*.csv", text="body")
        finally:
            server.shutdown()
    data.corpus.save(tmp_path / "several")
    assert files(tmp_path / "several") == expected


def test_processes_and_s3(texts, tmp_path, s3, small_parts):
    expected = in_one_go(texts, tmp_path / "one", "parquet")
    write(tmp_path / "files", texts, "parquet", 3)
    put(tmp_path / "files", f"{s3}/posts")
    read_documents(f"{s3}/posts/*.parquet", text="body", n_jobs=2, save_to=tmp_path / "parts")
    assert files(tmp_path / "parts") == expected


def test_urls_at_which_nothing_is(memory, texts, tmp_path):
    with pytest.raises(FileError, match="no file has a name like this"):
        read_documents(f"{memory}/posts/*.csv")
    for n_jobs in (1, 2):
        with pytest.raises((FileError, MissingObjectError), match="there is no such"):
            read_documents(f"{memory}/posts.csv", n_jobs=n_jobs)
    write(tmp_path / "files", texts, "csv", 3)
    put(tmp_path / "files", f"{memory}/posts")
    with pytest.raises(FileError, match=r"posts-0.csv: has no column 'text'") as found:
        read_documents(f"{memory}/posts/*.csv", text="text")
    assert found.value.path == f"{memory}/posts/posts-0.csv"


def test_parts_follow_from_the_files(texts, tmp_path, monkeypatch):
    pattern = write(tmp_path / "files", texts, "csv", 7)
    sizes = [os.path.getsize(tmp_path / "files" / f"posts-{i}.csv") for i in range(7)]
    monkeypatch.setattr(_parts, "LEAST", sizes[0] + sizes[1])
    parts = _parts.cut_parts(_files_of(pattern))
    assert [piece.source for part in parts for piece in part] == [f"{tmp_path}/files/posts-{i}.csv" for i in range(7)]
    assert len(parts[0]) == 2
    assert 3 <= len(parts) < 7


def test_workers_in_another_folder(texts, tmp_path, monkeypatch):
    """Names of files that are relative to the folder of this process, and files that only its machine has."""
    write(tmp_path / "files", texts, "csv", 2)
    monkeypatch.chdir(tmp_path)
    parts = _parts.cut_parts(_files_of("files/*.csv"), elsewhere=True)
    names = [piece.source for part in parts for piece in part]
    assert all(map(os.path.isabs, names))
    assert list(map(os.path.basename, names)) == ["posts-0.csv", "posts-1.csv"]
    (tmp_path / "files" / "posts-1.csv").unlink()
    reader = _parts.FileReader(_files_of("files/*.csv").requests[0], "raise", beside=False, elsewhere=True)
    with pytest.raises(FileError, match=r"posts-1\.csv: a worker of the cluster does not see it; put it where"):
        list(reader(parts[0], Notes()))


def test_lines_before_a_file_that_is_not_cut(tmp_path):
    """Nobody looks: a pipe that is opened twice would be waited for."""
    assert Source(tmp_path / "gone").lines_before == 0


def _files_of(pattern):
    from topoi.readers._faults import Faults
    from topoi.readers._several import found_sources, new_template, open_files

    return open_files(found_sources(pattern), new_template(text=("body",)), None, Faults())
