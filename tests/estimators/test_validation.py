"""Documents to watch a fit on: the score of the model so far, which changes nothing."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import rich.console

import topoi
from support.cli_files import QUICK, done, write_csv
from support.kills import Killed, killer
from support.labelled import WORDS, Documents, quick, quick_regressor
from support.saved_models import answers
from topoi import LDA, Checkpoints, Corpus, CorpusError, ParameterError, plot
from topoi.cli._hold_out import WATCHED, to_watch
from topoi.readers import Dataset
from topoi.report.write import report_data


@pytest.fixture(scope="module")
def train():
    return Documents(60, seed=3)


@pytest.fixture(scope="module")
def test():
    return Documents(30, seed=4)


def quick_lda(**parameters):
    return LDA(**{"n_topics": 3, "n_sweeps": 24, "n_samples": 3, "random_state": 0, **parameters})


def cases(train, test):
    """Estimators, their labels, what to watch them on, and the score that an estimator has in the end."""
    score = {"score": lambda model, X, y: model.score(X, y)}
    yield "lda", quick_lda, (), test.X, lambda model: model.perplexity(test.X)
    for kind, settings in {
        "two": {},
        "many": {"loss": "logistic"},
        "several": {"infer_method": "gibbs"},
    }.items():
        y, of_test = getattr(train, kind), getattr(test, kind)

        def final(model, y=of_test, kind=kind):
            if kind != "several":
                return score["score"](model, test.X, y)
            said = model.predict(test.X)
            return 2 * (said & y).sum() / (said.sum() + y.sum())

        yield (
            kind,
            lambda settings=settings, **more: quick(n_sweeps=24, **settings, **more),
            (y,),
            (test.X, of_test),
            final,
        )
    for kind in ("number", "numbers"):
        y, of_test = getattr(train, kind), getattr(test, kind)
        yield (
            kind, lambda **more: quick_regressor(n_sweeps=24, **more), (y,), (test.X, of_test),
            lambda model, y=of_test: model.score(test.X, y),
        )  # fmt: skip


NAMES = ["lda", "two", "many", "several", "number", "numbers"]


@pytest.fixture(params=NAMES)
def case(request, train, test):
    return next(case for case in cases(train, test) if case[0] == request.param)[1:]


def test_the_fit_is_the_same_and_the_last_score_that_of_the_model(case, train):
    make, y, validation, final = case
    alone = make().fit(train.X, *y)
    watched = make().fit(train.X, *y, validation=validation)
    assert answers(watched, train.X) == answers(alone, train.X)
    (trace,) = watched.validation_traces_
    assert trace[:, 0].tolist() == [10, 20, 24] == watched.log_joint_[:, 0].tolist()
    assert trace[-1, 1] == pytest.approx(final(watched), rel=1e-12)
    assert not hasattr(alone, "validation_traces_")
    assert not hasattr(watched.fit(train.X, *y), "validation_traces_")


@pytest.mark.parametrize("at", [10, 20])
def test_a_score_is_that_of_the_model_so_far(at, case, train):
    """Before the first kept sample (10) and after it (20): as if the fit had been stopped there."""
    make, y, validation, final = case
    (trace,) = make().fit(train.X, *y, validation=validation).validation_traces_
    stopped = make(callbacks=[lambda progress: progress.sweep == at]).fit(train.X, *y)
    assert stopped.n_sweeps_ == at
    assert trace[trace[:, 0] == at, 1] == pytest.approx(final(stopped), rel=1e-12)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_every_model_has_its_own(strategy, train, test):
    alone = quick(strategy=strategy, n_sweeps=12).fit(train.X, train.many)
    model = quick(strategy=strategy, n_sweeps=12).fit(train.X, train.many, validation=(test.X, test.many))
    assert model.predict(test.X).tobytes() == alone.predict(test.X).tobytes()
    for number, one in enumerate(model.estimators_):
        if strategy == "ovr":
            rows, truth = np.arange(30), (test.many == number).astype(int)
        else:
            rows = np.flatnonzero(np.isin(test.many, one.classes_))
            truth = test.many[rows]
        assert one.validation_measure_ == "accuracy"
        assert one.validation_traces_[0][-1, 1] == one.score(test.X[rows], truth)
    with pytest.raises(AttributeError, match="belongs to one model"):
        model.validation_traces_  # noqa: B018


def test_callbacks_are_told(train, test):
    told = []
    model = quick_lda(n_chains=2, callbacks=[told.append]).fit(train.X, validation=test.X)
    for chain, trace in enumerate(model.validation_traces_):
        of_chain = [(p.sweep, p.held_out) for p in told if p.chain == chain and p.held_out is not None]
        assert of_chain == [(int(sweep), value) for sweep, value in trace]
    assert {p.measure for p in told} == {"perplexity"}


@pytest.mark.parametrize(
    ("make", "y", "text"),
    [
        (quick_lda, None, "held-out perplexity "),
        (quick_regressor, "number", "held-out R² "),
        (quick, "several", "-F1 "),
    ],
)
def test_the_bar_shows_it(make, y, text, train, test, monkeypatch):
    screen = io.StringIO()
    console = rich.console.Console
    monkeypatch.setattr(rich.console, "Console", lambda **_: console(file=screen, force_terminal=True, width=200))
    model = make(n_sweeps=10, progress=True)
    if y is None:
        model.fit(train.X, validation=test.X)
    else:
        model.fit(train.X, getattr(train, y), validation=(test.X, getattr(test, y)))
    value = model.validation_traces_[0][-1, 1]
    assert f"{text}{value:,.4g}" in screen.getvalue()


@pytest.mark.parametrize("width", [80, 110])
def test_the_bar_fits_the_terminal(width, train, test, monkeypatch):
    screen = io.StringIO()
    console = rich.console.Console
    monkeypatch.setattr(rich.console, "Console", lambda **_: console(file=screen, force_terminal=True, width=width))
    quick(n_sweeps=10, progress=True).fit(train.X, train.many, validation=(test.X, test.many))
    last = screen.getvalue().splitlines()[-2]
    for part in ("━", "10/10", "/s", "log joint -", "held-out ", "0:00:00"):
        assert part in last


def test_resumed(train, test, tmp_path):
    whole = quick_lda().fit(train.X, validation=test.X)
    with pytest.raises(Killed):
        quick_lda(callbacks=killer(15)).fit(train.X, validation=test.X, checkpoint=Checkpoints(tmp_path, 1e9, 12))
    other = tmp_path / "other"
    (tmp_path / "model-0-chain-0").rename(tmp_path / "kept")
    for name, validation, expected in (
        ("same", test.X, whole.validation_traces_[0][:, 1]),
        (
            "other",
            test.X[:20],
            [np.nan, *quick_lda().fit(train.X, validation=test.X[:20]).validation_traces_[0][1:, 1]],
        ),
        ("none", None, None),
    ):
        folder = other / name / "model-0-chain-0"
        folder.mkdir(parents=True)
        for file in (tmp_path / "kept").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        again = quick_lda().fit(train.X, validation=validation, checkpoint=other / name)
        assert answers(again, train.X) == answers(whole, train.X)
        if expected is None:
            assert not hasattr(again, "validation_traces_")
        else:
            np.testing.assert_array_equal(again.validation_traces_[0][:, 1], expected)


def test_nothing_to_score(train):
    empty = np.zeros((2, train.X.shape[1]), int)
    (trace,) = quick_lda().fit(train.X, validation=empty).validation_traces_
    assert np.isnan(trace[:, 1]).all()
    (trace,) = quick_regressor().fit(train.X, train.number, validation=(empty, [1.0, 1.0])).validation_traces_
    assert np.isnan(trace[:, 1]).all()


def test_unknown_targets_are_left_out(train, test):
    y = test.numbers.copy()
    y[::3, 0] = np.nan
    model = quick_regressor().fit(train.X, train.numbers, validation=(test.X, y))
    said = model.predict(test.X)
    r2 = [
        1 - ((t - s)[k] ** 2).sum() / ((t[k] - t[k].mean()) ** 2).sum()
        for t, s in zip(y.T, said.T, strict=True)
        for k in [~np.isnan(t)]
    ]
    assert model.validation_traces_[0][-1, 1] == pytest.approx(np.mean(r2))


def test_what_cannot_be_watched(train, test):
    with pytest.raises(CorpusError, match="features"):
        quick_lda().fit(train.X, validation=test.X[:, 1:])
    named, others = Corpus.from_counts(train.X, WORDS), Corpus.from_counts(test.X, WORDS[::-1])
    with pytest.raises(CorpusError, match="column 0"):
        quick_lda().fit(named, validation=others)
    with pytest.raises(ParameterError, match=r"validation: must be \(X, y\)"):
        quick().fit(train.X, train.two, validation=test.X)
    with pytest.raises(ParameterError, match="label 7, which the model does not know"):
        quick().fit(train.X, train.many, validation=(test.X, np.full(30, 7)))
    with pytest.raises(ParameterError, match="validation: has 2 outputs"):
        quick_regressor().fit(train.X, train.number, validation=(test.X, test.numbers))


def test_saved_shown_and_drawn(train, test, tmp_path):
    model = quick(strategy="ovr", n_sweeps=12).fit(train.X, train.many, validation=(test.X, test.many))
    model.save(tmp_path / "model")
    again = topoi.load(tmp_path / "model")
    for one, other in zip(model.estimators_, again.estimators_, strict=True):
        np.testing.assert_array_equal(one.validation_traces_, other.validation_traces_)
    lines = report_data(again)["sections"]["convergence"]["held_out"]
    assert [line["name"] for line in lines] == [f"{name} or not: held-out accuracy" for name in range(5)]
    assert lines[2]["value"] == model.estimators_[2].validation_traces_[0][:, 1].tolist()
    ax = plot.traces(again, held_out=True)
    assert len(ax.lines) == 5
    assert ax.get_ylabel() == "held-out accuracy"
    np.testing.assert_array_equal(ax.lines[2].get_xydata(), model.estimators_[2].validation_traces_[0])
    with pytest.raises(ParameterError, match="no held-out scores"):
        plot.traces(quick().fit(train.X, train.two), held_out=True)


@pytest.mark.parametrize(
    ("options", "measure", "headline"),
    [
        ((), "perplexity", "perplexity"),
        (("--label", "subject", "--no-refit"), "accuracy", "accuracy"),
        (("--target", "stars", "--no-refit"), "r2", "r2"),
    ],
)
def test_command_line(options, measure, headline, tmp_path):
    done(
        "fit",
        write_csv(tmp_path / "posts.csv"),
        "--text",
        "body",
        *options,
        *QUICK,
        "--hold-out",
        "0.2",
        "-o",
        tmp_path / "m",
    )
    model = topoi.load(tmp_path / "m" / "estimator.topoi")
    assert model.validation_measure_ == measure
    held_out = json.loads((tmp_path / "m" / "topoi.json").read_text("utf-8"))["held_out"]
    assert model.validation_traces_[0][-1, 1] == pytest.approx(held_out[headline])


def test_labels_that_cannot_be_learned_are_not_watched():
    y = np.array(["a", "b", "a", "c"] * 2)
    data = Dataset(Corpus.from_counts(np.eye(8, dtype=int)), y)
    train = data.take([0, 1])
    documents, labels, covariates = to_watch(data.target, data, train, np.arange(2, 8))
    assert covariates is None
    assert labels.tolist() == ["a", "a", "b", "a"]
    assert documents.words.tolist() == [2, 4, 5, 6]
    assert to_watch(data.target, data, train, np.array([3, 7])) is None


def test_of_many_documents_some_are_watched():
    many = Dataset(Corpus.from_counts(np.ones((3 * WATCHED, 1), int)))
    documents, covariates = to_watch(many.target, many, many, np.arange(3 * WATCHED))
    assert documents.n_documents == WATCHED
    assert covariates is None
