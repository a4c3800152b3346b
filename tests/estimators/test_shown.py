"""What a fitted estimator shows: topics as HTML in a notebook, data frames, traces for ArviZ."""

from __future__ import annotations

import re
import sys
from dataclasses import astuple
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError, TopoiError
from topoi.chain.names import name_topics
from topoi.estimators.topics_html import MOST_TOPICS, sparkline

X = np.random.default_rng(0).poisson(1.0, (24, 9))
CLASSES = np.array(list("abc"))[np.arange(24) % 3]
SHORT = {"n_topics": 3, "n_sweeps": 4, "random_state": 0}
BAD = ["<script>alert(1)</script>", "a&b", '"quoted"', "\ud800half", "x" * 500, "\u202eturned", "it's", "plain", "<b>"]
pytestmark = pytest.mark.filterwarnings("ignore::topoi.NeverPredictedWarning")


class Elements(HTMLParser):
    """Names of the elements of a page, and the texts of its cells."""

    def __init__(self, page):
        super().__init__()
        self.names, self.cells, self.open = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        if tag in ("table", "td", "th", "bdi", "script", "style", "svg"):
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


def own(page):
    """The part of the page before scikit-learn's diagram."""
    part, _, diagram = page.partition("<details><summary>Parameters and attributes</summary>")
    assert "sk-top-container" in diagram
    return part


@pytest.fixture(scope="module")
def lda():
    return LDA(**SHORT).fit(Corpus.from_counts(X, [f"word{w}" for w in range(9)]))


def test_a_fitted_model_is_its_topics(lda):
    page = own(lda._repr_html_())
    cells = Elements(page).cells
    assert cells[:3] == ["topic", "share", "most telling words"]
    rows = np.array(cells[3:]).reshape(3, 3)
    order = np.argsort(-lda.model_.topic_counts)
    assert rows[:, 0].tolist() == [f"topic {k}" for k in order]
    assert rows[:, 2].tolist() == [" ".join(lda.top_words(10)[k]) for k in order]
    shares = lda.model_.topic_counts[order] / lda.model_.topic_counts.sum()
    assert rows[:, 1].tolist() == [f"{share:.1%}" for share in shares]
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%\"", page)]
    np.testing.assert_allclose(widths, 100 * shares / shares[0], atol=0.06)
    assert f"{lda.model_.topic_counts.sum():,.0f} tokens in 24 documents" in page


def test_both_ways_of_a_notebook_agree(lda):
    bundle = lda._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "text/html"}
    assert own(bundle["text/html"]) == own(lda._repr_html_())
    assert bundle["text/plain"] == repr(lda) == "LDA(n_sweeps=4, n_topics=3, random_state=0)"


def test_not_fitted_is_the_diagram():
    model = LDA(**SHORT)
    assert "topoi-model" not in model._repr_html_()
    assert "sk-top-container" in model._repr_html_()
    assert "topoi-model" not in model._repr_mimebundle_()["text/html"]


def test_a_pipeline_is_the_diagram(lda):
    pipeline = make_pipeline(FunctionTransformer(), clone(lda)).fit(X)
    for page in (pipeline._repr_html_(), estimator_html_repr(lda)):
        assert "topoi-model" not in page


def test_display_as_text(lda):
    with sklearn.config_context(display="text"):
        assert not hasattr(lda, "_repr_html_")
        assert set(lda._repr_mimebundle_()) == {"text/plain"}


def test_strangers_words_are_text():
    model = LDA(**SHORT).fit(Corpus.from_counts(X, np.array(BAD, object)))
    name_topics(model.model_, ["<img src=x onerror=alert(1)>"])
    page = own(model._repr_html_())
    assert {"script", "img", "b"} & set(Elements(page.replace("<b>LDA</b>", "")).names) == set()
    page.encode("utf-8")
    assert "x" * 59 + "…" in page
    assert "x" * 60 not in page
    assert "<bdi>\u202eturned</bdi>" in page


def test_no_colour_of_its_own(lda):
    """It must be read on light and dark pages: every colour is that of the text around."""
    style = re.search("<style>(.*?)</style>", own(lda._repr_html_()), re.S)[1]
    colours = re.findall(r"(?:color|background|stroke|fill):([^;}]+)", style)
    assert len(colours) > 5
    assert set(colours) <= {"inherit", "currentColor", "transparent", "none"}


def test_columns_without_names_are_told():
    assert "numbers of columns" in LDA(**SHORT).fit(X)._repr_html_()


def test_several_chains_and_labels():
    two = LDA(**SHORT, n_chains=2).fit(X)
    assert "found in" in Elements(own(two._repr_html_())).cells
    assert own(two._repr_html_()).count("<polyline") in (0, 2)
    labels = MedLDAClassifier(**SHORT).fit(X, CLASSES)
    assert "speaks for, against" in Elements(own(labels._repr_html_())).cells
    ovr = MedLDAClassifier(**SHORT, strategy="ovr").fit(X, CLASSES)
    page = own(ovr._repr_html_())
    assert "within each model" in page
    assert "9 topics in 3 models" in page
    number = MedLDARegressor(**SHORT).fit(X, X[:, 0])
    assert "raises or lowers" in Elements(own(number._repr_html_())).cells


def test_many_topics_are_cut():
    model = LDA(n_topics=MOST_TOPICS + 5, n_sweeps=2, random_state=0).fit(X)
    page = own(model._repr_html_())
    assert page.count("<tr>") == MOST_TOPICS + 1
    assert "5 more" in page


def test_sparkline():
    drawn = sparkline([np.array([-5.0, -3.0, -1.0]), np.array([-9.0, -2.0])], 92, 18)
    assert re.findall('points="(.*?)"', drawn) == ["1.0,9.0 46.0,5.0 91.0,1.0", "1.0,17.0 46.0,3.0"]
    assert "from -9 to -1" in drawn
    assert sparkline([np.array([1.0])]) == sparkline([]) == sparkline([np.array([1.0, np.nan])]) == ""
    assert 'points="1.0,15.0 89.0,15.0"' in sparkline([np.array([2.0, 2.0])])


# ---- Data frames -----------------------------------------------------------------------------------------------------


def test_top_words_as_a_frame(lda):
    frame = lda.top_words(4, as_frame=True)
    assert list(frame) == ["topic", "name", "share", "rank", "word", "probability"]
    assert frame.groupby("topic")["word"].apply(list).tolist() == lda.top_words(4)
    column = {f"word{w}": w for w in range(9)}
    phi = [lda.components_[row.topic, column[row.word]] for row in frame.itertuples()]
    np.testing.assert_allclose(frame["probability"], phi)


def test_top_words_as_a_frame_say_how_far_topics_can_be_trusted():
    model = LDA(**SHORT, n_chains=3).fit(X)
    frame = model.top_words(2, as_frame=True)
    assert list(frame) == [
        "topic", "name", "share", "found_in", "n_chains", "agreement", "rank", "word", "probability",
    ]  # fmt: skip
    trust = model.topic_agreement()
    for row in frame.itertuples():
        assert (row.found_in, row.n_chains, row.agreement) == astuple(trust[row.topic])


def test_topics_frame(lda):
    frame = lda.topics_frame(4)
    assert frame.index.name == "topic"
    assert list(frame) == ["name", "share", "words"]
    assert frame["words"].tolist() == [" ".join(words) for words in lda.top_words(4)]
    assert frame["share"].sum() == pytest.approx(1)


def test_topics_frame_of_a_classifier():
    model = MedLDAClassifier(**SHORT, n_chains=2).fit(X, CLASSES)
    frame = model.topics_frame(2)
    assert {"found_in", "n_chains", "agreement"} < set(frame)
    weights = frame[[f"weight of {label}" for label in "abc"]].to_numpy()
    np.testing.assert_allclose(weights, model.topic_weights_.T)


def test_frames_take_a_vocabulary():
    model = LDA(**SHORT).fit(X)
    names = [f"w{w}" for w in range(9)]
    assert model.top_words(3, names, as_frame=True)["word"].str.startswith("w").all()
    assert model.topics_frame(1, names)["words"].str.startswith("w").all()
    with pytest.raises(ParameterError, match="has 2 words, but the model 9"):
        model.topics_frame(1, ["a", "b"])


def test_not_fitted():
    for method in ("top_words", "topics_frame", "to_arviz", "report", "model_card"):
        with pytest.raises(NotFittedError):
            getattr(LDA(), method)()


@pytest.mark.parametrize(("package", "method"), [("pandas", "topics_frame"), ("xarray", "to_arviz")])
def test_a_package_is_missing(package, method, lda, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TopoiError, match=f"{method} needs {package}.*pip install") as caught:
        getattr(lda, method)()
    assert isinstance(caught.value, ImportError)


# ---- ArviZ -----------------------------------------------------------------------------------------------------------


def test_to_arviz_has_the_traces():
    pytest.importorskip("xarray")
    model = LDA(**SHORT | {"n_sweeps": 100}, n_chains=3).fit(X, validation=X)
    tree = model.to_arviz()
    assert tree["posterior/log_joint"].dims == ("chain", "draw")
    both = [np.r_[tree["warmup_posterior/log_joint"][c], tree["posterior/log_joint"][c]] for c in range(3)]
    np.testing.assert_array_equal(both, [trace[:, 1] for trace in model.traces_])
    assert tree["posterior/draw"].values.tolist() == [60, 70, 80, 90, 100]
    held_out = [trace[trace[:, 0] > model.burn_in_, 1] for trace in model.validation_traces_]
    np.testing.assert_array_equal(tree["sample_stats/held_out_perplexity"], held_out)


def test_arviz_finds_the_same_rhat():
    azs = pytest.importorskip("arviz_stats")
    if not hasattr(azs, "summary"):
        pytest.skip("needs arviz-stats[xarray]")
    model = LDA(**SHORT | {"n_sweeps": 200}, n_chains=4).fit(X)
    tree = model.to_arviz()
    assert float(azs.rhat(tree)["log_joint"]) == pytest.approx(model.rhat_)
    assert azs.summary(tree).index.tolist() == ["log_joint"]


def test_to_arviz_of_several_models():
    pytest.importorskip("xarray")
    model = MedLDAClassifier(**SHORT | {"n_sweeps": 20}, strategy="ovr", n_chains=2).fit(X, CLASSES)
    joint = model.to_arviz()["posterior/log_joint"]
    assert joint.dims == ("chain", "draw", "model")
    assert joint["model"].values.tolist() == ["a or not", "b or not", "c or not"]
    for number, one in enumerate(model.estimators_):
        for chain, trace in enumerate(one.traces_):
            np.testing.assert_array_equal(joint[chain, :, number], trace[trace[:, 0] > 10, 1])


def test_to_arviz_of_the_number_of_topics():
    pytest.importorskip("xarray")
    model = LDA(n_topics="auto", n_sweeps=30, random_state=0).fit(X)
    group = model.to_arviz()["topic_number"]
    later = model.n_topics_trace_[model.n_topics_trace_[:, 0] > model.burn_in_]
    np.testing.assert_array_equal(group["n_topics"][0], later[:, 1])
    assert set(group.data_vars) == {"n_topics", "a", "gamma"}


def test_chains_that_ended_early_are_cut(lda):
    pytest.importorskip("xarray")
    model = LDA(**SHORT | {"n_sweeps": 40}, n_chains=2).fit(X)
    model.traces_[1] = model.traces_[1][:-1]
    assert model.to_arviz()["posterior/log_joint"].shape == (2, 1)
