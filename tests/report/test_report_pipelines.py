"""The report of a Pipeline, and of a model that takes texts: documents pass through what is before the topics."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from topoi import LDA, Corpus, MedLDAClassifier, ParameterError
from topoi.report import write_report
from topoi.report.write import report_data

TEXTS = ["apple pear apple plum", "pear plum fruit", "goal ball team", "team ball match goal", "", "fruit ball"] * 4
LABELS = np.array(["food", "food", "sport", "sport", "sport", "food"] * 4)
GROUPS = {"place": [f"place {d % 2}" for d in range(len(TEXTS))]}
SHORT = {"n_sweeps": 4, "n_samples": 2, "random_state": 0}


def test_a_pipeline_is_shown_as_its_last_step(tmp_path):
    whole = make_pipeline(CountVectorizer(), MedLDAClassifier(2, refit=False, **SHORT)).fit(TEXTS, LABELS)
    words = whole[0].get_feature_names_out()
    corpus = Corpus.from_counts(whole[0].transform(TEXTS), words, allow_empty=True)
    write_report(tmp_path / "whole.html", whole, X=TEXTS, y=LABELS, by=GROUPS)
    own = whole[-1].with_vocabulary(words)
    write_report(tmp_path / "last.html", own, X=corpus, y=LABELS, texts=TEXTS, by=GROUPS)
    assert (tmp_path / "whole.html").read_bytes() == (tmp_path / "last.html").read_bytes()
    data = report_data(whole, X=TEXTS)
    assert set(data["words"]) == set(words)
    assert data["estimator"] == "MedLDAClassifier"
    assert [document["text"] for document in data["sections"]["documents"]["shown"]] == TEXTS


def test_counts_in_are_bags_of_words():
    counts = CountVectorizer().fit_transform(TEXTS)
    whole = make_pipeline(LDA(2, **SHORT)).fit(counts)
    data = report_data(whole, X=counts)
    assert "text" not in data["sections"]["documents"]["shown"][0]
    texts = report_data(whole, X=counts, texts=TEXTS)["sections"]["documents"]["shown"]
    assert texts[0]["text"] == TEXTS[0]


def test_a_model_that_takes_texts():
    lda = LDA(2, **SHORT).fit(TEXTS)
    with pytest.warns(UserWarning, match="missing"):
        shown = report_data(lda, X=[*TEXTS[:3], None])["sections"]["documents"]["shown"]
    assert [document["text"] for document in shown] == [*TEXTS[:3], ""]


def test_the_last_step_must_be_ours(tmp_path):
    other = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match="estimator: is a Pipeline whose last step, 'logisticregression'"):
        write_report(tmp_path / "report.html", other, X=TEXTS)
    assert not list(tmp_path.iterdir())
