"""Any bytes at all: a reader gives documents or a typed error, never another exception."""

from __future__ import annotations

import contextlib
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from support.reader_files import COMPRESS, FILES, LABELS, TEXTS, as_csv, jsonl, npz, read
from topoi.errors import FileError, TopoiError
from topoi.readers import FORMATS, Dataset, read_documents

QUICK = settings(max_examples=150)


# Anything

BYTES = st.binary(max_size=200)
PIECES = st.sampled_from(
    [
        *[
            b"\n",
            b"\r\n",
            b"\t",
            b" ",
            b'"',
            b'"x""y"',
            b",",
            b";",
            b":",
            b"#",
            b"-",
            b"0",
            b"1",
            b"2",
            b"[",
            b"{",
            b"}",
        ],
        *[
            b'{"text": "one", "label": 1}',
            b'{"text": ["a"]}',
            b"text",
            b"label",
            b"text,label\n",
            b"one,two\n",
            b"\\ud800",
        ],
        *[
            b"1:2",
            b"1,2",
            b"1.5",
            b"1e999",
            b"nan",
            b"qid:1",
            b"99999999999999999",
            b"3\n4\n2\n",
            b"1 1 1\n",
            b"2 3 1\n",
        ],
        *[b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\xe9", b"n1 A words here\n", b"PAR1", b"PK\x03\x04"],
        *[b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY"],
    ]
)
MIXED = st.lists(PIECES | st.binary(max_size=8), max_size=25).map(b"".join)
WHOLE = st.sampled_from([content for content, _ in FILES.values()] + [npz(sparse.csr_array(np.eye(3)))])


@st.composite
def damaged(draw):
    content = bytearray(draw(WHOLE))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content) - 1))
        content[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        content = content or bytearray(b"x")
    return COMPRESS[draw(st.sampled_from(list(COMPRESS)))](bytes(content))


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "folder"])
@settings(QUICK, max_examples=100)
@given(
    content=BYTES | MIXED | damaged(),
    options=st.fixed_dictionaries(
        {"on_error": st.sampled_from(["raise", "skip"])},
        optional={
            "encoding": st.sampled_from(["latin-1", "utf-16", "cp037"]),
            "label": st.sampled_from(["label", "x"]),
            "id": st.just("nr"),
            "text": st.just("text"),
            "vocabulary": st.just(["one", "two"]),
            "label_separator": st.just(","),
            "min_df": st.just(2),
            "stop_words": st.just(["one"]),
            "header": st.just(False),
            "quotes": st.just(False),
            "tokenized": st.just(True),
            "first_index": st.just(0),
        },
    ),
)
def test_any_bytes_give_documents_or_a_typed_error(name, content, options):
    if "min_df" in options or "stop_words" in options:
        options.pop("vocabulary", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            data = read(content, format=name, **options)
        except TopoiError:
            return
    assert isinstance(data, Dataset)
    assert len(data) > 0
    assert data.ids is None or len(data.ids) == len(data)
    assert data.labels is None or len(data.labels) == len(data)


@settings(QUICK, max_examples=40)
@given(content=BYTES | MIXED, skip=st.booleans())
def test_any_bytes_in_a_folder(content, skip, tmp_path):
    (tmp_path / "good").write_bytes(b"a word")
    (tmp_path / "any").write_bytes(content)
    if skip:
        assert len(read_documents(tmp_path, on_error="skip")) >= 1
        return
    with contextlib.suppress(FileError):
        assert len(read_documents(tmp_path)) == 2


def test_the_files_of_the_tests_are_good():
    assert json.loads(jsonl([{"text": "x"}]))["text"] == "x"
    assert as_csv([["a", "b,c"]]) == b'a,"b,c"\r\n'
    assert len(LABELS) == len(TEXTS)
