"""Texts on the command line: cleaned, in their language, from several columns; and new ones in the same way."""

from __future__ import annotations

import json

import numpy as np
import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, records, table, write_csv
from topoi import Corpus
from topoi.cli._folder import open_model

FUNCTION = "The {} was on the {} and it was not what they had wanted when it came in from the {} with him."


def messages():
    """Posts as messages: the words of a subject, in English, with headers, quotes and a signature."""
    out = []
    for i, row in enumerate(records()):
        words = row["body"].lower().strip(".").split()
        text = FUNCTION.format(*words[:3]) + " " + " ".join(words[3:])
        head = f"From: a{i}@example.org\nSubject: {words[0]}\nOrganization: Nowhere University\n\n"
        out.append(
            {"title": words[-1], "body": f"{head}{text}\n> quotedjunk\n--\nsignaturejunk", "subject": row["subject"]}
        )
    return [*out, dict(out[0])]  # one is a copy


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_csv(folder / "posts.csv", messages())
    shown = done("fit", folder / "posts.csv", "--text", "body", *QUICK, "-o", folder / "model").stdout
    (folder / "shown.txt").write_text(shown, "utf-8")
    return folder


def test_two_lines_say_what_was_left_out(place):
    shown = " ".join((place / "shown.txt").read_text("utf-8").split())
    assert "stop words of English" in shown
    assert "Cleaned: 61 headers, 61 quoted lines, 61 signatures" in shown
    assert "1 document is a copy of another: document 61 (of 1)." in shown
    about = as_json("info", place / "model", "--json")
    assert about["left_out"]["language"] == "english"
    assert about["left_out"]["copies"] == 1
    card = (place / "model" / "model_card.md").read_text("utf-8")
    assert all(sentence in card for sentence in open_model(str(place / "model")).preparation.sentences())


def test_words(place):
    words = topoi.load(place / "model" / "estimator.topoi").vocabulary_.tolist()
    assert "apple" in words
    assert not {"the", "from", "organization", "university", "quotedjunk", "signaturejunk", "hapax"} & set(words)


def test_new_texts_are_read_as_those_of_the_fit(place):
    model = topoi.load(place / "model" / "estimator.topoi")
    texts = [row["body"] for row in messages()]
    rows = table(done("transform", place / "model", place / "posts.csv").stdout)
    shares = np.array([[float(value) for name, value in row.items() if name.startswith("topic")] for row in rows])
    np.testing.assert_allclose(shares, model.transform(texts), atol=1e-4)


def test_columns_are_joined(place):
    done("fit", place / "posts.csv", "--text", "title", "--text", "body", *QUICK, "-o", place / "joined")
    assert as_json("info", place / "joined", "--json")["reading"]["text"] == ["title", "body"]
    assert len(table(done("transform", place / "joined", place / "posts.csv").stdout)) == 61
    write_csv(place / "short.csv", [{"body": "apple"}])
    assert "The fit had it as --text" in " ".join(
        call("transform", place / "joined", place / "short.csv").stderr.split()
    )
    one = done("transform", place / "joined", place / "short.csv", "--text", "body")
    assert len(table(one.stdout)) == 1


@pytest.mark.parametrize(
    ("options", "there", "gone"),
    [
        (("--stop-words", "none"), {"the"}, {"quotedjunk"}),
        (("--stop-words", "german"), {"the", "on"}, {"was"}),  # "was" is German, too
        (("--clean", "none"), {"quotedjunk", "organization"}, {"the"}),
        (("--clean", "email", "--stop-words", "english"), {"apple"}, {"organization", "the"}),
    ],
)
def test_options(options, there, gone, place):
    all_words = ("--min-df", "1", "--max-df", "1.0")
    done("fit", place / "posts.csv", "--text", "body", *options, *all_words, *QUICK, "-o", place / "other", "--force")
    words = set(topoi.load(place / "other" / "estimator.topoi").vocabulary_)
    assert there <= words
    assert not gone & words


def test_phrases(place):
    rows = [{"text": f"{row['body']} Machine learning. {row['body']}"} for row in records()]
    write_csv(place / "machine.csv", rows)
    done("fit", place / "machine.csv", "--phrases", "--max-df", "1.0", *QUICK, "-o", place / "phrases")
    model = topoi.load(place / "phrases" / "estimator.topoi")
    assert "machine_learning" in model.vocabulary_
    corpus = model.as_corpus(["machine learning and machine or learning"])
    assert [model.vocabulary_[word] for word in corpus.document(0)] == ["machine_learning"]
    assert open_model(str(place / "phrases")).preparation.cut(["machine learning"]) == [["machine_learning"]]
    rows = table(done("transform", place / "phrases", place / "machine.csv").stdout)
    assert len(rows) == 60


def test_stop_words_that_there_are_not(place):
    result = call("fit", place / "posts.csv", "--stop-words", "klingon", "-o", place / "none")
    assert result.exit_code != 0
    assert "there is no list for 'klingon', and no file of this name" in " ".join(result.stderr.split())


def test_a_model_of_version_0_1_0(place):
    """Its folder says how texts were cut, its estimator does not: words then had digits, and nothing was cleaned."""
    folder = place / "old"
    done("fit", place / "posts.csv", "--text", "body", *QUICK, "-o", folder)
    model = topoi.load(folder / "estimator.topoi")
    corpus = Corpus.from_tokens([["x_1", "2222", "word"], ["word", "2222"]])
    model = model.set_params(n_topics=2).fit(corpus)
    assert model.preparation_ is None
    model.save(folder / "estimator.topoi")
    about = json.loads((folder / "topoi.json").read_text("utf-8"))
    for name in ("clean", "phrases"):
        del about["reading"][name]
    about["reading"]["text"] = "body"
    (folder / "topoi.json").write_text(json.dumps(about), "utf-8")
    write_csv(place / "old.csv", [{"body": "x_1 of 2222 <word>"}])
    opened = open_model(str(folder))
    assert opened.preparation.cut(["x_1 of 2222 <word>"]) == [["x_1", "of", "2222", "word"]]
    assert len(table(done("transform", folder, place / "old.csv").stdout)) == 1
