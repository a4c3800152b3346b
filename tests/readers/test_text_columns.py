"""Several columns of text: each is cleaned by itself, so that a title does not hide what its body is."""

import csv
import json
import pickle

import pytest

from topoi import Corpus
from topoi.corpus.text.clean import Cleaner, Joined
from topoi.readers import read_documents

TITLE = "Broken zipper"
BODY = "From: ann@example.org\nSubject: Re: jacket\nX-Mailer: Mailjunk 1.2\n\nThe seam is torn.\n\n-- \nSignaturejunk"
WORDS = {"broken", "zipper", "jacket", "the", "seam", "is", "torn"}


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["title", "body"], *rows])


def write_jsonl(path, rows):
    lines = (json.dumps({"title": title, "body": body}) for title, body in rows)
    path.write_text("\n".join(lines), encoding="utf-8")


def write_parquet(path, rows):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    titles, bodies = zip(*rows, strict=True)
    pyarrow.parquet.write_table(pa.table({"title": titles, "body": bodies}), path)


@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
@pytest.mark.parametrize("columns", [["title", "body"], ["body", "title"]])
def test_headers_of_a_body_are_left_out_whatever_stands_before_it(tmp_path, write, columns):
    path = tmp_path / f"mails.{write.__name__.removeprefix('write_')}"
    write(path, [(TITLE, BODY), ("", BODY), (TITLE, "Nothing else.")])
    data = read_documents(path, text=columns, stop_words=None)
    assert set(data.corpus.vocabulary) == WORDS | {"nothing", "else"}
    assert data.corpus.preparation.removed["headers"] == data.corpus.preparation.removed["signatures"] == 2
    assert data.texts([0])[0] == "\n\n".join({"title": TITLE, "body": BODY}[name] for name in columns)


def test_new_documents_are_cleaned_by_columns_as_well(tmp_path):
    write_csv(tmp_path / "mails.csv", [(TITLE, BODY)])
    known = Corpus.from_texts([f"{TITLE} {BODY}"], stop_words=None, clean="none")
    assert "mailjunk" in known.vocabulary
    like = Corpus.from_texts(["mailjunk signaturejunk seam zipper jacket"], stop_words=None)
    new = read_documents(tmp_path / "mails.csv", text=["title", "body"], like=like)
    assert new.corpus.n_tokens == 3  # seam, zipper, jacket
    assert like.preparation.cut(new.texts([0])) == [["broken", "zipper", "jacket", "the", "seam", "is", "torn"]]


def test_cleaning_of_joined_texts_is_that_of_each():
    texts = ["", "<b>Bold</b> title", BODY, "caf&eacute; \n\n two paragraphs"]
    clean, apart = Cleaner(), Cleaner()
    assert clean(Joined.of(texts)) == "\n\n".join(map(apart, texts))
    assert clean.removed == apart.removed
    assert clean.removed["headers"] == 1
    assert Cleaner("none")(Joined.of(texts)) == "\n\n".join(texts)


def test_joined_texts_pass_between_processes():
    again = pickle.loads(pickle.dumps(Joined.of([TITLE, "", BODY])))
    assert again.columns() == [TITLE, "", BODY]
    assert again == f"{TITLE}\n\n\n\n{BODY}"
