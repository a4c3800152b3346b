"""Hostile files cost no more than honest ones: lines without end, quotes without end, patterns that backtrack."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from support.cli_files import call
from support.reader_files import bag, error_of, npz, read, read_documents
from topoi.corpus import Corpus
from topoi.corpus.text import tokens as _tokens
from topoi.errors import CorpusError, FileError, ParameterError
from topoi.readers import _source, delimited
from topoi.readers._memory import read_size
from topoi.readers._parquet_pages import pages


class Endless(io.RawIOBase):
    """`head`, then one byte for ever; counts what is read."""

    def __init__(self, head: bytes, byte: bytes) -> None:
        self.head, self.byte, self.n_read = head, byte, 0

    def readable(self):
        return True

    def read(self, size=-1):
        assert size >= 0, "all of it was asked for"
        data = self.head[:size] or self.byte * size
        self.head = self.head[size:]
        self.n_read += len(data)
        return data


@pytest.mark.parametrize("name", ["txt", "jsonl", "csv", "mallet", "svmlight", "uci"])
def test_an_endless_line_is_read_up_to_the_limit(name, monkeypatch):
    monkeypatch.setattr(_source, "MAX_DOCUMENT", 2**20)
    stream = Endless({"csv": b"text\n", "uci": b"1\n1\n1\n"}.get(name, b""), b"7")
    with pytest.raises(FileError):
        read_documents(stream, format=name)
    assert stream.n_read < 2**21
    monkeypatch.setattr(_source, "MAX_SKIPPED", 2**22)
    if name != "uci":  # its lines are short: each piece of this one is a broken line
        stream = Endless({"csv": b"text\n"}.get(name, b""), b"7")
        with pytest.raises(FileError, match="the line has no end in 4 MiB"):
            read_documents(stream, format=name, on_error="skip")
        assert stream.n_read < 2**23


# Lines that open a quote and leave an open one open: a record from each of them runs to the end of the file.
STILL_OPEN = 'a","""'


@pytest.mark.parametrize("end", ["", '"\n', '"x\n', "good,line\n"])
@pytest.mark.parametrize("limit", [2**26, 2**12])
def test_no_line_of_csv_is_read_more_than_three_times(end, limit, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_DOCUMENT", limit)
    delivered = []
    real = delimited._Lines.__next__
    monkeypatch.setattr(delimited._Lines, "__next__", lambda self: delivered.append(1) or real(self))
    n = 3000
    lines = "text,label\none,a\n" + (STILL_OPEN + "\n") * n + end
    data = read(lines, format="csv", on_error="skip")
    assert len(data) >= 1
    assert data.n_skipped >= n - 1
    assert len(delivered) <= 4 * n  # calls, of which some end at a line that is not read


def test_a_good_record_after_swallowed_lines_is_kept():
    content = 'text,label\n"open,x\nplain,a\n"of two\nlines",b\nlast,c\n'
    data = read(content, format="csv", label="label", on_error="skip")
    assert data.labels.tolist() == ["a", "b", "c"]
    assert data.n_skipped == 1


def test_a_count_of_many_digits_is_refused_without_backtracking():
    # With `[0-9]+\\.?[0-9]*` a digit can be read in two ways, and this would take hours.
    assert "counts are whole numbers" in error_of("1 1:" + "1" * 2_000_000 + "x", format="svmlight")


def test_an_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one two", "utf-8")
    with pytest.raises(ParameterError, match="source: is an empty string"):
        read_documents("")
    with pytest.raises(ParameterError, match="source: is an empty string"):
        read_documents(tmp_path, vocabulary="")
    for command in (("fit", ""), ("convert", "", "x.jsonl"), ("fit", tmp_path, "-o", ""), ("resume", "")):
        result = call(*command)
        assert result.exit_code == 2, command
        assert len(result.stderr.splitlines()) == 1
    for command in (("info", ""), ("topics", ""), ("topics", "a\0b"), ("predict", "", "a.txt")):
        assert "is not the name of a folder" in call(*command).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_links_that_lead_out_of_a_folder_are_not_followed(tmp_path):
    folder, secret = tmp_path / "folder", tmp_path / "secret"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one two", "utf-8")
    secret.mkdir()
    (secret / "key").write_text("password", "utf-8")
    try:
        (folder / "sub" / "inside").symlink_to("../a.txt")
        (folder / "b.txt").symlink_to(secret / "key")
        (folder / "c.txt").symlink_to("../secret/key")
        (folder / "d").symlink_to(secret)
    except OSError:
        pytest.skip("links need a privilege here")
    with pytest.raises(FileError, match=r"b\.txt: is a link that leads out of the folder"):
        read_documents(folder)
    data = read_documents(folder, on_error="skip")
    assert (data.ids.tolist(), data.n_skipped) == (["a.txt", "sub/inside"], 2)
    assert "password" not in data.corpus.vocabulary
    through = tmp_path / "link to the folder"
    through.symlink_to(folder)  # what the user names is the user's choice
    assert len(read_documents(through, on_error="skip")) == 2


# Bombs: what is declared is asked for before it is allocated


def peak(action):
    """Bytes at the peak of Python's and NumPy's memory, and of pyarrow's."""
    import tracemalloc

    import pyarrow as pa

    pool = pa.default_memory_pool()
    before = pool.max_memory()
    tracemalloc.start()
    try:
        action()
        return max(tracemalloc.get_traced_memory()[1], pool.max_memory() - before)
    finally:
        tracemalloc.stop()


def bomb_npz(**arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (header, n_zeros) in arrays.items():
            text = header.encode() + b" " * (117 - len(header)) + b"\n"
            with archive.open(f"{name}.npy", "w") as part:
                part.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
                for _ in range(n_zeros >> 20):
                    part.write(bytes(2**20))
    return file.getvalue()


def declared(kind, *shape):
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"


def parquet_of(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def repeated(word, n):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), [word])


def parquet_that_lies():
    """A page of 64 bytes that declares 2 GB; the footer knows nothing of it."""
    whole = bytearray(parquet_of(pa.table({"text": ["x" * 31, "y"]}), compression="none", use_dictionary=False))
    header = pages_of(bytes(whole))[0]
    at = whole.index(zigzag(header.n_bytes))  # the uncompressed size comes first
    assert whole[at - 1 : at] == b"\x15"
    whole[at : at + len(zigzag(header.n_bytes))] = zigzag(2**31 - 1)
    return bytes(whole)


def zigzag(number):
    number, out = number << 1, bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def pages_of(content):
    file = io.BytesIO(content)
    return list(pages(file, pq.ParquetFile(file).metadata.row_group(0).column(0)))


HUGE_COUNTS = " ".join(f"{i}:16777215" for i in range(1, 97))
BOMBS = {
    "svmlight counts": ("svmlight", lambda: f"1 {HUGE_COUNTS}\n".encode()),
    "svmlight columns": ("svmlight", lambda: b"1 1:1 9000000:1\n"),
    "svmlight line": ("svmlight", lambda: gzip.compress(b"1 " + b"1:1 " * 2**23 + b"\n")),
    "uci counts": ("uci", lambda: b"1\n99\n96\n" + b"".join(b"1 %d 16777215\n" % i for i in range(1, 97))),
    "uci documents": ("uci", lambda: b"100000000\n4\n1\n1 1 1\n"),
    "uci words": ("uci", lambda: b"1\n100000000\n1\n1 1 1\n"),
    "npz counts": ("npz", lambda: npz(sparse.csr_array(np.full((20, 50), 2**24 - 1)))),
    "npz columns": ("npz", lambda: npz(sparse.csr_array(([1], ([0], [0])), shape=(1, 2**31 - 2)))),
    "npz rows": ("npz", lambda: npz(sparse.csc_array(([1], ([0], [0])), shape=(2**31 - 2, 1)))),
    "npz header": ("npz", lambda: bomb_npz(indices=(declared("<i8", 10**9), 2**20))),
    "npz no array": ("npz", lambda: bomb_npz(format=("no array at all", 2**28))),
    "npz.gz": ("npz", lambda: gzip.compress(gzip.compress(bytes(2**20)) + bytes(2**24))),
    "parquet dictionary": ("parquet", lambda: parquet_of(pa.table({"text": repeated("x" * 10**6, 10**6)}))),
    "parquet page": ("parquet", parquet_that_lies),
    "parquet list": (
        "parquet",
        lambda: parquet_of(pa.table({"text": pa.ListArray.from_arrays([0, 10**7], repeated("word", 10**7))})),
    ),
    "text words": ("txt", lambda: lzma.compress(b"".join(b"%09d\n" % i for i in range(300_000)))),
    "text lines": ("txt", lambda: gzip.compress(b"\n" * 10**6)),
    "ids": ("jsonl", lambda: gzip.compress(b"".join(b'{"text": "", "id": "%060d"}\n' % i for i in range(30_000)))),
    "labels": ("mallet", lambda: gzip.compress(b"".join(b"n l%060d x\n" % i for i in range(30_000)))),
}
SMALL = {
    "text words": "2M",
    "text lines": "2M",
    "ids": "2M",
    "labels": "2M",
    "npz.gz": "2M",
    "parquet dictionary": "32M",
    "parquet list": "32M",
}  # with such a limit, to be quick


@pytest.mark.parametrize("what", BOMBS)
def test_bombs(what, monkeypatch):
    name, make = BOMBS[what]
    content = make()
    options = {"max_memory": SMALL[what]} if what in SMALL else {}
    options |= {"id": "id"} if what == "ids" else {}
    monkeypatch.setattr(_tokens, "PIECE", 2**12)
    messages = []

    def attempt():
        try:
            messages.append(str(read(content, format=name, **options)))
        except FileError as error:
            messages.append(str(error))

    assert peak(attempt) < 400e6
    assert "raise the limit: max_memory=" in messages[0] or what in ("svmlight line", "npz no array"), messages


def test_the_message_of_a_limit():
    what = error_of(f"1 {HUGE_COUNTS}\n", format="svmlight")
    assert what == (
        "the stream: It has 1610612640 tokens or more, in 1 documents. That would take about 6 GiB; the limit for this "
        "file is 1 GiB. If the file is right, raise the limit: max_memory='12GB'."
    )
    with pytest.raises(ParameterError, match="max_memory: must be a number of bytes, as 4000000000 or '4GB', not 'x'"):
        read("1 1:1", format="svmlight", max_memory="x")


def test_limits_can_be_raised(tmp_path):
    columns = "1 1:1 2000000:1\n"
    assert "claims 2000000 columns" in error_of(columns, format="svmlight")
    assert read(columns, format="svmlight", max_memory="4GB").corpus.n_words == 2_000_000
    (tmp_path / "posts.svm").write_text(columns, "utf-8")
    result = call("convert", tmp_path / "posts.svm", tmp_path / "x.svm")
    assert result.exit_code == 2
    assert "raise the limit: --max-memory '3.81GB'." in result.stderr
    assert call("convert", tmp_path / "posts.svm", tmp_path / "x.svm", "--max-memory", "4GB").exit_code == 0


@pytest.mark.parametrize("size", [1, 2**40, "1", "2.5 GB", "3GiB", "4m", " 5T "])
def test_sizes(size):
    assert read_size(size) > 0


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "", "GB", "1e9", "-1GB", "9" * 20, None])
def test_sizes_that_are_none(size):
    with pytest.raises(ParameterError, match="max_memory"):
        read_size(size)


def test_xz_that_asks_for_memory():
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1536 * 2**20}]
    small = lzma.compress(b"one two\n", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**16}])
    assert read(small + bytes(8) + lzma.compress(b"three\n"), format="txt").corpus.n_tokens == 3
    assert peak(lambda: error_of(xz_header(filters), format="txt")) < 50e6
    assert "need more than 512 MiB of memory" in error_of(xz_header(filters), format="txt")


def xz_header(filters):
    """The first bytes of xz data with these filters, made without the memory that they need: the code of the size is
    put into data with a small one."""
    import zlib

    data = bytearray(lzma.compress(b"one two\n" * 100, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**16}]))
    at = 12  # the block's header: size, flags, filter, size of its properties, properties
    length = (data[at] + 1) * 4
    assert data[at + 2 : at + 4] == b"\x21\x01"
    data[at + 4] = 39  # 3 GiB
    data[at + length - 4 : at + length] = struct.pack("<I", zlib.crc32(data[at : at + length - 4]))
    return bytes(data)


def test_pages_of_parquet_are_found():
    table = pa.table({"text": [f"text {i} " * 50 for i in range(5000)]})
    for options in ({}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"compression": "zstd"},
                    {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}):  # fmt: skip
        content = parquet_of(table, data_page_size=10_000, **options)
        found = pages_of(content)
        column = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
        assert sum(page.n_values for page in found if not page.is_dictionary) == 5000
        headers = column.total_uncompressed_size - sum(page.n_bytes for page in found)
        assert 0 < headers < 2000 * len(found)
        assert any(page.encoding == 7 for page in found) == ("column_encoding" in options)
        assert len(read(content, format="parquet")) == 5000


def test_lists_of_parquet():
    words = [["a", "b"], None, [], ["b", "c", "b"], ["ä"]]
    for kind in (pa.list_(pa.string()), pa.large_list(pa.large_string())):
        content = parquet_of(pa.table({"text": pa.array(words, kind)}))
        data = read(content, format="parquet", on_error="skip")
        assert bag(data.corpus) == [["a", "b"], [], ["b", "b", "c"], ["ä"]]
        assert data.n_skipped == 1
    content = parquet_of(pa.table({"text": pa.array([["a", "b"], ["c", "d"]], pa.list_(pa.string(), 2))}))
    assert bag(read(content, format="parquet").corpus) == [["a", "b"], ["c", "d"]]


def test_a_folder_that_claims_words(tmp_path):
    corpus = Corpus.from_counts(sparse.csr_array(([1], ([0], [0])), shape=(1, 2**24)))
    corpus.save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").n_words == 2**24
    (tmp_path / "c" / "corpus.json").write_text('{"version": 1, "n_words": 2000000000, "has_vocabulary": false}')
    with pytest.raises(CorpusError, match=r"claims 2000000000 words, but holds 1 tokens.*max_unused=2000000000"):
        Corpus.load(tmp_path / "c")
    assert Corpus.load(tmp_path / "c", max_unused=2 * 10**9).n_words == 2 * 10**9


def test_a_vocabulary_file_that_is_a_bomb(tmp_path):
    (tmp_path / "v.xz").write_bytes(lzma.compress(b"".join(b"%07d\n" % i for i in range(50_000))))
    with pytest.raises(FileError, match=r"v\.xz: It has \d+ words or more.*max_memory"):
        read(b"one\n", format="txt", vocabulary=tmp_path / "v.xz", max_memory="1MB")
