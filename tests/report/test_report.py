"""The report: its numbers against independent computation, its text as text, its bytes the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon, pdist, squareform
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, r2_score

from support.labelled import WORDS, classifier, quick, quick_regressor
from topoi import LDA, Corpus, ParameterError
from topoi.chain.diagnostics import rhat_ess
from topoi.report import write_report
from topoi.report.distances import classical_mds, js_divergence
from topoi.report.html import to_json
from topoi.report.relevance import N_SHOWN, N_STEPS
from topoi.report.sections import SECTIONS
from topoi.report.sections.convergence import MOST_POINTS
from topoi.report.sections.documents import MOST_CHARACTERS
from topoi.report.sections.settings import plain
from topoi.report.write import report_data

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def lda(train):
    return LDA(6, n_sweeps=30, n_samples=4, random_state=0).fit(Corpus.from_counts(train.X, WORDS))


def page_data(path):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"))[1]
    )


def shown(data):
    """The documents on the page."""
    return data["sections"]["documents"]["shown"]


# ---- Topics ------------------------------------------------------------------------------------------------


def test_shares_and_places(lda):
    data = report_data(lda)
    counts = lda.model_.counts.toarray().astype(float)
    assert [topic["share"] for topic in data["topics"]] == pytest.approx((counts.sum(0) / counts.sum()).tolist())
    naive = squareform(pdist(counts.T, lambda p, q: jensenshannon(p, q) ** 2))
    np.testing.assert_allclose(js_divergence(lda.model_.counts), naive, atol=1e-12)
    places = np.array(data["sections"]["topics"]["places"])
    # Distances of principal coordinates are those of the two largest parts of the centred matrix.
    centre = np.eye(6) - 1 / 6
    values, vectors = np.linalg.eigh(-0.5 * centre @ naive**2 @ centre)
    two = vectors[:, -2:] * np.sqrt(values[-2:])
    np.testing.assert_allclose(pdist(places), pdist(two), atol=1e-9)


def test_divergence_of_topics_without_words():
    counts = np.array([[4, 0, 0, 0], [0, 3, 0, 3], [0, 1, 0, 1]])
    found = js_divergence(Corpus.from_counts(counts).to_counts())
    np.testing.assert_allclose(found[0], np.log(2) * np.array([0, 1, 1, 1]))
    assert found[1, 3] == pytest.approx(0)
    assert (found[2, [0, 1, 3]] == np.log(2)).all()
    assert (found == found.T).all()


def test_rarest_words_are_left_out_of_a_very_large_model(monkeypatch):
    rng = np.random.default_rng(0)
    counts = Corpus.from_counts(rng.poisson(np.outer(np.geomspace(50, 0.1, 300), np.ones(8)))).to_counts()
    exact = js_divergence(counts)
    monkeypatch.setattr("topoi.report.distances.MOST_PAIRS", 5_000)
    rough = js_divergence(counts)
    error = (rough - exact)[~np.eye(8, dtype=bool)]
    share = np.sort(counts.toarray() / counts.sum(0), axis=0)
    assert (error > 0).all()
    # 5,000 pairs are some 80 words of all topics: what is left out is at most what the others have of a topic.
    assert (error < np.log(2) * share[:-75].sum(0).max()).all()


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_maps_of_few_topics(n_topics):
    lda = LDA(n_topics, n_sweeps=4, n_samples=2, random_state=0).fit([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2]])
    places = np.array(report_data(lda)["sections"]["topics"]["places"])
    assert places.shape == (n_topics, 2)
    assert np.isfinite(places).all()
    if n_topics < 3:
        assert (places[:, 1] == 0).all()
        distance = js_divergence(lda.model_.counts)[0, -1]
        assert np.ptp(places[:, 0]) == pytest.approx(distance)


def test_same_map_whatever_the_signs(monkeypatch):
    distance = squareform(np.random.default_rng(0).uniform(0.3, 0.7, 45))
    places = classical_mds(distance)
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda a: (eigh(a)[0], -eigh(a)[1]))
    np.testing.assert_array_equal(classical_mds(distance), places)


def test_every_step_of_the_slider_is_exact():
    """The words kept are enough: at every λ the best of them are the best of the whole vocabulary."""
    rng = np.random.default_rng(3)
    X = rng.poisson(np.outer(rng.gamma(1.0, 1.0, 40), rng.gamma(0.2, 2.0, 900)))
    lda = LDA(3, n_sweeps=10, n_samples=3, random_state=0).fit(X)
    data = report_data(lda)
    counts, samples = lda.model_.counts.toarray(), lda.model_.n_samples
    p = X.sum(0) / X.sum()
    for k, topic in enumerate(data["topics"]):
        has = np.flatnonzero(counts[:, k])
        assert len(has) > 4 * N_SHOWN
        names = np.array([int(data["words"][w]) for w in topic["words"]])
        assert N_SHOWN < len(names) < len(has)
        np.testing.assert_array_equal(topic["counts"], counts[names, k])
        np.testing.assert_array_equal(topic["overall"], X.sum(0)[names])
        beta = data["models"][0]["beta"]
        phi = (np.array(topic["counts"]) / samples + beta) / (topic["tokens"] + len(p) * beta)
        np.testing.assert_allclose(phi, lda.components_[k, names])
        for lam in np.linspace(0, 1, N_STEPS + 1):
            every = lam * np.log(lda.components_[k, has]) + (1 - lam) * np.log(lda.components_[k, has] / p[has])
            of_kept = lam * np.log(phi) + (1 - lam) * np.log(phi / p[names])
            best = np.sort(every)[::-1][:N_SHOWN]
            np.testing.assert_allclose(np.sort(of_kept)[::-1][:N_SHOWN], best, rtol=1e-9)


# ---- Documents ---------------------------------------------------------------------------------------------


def test_documents(lda, test):
    X = test.X[:30].copy()
    X[4] = 0
    data = report_data(lda, X=X, ids=[f"no {d}" for d in range(30)])
    theta = lda.transform(X)
    for d, document in enumerate(shown(data)):
        assert document["id"] == f"no {d}"
        assert document["tokens"] == X[d].sum()
        names = [data["words"][w] for w in document["words"]]
        assert dict(zip(names, document["counts"], strict=True)) == {WORDS[w]: X[d, w] for w in np.flatnonzero(X[d])}
        for name, topic in zip(names, document["of"], strict=True):
            assert topic == np.argmax(theta[d] * lda.components_[:, WORDS.index(name)])
        np.testing.assert_array_equal(document["shares"], theta[d][document["topics"]])
        assert document["shares"] == sorted(document["shares"], reverse=True)
        assert document["why"] == []
    assert shown(data)[4]["words"] == []
    assert "scores" not in data["sections"]


def test_series_go_by_position(lda, test):
    texts = pd.Series([f"text {d}" for d in range(4)], index=[3, 2, 1, 0])
    data = report_data(lda, X=test.X[:4], texts=texts, ids=texts + "!")
    assert [document["text"] for document in shown(data)] == texts.tolist()
    assert [document["id"] for document in shown(data)] == [f"text {d}!" for d in range(4)]


def test_no_more_documents_than_asked_for(lda, test):
    texts = [f"text {d} " + "x" * 5000 for d in range(200)]
    data = report_data(lda, X=test.X, texts=texts, max_documents=7)
    assert [document["id"] for document in shown(data)] == [str(d * 200 // 7) for d in range(7)]
    assert all(len(document["text"]) == MOST_CHARACTERS for document in shown(data))
    assert all(document["cut"] for document in shown(data))
    assert data["sections"]["documents"]["n"] == 200
    assert "documents" not in report_data(lda, X=test.X, max_documents=0)["sections"]


# ---- Labels ------------------------------------------------------------------------------------------------


NAMES = np.array(["art", "bread", "cars", "dogs", "earth"])


@pytest.fixture(scope="module")
def five(train):
    return classifier(n_chains=1).fit(Corpus.from_counts(train.X, WORDS), NAMES[train.many])


def test_classes(five, test):
    truth = NAMES[test.many].astype(object)
    truth[3], truth[5] = None, "zebra"
    data = report_data(five, X=test.X, y=truth, held_out=True)
    predicted = five.predict(test.X)
    known = np.arange(200) != 3
    quality = data["sections"]["scores"]
    assert quality["names"] == [*NAMES, "zebra"]
    assert quality["n"] == 199
    found = np.zeros((6, 6), int)
    for i, j, n in quality["confusion"]:
        found[i, j] = n
    expected = confusion_matrix(truth[known].astype(str), predicted[known], labels=quality["names"])
    np.testing.assert_array_equal(found, expected)
    assert quality["figures"][0][1] == accuracy_score(truth[known].astype(str), predicted[known])
    assert quality["labels"][5] == [0, 0, 0, 1]
    weights = data["sections"]["labels"]["rows"]
    assert [row["name"] for row in weights] == NAMES.tolist()
    np.testing.assert_array_equal([row["mean"] for row in weights], five.topic_weights_)
    np.testing.assert_array_equal([row["std"] for row in weights], five.topic_weights_std_)
    reasons = five.explain(test.X, n_topics=5, n_words=8)
    for d, document in enumerate(shown(data)):
        assert NAMES[document["predicted"][0]] == predicted[d]
        assert document["truth"] == (None if d == 3 else [quality["names"].index(truth[d])])
        assert document["wrong"] == (d != 3 and truth[d] != predicted[d])
        assert document["why"][0]["label"] == predicted[d]
        if d not in (3, 5):
            assert truth[d] in [why["label"] for why in document["why"]]
        for why in document["why"]:
            reason = reasons[d][NAMES.tolist().index(why["label"])]
            assert why["score"] == reason.score
            assert why["topics"] == [[k, part] for k, part, _ in reason.topics if part]
            assert [(data["words"][w], part) for w, part in why["words"]] == [(w, p) for w, p in reason.words if p]


def test_two_classes(train, test):
    model = quick().fit(train.X, train.two > 0)
    data = report_data(model, X=test.X[:20], y=test.two[:20] > 0)
    assert data["target"]["names"] == ["False", "True"]
    assert [row["name"] for row in data["sections"]["labels"]["rows"]] == ["True"]
    assert [len(document["why"]) for document in shown(data)] == [1] * 20
    assert [document["predicted"] for document in shown(data)] == [[int(p)] for p in model.predict(test.X[:20])]


@pytest.mark.parametrize("strategy", ["multitask", "ovr"])
def test_several_labels(train, test, strategy):
    model = quick(strategy=strategy).fit(train.X, train.several)
    y = test.several.astype(float)
    y[7, 2] = np.nan
    data = report_data(model, X=test.X, y=y, label_names=NAMES)
    rest = np.arange(200) != 7
    figures = dict(data["sections"]["scores"]["figures"])
    truth, predicted = test.several[rest], model.predict(test.X)[rest]
    assert figures["F1 over all labels (micro)"] == f1_score(truth, predicted, average="micro")
    assert figures["all labels of a document right"] == accuracy_score(truth, predicted)
    assert shown(data)[7]["truth"] is None
    assert [row["name"] for row in data["sections"]["labels"]["rows"]] == NAMES.tolist()


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_a_model_for_each(train, test, strategy):
    model = quick(strategy=strategy).fit(Corpus.from_counts(train.X, WORDS), train.many)
    n_models = len(model.estimators_)
    data = report_data(model, X=test.X[:40], y=test.many[:40])
    assert len(data["models"]) == len(data["sections"]["labels"]["rows"]) == n_models
    assert len(data["topics"]) == 4 * n_models
    assert len({entry["name"] for entry in data["models"]}) == n_models
    theta = model.transform(test.X[:40])
    scores = model.decision_function(test.X[:40])
    for number, row in enumerate(data["sections"]["labels"]["rows"]):
        assert row["first"] == 4 * number
        assert row["mean"] == model.estimators_[number].topic_weights_[0].tolist()
    for d, document in enumerate(shown(data)):
        own = slice(4 * document["model"], 4 * document["model"] + 4)
        assert set(document["topics"]) <= set(range(own.start, own.stop))
        np.testing.assert_array_equal(document["shares"], theta[d][document["topics"]])
        phi = model.components_[own]
        for w, topic in zip(document["words"], document["of"], strict=True):
            column = WORDS.index(data["words"][w])
            assert topic == own.start + np.argmax(theta[d][own] * phi[:, column])
        if strategy == "ovr":
            assert document["model"] == scores[d].argmax()
            assert document["why"][0]["score"] == pytest.approx(scores[d].max(), abs=1e-6)
        else:
            i, j = sorted(np.argsort(-scores[d], kind="stable")[:2].tolist())
            assert data["models"][document["model"]]["name"] == f"{i} or {j}"
            (why,) = document["why"]
            assert why["label"] == f"{j}, not {i}"
            assert {k for k, _ in why["topics"]} <= set(range(own.start, own.stop))


@pytest.mark.parametrize("kind", ["number", "numbers"])
def test_numbers(train, test, kind):
    model = quick_regressor().fit(train.X, getattr(train, kind))
    y = getattr(test, kind).copy()
    y[11] = np.nan
    data = report_data(model, X=test.X, y=y)
    predicted = model.predict(test.X).reshape(200, -1)
    rest = np.arange(200) != 11
    for column, output in enumerate(data["sections"]["scores"]["outputs"]):
        truth = y.reshape(200, -1)[rest, column]
        assert output["r2"] == pytest.approx(r2_score(truth, predicted[rest, column]))
        assert output["mae"] == pytest.approx(np.abs(truth - predicted[rest, column]).mean())
        np.testing.assert_array_equal(output["true"], truth)
    assert shown(data)[11]["truth"] is None
    assert shown(data)[0]["predicted"] == predicted[0].tolist()
    assert len(shown(data)[0]["why"]) == predicted.shape[1]


def test_weights_of_many_labels_are_bounded(five, monkeypatch):
    monkeypatch.setattr("topoi.report.sections.labels.MOST_WEIGHTS", 16)
    weights = report_data(five)["sections"]["labels"]
    strongest = np.sort(np.argsort(-np.abs(five.topic_weights_).max(1))[:2])
    assert [row["name"] for row in weights["rows"]] == NAMES[strongest].tolist()
    assert weights["n_left_out"] == 3


# ---- Convergence and settings ------------------------------------------------------------------------------


def test_traces_of_all_chains(train):
    lda = LDA(3, n_sweeps=60, n_chains=3, random_state=0).fit(train.X)
    trace = [[10, 400.0], [20, 350.0]]
    data = report_data(lda, held_out_trace={"perplexity": trace})["sections"]["convergence"]
    (model,) = data["models"]
    assert len(model["chains"]) == model["n_chains"] == 3
    for line, trace in zip(model["chains"], lda.traces_, strict=True):
        assert (line["sweep"], line["value"]) == (trace[:, 0].tolist(), trace[:, 1].tolist())
    assert model["rhat"] is lda.rhat_
    assert data["burn_in"] == 30
    assert data["held_out"] == [{"name": "perplexity", "sweep": [10, 20], "value": [400.0, 350.0]}]


def test_in_how_many_chains_topics_were_found(lda, train):
    assert report_data(lda)["sections"]["topics"]["trust"] == []
    several = LDA(3, n_sweeps=30, n_chains=3, random_state=0).fit(train.X)
    told = report_data(several)["sections"]["topics"]["trust"]
    assert [(one["found_in"], one["n_chains"], one["agreement"]) for one in told] == [
        (one.found_in, 3, one.agreement) for one in several.topic_agreement()
    ]


def test_effective_samples(lda, monkeypatch):
    """Those of the draws after the burn-in, if there are enough of them to tell."""
    draws = np.random.default_rng(0).normal(size=(3, 60))
    traces = [np.column_stack((np.arange(1, 61), line)) for line in draws]
    monkeypatch.setattr(lda, "traces_", traces)
    (model,) = report_data(lda)["sections"]["convergence"]["models"]
    assert model["ess"] == rhat_ess(draws[:, 15:])["ess_bulk"]
    assert 50 < model["ess"] < 300
    traces[1] = traces[1][:34]
    (model,) = report_data(lda)["sections"]["convergence"]["models"]
    assert model["ess"] is None


def test_burn_in_after_more_documents(train):
    lda = LDA(3, n_sweeps=40, infer_sweeps=12, random_state=0).fit(train.X[:50])
    assert report_data(lda)["sections"]["convergence"]["burn_in"] == 20
    assert report_data(lda.partial_fit(train.X[50:]))["sections"]["convergence"]["burn_in"] == 6


def test_long_traces_are_thinned(lda):
    trace = np.column_stack((np.arange(5001), np.arange(5001) / 2))
    (line,) = report_data(lda, held_out_trace=trace)["sections"]["convergence"]["held_out"]
    assert len(line["sweep"]) <= MOST_POINTS
    assert line["sweep"][-1] == 5000


class Silent:
    def __call__(self, progress): ...


def test_settings_have_no_addresses(lda):
    assert plain(test_settings_have_no_addresses).endswith("test_report.test_settings_have_no_addresses")
    assert plain([Silent(), None, 1.5]) == "[Silent, None, 1.5]"
    assert plain(np.arange(1000.0)).startswith("[0., 1., 2., ...")
    assert len(plain("x" * 500)) == 120
    given = dict(report_data(lda)["sections"]["settings"]["parameters"])
    assert given["n_topics"] == "6"
    assert set(given) == set(lda.get_params())


# ---- The file ----------------------------------------------------------------------------------------------


def test_text_stays_text(train, tmp_path):
    """Nothing that a user gives can become markup, whatever it holds."""
    odd = [EVIL, "<!--", "]]>", "&lt;", "\u2028", "שלום", "{{data}}", "\ud800"]
    words = odd + WORDS[len(odd) :]
    labels = np.array([EVIL, "<b>"], object)[train.two]
    model = quick().fit(Corpus.from_counts(train.X, words), labels.astype(str))
    path = tmp_path / "report.html"
    texts = [f"{EVIL} {odd[d % len(odd)]}" for d in range(200)]
    write_report(path, model, X=train.X, y=labels, texts=texts, ids=[EVIL] * 200, title=EVIL)
    text = path.read_text("utf-8")
    assert text.count("<script") == 2
    assert "alert(1)</script>" not in text
    assert text.count("</script>") == 2
    data = page_data(path)
    assert data["title"] == EVIL
    assert data["target"]["names"] == ["</script><script>alert(1)</script>", "<b>"]
    assert {document["text"] for document in shown(data)} == {f"{EVIL} {word}" for word in odd}
    assert set(odd) <= set(data["words"])


def test_policy_allows_this_script_alone(lda, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, lda)
    text = path.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    for tag, content in (("style", "style-src"), ("script", "script-src")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{content} 'sha256-{digest}'" in policy
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in text


def test_same_bytes(train, tmp_path):
    files = []
    for number in range(2):
        model = quick(n_chains=2, n_sweeps=20, n_jobs=1 + number)
        model.fit(train.X, train.many)
        model.set_params(n_jobs=None)
        files.append(tmp_path / f"{number}.html")
        write_report(files[-1], model, X=train.X, y=train.many, held_out=False)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.html", "1.html"]


def test_numbers_in_json():
    assert to_json([1.0, 123456789.0, 1 / 3, np.nan, -np.inf, np.float32(0.5), np.int64(7)]) == (
        "[1,123456789,0.33333,null,null,0.5,7]"
    )


def test_the_page_has_only_what_it_needs(lda, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, lda)
    data = page_data(path)
    assert data["title"] == "Topics of LDA"
    assert {"topics", "convergence", "settings"} <= set(data["sections"])
    assert {"labels", "documents", "scores"}.isdisjoint(data["sections"])
    text = path.read_text("utf-8")
    assert [name for name in SECTIONS if f'section("{name}"' in text] == list(data["sections"])
    assert path.stat().st_size < 150_000


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("texts", {"texts": ["a"]}),
        ("y", {"y": [1]}),
        ("texts", {"X": [[1] * 60], "texts": ["a", "b"]}),
        ("texts", {"X": [[1] * 60], "texts": "a"}),
        ("texts", {"X": [[1] * 60], "texts": [3]}),
        ("ids", {"X": [[1] * 60], "ids": []}),
        ("y", {"X": [[1] * 60], "y": [1]}),
        ("max_documents", {"max_documents": -1}),
        ("held_out_trace", {"held_out_trace": [1, 2]}),
        ("held_out_trace", {"held_out_trace": ["a"]}),
    ],
)
def test_what_is_refused(lda, tmp_path, name, given):
    with pytest.raises(ParameterError, match=rf"^{name}: "):
        write_report(tmp_path / "report.html", lda, **given)
    assert not list(tmp_path.iterdir())


def test_labels_that_are_refused(five, train):
    with pytest.raises(ParameterError, match=r"^label_names: has 1 names, but the model has 5"):
        report_data(five, label_names=["a"])
    with pytest.raises(ParameterError, match=r"^y: has no label that the model knows"):
        report_data(five, X=train.X[:2], y=[1, 2])
    with pytest.raises(ParameterError, match=r"^y: has shape"):
        report_data(five, X=train.X[:2], y=["art"])
    with pytest.raises(ParameterError, match=r"^estimator: "):
        report_data(object())
    several = quick().fit(train.X, train.several)
    with pytest.raises(ParameterError, match=r"^y: row 0, column 1 is 2\.0"):
        report_data(several, X=train.X[:1], y=[[0, 2, 0, 0, 0]])
