"""The same documents in every format, and ways to read them: what the tests of the readers share."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi._disk import compressed
from topoi.corpus import Corpus
from topoi.corpus.text.tokenizer import TOKEN_PATTERN
from topoi.errors import FileError
from topoi.readers import Dataset
from topoi.readers import read_documents as read_words

TEXTS = [
    "The cat sat on the mat.",
    "",
    "Ein Kätzchen, das\tschläft!",
    'She said "no", twice.',
    "a b cc I",
    "mat MAT cat 42",
]
LABELS = ["animal", "none", "animal", "speech", "none", "animal"]

zstd = compressed._zstd("tests")
COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstd.compress}


#: Options by which texts are read as CountVectorizer reads them by default: nothing is left out.
ALL_WORDS = {"token_pattern": TOKEN_PATTERN, "stop_words": None, "clean": "none", "min_df": 1, "max_df": 1.0}


def read_documents(source, **options) -> Dataset:
    """`topoi.readers.read_documents`, with all words as CountVectorizer has them."""
    return read_words(source, **(ALL_WORDS | options))


def read(data: bytes | str, **options) -> Dataset:
    data = data.encode() if isinstance(data, str) else data
    return read_documents(io.BytesIO(data), **options)


def jsonl(records) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def as_csv(rows, delimiter=",") -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows(rows)
    return file.getvalue().encode()


def as_parquet(**columns) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def write_folder(root):
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (root / label).mkdir(exist_ok=True, parents=True)
        (root / label / f"{i}.txt").write_text(text, "utf-8")
    (root / ".hidden").write_bytes(b"\0")
    return root


def bag(corpus: Corpus) -> list[list[str]]:
    return [[corpus.vocabulary[w] for w in corpus.document(d)] for d in range(corpus.n_documents)]


def npz(matrix) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, matrix)
    return file.getvalue()


def expected(**options) -> Corpus:
    vectorizer = CountVectorizer(**options)
    X = vectorizer.fit_transform(TEXTS)
    return Corpus.from_counts(X, vectorizer.get_feature_names_out())


RECORDS = [{"nr": i, "text": text, "label": label} for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))]
ROWS = [["nr", "label", "text"]] + [[r["nr"], r["label"], r["text"]] for r in RECORDS]
FILES = {
    "txt": ("\n".join(TEXTS).encode(), {}),
    "jsonl": (jsonl(RECORDS), {"label": "label", "id": "nr"}),
    "csv": (as_csv(ROWS), {"label": "label", "id": "nr"}),
    "tsv": (as_csv(ROWS, "\t"), {"label": "label", "id": "nr"}),
    "parquet": (as_parquet(nr=list(range(6)), text=TEXTS, label=LABELS), {"label": "label", "id": "nr"}),
    "mallet": ("".join(f"{r['nr']} {r['label']}\t{r['text']}\n" for r in RECORDS).encode(), {}),
}
WITHOUT_IDS = {"txt"}


def error_of(data: bytes | str, **options) -> str:
    with pytest.raises(FileError) as caught:
        read(data, **options)
    return str(caught.value)
