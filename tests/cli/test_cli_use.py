"""The commands that use a model: predict, transform, topics, explain, evaluate, report, info, export; and convert."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from topoi.readers import read_documents

LABELS = ("--label", "subject")
TAGS = ("--label", "tags", "--label-separator", ";")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with posts.csv, new.csv without labels, and four models."""
    folder = tmp_path_factory.mktemp("use")
    write_csv(folder / "posts.csv")
    write_csv(folder / "new.csv", [{"key": row["key"], "body": row["body"]} for row in records(12)])
    common = ("--text", "body", "--id", "key", *QUICK)
    done("fit", folder / "posts.csv", *common, "-o", folder / "lda", "--hold-out", 0.2)
    done("fit", folder / "posts.csv", *common, *LABELS, "-o", folder / "one")
    done("fit", folder / "posts.csv", *common, *TAGS, "-o", folder / "several", "--hold-out", 0.2)
    done("fit", folder / "posts.csv", *common, "--target", "stars", "-o", folder / "number")
    done("fit", folder / "posts.csv", *common, *LABELS, "--strategy", "ovr", "-o", folder / "ovr")
    return folder


def new_corpus(place, name):
    model = topoi.load(place / name / "estimator.topoi")
    vocabulary = model.topic_models_[0].vocabulary
    return model, read_documents(place / "new.csv", text="body", vocabulary=vocabulary).corpus


def test_topics_say_in_how_many_chains_they_were_found(place, tmp_path):
    done("fit", place / "posts.csv", "--text", "body", *QUICK, "--chains", 3, "-o", tmp_path / "chains")
    expected = topoi.load(tmp_path / "chains" / "estimator.topoi").topic_agreement()
    rows = as_json("topics", tmp_path / "chains", "--json")["topics"]
    assert [(row["found_in"], row["n_chains"], row["agreement"]) for row in rows] == [
        (one.found_in, 3, pytest.approx(one.agreement)) for one in expected
    ]
    shown = done("topics", tmp_path / "chains").stdout
    assert re.search("found in +agreement", shown)
    for one in expected:
        assert re.search(f"{one.found_in} of 3 +{one.agreement:.2f} ", shown)
    done("topics", tmp_path / "chains", "-o", tmp_path / "topics.csv")
    written = table((tmp_path / "topics.csv").read_text("utf-8"))
    assert {(int(row["topic"]), int(row["found_in"])) for row in written} == {
        (k, one.found_in) for k, one in enumerate(expected)
    }


def test_one_chain_says_nothing_of_chains(place):
    assert "found_in" not in as_json("topics", place / "lda", "--json")["topics"][0]
    shown = done("topics", place / "lda").stdout
    assert "found in" not in shown
    assert "agreement" not in shown


def test_predict_is_that_of_the_library(place):
    model, corpus = new_corpus(place, "one")
    rows = table(done("predict", place / "one", place / "new.csv", "--proba", "--scores").stdout)
    assert [row["id"] for row in rows] == [f"post-{i}" for i in range(12)]
    assert [row["label"] for row in rows] == model.predict(corpus).tolist()
    proba = np.array([[float(row[f"p:{label}"]) for label in model.classes_] for row in rows])
    np.testing.assert_array_equal(proba, model.predict_proba(corpus))
    scores = np.array([[float(row[f"score:{label}"]) for label in model.classes_] for row in rows])
    np.testing.assert_array_equal(scores, model.decision_function(corpus))


def test_predict_several_labels(place, tmp_path):
    done("predict", place / "several", place / "new.csv", "-o", tmp_path / "p.jsonl")
    model, corpus = new_corpus(place, "several")
    names = np.array(["fruit", "metal", "weather"])
    expected = [names[row.astype(bool)].tolist() for row in model.predict(corpus)]
    found = [json.loads(line)["labels"] for line in (tmp_path / "p.jsonl").read_text("utf-8").splitlines()]
    assert found == expected
    assert any(len(labels) == 2 for labels in found)
    rows = table(done("predict", place / "several", place / "new.csv").stdout)
    assert [row["labels"] for row in rows] == [";".join(labels) for labels in expected]


def test_predict_numbers_with_intervals(place, tmp_path):
    done("predict", place / "number", place / "new.csv", "--interval", 0.8, "-o", tmp_path / "p.tsv.gz")
    with gzip.open(tmp_path / "p.tsv.gz", "rt", encoding="utf-8") as file:
        values = np.loadtxt(file, skiprows=1, usecols=(1, 2, 3), delimiter="\t")
    model, corpus = new_corpus(place, "number")
    np.testing.assert_array_equal(values[:, 0], model.predict(corpus))
    np.testing.assert_array_equal(values[:, 1:], model.predict_interval(corpus, 0.8))


def test_predict_reads_other_formats(place, tmp_path):
    expected = [row["label"] for row in table(done("predict", place / "one", place / "new.csv").stdout)]
    lines = "".join(json.dumps({"t": row["body"], "n": i}) + "\n" for i, row in enumerate(records(12)))
    (tmp_path / "new.jsonl").write_text(lines, encoding="utf-8")
    rows = table(done("predict", place / "one", tmp_path / "new.jsonl", "--text", "t", "--id", "n").stdout)
    assert [row["label"] for row in rows] == expected
    rows = table(done("predict", place / "one", tmp_path / "new.jsonl", "--text", "t", "--id", "").stdout)
    assert [row["document"] for row in rows] == [str(i) for i in range(12)]
    (tmp_path / "new.txt").write_text("".join(row["body"] + "\n" for row in records(12)), encoding="utf-8")
    rows = table(done("predict", place / "one", tmp_path / "new.txt").stdout)  # no columns: none are asked for
    assert [row["label"] for row in rows] == expected
    done("convert", place / "new.csv", tmp_path / "new.svm", "--text", "body")
    rows = table(done("predict", place / "one", tmp_path / "new.svm").stdout)  # other columns, matched by word
    assert [row["label"] for row in rows] == expected


def test_standard_input_has_the_format_of_the_fit(place):
    text = (place / "new.csv").read_text("utf-8")
    piped = done("predict", place / "one", "-", input=text)
    assert piped.stdout == done("predict", place / "one", place / "new.csv").stdout


def test_columns_without_names(tmp_path):
    rng = np.random.default_rng(0)
    lines = [" ".join(f"{w + 1}:{c}" for w, c in enumerate(row) if c) for row in rng.poisson(2.0, (20, 6)) + 1]
    (tmp_path / "a.svm").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "b.svm").write_text("1:2 2:1\n", encoding="utf-8")  # lacks the last columns
    (tmp_path / "c.svm").write_text("9:1\n", encoding="utf-8")
    done("fit", tmp_path / "a.svm", *QUICK, "-o", tmp_path / "m")
    assert len(table(done("transform", tmp_path / "m", tmp_path / "b.svm").stdout)) == 1
    assert "has 9 columns, but the model knows 6" in call("transform", tmp_path / "m", tmp_path / "c.svm").stderr


def test_transform(place, tmp_path):
    model, corpus = new_corpus(place, "lda")
    done("transform", place / "lda", place / "new.csv", "-o", tmp_path / "t.csv")
    rows = table((tmp_path / "t.csv").read_text("utf-8"))
    shares = np.array([[float(row[f"topic_{k}"]) for k in range(4)] for row in rows])
    np.testing.assert_array_equal(shares, model.transform(corpus))
    rows = table(done("transform", place / "lda", place / "new.csv", "--top", 2).stdout)
    assert list(rows[0]) == ["id", "topic1", "share1", "topic2", "share2"]
    assert [int(row["topic1"]) for row in rows] == shares.argmax(1).tolist()
    assert [float(row["share2"]) for row in rows] == np.sort(shares, 1)[:, -2].tolist()


@pytest.mark.parametrize("name", ["lda", "one", "several", "number", "ovr"])
def test_topics(place, tmp_path, name):
    model = topoi.load(place / name / "estimator.topoi")
    found = as_json("topics", place / name, "--words", 3, "--json")["topics"]
    assert [[word["word"] for word in topic["words"]] for topic in found] == model.top_words(3)
    phi, names = model.components_, model.topic_models_[0].vocabulary.tolist()
    for topic, row in zip(found, phi, strict=True):
        for word in topic["words"]:
            assert word["probability"] == pytest.approx(row[names.index(word["word"])], rel=1e-12)
    assert sum(topic["share"] for topic in found) == pytest.approx(3 if name == "ovr" else 1)
    shown = done("topics", place / name).stdout
    assert ("speaks for" in shown) == (name in ("one", "several", "ovr"))
    if name == "several":
        assert found[1]["weights"]["metal"] == model.topic_weights_[1, 1]
    if name == "ovr":
        assert found[5]["weights"] == {"metal": model.topic_weights_[1, 5]}
    done("topics", place / name, "-o", tmp_path / "topics.csv", "--words", 3)
    rows = table((tmp_path / "topics.csv").read_text("utf-8"))
    assert [row["word"] for row in rows if row["topic"] == "2"] == model.top_words(3)[2]


def test_evaluate(place, tmp_path):
    found = as_json("evaluate", place / "one", place / "posts.csv", "--json")
    assert found["documents"] == 60
    assert found["scored_documents"] == 55  # five have no label
    model = topoi.load(place / "one" / "estimator.topoi")
    data = read_documents(place / "posts.csv", text="body", label="subject", vocabulary=model.model_.vocabulary)
    known = np.flatnonzero(~data.unlabelled)
    assert found["accuracy"] == model.score(data.corpus.take(known), data.labels[known].astype(str))
    assert [row["label"] for row in found["per_label"]] == ["fruit", "metal", "weather"]
    rows = [row | {"subject": "tea" if i == 1 else row["subject"]} for i, row in enumerate(records())]
    write_csv(tmp_path / "tea.csv", rows)
    result = done("evaluate", place / "one", tmp_path / "tea.csv")
    assert "1 documents have labels that the model does not know" in result.stderr
    assert "scored_documents   54" in result.stdout


def test_new_documents_without_the_columns_of_the_fit(place, tmp_path):
    result = call("report", place / "one", place / "new.csv", "-o", tmp_path / "r.html")
    assert result.exit_code == 2
    assert "has no column 'subject'" in result.stderr
    assert "say that there is none: --label ''." in result.stderr
    done("report", place / "one", place / "new.csv", "--label", "", "-o", tmp_path / "r.html")
    assert "accuracy" not in as_json("evaluate", place / "one", place / "new.csv", "--label", "", "--json")
    rows = [{"body": row["body"]} for row in records(3)]
    write_csv(tmp_path / "bare.csv", rows)
    assert "--id ''" in call("predict", place / "one", tmp_path / "bare.csv").stderr
    assert len(table(done("predict", place / "one", tmp_path / "bare.csv", "--id", "").stdout)) == 3


@pytest.mark.parametrize("several", [False, True])
def test_labels_that_are_numbers(tmp_path, several):
    """3 of a JSON file is the 3 of a CSV file."""
    number = {"fruit": 1, "metal": 2, "weather": 3}
    posts = [row for row in records() if row["subject"]]
    rows = [{"text": row["body"], "label": number[row["subject"]]} for row in posts]
    lists = [{**row, "label": [row["label"]]} for row in rows] if several else rows
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lists), encoding="utf-8")
    done("fit", tmp_path / "p.jsonl", "--label", "label", *QUICK, "-o", tmp_path / "m")
    found = [
        as_json("evaluate", tmp_path / "m", path, "--json")
        for path in (tmp_path / "p.jsonl", write_csv(tmp_path / "p.csv", rows))
    ]
    assert found[0] == found[1]
    assert found[0]["scored_documents"] == 55
    assert [row["label"] for row in found[0]["per_label"]] == [1, 2, 3]
    assert found[0]["macro_f1"] > 0.8
    done("report", tmp_path / "m", tmp_path / "p.csv", "-o", tmp_path / "r.html")


def test_a_text_without_a_word_that_is_known(place):
    assert as_json("explain", place / "one", "--text", "zzz", "--json")["words_known"] == 0


def test_parquet_in_and_out(place, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = records(12)
    columns = {name: [row[name] for row in rows] for name in ("key", "body")}
    parquet.write_table(pyarrow.table(columns), tmp_path / "new.parquet")
    done("predict", place / "one", tmp_path / "new.parquet", "-o", tmp_path / "p.parquet")
    expected = [row["label"] for row in table(done("predict", place / "one", place / "new.csv").stdout)]
    found = parquet.read_table(tmp_path / "p.parquet").to_pydict()
    assert found == {"id": columns["key"], "label": expected}


@pytest.mark.parametrize("strategy", ["multitask", "ovo"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_few_labels_and_pairs_of_them(tmp_path, strategy, n_labels):
    rows = [row for row in records() if row["subject"] in ("fruit", "metal", "weather")[:n_labels]]
    path = write_csv(tmp_path / "p.csv", rows)
    options = ("--text", "body", "--label", "subject", "--strategy", strategy)
    done("fit", path, *options, *QUICK, "-o", tmp_path / "m", "--hold-out", 0.2)
    found = table(done("predict", tmp_path / "m", path, "--proba", "--scores").stdout)
    assert sum(row["label"] == post["subject"] for row, post in zip(found, rows, strict=True)) > 0.8 * len(rows)
    for row in found:
        scores = {label: float(row[f"score:{label}"]) for label in ("fruit", "metal", "weather")[:n_labels]}
        assert row["label"] == max(scores, key=scores.get)
        assert sum(float(value) for name, value in row.items() if name.startswith("p:")) == pytest.approx(1)
    topics = as_json("topics", tmp_path / "m", "--json")["topics"]
    names = {name for topic in topics for name in topic["weights"]}
    if n_labels == 2:
        assert names == {"metal"}
    else:
        pairs = {"metal, not fruit", "weather, not fruit", "weather, not metal"}
        assert names == (pairs if strategy == "ovo" else {"fruit", "metal", "weather"})
    done("report", tmp_path / "m", path, "-o", tmp_path / "r.html")
    found = as_json("explain", tmp_path / "m", path, "--json")  # labels, also where there is a model for each pair
    assert [reason["label"] for reason in found["reasons"]] == (
        ["metal"] if n_labels == 2 else ["fruit", "metal", "weather"]
    )


def test_votes_are_not_explained(tmp_path):
    path = write_csv(tmp_path / "p.csv")
    fit = ("fit", path, "--text", "body", *LABELS, "--strategy", "ovo", *QUICK)
    done(*fit, "--no-refit", "-o", tmp_path / "m")
    assert call("explain", tmp_path / "m", path).exit_code == 2


def test_evaluate_what_was_held_out(place):
    held_out = json.loads((place / "several" / "topoi.json").read_text("utf-8"))["held_out"]
    found = as_json("evaluate", place / "several", place / "posts.csv", "--held-out", "--json")
    assert found["documents"] == held_out["documents"] == 12
    assert found["macro_f1"] == held_out["macro_f1"]
    assert [row["label"] for row in found["per_label"]] == ["fruit", "metal", "weather"]
    result = call("evaluate", place / "one", place / "posts.csv", "--held-out")
    assert "--held-out: the model was fitted on all documents" in result.stderr
    result = call("evaluate", place / "lda", place / "new.csv", "--held-out")
    assert "--held-out: the fit read 60 documents, these are 12" in result.stderr


def test_evaluate_measures_by_name(place):
    found = as_json("evaluate", place / "lda", place / "posts.csv", "--measures", "c_v,npmi", "--json")
    assert set(found) == {"model", "documents", "c_v", "npmi"}
    assert "--measures: has 'magic'" in call("evaluate", place / "lda", place / "new.csv", "--measures", "magic").stderr


def test_explain(place):
    model, corpus = new_corpus(place, "one")
    found = as_json("explain", place / "one", place / "new.csv", "--row", 3, "--json")
    (reasons,) = model.explain(corpus.take([3]))
    assert found["predicted"] == model.predict(corpus)[3]
    assert [reason["score"] for reason in found["reasons"]] == [reason.score for reason in reasons]
    assert found["reasons"][0]["words"][0]["word"] == reasons[0].words[0][0]
    shown = done("explain", place / "one", "--text", "Rain and wind, and a storm of snow").stdout
    assert "Predicted: weather (4 words known)" in shown
    assert "█" in shown
    assert "stars: standard deviations" in done("explain", place / "number", place / "new.csv").stdout
    assert "metal" in done("explain", place / "ovr", place / "new.csv", "--label", "metal").stdout
    assert "Predicted" in done("explain", place / "several", "--text", "apple zinc").stdout


@pytest.mark.parametrize("name", ["lda", "one", "several", "number", "ovr"])
def test_report(place, tmp_path, name):
    done("report", place / name, place / "posts.csv", "-o", tmp_path / "r.html", "--title", "Posts")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<title>Posts" in page
    assert "post-59" in page
    assert records()[59]["body"] in page
    assert (name in ("lda", "number")) or "weather" in page


def test_report_without_documents_and_of_what_was_held_out(place, tmp_path):
    done("report", place / "one", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "orchard" in page
    assert "<title>Topics of MedLDAClassifier<" in page
    done("report", place / "several", place / "posts.csv", "--held-out", "-o", tmp_path / "h.html")
    page = (tmp_path / "h.html").read_text("utf-8")
    assert "<title>Topics of posts.csv<" in page
    assert sum(f'"post-{i}"' in page for i in range(60)) == 12
    assert "--held-out: needs the file" in call("report", place / "several", "--held-out").stderr


def test_info_of_a_model(place):
    shown = done("info", place / "several").stdout
    for part in ("MedLDAClassifier", "posts.csv", "48 learned from", "label tags", "topics 4", "macro_f1"):
        assert part in shown
    assert as_json("info", place / "several", "--json")["reading"]["label_separator"] == ";"
    assert as_json("info", "--json")["topoi"] == topoi.__version__


def test_export_tables(place, tmp_path):
    model, corpus = new_corpus(place, "lda")
    done("export", place / "lda", "-f", "topic-word", "-o", tmp_path / "w.csv")
    rows = table((tmp_path / "w.csv").read_text("utf-8"))
    np.testing.assert_array_equal([float(row["topic_1"]) for row in rows], model.components_[1])
    done("export", place / "lda", place / "new.csv", "-f", "doc-topic", "-o", tmp_path / "d.csv")
    rows = table((tmp_path / "d.csv").read_text("utf-8"))
    np.testing.assert_array_equal([float(row["topic_1"]) for row in rows], model.transform(corpus)[:, 1])
    assert "pyldavis needs them" in call("export", place / "lda", "-f", "pyldavis", "-o", tmp_path / "v").stderr


def test_export_for_pyldavis(place, tmp_path):
    done("export", place / "lda", place / "new.csv", "-f", "pyldavis", "-o", tmp_path / "v.json")
    found = json.loads((tmp_path / "v.json").read_text("utf-8"))
    assert set(found) == {"topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"}
    assert np.shape(found["topic_term_dists"]) == (4, len(found["vocab"]))
    np.testing.assert_allclose(np.sum(found["doc_topic_dists"], 1), 1)
    assert sum(found["doc_lengths"]) == sum(found["term_frequency"]) == 180


@pytest.mark.parametrize("name", ["state.gz", "state.mallet"])
def test_export_a_state_for_mallet(place, tmp_path, name):
    done("export", place / "lda", place / "new.csv", "-f", "mallet-state", "-o", tmp_path / name)
    with gzip.open(tmp_path / name, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines[0] == "#doc source pos typeindex type topic"
    assert lines[1].startswith("#alpha : ")
    assert len(lines) == 3 + 180
    model, corpus = new_corpus(place, "lda")
    shares = model.transform(corpus)
    for line in lines[3:]:
        doc, source, _, index, word, topic = line.split()
        assert source == f"post-{doc}"
        assert model.model_.vocabulary[int(index)] == word
        assert int(topic) == (shares[int(doc)] * model.components_[:, int(index)]).argmax()


def test_convert_keeps_words_and_labels(place, tmp_path):
    result = done("convert", place / "posts.csv", tmp_path / "p.jsonl", "--text", "body", "--label", "tags",
                  "--label-separator", ";", "--id", "key")  # fmt: skip
    assert "60 documents, 960 tokens, 81 words." in result.stderr
    data = read_documents(tmp_path / "p.jsonl", label="label", id="id")
    assert data.labels[0] == records()[0]["tags"].split(";")
    result = call("convert", place / "posts.csv", tmp_path / "docword.p.txt", "--text", "body", "--label", "tags")
    assert result.exit_code == 2
    assert "leave them out by --no-labels" in result.stderr
    piped = done("convert", place / "posts.csv", "-", "--to", "mallet", "--text", "body")
    assert len(piped.stdout.splitlines()) == 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "{}/lda", "{}/new.csv"), "lda: predicts nothing: it was fitted without labels"),
        (("predict", "{}/none", "{}/new.csv"), "none: there is no such model; make one"),
        (("predict", "{}", "{}/new.csv"), "it has no topoi.json"),
        (("predict", "{}/one", "{}/none.csv"), "none.csv: there is no such file"),
        (("predict", "{}/one", "{}/new.csv", "--text", "b"), "has no column 'b'"),
        (("predict", "{}/one", "{}/new.csv", "--interval", "0.9"), "--interval: is for numbers"),
        (("predict", "{}/number", "{}/new.csv", "--interval", "9"), "--interval: must be a number between 0 and 1"),
        (("predict", "{}/number", "{}/new.csv", "--proba"), "--proba: is for labels"),
        (("predict", "{}/one", "{}/new.csv", "-o", "{}/p.docx"), "--format: of"),
        (("predict", "{}/one", "{}/new.csv", "-o", "{}/none/p.csv"), "p.csv: cannot be written"),
        (("evaluate", "{}/one", "{}/posts.csv", "--label", "nil"), "has no column 'nil'"),
        (("evaluate", "{}/number", "{}/posts.csv", "--label", "subject"), "--label: "),
        (("evaluate", "{}/one", "{}/posts.csv", "--label", "key"), "--label: not one document has a label that"),
        (("explain", "{}/one", "{}/new.csv", "--row", "99"), "--row: must be from 0 to 11, not 99"),
        (("explain", "{}/one"), "--text"),
        (("report", "{}/one", "-o", "{}/none/r.html"), "r.html: cannot be written: there is no folder"),
        (("topics", "{}/one", "-o", "{}/one"), "one: cannot be written: it is a folder"),
        (("explain", "{}/one", "--text", "x", "--label", "tea"), "--label: there is no 'tea'"),
        (("export", "{}/ovr", "{}/new.csv", "-f", "pyldavis", "-o", "x"), "holds one topic model"),
    ],
)
def test_errors(place, arguments, message):
    result = call(*(argument.format(place) for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_from_a_stranger(place, tmp_path):
    import shutil

    shutil.copytree(place / "one", tmp_path / "m")
    path = tmp_path / "m" / "topoi.json"
    good = json.loads(path.read_text("utf-8"))
    bad = [[], good | {"format": "x"}, good | {"version": 2}, good | {"reading": {"lowercase": "no"}},
           good | {"reading": {"vocabulary": "x"}}, good | {"counts": {}}, good | {"held_out": 1}]  # fmt: skip
    for about in (*map(json.dumps, bad), "{", "[" * 100_000):
        path.write_text(about, encoding="utf-8")
        for command in ("topics", "info"):
            result = call(command, tmp_path / "m")
            assert result.exit_code == 2, about[:200]
            assert "topoi.json" in result.stderr
    path.write_text(json.dumps(good), encoding="utf-8")
    (tmp_path / "m" / "estimator.topoi").write_bytes(b"not a model")
    result = call("topics", tmp_path / "m")
    assert result.exit_code == 2
    assert "estimator.topoi" in result.stderr


def test_a_saved_estimator_without_a_folder(place):
    expected = done("topics", place / "one").stdout
    assert done("topics", place / "one" / "estimator.topoi").stdout == expected
    rows = done("predict", place / "one" / "estimator.topoi", place / "new.csv", "--text", "body").stdout
    assert rows.startswith("document,label\n")


def test_scores_of_what_was_learned_from_are_no_scores(place, monkeypatch):
    """It is said on standard error, so that JSON stays JSON."""
    told = "is what the model has learned from"
    assert told in done("evaluate", place / "one", place / "posts.csv", "--json").stderr
    monkeypatch.chdir(place)
    assert told in done("evaluate", "lda", "posts.csv").stderr
    assert told not in done("evaluate", "lda", "posts.csv", "--held-out").stderr
    assert told not in done("evaluate", "lda", "new.csv").stderr


def test_gaps_among_targets_are_called_so(place, tmp_path):
    rows = [row | {"stars": "" if i % 5 == 0 else row["stars"]} for i, row in enumerate(records(30))]
    write_csv(tmp_path / "gaps.csv", rows)
    fitted = done("fit", tmp_path / "gaps.csv", "--text", "body", "--target", "stars", *QUICK, "-o", tmp_path / "m")
    assert "; 6 without a target." in fitted.output


def test_predictions_of_documents_without_a_word_are_told(place, tmp_path):
    rows = [{"key": row["key"], "body": row["body"]} for row in records(12)]
    write_csv(tmp_path / "some.csv", [*rows[:3], rows[3] | {"body": ""}, rows[4] | {"body": "zzyzx"}])
    told = " ".join(call("predict", place / "one", tmp_path / "some.csv").stderr.split())
    assert "2 of 5 documents have no word of the model's topics" in told
    assert "no word" not in call("predict", place / "one", place / "new.csv").stderr


def test_spellings_of_one_label_are_told(tmp_path):
    rows = records(60)
    other = rows[0]["subject"].upper() + " "
    write_csv(tmp_path / "posts.csv", [rows[0] | {"subject": other}, *rows[1:]])
    fit = ("fit", tmp_path / "posts.csv", "--text", "body", "--id", "key", *QUICK, *LABELS)
    told = " ".join(call(*fit, "-o", tmp_path / "m").stderr.split())
    assert "differ in capital letters or blanks only, and are learned as two" in told
    assert repr(other.strip()) in told  # blanks at the ends are no part of a label in a table
    assert call(*fit, "-o", tmp_path / "quiet", "--quiet").stderr == ""
