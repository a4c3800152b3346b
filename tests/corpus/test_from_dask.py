"""Corpora of Dask's collections, and of Parquet files, have the bytes of those of texts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topoi import Corpus, CorpusError
from topoi.datasets import python_docs
from topoi.errors import FileError, ParameterError

bag = pytest.importorskip("dask.bag")
frames = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def texts():
    return list(python_docs().texts[:200])


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "one"
    Corpus.from_texts(texts).save(folder)
    return files(folder)


def collections(texts, n):
    frame = pd.DataFrame({"nr": range(len(texts)), "body": texts})
    yield bag.from_sequence(texts, npartitions=n), None
    yield bag.from_sequence([{"body": text} for text in texts], npartitions=n), "body"
    yield frames.from_pandas(frame, npartitions=n), "body"
    yield frames.from_pandas(frame, npartitions=n)["body"], None
    yield bag.from_sequence(texts, npartitions=n).map(str.swapcase).map(str.swapcase), None


@pytest.mark.parametrize("n", [1, 3, 7])
def test_in_this_process(n, texts, expected, tmp_path):
    for i, (collection, text) in enumerate(collections(texts, n)):
        corpus = Corpus.from_dask(collection, text, save_to=tmp_path / str(i))
        assert files(tmp_path / str(i)) == expected
        assert corpus.folder == tmp_path / str(i)


def test_processes(texts, expected, tmp_path):
    for i, (collection, text) in enumerate(collections(texts, 3)):
        Corpus.from_dask(collection, text, n_jobs=2, save_to=tmp_path / str(i))
        assert files(tmp_path / str(i)) == expected


def test_a_cluster(client, texts, expected, tmp_path):
    for i, (collection, text) in enumerate(collections(texts, 5)):
        Corpus.from_dask(collection, text, engine=client, save_to=tmp_path / str(i))
        assert files(tmp_path / str(i)) == expected
    persisted = client.persist(bag.from_sequence(texts, npartitions=4))
    Corpus.from_dask(persisted, engine=client, save_to=tmp_path / "persisted")
    assert files(tmp_path / "persisted") == expected


def test_the_client_of_this_process(client, texts, expected, tmp_path, monkeypatch):
    asked = []
    with client.as_current():
        submit = client.submit
        monkeypatch.setattr(client, "submit", lambda *given, **more: asked.append(1) or submit(*given, **more))
        Corpus.from_dask(bag.from_sequence(texts, npartitions=2), save_to=tmp_path / "corpus")
    assert len(asked) > 3
    assert files(tmp_path / "corpus") == expected


def test_texts_that_are_missing(texts):
    given = [*texts[:20], None, float("nan"), *texts[20:40]]
    with pytest.warns(UserWarning, match="2 of 42 texts are missing"):
        corpus = Corpus.from_dask(bag.from_sequence(given, npartitions=3), min_df=1)
    with pytest.warns(UserWarning, match="2 of 42 texts are missing"):
        assert np.array_equal(corpus.words, Corpus.from_texts(given, min_df=1).words)


def test_words_of_a_corpus(texts):
    like = Corpus.from_texts(texts[:100])
    corpus = Corpus.from_dask(bag.from_sequence(texts, npartitions=3), like=like)
    one = Corpus.from_texts(texts, like=like)
    assert np.array_equal(corpus.words, one.words)
    assert corpus.n_dropped == one.n_dropped > 0
    with pytest.raises(ParameterError, match="like: counts n-grams"):
        Corpus.from_dask(bag.from_sequence(texts), like=Corpus.from_texts(texts, ngrams=2))


def test_what_cannot_be_read(texts):
    given = bag.from_sequence([*texts[:10], 3], npartitions=2)
    with pytest.raises(CorpusError, match=r"text \d+ of partition 1 is 3, a int; texts must be str"):
        Corpus.from_dask(given)
    with pytest.raises(ParameterError, match="collection: must be a bag, Series or DataFrame of Dask, not list"):
        Corpus.from_dask(texts)
    frame = frames.from_pandas(pd.DataFrame({"a": texts[:5], "b": texts[:5]}), npartitions=1)
    with pytest.raises(ParameterError, match="text: must name the column of the texts; there are a, b"):
        Corpus.from_dask(frame)
    with pytest.raises(ParameterError, match="text: there is no column 'c'; there are a, b"):
        Corpus.from_dask(frame, "c")
    with pytest.raises(CorpusError, match="every document is empty"):
        Corpus.from_dask(bag.from_sequence(["", "7"]))
    named = bag.from_sequence([{"body": text} for text in texts[:5]])
    with pytest.raises(CorpusError, match=r"a dict; texts must be str. Name the key that has them, as text='body'."):
        Corpus.from_dask(named)
    with pytest.raises(CorpusError, match="no document of 5 has a text under the name 'boby'; check it"):
        Corpus.from_dask(named, "boby")
    with pytest.raises(ParameterError, match="ngrams: are counted in all texts"):
        Corpus.from_dask(bag.from_sequence(texts), ngrams=1)
    with pytest.raises(TypeError, match="mindf"):
        Corpus.from_dask(bag.from_sequence(texts), mindf=1)


def table(texts):
    return pa.table({"nr": range(len(texts)), "body": texts})


def test_parquet(texts, expected, tmp_path):
    folder = tmp_path / "posts.parquet"
    (folder / "year=2025").mkdir(parents=True)
    pq.write_table(table(texts[:150]), folder / "part-0.parquet")
    pq.write_table(table(texts[150:]), folder / "year=2025" / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_temporary" / "0").mkdir(parents=True)  # of a job of Spark that was killed
    pq.write_table(table(texts[:10]), folder / "_temporary" / "0" / "part-0.parquet")
    ways = [
        folder,
        [f"{folder}/*.parquet", f"{folder}/y*/*.parquet"],
        [folder / "part-0.parquet", folder / "year=2025" / "part-0.parquet"],
    ]
    for i, way in enumerate(ways):
        Corpus.from_parquet(way, "body").save(tmp_path / f"{i}")
        Corpus.from_parquet(way, text="body", n_jobs=2, save_to=tmp_path / f"{i} parts")
        assert files(tmp_path / f"{i}") == files(tmp_path / f"{i} parts") == expected
    assert Corpus.from_parquet(folder, "body", ngrams=2, phrases=True).ngrams is not None


def test_parquet_at_a_url(texts, expected, tmp_path, store):
    import fsspec

    parts = {"a/part-0.parquet": texts[:90], "b/part-1.parquet": texts[90:], "_delta_log/1.checkpoint.parquet": ["log"]}
    for name, some in parts.items():
        with fsspec.open(f"{store}/posts/{name}", "wb") as file:
            pq.write_table(table(some), file)
    for source in (f"{store}/posts", f"{store}/posts/", f"{store}/posts/*/part*.parquet"):
        Corpus.from_parquet(source, "body", save_to=tmp_path / "corpus")
        assert files(tmp_path / "corpus") == expected
    one = Corpus.from_parquet(f"{store}/posts/b/part-1.parquet", "body")
    assert one.n_documents == 110


def test_parquet_that_cannot_be_read(texts, tmp_path):
    path = tmp_path / "posts.parquet"
    pq.write_table(pa.table({"body": [*texts[:50], None]}), path)
    with pytest.raises(FileError, match=r"posts\.parquet, row 51: 'body' is null"):
        Corpus.from_parquet(path, "body")
    with pytest.warns(UserWarning, match="1 rows could not be read and are left out; the first: .*row 51"):
        assert Corpus.from_parquet(path, "body", on_error="skip", n_jobs=2).n_documents == 50
    with pytest.raises(FileError, match="no file has a name like this"):
        Corpus.from_parquet(tmp_path / "*.pq")
    with pytest.raises(FileError, match="there is no such file"):
        Corpus.from_parquet(tmp_path / "none.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no file has a name like this"):
        Corpus.from_parquet(tmp_path / "empty")
