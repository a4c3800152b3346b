"""Pictures: what is drawn has the numbers that it should have. Nothing is compared pixel by pixel."""

from __future__ import annotations

import copy
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from support.labelled import WORDS, classifier, quick, regressor
from support.variants import slow_but
from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError, TopoiError
from topoi.evaluate import calibration_error, score_predictions

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

from topoi import plot  # noqa: E402
from topoi.plot._figure import COLOURS, name_width, short, style  # noqa: E402

LONG = [f"a label with a name that takes a lot of room, number {label}" for label in range(5)]


@pytest.fixture(scope="module")
def documents(train):
    return Corpus.from_counts(train.X, WORDS)


@pytest.fixture(scope="module")
def lda(documents):
    return LDA(5, n_sweeps=100, n_chains=2, random_state=0).fit(documents)


@pytest.fixture(scope="module")
def model(documents, train):
    return classifier(loss="logistic", n_sweeps=60).fit(documents, np.array(LONG)[train.many])


@pytest.fixture(scope="module")
def numbers(documents, train):
    return regressor().fit(documents, train.numbers)


def drawn(ax):
    """Draw the figure, so that everything has its place, and see that no text leaves it."""
    figure = ax.figure
    figure.draw_without_rendering()
    box = figure.bbox
    ticks = [tick.label1 for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]  # those in view
    for text in [*ticks, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]:
        if text.get_text() and text.get_visible():
            extent = text.get_window_extent()
            assert extent.x0 >= box.x0 - 1, text
            assert extent.x1 <= box.x1 + 1, text
            assert extent.y0 >= box.y0 - 1, text
            assert extent.y1 <= box.y1 + 1, text
    return figure


def apart(labels, side):
    """Whether tick labels do not run into each other, `side` 0: from left to right, 1: up and down."""
    ends = sorted(
        (extent.x0, extent.x1) if side == 0 else (extent.y0, extent.y1)
        for extent in (label.get_window_extent() for label in labels if label.get_text())
    )
    return all(a[1] <= b[0] + 0.5 for a, b in pairwise(ends))


# ---- Topics ----------------------------------------------------------------------------------------------------------


def test_topics(lda):
    panels = plot.topics(lda, n_words=6)
    assert len(panels) == 5
    for k, panel in enumerate(panels):
        words = [label.get_text() for label in panel.get_yticklabels()]
        assert words == lda.top_words(6)[k]
        columns = [WORDS.index(word) for word in words]
        np.testing.assert_allclose([bar.get_width() for bar in panel.patches], lda.components_[k, columns])
        share = lda.model_.topic_counts[k] / lda.model_.topic_counts.sum()
        assert panel.get_title(loc="left") == f"topic {k}  ·  {share:.1%}"
        assert panel.get_ylim()[0] > panel.get_ylim()[1]  # the first word on top
        assert panel.get_xlim() == panels[0].get_xlim()
        drawn(panel)
        assert apart(panel.get_yticklabels(), 1)


@pytest.mark.parametrize("n_topics", slow_but([1, 3], [1, 3, 100]))
def test_any_number_of_topics(n_topics, documents):
    """Panels do not overlap, and words are apart, for few topics and for many, some of them without a token."""
    lda = LDA(n_topics, n_sweeps=4, random_state=0).fit(documents)
    panels = plot.topics(lda, n_words=4)
    assert len(panels) == n_topics
    drawn(panels[0])
    boxes = [panel.get_tightbbox().padded(-1) for panel in panels]
    for i, a in enumerate(boxes):
        assert not any(a.overlaps(b) for b in boxes[i + 1 :])
    assert max(panels[0].figure.get_size_inches()) < 40


def test_some_topics_on_given_axes(lda):
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    panels = plot.topics(lda, which=[4, 1], ax=right)
    assert [panel.get_title(loc="left").split()[1] for panel in panels] == ["4", "1"]
    assert set(figure.axes) == {left, *panels}
    for which in ([5], [-1], ["0"], []):
        with pytest.raises(ParameterError, match=r"^which: "):
            plot.topics(lda, which=which)
    with pytest.raises(TopoiError, match="subplots"):
        plot.topics(lda, ax=figure.add_axes((0, 0, 1, 1)))


def test_empty_topic(documents):
    lda = LDA(3, n_sweeps=2, random_state=0).fit(documents)
    lda.model_.counts = lda.model_.counts.tolil()
    lda.model_.counts[:, 1] = 0
    lda.model_.counts = lda.model_.counts.tocsr()
    panel = plot.topics(lda)[1]
    assert len(panel.patches) == 0
    assert "0.0%" in panel.get_title(loc="left")


# ---- Weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", [True, False])
def test_weights(sort, model):
    ax = plot.weights(model, sort=sort)
    drawn(ax)
    topics = [int(label.get_text().split()[-1]) for label in ax.get_xticklabels()]
    assert sorted(topics) == list(range(8))
    assert sort or topics == list(range(8))
    mean, spread = model.topic_weights_[:, topics], model.topic_weights_std_[:, topics]
    image = ax.images[0]
    np.testing.assert_allclose(image.get_array(), mean)
    sure = np.abs(mean) >= 2 * spread
    np.testing.assert_array_equal(image.get_alpha() == 1, sure)
    dots = next(line for line in ax.lines if line.get_gid() == "unsure")
    assert {(int(x), int(y)) for x, y in dots.get_xydata()} == {(c, r) for r, c in np.argwhere(~sure)}
    assert image.norm.vmax == -image.norm.vmin == np.abs(mean).max()
    if sort:
        assert (np.diff(mean.argmax(0)) >= 0).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == [short(name) for name in LONG]
    assert apart(ax.get_yticklabels(), 1)
    assert apart(ax.get_xticklabels(), 0)
    words = ax.get_xticklabels()[0].get_text().split()[:-1]
    assert words == model.top_words(3)[topics[0]]


def test_unsure_weights_are_faded(model):
    """A weight that is made unsure becomes pale."""
    before, own = model.topic_weights_std_, model.topic_weights_std_.copy()
    own[2, 3] = 1e6
    model.topic_weights_std_ = own
    try:
        image = plot.weights(model, sort=False).images[0]
    finally:
        model.topic_weights_std_ = before
    assert image.get_alpha()[2, 3] < 0.5


@pytest.mark.parametrize("n_topics", [3, 100])
def test_weights_of_few_and_many_topics(n_topics, documents, train):
    model = quick(n_topics=n_topics).fit(documents, np.array(LONG)[train.many])
    ax = plot.weights(model)
    drawn(ax)
    assert apart(ax.get_xticklabels(), 0)
    assert apart(ax.get_yticklabels(), 1)
    assert max(ax.figure.get_size_inches()) < 30


def test_rows_of_weights(documents, train, numbers):
    def rows(estimator, **given):
        return [label.get_text() for label in plot.weights(estimator, **given).get_yticklabels()]

    assert rows(quick().fit(documents, train.two)) == ["1 against 0"]
    assert rows(numbers) == ["output 0", "output 1"]
    assert rows(numbers, label_names=["price", "age"]) == ["price", "age"]
    pairs = MedLDAClassifier(2, strategy="ovo", n_sweeps=2, random_state=0).fit(documents, train.many % 3)
    assert rows(pairs) == ["1 against 0", "2 against 0", "2 against 1"]
    several = quick(strategy="ovr").fit(documents, train.several)
    assert rows(several, label_names="abcde") == list("abcde")
    with pytest.raises(ParameterError, match=r"^label_names: "):
        rows(several, label_names="abc")


def test_blank_cells_of_several_models(documents, train):
    model = MedLDAClassifier(2, strategy="ovr", n_sweeps=2, random_state=0).fit(documents, train.many % 3)
    ax = plot.weights(model)
    image = ax.images[0]
    own = np.kron(np.eye(3), np.ones((1, 2))) > 0
    np.testing.assert_array_equal(~np.ma.getmaskarray(image.get_array()), own)  # sorted, so that models stay in order
    assert (image.get_alpha()[~own] == 0).all()


# ---- Traces ----------------------------------------------------------------------------------------------------------


def test_no_trace_to_show(lda):
    stopped = copy.copy(lda)
    stopped.traces_ = [np.zeros((0, 2))]
    with pytest.raises(ParameterError, match="no trace"):
        plot.traces(stopped)


def test_traces(lda):
    ax = plot.traces(lda)
    drawn(ax)
    assert len(lda.traces_) == len(ax.lines) == 2
    for line, trace in zip(ax.lines, lda.traces_, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), trace)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chain 0", "chain 1"]
    assert ax.patches[0].get_width() == 50  # the burn-in
    assert ax.get_title(loc="left") == f"R-hat {lda.rhat_:.2f}"


def test_trace_of_one_chain(documents, train):
    one = LDA(3, n_sweeps=20, random_state=0).fit(documents)
    ax = plot.traces(one)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xydata(), one.log_joint_)
    assert ax.get_legend() is None
    several = quick(strategy="ovr", n_sweeps=20).fit(documents, train.many)
    assert len(plot.traces(several).lines) == 5


# ---- Embedding -------------------------------------------------------------------------------------------------------


def test_embedding(model, documents, train):
    y = np.array(LONG)[train.many]
    ax = plot.embedding(model, documents, y)
    drawn(ax)
    assert [len(group.get_offsets()) for group in ax.collections] == [int((y == name).sum()) for name in LONG]
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [short(name, 24) for name in LONG]
    assert legend.get_window_extent().x1 <= ax.figure.bbox.x1
    # Neighbours have the same label, as a rule.
    places = np.concatenate([np.asarray(group.get_offsets()) for group in ax.collections])
    label = np.repeat(range(5), [len(group.get_offsets()) for group in ax.collections])
    distance = ((places[:, None] - places) ** 2).sum(2)
    nearest = distance.argsort(1)[:, 1:6]
    assert (label[nearest] == label[:, None]).mean() > 0.7  # of shuffled labels: 0.2


def test_two_embeddings_side_by_side(model, lda, documents, train):
    left, right = plot.compare_embeddings(model, lda, documents, train.many, n_documents=60)
    figure = drawn(right)
    assert left.figure is figure
    assert (left.get_title(), right.get_title()) == ("MedLDAClassifier", "LDA")
    assert left.get_legend() is None
    assert right.get_legend().get_window_extent().x1 <= figure.bbox.x1
    for ax in (left, right):
        assert sum(len(group.get_offsets()) for group in ax.collections) == 60


def test_embedding_without_labels_and_with_many(lda, documents, train):
    X = train.X[:50].copy()
    X[7] = 0
    ax = plot.embedding(lda, X)
    assert len(ax.collections[0].get_offsets()) == 49  # not the one without words
    labels = np.arange(200) % 25
    ax = plot.embedding(lda, documents, labels, n_documents=100, perplexity=5)
    assert ax.get_legend().get_texts()[0].get_text() == "7 others"
    assert len(ax.collections) == 19
    assert len({style(number) for number in range(48)}) == 48
    assert len({ax.collections[j].get_facecolor().tobytes() for j in range(1, 7)}) == len(COLOURS)


def test_bad_embeddings(lda, documents, train):
    for given, name in (
        ((train.X[:3],), "X"), ((train.X, train.many[:5]), "y"), ((train.X, train.several), "y"),
        ((train.X, None, {"perplexity": 0}), "perplexity"), ((train.X, None, {"n_documents": 2}), "n_documents"),
    ):  # fmt: skip
        more = given[2] if len(given) > 2 else {}
        with pytest.raises(ParameterError, match=f"^{name}: "):
            plot.embedding(lda, *given[:2], **more)
    with pytest.raises(ParameterError, match="one topic"):
        plot.embedding(LDA(1, n_sweeps=2).fit(documents))


# ---- Predictions -----------------------------------------------------------------------------------------------------


def test_calibration_of_labels(model, test):
    y = np.array(LONG)[test.many]
    ax = plot.calibration(model, test.X, y, n_bins=4)
    drawn(ax)
    p = model.predict_proba(test.X)
    sure, right = p.max(1), model.classes_[p.argmax(1)] == y
    bins = np.minimum((sure * 4).astype(int), 3)
    expected = [(sure[bins == b].mean(), right[bins == b].mean()) for b in np.unique(bins)]
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), expected)
    error = calibration_error(sure, right, 4)
    assert ax.get_title(loc="left") == f"calibration error {error:.3f}, 200 predictions"


def test_calibration_of_several_labels(fitted, test):
    ax = plot.calibration(fitted["logistic", "several"], test.X, test.several)
    assert "1,000 predictions" in ax.get_title(loc="left")
    assert ax.get_xlabel() == "probability of a label"


@pytest.mark.parametrize("output", [0, 1])
def test_calibration_of_numbers(output, numbers, test):
    y = test.numbers.copy()
    y[3, output] = np.nan
    ax = plot.calibration(numbers, test.X, y, level=0.8, output=output)
    drawn(ax)
    mean, bounds = numbers.predict(test.X)[:, output], numbers.predict_interval(test.X, 0.8)[:, output]
    known = ~np.isnan(y[:, output])
    inside = (bounds[:, 0] <= y[:, output]) & (y[:, output] <= bounds[:, 1])
    lines, good, bad = ax.collections
    np.testing.assert_allclose([path.vertices[:, 1] for path in lines.get_paths()], bounds[known])
    np.testing.assert_allclose(good.get_offsets(), np.column_stack((mean, y[:, output]))[known & inside])
    np.testing.assert_allclose(bad.get_offsets(), np.column_stack((mean, y[:, output]))[known & ~inside])
    assert ax.get_title(loc="left").startswith(f"{inside[known].mean():.0%} of targets in their 80% interval")


@pytest.mark.parametrize("n_labels", [2, 5, 30])
def test_confusion(n_labels, documents, train, test):
    if n_labels <= 5:
        names, y, y_test = LONG[:n_labels], train.many % n_labels, test.many % n_labels
    else:
        names, y, y_test = (
            [f"the long name of label {j:02}" for j in range(30)],
            np.arange(200) % 30,
            np.arange(200) % 30,
        )
    model = quick().fit(documents, np.array(names)[y])
    truth = np.array(names)[y_test]
    ax = plot.confusion(model, test.X, truth)
    drawn(ax)
    counts = score_predictions(model, test.X, truth).confusion
    np.testing.assert_allclose(ax.images[0].get_array(), counts / counts.sum(1, keepdims=True))
    written = {(int(text.get_position()[1]), int(text.get_position()[0])): int(text.get_text()) for text in ax.texts}
    expected = {(r, c): counts[r, c] for r, c in np.argwhere(counts)} if n_labels <= 20 else {}
    assert written == expected
    assert ax.get_title(loc="left") == f"accuracy {model.score(test.X, truth):.1%}"
    assert apart(ax.get_xticklabels(), 0)
    assert apart(ax.get_yticklabels(), 1)


def test_bad_predictions(model, lda, numbers, fitted, test):
    several = fitted["hinge", "several"]
    for call, message in (
        (lambda: plot.confusion(lda, test.X, test.many), "not LDA"),
        (lambda: plot.confusion(several, test.X, test.several), "several labels"),
        (lambda: plot.confusion(model, test.X, test.many), "does not know"),
        (lambda: plot.calibration(lda, test.X, test.many), "LDA predicts nothing"),
        (lambda: plot.calibration(numbers, test.X, test.numbers, output=2), "^output: "),
        (lambda: plot.weights(lda), "no weights"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()


# ---- All -------------------------------------------------------------------------------------------------------------


def test_given_axes_are_drawn_on(model, documents, lda, test):
    y = np.array(LONG)[test.many]
    for draw in (
        lambda ax: plot.weights(model, ax=ax), lambda ax: plot.traces(lda, ax=ax),
        lambda ax: plot.embedding(lda, test.X[:30], ax=ax), lambda ax: plot.calibration(model, test.X, y, ax=ax),
        lambda ax: plot.confusion(model, test.X, y, ax=ax),
    ):  # fmt: skip
        ax = Figure().subplots()
        assert draw(ax) is ax
        assert ax.has_data()
        with pytest.raises(TopoiError, match="ax must be one matplotlib Axes"):
            draw("ax")


@pytest.mark.parametrize("draw", [plot.topics, plot.weights, plot.traces, plot.embedding])
@pytest.mark.parametrize("kind", [MedLDAClassifier, MedLDARegressor])
def test_unfitted(draw, kind):
    with pytest.raises(ValueError, match="not fitted"):
        draw(kind())


def test_pyplot_is_left_alone_and_matplotlib_may_be_missing(tmp_path, lda):
    """A fresh Python: no picture asks for pyplot; without matplotlib the error says what to install."""
    lda.model_.save(tmp_path / "model")
    code = """
import sys
from topoi import TopicModel, TopoiError, plot
model = TopicModel.load(sys.argv[1])
plot.topics(model)[0].figure.savefig(sys.argv[2])
print("matplotlib.pyplot" in sys.modules)
sys.modules["matplotlib.figure"] = None
try:
    plot.topics(model)
except TopoiError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "model", tmp_path / "topics.png"], capture_output=True, text=True,
        check=True, encoding="utf-8",
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert first == "False"
    assert second.endswith("pip install matplotlib")
    assert (tmp_path / "topics.png").stat().st_size > 1000


def test_short_names():
    assert short("short") == "short"
    assert len(short("x" * 100, 28)) == 28
    assert short("the beginning and the end", 11) == "the b…e end"
    assert name_width([]) == 0


def test_topics_are_called_by_their_names(lda, model):
    named, named_model = copy.deepcopy(lda), copy.deepcopy(model)
    named.model_.topic_names = ["sport", "", "", "space", ""]
    titles = [panel.get_title(loc="left").split("  ·")[0] for panel in plot.topics(named)]
    assert titles == ["sport", "topic 1", "topic 2", "space", "topic 4"]
    named_model.model_.topic_names = ["sport"] + [""] * 7
    ticks = [tick.get_text().split("  ")[-1] for tick in plot.weights(named_model, sort=False).get_xticklabels()]
    assert ticks == ["sport", *map(str, range(1, 8))]
