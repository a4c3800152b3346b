"""Strategies: classes shared out to binary models, and their scores put together again."""

from __future__ import annotations

import os
import pickle
import signal
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.utils.multiclass import _ovr_decision_function

import topoi.estimators.base
from support.labelled import FOUR, JOINT_LOSSES, LOSSES, N_WORDS, WORDS, classifier, fitted_bytes, quick, refuse
from topoi import Corpus, InterruptedFitWarning, MedLDAClassifier, ParameterError
from topoi._disk.store import ModelError
from topoi.chain.responses.hinge import Hinge
from topoi.estimators.labels import Labels
from topoi.estimators.problem import SupervisedProblem, model_seed
from topoi.estimators.strategies import couple, strategy_for, vote

PAIRS = list(combinations(range(5), 2))
N_MODELS = {"ovr": 5, "ovo": 10}


def one_of_three():
    """Six documents of three classes, the last without a label; weights that tell the documents apart."""
    labels = np.array(["a", "b", "c", "a", "c"])
    known = Labels.of(labels)
    targets = np.vstack([known.targets(labels), np.full(3, np.nan)])
    corpus = Corpus.from_counts(np.diag(np.arange(1, 7)))  # document n has word n alone
    weight = np.arange(6.0)[:, None] * np.ones(3)
    return known, SupervisedProblem(
        corpus=corpus, seed=7, targets=targets, weight=weight, response=Hinge(), nu=1.0, n_gibbs=2
    )


def shared_out(name):
    labels, problem = one_of_three()
    strategy = strategy_for(name, labels)
    problems = strategy.share_out(problem)
    return [own.classes.tolist() for own in strategy.of_models()], problems


def test_one_problem_of_all_classes():
    labels, (problem,) = shared_out("multitask")
    assert problem.corpus.n_documents == 6
    assert problem.targets.shape == (6, 3)
    assert problem.seed == 7
    assert labels == [["a", "b", "c"]]


def test_each_class_against_the_rest():
    labels, problems = shared_out("ovr")
    assert labels == [[0, 1]] * 3
    assert [problem.seed for problem in problems] == [model_seed(7, number) for number in range(3)]
    for problem, signs in zip(problems, [[1, -1, -1, 1, -1], [-1, 1, -1, -1, -1], [-1, -1, 1, -1, 1]], strict=True):
        assert problem.corpus.n_documents == 6
        np.testing.assert_array_equal(problem.targets[:, 0], [*signs, np.nan])
        np.testing.assert_array_equal(problem.weight[:, 0], np.arange(6))
        assert problem.targets.flags.c_contiguous  # kernels are compiled for one layout


def test_each_pair_of_classes():
    """Only the documents of the two, and those without a label; the second class is positive."""
    labels, problems = shared_out("ovo")
    assert labels == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert [problem.seed for problem in problems] == [model_seed(7, number) for number in range(3)]
    for problem, rows in zip(problems, [[0, 1, 3, 5], [0, 2, 3, 4, 5], [1, 2, 4, 5]], strict=True):
        assert np.unique(problem.corpus.words).tolist() == rows
        assert problem.weight[:, 0].tolist() == rows
        assert problem.targets.flags.c_contiguous
    np.testing.assert_array_equal(problems[0].targets[:, 0], [-1, 1, -1, np.nan])
    np.testing.assert_array_equal(problems[1].targets[:, 0], [-1, 1, -1, 1, np.nan])


def test_votes_are_those_of_scikit_learn():
    scores = np.random.default_rng(0).normal(size=(200, 10)) * 3
    expected = _ovr_decision_function((scores > 0).astype(int), scores, 5)
    np.testing.assert_allclose(vote(scores, 5), expected, rtol=1e-12)
    np.testing.assert_allclose(vote(np.stack([scores, -scores]), 5)[0], expected, rtol=1e-12)
    cycle = vote(np.array([[3.0, -1.0, 1.0]]), 3)[0]  # 1 beats 0 by 3, 0 beats 2 by 1, 2 beats 1 by 1: one win each
    assert cycle.argmax() == 1


def test_coupled_probabilities():
    """Pairs that come from probabilities give them back; certain pairs give no NaN."""
    p = np.random.default_rng(0).dirichlet(np.ones(5), 50)
    pairs = np.column_stack([p[:, j] / (p[:, i] + p[:, j]) for i, j in PAIRS])
    np.testing.assert_allclose(couple(pairs, 5), p, atol=1e-6)
    certain = couple(np.array([[0.0] * 10, [1.0] * 10]), 5)
    np.testing.assert_allclose(certain.sum(1), 1)
    assert certain.argmax(1).tolist() == [0, 4]
    alone = couple(pairs[:1], 5)
    assert alone.tobytes() == couple(pairs, 5)[:1].tobytes()


@pytest.fixture(scope="module")
def learned(train):
    """Fitted classifiers of five classes by strategy and loss; margin 4, as binary models want it (see labelled)."""
    return {
        (strategy, loss): classifier(strategy=strategy, loss=loss, n_jobs=2).fit(train.X, train.many)
        for strategy in N_MODELS
        for loss in LOSSES
    }


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strategy", N_MODELS)
def test_five_classes(strategy, loss, learned, test):
    model = learned[strategy, loss]
    scores = model.decision_function(test.X)
    assert scores.shape == (200, 5)
    np.testing.assert_array_equal(model.predict(test.X), scores.argmax(1))
    assert model.score(test.X, test.many) > 0.85
    p = model.predict_proba(test.X)
    assert p.shape == (200, 5)
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-12)
    assert p.min() >= 0
    assert (p.argmax(1) == model.predict(test.X)).mean() > 0.9
    assert np.take_along_axis(p, test.many[:, None], 1).mean() > 0.6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strategy", N_MODELS)
def test_scores_are_made_of_the_models(strategy, loss, learned, test):
    model = learned[strategy, loss]
    assert len(model.estimators_) == N_MODELS[strategy]
    of_models = np.column_stack([one.decision_function(test.X) for one in model.estimators_])
    expected = of_models if strategy == "ovr" else vote(of_models, 5)
    np.testing.assert_allclose(model.decision_function(test.X), expected, rtol=1e-9)
    for number, one in enumerate(model.estimators_):
        assert one.classes_.tolist() == ([0, 1] if strategy == "ovr" else list(PAIRS[number]))
        assert set(one.predict(test.X)) <= set(one.classes_)


@pytest.mark.parametrize("strategy", N_MODELS)
def test_topics_side_by_side(strategy, learned, train, test):
    model, n = learned[strategy, "hinge"], N_MODELS[strategy]
    theta = model.transform(test.X)
    assert theta.shape == (200, 8 * n)
    np.testing.assert_allclose(theta.reshape(200, n, 8).sum(2), 1, atol=1e-9)
    assert model.components_.shape == (8 * n, N_WORDS)
    assert len(model.top_words(3)) == 8 * n
    assert model.topic_weights_.shape == model.topic_weights_std_.shape == (n, 8 * n)
    for number, one in enumerate(model.estimators_):
        part = slice(8 * number, 8 * number + 8)
        assert theta[:, part].tobytes() == one.transform(test.X).tobytes()
        np.testing.assert_array_equal(model.components_[part], one.components_)
        np.testing.assert_array_equal(model.topic_weights_[number, part], one.topic_weights_[0])
        assert np.count_nonzero(model.topic_weights_[number]) == np.count_nonzero(one.topic_weights_)
        assert model.top_words(3)[part] == one.top_words(3)
    assert list(model.get_feature_names_out()) == [f"medldaclassifier{k}" for k in range(8 * n)]
    assert model.rhat_ is not None
    assert (model.n_sweeps_, model.stopped_) == (40, "finished")
    assert sum(len(one.doc_topic_) for one in model.estimators_) == len(train.X) * (5 if strategy == "ovr" else 4)


def test_frame_of_topics(learned, test):
    pytest.importorskip("pandas")
    model = pickle.loads(pickle.dumps(learned["ovo", "hinge"])).set_output(transform="pandas")
    assert model.transform(test.X[:3]).columns.tolist() == list(model.get_feature_names_out())


def test_attributes_of_one_model(learned, train):
    ovr, ovo = learned["ovr", "hinge"], learned["ovo", "hinge"]
    for model in (ovr, ovo):
        for name in (
            "model_", "chains_", "log_joint_", "traces_", "response_", "doc_topic_prior_", "topic_word_prior_", "seed_",
            "weight_samples_",
        ):  # fmt: skip
            assert not hasattr(model, name)
            assert hasattr(model.estimators_[0], name)
            with pytest.raises(AttributeError, match=rf"{name} belongs to one model.*estimators_\[i\]\.{name}"):
                getattr(model, name)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            model.nothing  # noqa: B018
    assert ovr.doc_topic_.shape == (len(train.X), 40)
    with pytest.raises(AttributeError, match="doc_topic_ belongs to one model"):
        ovo.doc_topic_  # noqa: B018
    with pytest.raises(AttributeError, match="only after fit"):
        MedLDAClassifier(strategy="ovr").estimators_  # noqa: B018


@pytest.mark.parametrize("loss", LOSSES + JOINT_LOSSES)
def test_two_classes_are_one_model(loss, train, test):
    expected = fitted_bytes(quick(loss=loss).fit(train.X, train.two), test.X)
    for strategy in N_MODELS:
        model = quick(loss=loss, strategy=strategy).fit(train.X, train.two)
        assert fitted_bytes(model, test.X) == expected
        assert model.estimators_ == [model]


@pytest.mark.parametrize("strategy", N_MODELS)
def test_a_model_is_a_binary_classifier(strategy, train, test, monkeypatch):
    """The bytes of a classifier fitted on its two classes alone, with the model's seed."""
    given = {"n_chains": 2, "margin": None, "n_topics": 4, "n_sweeps": 8, "positive_weight": 1.0}
    model = quick(strategy=strategy, **given)
    monkeypatch.setattr(model, "_new_seed", lambda *_: 77)
    model.fit(train.X, train.many)
    for number in (0, 3):
        rows, y = np.arange(200), (train.many == number).astype(int)
        if strategy == "ovo":
            rows, y = np.flatnonzero(np.isin(train.many, PAIRS[number])), train.many
        alone, seed = quick(**given), model_seed(77, number)
        monkeypatch.setattr(alone, "_new_seed", lambda *_, seed=seed: seed)
        alone.fit(train.X[rows], y[rows])
        assert fitted_bytes(model.estimators_[number], test.X) == fitted_bytes(alone, test.X)
        assert model.estimators_[number].response_ == alone.response_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strategy", N_MODELS)
def test_same_bytes_for_any_number_of_threads(strategy, loss, train, test):
    results = []
    for n_jobs in (1, 2, 4):
        model = quick(strategy=strategy, loss=loss, n_chains=2, n_jobs=n_jobs).fit(train.X, train.many)
        arrays = (model.decision_function(test.X), model.predict_proba(test.X), model.components_, model.topic_weights_)
        results.append([array.tobytes() for array in arrays])
    assert results[0] == results[1] == results[2]
    assert [len(one.chains_) for one in model.estimators_] == [2] * N_MODELS[strategy]
    first, second = (one.components_.tobytes() for one in model.estimators_[:2])
    assert first != second


def test_several_labels(train, test):
    model = classifier(strategy="ovr").fit(train.X, train.several)
    assert len(model.estimators_) == 5
    predicted = model.predict(test.X)
    np.testing.assert_array_equal(predicted, model.decision_function(test.X) > 0)
    assert f1_score(test.several, predicted, average="micro") > 0.85
    p = model.predict_proba(test.X)
    assert p.shape == test.several.shape
    assert p.sum(1).max() > 1.3
    refuse("strategy", quick(strategy="ovo"), "indicator", train.X, train.several)


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("value", ["one", "OVR", None, 3, ["ovr"]])
def test_bad_strategy(value):
    refuse("strategy", quick(strategy=value), '"multitask", "ovr", "ovo"', FOUR, [0, 1, 0, 1])


@pytest.mark.parametrize("strategy", N_MODELS)
def test_documents_without_a_label(strategy, hidden, train, test):
    """They take part in every model, and their labels are not looked at."""
    model = quick(strategy=strategy).fit(train.X, train.many, unlabelled=hidden)
    counts = np.bincount(train.many[~hidden])
    for number, one in enumerate(model.estimators_):
        labelled = (~hidden).sum() if strategy == "ovr" else counts[list(PAIRS[number])].sum()
        assert len(one.doc_topic_) == hidden.sum() + labelled
    garbage = np.where(hidden, 77, train.many)
    other = quick(strategy=strategy).fit(train.X, garbage, unlabelled=hidden)
    assert other.decision_function(test.X).tobytes() == model.decision_function(test.X).tobytes()


@pytest.mark.parametrize("strategy", N_MODELS)
def test_class_weight(strategy, train, test):
    scores = quick(strategy=strategy).fit(train.X, train.many).decision_function(test.X)
    weighted = quick(strategy=strategy, class_weight={2: 5.0}).fit(train.X, train.many)
    assert not np.array_equal(weighted.decision_function(test.X), scores)
    if strategy == "ovo":  # pairs without the class are as they were
        plain = quick(strategy=strategy).fit(train.X, train.many)
        for pair, one, other in zip(PAIRS, plain.estimators_, weighted.estimators_, strict=True):
            same = fitted_bytes(one, test.X) == fitted_bytes(other, test.X)
            assert same == (2 not in pair)


def test_reasons(train, test):
    """One per class, of its own model; topics are numbered as in `components_`."""
    corpus = Corpus.from_counts(test.X[:10], WORDS)
    model = quick(strategy="ovr").fit(Corpus.from_counts(train.X, WORDS), np.array(list("abcde"))[train.many])
    scores = model.decision_function(corpus)
    for d, document in enumerate(model.explain(corpus, n_topics=4)):
        assert [reason.label for reason in document] == list("abcde")
        for task, reason in enumerate(document):
            assert reason.score == pytest.approx(scores[d, task], abs=1e-6)
            assert sorted(k for k, _, _ in reason.topics) == list(range(4 * task, 4 * task + 4))
            assert all(words == model.top_words(6)[k] for k, _, words in reason.topics)
    pairs = quick(strategy="ovo").fit(train.X, train.many)
    with pytest.raises(ParameterError, match=r"strategy: .*estimators_\[i\]"):
        pairs.explain(test.X)
    assert pairs.estimators_[4].explain(test.X[:1])[0][0].label == PAIRS[4][1]


@pytest.mark.parametrize("strategy", N_MODELS)
def test_clone_pickle_and_fit_again(strategy, train, test):
    model = quick(strategy=strategy).fit(train.X, train.many)
    scores = model.decision_function(test.X).tobytes()
    assert pickle.loads(pickle.dumps(model)).decision_function(test.X).tobytes() == scores
    assert clone(model).fit(train.X, train.many).decision_function(test.X).tobytes() == scores
    assert model.set_params(strategy="multitask").decision_function(test.X).tobytes() == scores  # as it was fitted
    expected = fitted_bytes(quick().fit(train.X, train.many), test.X)
    assert fitted_bytes(model.fit(train.X, train.many), test.X) == expected
    assert model.estimators_ == [model]
    model.set_params(strategy=strategy).fit(train.X, train.many)
    assert model.decision_function(test.X).tobytes() == scores
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_are_told_the_model(n_jobs, train):
    heard = []
    model = quick(strategy="ovo", n_chains=2, n_jobs=n_jobs, callbacks=[heard.append]).fit(train.X, train.many)
    assert {(told.model, told.chain, told.sweep) for told in heard} == {
        (number, chain, sweep) for number in range(10) for chain in range(2) for sweep in range(1, 7)
    }
    stopped = quick(strategy="ovo", n_jobs=n_jobs, callbacks=[lambda told: told.model == 3 and told.sweep == 2])
    stopped.fit(train.X, train.many)
    assert [one.n_sweeps_ for one in stopped.estimators_] == [2 if number == 3 else 6 for number in range(10)]
    assert (stopped.n_sweeps_, stopped.stopped_) == (2, "callback")
    assert model.stopped_ == "finished"
    assert np.isfinite(stopped.predict_proba(train.X)).all()  # models with samples more and fewer


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt(n_jobs, train, test):
    """Models that have not begun get one sweep: every class has a model that predicts."""

    def press(told):
        if told.model == 1 and told.sweep == 3:
            os.kill(os.getpid(), signal.SIGINT)

    n_sweeps = 40 if n_jobs == 1 else 2000  # on one thread the first model is done before the second begins
    model = quick(strategy="ovr", n_sweeps=n_sweeps, n_jobs=n_jobs, callbacks=[press])
    with pytest.warns(InterruptedFitWarning):
        model.fit(train.X, train.many)
    assert model.stopped_ == "interrupted"
    assert len(model.estimators_) == 5
    assert model.estimators_[1].n_sweeps_ >= 3
    assert model.estimators_[4].n_sweeps_ == 1
    assert np.isfinite(model.predict_proba(test.X)).all()


@pytest.mark.parametrize("strategy", N_MODELS)
def test_progress_bar(strategy, train, capfd):
    quick(strategy=strategy, n_chains=2, n_jobs=2, progress=True).fit(train.X, train.many)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize(("n_jobs", "share"), [(1, 10), (2, 5), (3, 4), (64, 1)])
def test_models_that_wait_share_the_time(n_jobs, share, train, monkeypatch):
    """Ten chains (five classes, two chains each): the budget is that of the fit."""
    budgets, original = [], topoi.estimators.base.run

    def note(state, plan, schedule, rules, *more):
        budgets.append(rules.max_seconds)
        return original(state, plan, schedule, rules, *more)

    monkeypatch.setattr(topoi.estimators.base, "run", note)
    quick(strategy="ovr", n_chains=2, n_sweeps=1, n_jobs=n_jobs, max_seconds=1000).fit(train.X, train.many)
    assert budgets == [1000 / share] * 10


@pytest.mark.parametrize("strategy", N_MODELS)
def test_settings_of_today(strategy, train, test):
    """How new documents are folded in is a parameter of the classifier, not of its models."""
    model = quick(strategy=strategy).fit(train.X, train.many)
    before = model.decision_function(test.X), model.transform(test.X)
    model.set_params(infer_sweeps=1)
    assert not np.array_equal(model.transform(test.X), before[1])
    scores = model.decision_function(test.X)
    assert not np.array_equal(scores, before[0])
    for one in model.estimators_:
        one.set_params(infer_sweeps=1)
    of_models = np.column_stack([one.decision_function(test.X) for one in model.estimators_])
    np.testing.assert_array_equal(scores, of_models if strategy == "ovr" else vote(of_models, 5))


def test_files_that_do_not_fit_the_strategy(train, tmp_path):
    model = quick(strategy="ovr").fit(train.X, train.many)
    whole = list(model.estimators_)
    for attributes, message in (
        ({"_several": whole[:4]}, "'ovr' needs 5 models, not 4"),
        ({"_fitted_strategy": "ovo"}, "'ovo' needs 10 models, not 5"),
        ({"_fitted_strategy": "all"}, "must be one of"),
        ({"_several": [*whole[:4], quick().fit(train.X, train.many)]}, "model 4 is no binary model"),
        ({"_several": [*whole[:4], quick().fit(train.X[:, :5] + 1, train.two)]}, "model 4 is no binary model"),
    ):
        changed = pickle.loads(pickle.dumps(model))
        vars(changed).update(attributes)
        changed.save(tmp_path / "changed")
        with pytest.raises(ModelError, match=message):
            MedLDAClassifier.load(tmp_path / "changed")
