"""The report of models with covariates, and of scores that are divided into their parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from support.labelled import WORDS, quick, quick_regressor
from topoi import LDA, Corpus
from topoi.errors import ParameterError
from topoi.report import write_report
from topoi.report.beside import take_covariates
from topoi.report.sections import covariates as section
from topoi.report.sections import prevalence
from topoi.report.subject import Subject
from topoi.report.write import report_data

NAMES = np.array(["art", "bread", "cars", "dogs", "earth"])


def beside(documents, seed=0):
    """A number that goes with the label, and a category that does not."""
    rng = np.random.default_rng(seed)
    n = len(documents.many)
    return pd.DataFrame(
        {"price": documents.many + rng.normal(0, 0.3, n), "brand": rng.choice(["acme", "zeta"], n)},
        index=np.arange(n)[::-1],  # rows go by position
    )


@pytest.fixture(scope="module")
def five(train):
    corpus = Corpus.from_counts(train.X, WORDS)
    return quick(n_sweeps=20, refit=True).fit(corpus, NAMES[train.many], covariates=beside(train))


def test_effects_are_those_of_the_estimator(five):
    data = report_data(five)["sections"]["covariates"]
    assert data["names"] == ["price", "brand=acme", "brand=zeta"]
    assert [row["name"] for row in data["rows"]] == NAMES.tolist()
    found = {(row["name"], data["names"][j]): tuple(rest) for row in data["rows"] for j, *rest in row["effects"]}
    expected = {(e.label, e.covariate): (e.mean, e.low, e.high) for e in five.effects(level=data["level"])}
    assert found == expected
    for row in data["rows"]:
        sizes = [abs(mean) for _, mean, _, _ in row["effects"]]
        assert sizes == sorted(sizes, reverse=True)


def test_only_the_strongest_are_shown(five, monkeypatch):
    whole = report_data(five)["sections"]["covariates"]
    monkeypatch.setattr(section, "MOST_COVARIATES", 2)
    monkeypatch.setattr(section, "MOST_EFFECTS", 6)
    data = report_data(five)["sections"]["covariates"]
    assert [row["effects"] for row in data["rows"]] == [row["effects"][:2] for row in whole["rows"][:3]]
    assert (data["n_labels"], len(data["names"])) == (5, 3)


def test_no_section_without_covariates(train):
    model = quick(refit=True).fit(train.X, train.many)
    assert "covariates" not in report_data(model)["sections"]


def test_parts_add_up_to_the_score_of_the_document(five, test):
    given = beside(test, 1)
    data = report_data(five, X=test.X, covariates=given, max_documents=7)
    scores = five.decision_function(test.X, covariates=given)
    for document in data["sections"]["documents"]["shown"]:
        d = int(document["id"])
        assert NAMES[document["predicted"][0]] == five.classes_[scores[d].argmax()]
        for why in document["why"]:
            assert sum(part for _, part in why["parts"]) == pytest.approx(why["score"], abs=1e-9)
            assert why["score"] == pytest.approx(scores[d, NAMES.tolist().index(why["label"])], abs=1e-6)
            assert [name for name, _ in why["parts"]] == ["base", "topics", "words", "covariates"]
            parts = dict(why["parts"])
            assert sum(part for _, part in why["covariates"]) == pytest.approx(parts["covariates"], abs=1e-9)
            assert {data["words"][w] for w, _ in why["own_words"]} <= set(WORDS)
            assert "price" in dict(why["covariates"])


def test_covariates_change_what_is_predicted(five, test):
    """The section of scores is of predictions that know them."""
    given, truth = beside(test, 1), NAMES[test.many]
    accuracy = dict(report_data(five, X=test.X, y=truth, covariates=given)["sections"]["scores"]["figures"])["accuracy"]
    assert accuracy == five.score(test.X, truth, covariates=given)
    other = given.assign(price=given["price"].to_numpy()[::-1])
    scores = report_data(five, X=test.X, y=truth, covariates=other)["sections"]["scores"]
    assert dict(scores["figures"])["accuracy"] == five.score(test.X, truth, covariates=other) != accuracy


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_models_for_each_label_or_pair(train, test, strategy):
    model = quick(strategy=strategy, refit=True).fit(train.X, NAMES[train.many], covariates=beside(train))
    given = beside(test, 1)
    data = report_data(model, X=test.X, covariates=given, max_documents=5)
    scores = model.decision_function(test.X, covariates=given)
    for document in data["sections"]["documents"]["shown"]:
        best, *_ = document["why"]
        assert best["score"] == pytest.approx(scores[int(document["id"])].max(), abs=1e-6)
        assert len(document["why"]) == 3  # labels, not pairs of them
    rows = data["sections"]["covariates"]["rows"]
    assert [row["name"] for row in rows] == NAMES.tolist()  # of pairs too: effects are on labels
    assert data["target"]["votes"] is False


def test_numbers(train, test):
    model = quick_regressor(refit=True).fit(train.X, train.number, covariates=beside(train))
    given = beside(test, 1)
    data = report_data(model, X=test.X, y=test.number, covariates=given)
    document = data["sections"]["documents"]["shown"][3]
    assert document["predicted"] == [model.predict(test.X, covariates=given)[3]]
    assert [row["name"] for row in data["sections"]["covariates"]["rows"]] == ["target"]


def test_topics_alone(train, test):
    """Without the refit there is one part, and no words by themselves."""
    model = quick(refit=False).fit(train.X, train.many)
    (why, *_) = report_data(model, X=test.X[:1])["sections"]["documents"]["shown"][0]["why"]
    assert why["parts"] == [["topics", why["score"]]]
    assert why["own_words"] == why["covariates"] == []


def test_what_is_refused(five, test):
    with pytest.raises(ParameterError, match=r"^covariates: are needed: the model was fitted with price, brand"):
        report_data(five, X=test.X[:3])
    with pytest.raises(ParameterError, match=r"^covariates: needs the documents as well"):
        report_data(five, covariates=beside(test))
    with pytest.raises(ParameterError, match=r"^covariates: column 'price' has 200 values, but there are 3"):
        report_data(five, X=test.X[:3], covariates=beside(test))


def test_rows_of_covariates():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}, index=[2, 0, 1])
    rows = np.array([2, 0])
    for given in (table, {"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}):
        taken = take_covariates(given, rows)
        assert {name: values.tolist() for name, values in taken.items()} == {"a": [3.0, 1.0], "b": ["z", "x"]}
    array = np.arange(6.0).reshape(3, 2)
    assert take_covariates(array, rows).tolist() == [[4, 5], [0, 1]]
    assert take_covariates(sparse.csr_array(array), rows).toarray().tolist() == [[4, 5], [0, 1]]
    assert take_covariates(None, rows) is None


def test_topics_by_covariates(tmp_path):
    """Of every topic its strongest effects; nothing where topics depend on nothing."""
    X, given = np.random.default_rng(0).poisson(1.0, (40, 8)), {"party": np.array(["a", "<b>"])[np.arange(40) % 2]}
    model = LDA(3, n_sweeps=6, n_samples=3, random_state=0).fit(X, covariates=given)
    found = prevalence.data(Subject(model))
    assert [topic["topic"] for topic in found["topics"]] == [0, 1, 2]
    own = [row for row in model.effects() if row.topic == 1]
    assert sorted(map(tuple, found["topics"][1]["effects"])) == sorted(row[1:] for row in own)
    write_report(tmp_path / "r.html", model, X=X)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert '"prevalence"' in page
    assert "<b>" not in page.split('id="data">')[1].split("</script>")[0]
    assert prevalence.data(Subject(LDA(3, n_sweeps=2, random_state=0).fit(X))) is None
