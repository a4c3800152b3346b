"""Corpora on the command line: of several files, by several processes, the same as in Python."""

from __future__ import annotations

import pytest

from support.cli_files import call, done, records, write_csv
from topoi import Corpus
from topoi.readers import read_documents


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def posts(tmp_path):
    folder = tmp_path / "posts"
    folder.mkdir()
    every = records()
    for i in range(3):
        write_csv(folder / f"posts-{i}.csv", every[20 * i : 20 * i + 20])
    return folder


@pytest.fixture
def expected(tmp_path):
    Corpus.from_texts([row["body"] for row in records()[:60]]).save(tmp_path / "expected")
    return files(tmp_path / "expected")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_pattern_to_a_corpus(jobs, posts, expected, tmp_path):
    shown = done("convert", f"{posts}/posts-*.csv", f"{tmp_path}/corpus/", "--text", "body", "--jobs", jobs)
    assert files(tmp_path / "corpus") == expected
    corpus = Corpus.load(tmp_path / "corpus")
    assert f"60 documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words." in shown.stderr
    done("convert", f"{posts}/posts-*.csv", f"{tmp_path}/corpus", "--text", "body")  # it is replaced
    assert files(tmp_path / "corpus") == expected
    done("convert", f"{posts}/posts-0.csv", f"{tmp_path}/other", "--to", "corpus", "--text", "body", "--min-df", "1")
    assert Corpus.load(tmp_path / "other").n_documents == 20


def test_urls(posts, expected, tmp_path, store):
    import fsspec

    for path in posts.iterdir():
        with fsspec.open(f"{store}/posts/{path.name}", "wb") as file:
            file.write(path.read_bytes())
    done("convert", f"{store}/posts/*.csv", f"{store}/corpus/", "--text", "body")
    Corpus.load(f"{store}/corpus").save(tmp_path / "corpus")
    assert files(tmp_path / "corpus") == expected
    done("convert", f"{store}/posts/*.csv", tmp_path / "words.jsonl", "--text", "body", "--label", "subject")
    assert len(read_documents(tmp_path / "words.jsonl", text="tokens")) == 60


def test_a_cluster(posts, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        to = ("--dask", cluster.scheduler_address)
        done("convert", f"{posts}/posts-*.csv", f"{tmp_path}/corpus/", "--text", "body", *to)
    assert files(tmp_path / "corpus") == expected


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_several_files_to_one(jobs, posts, tmp_path):
    done("convert", f"{posts}/*.csv", tmp_path / "all.svm", "--text", "body", "--no-labels", "--jobs", jobs)
    every = [row["body"] for row in records()[:60]]
    expected = Corpus.from_texts(every, stop_words=None, min_df=1, max_df=1.0, clean="none")
    found = read_documents(tmp_path / "all.svm").corpus
    assert found.words.tolist() == expected.words.tolist()
    assert found.vocabulary.tolist() == expected.vocabulary.tolist()


BAD = {
    "label": (["--label", "subject"], "--label: is not written to a corpus, which holds words only"),
    "phrases": (["--phrases"], "--phrases: are looked for in all texts together"),
    "dask": (["--dask", "tcp://127.0.0.1:9"], "no Dask scheduler"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be(name, posts, tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    more, what = BAD[name]
    failed = call("convert", f"{posts}/*.csv", f"{tmp_path}/corpus/", "--text", "body", *more)
    assert failed.exit_code == 2
    assert what in " ".join(failed.output.split())
    assert not (tmp_path / "corpus").exists()


def test_what_is_not_replaced(posts, tmp_path):
    failed = call("convert", f"{posts}/*.csv", f"{posts}/", "--text", "body")
    assert (failed.exit_code, len(list(posts.iterdir()))) == (2, 3)
    assert "exists and holds other things than a corpus" in failed.output
    failed = call("convert", f"{posts}/none-*.csv", f"{tmp_path}/corpus/", "--text", "body")
    assert failed.exit_code == 2
    assert f"{posts}/none-*.csv: no file has a name like this; check the pattern." in failed.output
    failed = call("convert", "-", f"{tmp_path}/corpus/", "--format", "txt", input="a text\n")
    assert "standard input: cannot be read in parts, only files can." in failed.output


def test_a_corpus_is_no_folder_of_texts(tmp_path):
    Corpus.from_texts(["cats and dogs"] * 3).save(tmp_path / "corpus")
    failed = call("fit", f"{tmp_path}/corpus", "--topics", "2")
    assert failed.exit_code == 2
    assert "is a saved corpus, not a folder of texts; fit a model on it in Python" in failed.output
