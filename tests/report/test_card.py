"""The model card."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi.chain.names import name_topics
from topoi.report.card import ModelCard, inert, make_card
from topoi.report.write import report_data

X = np.random.default_rng(0).poisson(1.0, (24, 9))
CLASSES = np.array(list("abc"))[np.arange(24) % 3]
SHORT = {"n_topics": 3, "n_sweeps": 4, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::topoi.NeverPredictedWarning")


@pytest.fixture(scope="module")
def lda():
    model = LDA(**SHORT).fit(Corpus.from_counts(X, [f"word{w}" for w in range(9)]))
    name_topics(model.model_, ["", "pets"])
    return model


def part(card, name):
    """A part of the card, by its heading."""
    return str(card).partition(f"## {name}\n\n")[2].partition("\n\n## ")[0]


def table(lines):
    """The cells of its lines, without the two of its head."""
    rows = [line for line in lines.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows[2:]]


def test_parts(lda):
    card = lda.model_card(title="Posts", data={"source": "posts.csv"}, scores={"perplexity": 512.345}, notes="For us.")
    assert isinstance(card, ModelCard)
    assert str(card).startswith("# Posts\n\n")
    assert "\n\nFor us.\n\n" in str(card)
    assert ["source", "posts.csv"] in table(part(card, "Data"))
    assert ["documents learned from", "24"] in table(part(card, "Data"))
    settings = dict(table(part(card, "Settings")))
    assert settings["n_topics"] == "3"
    assert settings["sweeps"] == "4"
    assert "topics_per_label" not in settings  # as it is by default
    assert table(part(card, "Scores")) == [["perplexity", "512.3"]]


def test_hidden_topics_are_marked(lda):
    edited = lda.apply([{"edit": "hide", "topic": 1}])
    names = [row[0] for row in table(part(edited.model_card(), "Topics"))]
    assert sorted(name.endswith(" (hidden)") for name in names) == [False, False, True]
    assert "pets (hidden)" in names


def test_topics_with_their_names(lda):
    rows = table(part(lda.model_card(), "Topics"))
    order = np.argsort(-lda.model_.topic_counts)
    assert [row[0] for row in rows] == [lda.topic_names_[k] for k in order]
    assert "pets" in [row[0] for row in rows]
    assert [row[2] for row in rows] == [", ".join(lda.top_words(10)[k]) for k in order]


def test_no_scores(lda):
    assert "has not been judged" in part(lda.model_card(), "Scores")
    assert "has not been judged" in part(lda.model_card(scores={"p": np.nan, "per_label": []}), "Scores")


def test_supervised():
    card = MedLDAClassifier(**SHORT, n_chains=2).fit(X, CLASSES).model_card()
    assert "| topic | share | found in | most telling words | speaks for, against |" in str(card)
    assert "one of 3 labels" in str(card)
    assert "raises or lowers" in str(MedLDARegressor(**SHORT).fit(X, X[:, 0]).model_card())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("machine_learning", "machine_learning"),
        ("__init__", r"\_\_init\_\_"),
        ("a|b", r"a\|b"),
        ("<script>", r"\<script\>"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("![x](http://y)", r"\!\[x\](http:\//y)"),
        ("www.example.org", r"www\.example.org"),
        ("two\nlines", "two lines"),
        ("`code` *bold* ~~out~~", r"\`code\` \*bold\* \~\~out\~\~"),
        ("\x1b[31m", "\u241b\\[31m"),
        ("\ud800", "?"),
        ("x" * 100, "x" * 79 + "…"),
    ],
)
def test_text(given, expected):
    assert inert(given) == expected


TEXTS = [
    "The cat was on the roof and it was not what they had wanted when it came in http://a.example/b",
    "The dog was with the bird and they were not where you would have been with him from the garden",
] * 12


@pytest.mark.parametrize("kind", ["lda", "classifier"])
def test_what_was_left_out_of_texts(kind):
    model = LDA(**SHORT).fit(TEXTS) if kind == "lda" else MedLDAClassifier(**SHORT).fit(TEXTS, CLASSES)
    words, cleaned = model.preparation_.sentences()
    assert "stop words of English" in words
    assert "12 addresses" in cleaned
    # Sentences are longer than a cell may be, and are not cut.
    assert part(model.model_card(), "Data").endswith(f"\n\n{words}\n\n{cleaned}")
    shown = report_data(model)["sections"]
    assert shown["settings"]["left_out"] == [words, cleaned]
    assert words in shown["card"]["markdown"]


def test_nothing_was_left_out_of_counts(lda):
    assert part(lda.model_card(), "Data").endswith("|")
    assert report_data(lda)["sections"]["settings"]["left_out"] == []


def test_a_strangers_language_is_no_markup():
    model = LDA(**SHORT).fit(TEXTS)
    model._preparation = replace(model.preparation_, language="<b>*|\n# Title")
    assert r"\<B\>\*\| \# Title" in part(model.model_card(), "Data")


def test_strangers_words_stay_in_their_cells(tmp_path):
    bad = ["| a |", "</td>", "[x](y)", "\n# Title", "`", "\\|", "*", "<b>", "#"]
    card = LDA(**SHORT).fit(Corpus.from_counts(X, np.array(bad, object))).model_card()
    for line in part(card, "Topics").splitlines():
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 4, line
    assert len(re.findall("^# ", str(card), re.MULTILINE)) == 1
    card.save(tmp_path / "card.md")
    assert (tmp_path / "card.md").read_text("utf-8") == str(card)


def test_the_file_is_a_string_of_python(lda):
    assert 'topoi.load("a\\\\b\\n.topoi")' in str(lda.model_card(file="a\\b\n.topoi"))


@pytest.mark.parametrize("name", ["data", "scores"])
def test_not_a_mapping(name, lda):
    with pytest.raises(ParameterError, match=f"{name}: must be a mapping"):
        make_card(lda, **{name: [1, 2]})


def test_the_report_shows_it():
    model = MedLDAClassifier(**SHORT).fit(X, CLASSES)
    shown = report_data(model, X=X, y=CLASSES, held_out=False)["sections"]["card"]["markdown"]
    accuracy = (model.predict(X) == CLASSES).mean()
    assert f"| accuracy (learned from) | {accuracy:,.4g} |" in shown
    assert part(shown, "Topics") == part(model.model_card(), "Topics")
    number = MedLDARegressor(**SHORT).fit(X, X[:, 0])
    assert "| r2 of " in report_data(number, X=X, y=X[:, 0], held_out=True)["sections"]["card"]["markdown"]
    assert "has not been judged" in report_data(model)["sections"]["card"]["markdown"]
