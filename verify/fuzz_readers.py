"""Ten thousand damaged files of every format: each is read, or refused by an error of topoi's own, no more.

    python verify/fuzz_readers.py [--cases 10000] [--seed 0]

Good files of every format that topoi reads (and a folder of texts, a saved corpus, a vocabulary file) are flipped, cut,
doubled, spliced, filled with huge numbers, deep brackets and bytes of other encodings, and compressed before or after.
A file must be read or refused, and nothing else may happen: `fuzzing.py` says what is checked.
"""

from __future__ import annotations

import contextlib
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
from fuzzing import Fault, Place, Tell, library

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.reader_files import COMPRESS
from topoi.corpus import Corpus
from topoi.errors import TopoiError
from topoi.readers import read_documents
from topoi.readers._counts import read_vocabulary_file

LIMIT = "64MB"  # `max_memory` in half of the cases

NUMBERS = [b"0", b"-1", b"1e999", b"nan", b"2147483648", b"16777215", b"4294967296", b"9" * 18, b"9" * 40, b"9" * 5000,
           b"1048577", b"0.5", b"Infinity", b"1_0"]  # fmt: skip
PIECES = [b"[" * 5000, b'{"a":' * 3000, b"]" * 50, b'"', b'"""', b"\\ud800", b"\\", b"\n", b"\r\n", b"\r", b"\0",
          b",,,,", b"\t", b":", b"#", b"\xff\xfe", b"\xef\xbb\xbf", b"\xff", b"\xe9", b"\xed\xa0\x80",
          b"\xf4\x90\x80\x80", b" " * 3000, b"x" * 100_000, b'a","""\n' * 500, b"PAR1", b"PK\x05\x06",
          b"\x93NUMPY", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80",
          b"\xff" * 8, b"null", b"true", b"?"]  # fmt: skip


FILES_OF: dict[str, list[bytes]] = {}  # good files, by format


def seeds() -> dict[str, list[bytes]]:
    """Good files, by format."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy import sparse

    from support.reader_files import FILES, TEXTS, as_parquet, jsonl, npz

    def parquet(column: Any, **options: Any) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.table({"text": column, "label": ["a", "b"] * (len(column) // 2)}), file, **options)
        return file.getvalue()

    counts = np.random.default_rng(1).integers(0, 4, (6, 8))
    matrices = [sparse.csr_array(counts), sparse.csc_array(counts), sparse.coo_array(counts), sparse.dia_array(counts),
                sparse.bsr_array(counts)]  # fmt: skip
    cells = [(d + 1, w + 1, n) for (d, w), n in np.ndenumerate(counts) if n]
    uci = f"6\n8\n{len(cells)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in cells)
    svm = "".join(
        f"{d % 2},{d} " + " ".join(f"{w + 1}:{n}" for w, n in enumerate(row) if n) + "\n"
        for d, row in enumerate(counts)
    )
    lists = pa.array([["a", "b"], [], ["b", "ä"], ["c"] * 5])
    tokens = [{"tokens": ["New York", "b"], "label": ["x", "y"]}, {"tokens": [], "label": None}]
    return {
        **{name: [content] for name, (content, _) in FILES.items()},
        "jsonl": [FILES["jsonl"][0], jsonl(tokens)],
        "parquet": [
            as_parquet(nr=list(range(6)), text=TEXTS, label=list("ababab")),
            parquet(lists),
            parquet(pa.array(["one two", None, "three", "four"]), compression="none", data_page_version="2.0"),
            parquet(
                pa.array(["aa", "ab", "abc", "b"] * 50),
                use_dictionary=False,
                column_encoding="DELTA_BYTE_ARRAY",
                compression="gzip",
                data_page_size=64,
            ),
            parquet(pa.array(["x", "y"] * 20).dictionary_encode(), compression="zstd", row_group_size=8),
        ],
        "svmlight": [svm.encode(), b"1 1:2 3:1 # two\n-1 qid:3 2:1\n0.5 1:1\n"],
        "uci": [uci.encode()],
        "npz": [npz(matrix) for matrix in matrices],
        "folder": [b"one two three", TEXTS[2].encode()],
        "corpus": [b""],  # made on the spot
        "vocabulary": ["one\ntwo\nsechs\nän\n".encode()],
    }


def mutated(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A file with one fault or some."""
    data = bytearray(content or b"x")
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        at = int(rng.integers(len(data) + 1))
        end = min(len(data), at + int(rng.choice([1, 4, 30, 300])))
        kind = int(rng.integers(9))
        if kind == 0:
            data[at:end] = rng.bytes(end - at)
        elif kind == 1:
            del data[at : end if rng.random() < 0.7 else len(data)]
        elif kind == 2:
            data[at:at] = data[at:end] * int(rng.choice([1, 2, 100]))
        elif kind == 3:
            other = others[int(rng.integers(len(others)))]
            first = int(rng.integers(len(other) + 1))
            data[at:end] = other[first : first + 200]
        elif kind == 4:  # a number in the text becomes another
            digits = [i for i in range(at, len(data)) if 48 <= data[i] < 58][:1]
            begin = digits[0] if digits else at
            stop = begin
            while stop < len(data) and 48 <= data[stop] < 58:
                stop += 1
            data[begin:stop] = NUMBERS[int(rng.integers(len(NUMBERS)))]
        elif kind in (5, 6):
            data[at : end if kind == 6 else at] = PIECES[int(rng.integers(len(PIECES)))]
        elif kind == 7 and len(data):
            at = min(at, len(data) - 1)
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 8 and rng.random() < 0.3:
            with contextlib.suppress(UnicodeError):
                name = str(rng.choice(["utf-16", "utf-32", "latin-1", "utf-7", "cp037"]))
                data = bytearray(bytes(data).decode().encode(name))
        data = data[: 2**21] or bytearray(b"\n")
    return bytes(data)


def repacked(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A zip archive of which a member was damaged before it was packed: its checksum is right."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        victim = str(rng.choice(old.namelist()))
        for name in old.namelist():
            member = old.read(name)
            new.writestr(name, mutated(member, others, rng) if name == victim else member)
    return file.getvalue()


def options_of(rng: np.random.Generator) -> dict[str, Any]:
    """Some options of reading; those that a format does not have are refused, which is well."""
    choices: dict[str, list[Any]] = {
        "encoding": ["latin-1", "utf-16", "cp037", "utf-8"], "label": ["label", "x"], "id": ["nr"], "text": ["text"],
        "vocabulary": [["one", "two", "cat"]], "label_separator": [",", ";"], "min_df": [2, 0.5],
        "stop_words": [["the"]], "header": [False], "quotes": [False], "tokenized": [True], "first_index": [0],
        "target": ["label", True], "delimiter": [";", "\t"], "keep_texts": [3], "max_features": [2],
    }  # fmt: skip
    chosen = [name for name in choices if rng.random() < 0.08]
    options = {name: choices[name][int(rng.integers(len(choices[name])))] for name in chosen}
    options |= {"max_memory": LIMIT} if rng.random() < 0.5 else {}
    options |= {"on_error": "skip"} if rng.random() < 0.5 else {}
    return options


def damaged_corpus(content: bytes, rng: np.random.Generator) -> None:
    """A saved corpus in the working folder, of which one file is damaged."""
    Corpus.from_tokens([["one", "two", "one"], [], ["three", "one", "two"]], ngrams=3).save("corpus")
    files = sorted(Path("corpus").iterdir())
    victim = files[int(rng.integers(len(files)))]
    victim.write_bytes(mutated(victim.read_bytes(), [content], rng))


def damaged_file(name: str, rng: np.random.Generator) -> tuple[bytes, str]:
    """A damaged file of a format, and the end of its name."""
    own, everything = FILES_OF[name], [content for contents in FILES_OF.values() for content in contents]
    content, others = own[int(rng.integers(len(own)))], own if rng.random() < 0.6 else everything
    packed = name == "npz" and rng.random() < 0.7
    content = repacked(content, others, rng) if packed else mutated(content, others, rng)
    suffix = str(rng.choice(["", "", ".gz", ".xz", ".bz2", ".zst"]))
    if suffix:
        content = COMPRESS[suffix](content)
        if rng.random() < 0.3:
            content = mutated(content, everything, rng)
    return content, suffix


def case(rng: np.random.Generator, place: Place, tell: Tell) -> str:
    """Write a damaged file and read it."""
    name = list(FILES_OF)[int(rng.integers(len(FILES_OF)))]
    options = options_of(rng)
    content, suffix = damaged_file(name, rng)
    as_stream, mmap = rng.random(2) < 0.3
    path = Path(f"file{suffix}")
    if name == "corpus":
        damaged_corpus(content, rng)
    elif name == "folder":
        path = Path("folder")
        (path / "label").mkdir(parents=True)
        (path / "good").write_bytes(b"one two")
        (path / "label" / f"bad{suffix}").write_bytes(content)
    else:
        path.write_bytes(content)
    tell(f"{name}: {path}, {options}", strict=True)

    def read() -> None:
        if name == "corpus":
            Corpus.load("corpus", mmap=bool(mmap)).to_counts()
            return
        if name == "vocabulary":
            read_vocabulary_file(path)
            return
        source = io.BytesIO(content) if as_stream and name != "folder" else path
        data = read_documents(source, format=name, **options)
        rows = [rows for rows in (data.ids, data.labels) if rows is not None]
        if not len(data) or any(len(column) != len(data) for column in rows):
            raise Fault(f"{data!r} has columns of other lengths")

    return library(read)


def setup(outside: Path) -> None:
    """Good files, kept in memory; each format is read once, so that nothing is imported later."""
    FILES_OF.update(seeds())
    for name, contents in FILES_OF.items():
        Path("file").write_bytes(contents[0])
        with contextlib.suppress(TopoiError):
            read_documents("file", format=name)


if __name__ == "__main__":
    fuzzing.main(__doc__ or "", setup, case, megabytes=3000)
