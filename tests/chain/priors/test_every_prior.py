"""What holds for every prior of the registries: a new one is covered as soon as it is listed."""

from __future__ import annotations

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

import topoi
from support.corpora import random_counts
from topoi import LDA, Checkpoints, Corpus, MedLDAClassifier, ParameterError
from topoi._disk.store import ModelError
from topoi._machine.pool import Pool
from topoi.chain.engines.cluster._job import Layout
from topoi.chain.engines.local import Local
from topoi.chain.priors import (
    TOPIC_PRIORS,
    WORD_PRIORS,
    DocumentAlpha,
    FixedAlpha,
    FixedBeta,
    Priors,
    resolve_priors,
)
from topoi.chain.priors.positive import PriorError
from topoi.chain.priors.seeds import find_seeds
from topoi.chain.state import new_state
from topoi.estimators.terms import learn_terms
from topoi.estimators.topics_of_labels import learn_topic_labels

X = random_counts(24, 15, 12, seed=4)
CORPUS = Corpus.from_counts(X)
#: What else a fit of so many documents is given, for priors that go by that and not by a value.
BESIDE = {
    "allowed": lambda n: {"topic_labels": [[["a"], ["b"], ["a", "b"], [], None][d % 5] for d in range(n)]},
    "prevalence": lambda n: {"covariates": {"party": np.arange(n) % 3 // 2, "year": np.arange(n) % 7}},
}
#: What asks for these in supervised models, where covariates may be for scores alone.
ASKS_TOO = {"prevalence": {"prevalence": "~ party + year"}}
#: What asks for members that neither a word nor a number does.
GIVEN = {"fixed_of_words": [0.3, 0.02, 0.7] * 5}
#: (axis, name) of every prior.
EVERY = [("topics", name) for name in TOPIC_PRIORS] + [("words", name) for name in WORD_PRIORS]
#: Those that have seeds beside.
SEEDED = [("words", name, "seeded") for name in WORD_PRIORS]
SEEDS = {"one": [2, 5, 7], "two": [5, 1]}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that there are several of documents and of words."""
    monkeypatch.setattr(Corpus, "_block_size", property(lambda corpus: 40))


def test_several_parts():
    layout = Layout.of(Corpus.from_counts(X[:16]), 3)
    assert min(layout.n_groups, layout.n_shards) >= 2


@pytest.fixture(params=EVERY + SEEDED, ids=lambda which: " ".join(which))
def which(request, monkeypatch):
    """A prior: its axis, its class, and the parameters that ask for it."""
    axis, name, *seeded = request.param
    kind = (TOPIC_PRIORS if axis == "topics" else WORD_PRIORS)[name]
    if kind.every:  # so that a short fit has several updates
        monkeypatch.setattr(kind, "every", min(kind.every, 2))
    beside = BESIDE.get(name, lambda n: {}) if axis == "topics" else lambda n: {}
    asks = {kind.parameter: GIVEN.get(name) or kind.word or 0.3} | ({"seeds": SEEDS} if seeded else {})
    return SimpleNamespace(
        axis=axis, kind=kind, asks=asks, asks_too=ASKS_TOO.get(name, {}), beside=lambda X: beside(len(X))
    )


def corpus_of(which):
    """The documents, and what the prior asks of them."""
    given = which.beside(X)
    if "topic_labels" in given:
        return learn_topic_labels(given["topic_labels"], 1, 3, CORPUS)[1]
    if "covariates" in given:
        return CORPUS.with_about(prevalence=learn_terms(None, given["covariates"], len(X))[1])
    return CORPUS


def priors_of(which, n_topics=3):
    corpus = corpus_of(which)
    asks = {"doc_topic_prior": None, "topic_word_prior": None} | which.asks
    seeds = find_seeds(asks.get("seeds"), 1.0, corpus)
    return resolve_priors(asks["doc_topic_prior"], asks["topic_word_prior"], n_topics, corpus, seeds)


def updated(which, sweep=4, n_jobs=1):
    """The priors after an update from topics that are drawn at random."""
    state = new_state(corpus_of(which), priors_of(which), 1)
    state.sweep = sweep
    with Pool(n_jobs) as pool:
        Local(state, pool).update_priors()
    return state.priors


def bytes_of(priors):
    return {name: array.tobytes() for name, array in priors.arrays().items()}


def said(model):
    """All that a fit says."""
    arrays = [model.model_.counts.toarray(), model.doc_topic_, model.log_joint_, model.transform(X)]
    return [array.tobytes() for array in arrays], bytes_of(model.model_.priors)


def estimator(which, **more):
    given = {"n_sweeps": 6, "n_samples": 2, "random_state": 0, "infer_sweeps": 4, "sampler": "partial"}
    return LDA(3, **given | which.asks | more)


def test_what_a_user_gives_asks_for_it(which):
    assert type(getattr(priors_of(which), which.axis)) is which.kind


def test_it_is_made_of_what_is_stored(which):
    """Pseudo-counts apart, which the counts of a model contain."""
    prior = getattr(updated(which), which.axis)
    fields = {field.name for field in dataclasses.fields(prior)} - {"pseudo_counts", "seeds"}
    assert fields == set(prior.stored)
    for name, field in prior.stored.items():
        assert field.holds(getattr(prior, name))
    prior.check()


def test_arrays_there_and_back(which):
    priors = updated(which)
    again = priors_of(which).with_arrays(priors.arrays())
    assert bytes_of(again) == bytes_of(priors)
    assert [type(prior) for prior in vars(again).values()] == [type(prior) for prior in vars(priors).values()]


@pytest.mark.parametrize("change", [lambda array: array[:0], lambda array: array.astype("S"), lambda array: -array])
def test_arrays_that_are_not_its_own(which, change):
    priors = priors_of(which)
    for name, array in priors.arrays().items():
        with pytest.raises(ModelError):
            priors.with_arrays(priors.arrays() | {name: change(array)})
        with pytest.raises(ModelError):
            priors.with_arrays({other: kept for other, kept in priors.arrays().items() if other != name})
    with pytest.raises(ModelError):
        priors.with_arrays(priors.arrays() | {f"{which.axis}.other": np.ones(1)})
    with pytest.raises(ModelError):
        priors.with_arrays(priors.arrays() | {"other.alpha": np.ones(1)})


def test_an_update_makes_another_prior(which):
    """Chains may begin with the same object."""
    first = priors_of(which)
    before = bytes_of(first)
    state = new_state(corpus_of(which), first, 1)
    state.sweep = 4
    Local(state, Pool(1)).update_priors()
    assert bytes_of(first) == before
    assert state.priors.due(4) == (which.kind.every > 0)


def test_updates_follow_from_seed_and_sweep(which):
    assert bytes_of(updated(which)) == bytes_of(updated(which)) == bytes_of(updated(which, n_jobs=2))


def test_a_fit_is_updated(which):
    fitted = estimator(which).fit(X, **which.beside(X)).model_.priors
    assert (bytes_of(fitted) != bytes_of(priors_of(which))) == (which.kind.every > 0)
    assert np.isfinite(getattr(fitted, which.axis).log_density())


def test_in_blocks(which):
    """Topics in files: the same bytes, from a fit and from one that goes on."""
    found = []
    for engine in (None, "blocks"):
        model = estimator(which, engine=engine).fit(X[:16], **which.beside(X[:16]))
        first = said(model)
        found.append((first, said(model.partial_fit(X[16:], **which.beside(X[16:])))))
    assert found[0] == found[1]


def test_saved_and_loaded(which, tmp_path):
    model = estimator(which).fit(X, **which.beside(X))
    model.save(tmp_path / "model")
    loaded = topoi.load(tmp_path / "model")
    assert type(getattr(loaded.model_.priors, which.axis)) is which.kind
    assert said(loaded) == said(model)
    assert said(loaded.partial_fit(X[:9], **which.beside(X[:9]))) == said(
        model.partial_fit(X[:9], **which.beside(X[:9]))
    )


@pytest.mark.parametrize("engine", [None, "blocks"])
def test_killed_and_resumed(which, engine, tmp_path):
    whole = estimator(which, engine=engine).fit(X, **which.beside(X))
    for stop in (3, 5):
        stopped = estimator(which, engine=engine, callbacks=[lambda progress, stop=stop: progress.sweep == stop])
        stopped.fit(X, checkpoint=Checkpoints(tmp_path, every_sweeps=1), **which.beside(X))
    assert said(estimator(which, engine=engine).fit(X, checkpoint=tmp_path, **which.beside(X))) == said(whole)


def test_threads(which):
    assert (
        said(estimator(which).fit(X, **which.beside(X)))
        == said(estimator(which, n_jobs=2).fit(X, **which.beside(X)))
        == said(estimator(which, n_jobs=4).fit(X, **which.beside(X)))
    )


def test_with_responses(which):
    asks = which.asks | which.asks_too
    model = MedLDAClassifier(3, n_sweeps=4, n_samples=2, random_state=0, **asks)
    model.fit(X, np.arange(len(X)) % 2, **which.beside(X))
    assert type(getattr(model.model_.priors, which.axis)) is which.kind
    assert np.isfinite(model.decision_function(X, **which.beside(X))).all()


def test_from_the_command_line(which):
    from topoi.cli._settings import Settings, new_estimator

    option = {"topics": "alpha", "words": "beta"}[which.axis]
    if isinstance(which.asks[which.kind.parameter], list):
        with pytest.raises(ParameterError, match="must be a number or"):
            new_estimator(None, Settings(**{option: str(which.asks[which.kind.parameter])}))
        return
    made = new_estimator(None, Settings(**{option: str(which.asks[which.kind.parameter])}))
    assert getattr(made, which.kind.parameter) == which.asks[which.kind.parameter]


def test_priors_are_told_apart():
    """Names, and what asks for them: within an axis no two are the same."""
    for members in (TOPIC_PRIORS, WORD_PRIORS):
        given = [text for kind in members.values() for text in (kind.word, *kind.accepts) if text]
        assert len(set(given)) == len(given)
    assert {axis for axis, _ in EVERY} == {field.name for field in dataclasses.fields(Priors)}


@pytest.mark.parametrize(("engine", "wrong"), [(None, 0.0), (None, 1e-11), (None, 1e11), ("blocks", np.nan)])
def test_an_update_that_leaves_the_range_of_kernels(which, engine, wrong, monkeypatch):
    """It is an error that names the prior, and not a model of numbers that have vanished in float32."""

    def update(prior, *given):
        if which.axis == "words":
            return dataclasses.replace(prior, beta=wrong)
        alpha = prior.alpha.copy()
        alpha[1] = wrong
        return dataclasses.replace(prior, alpha=alpha)

    monkeypatch.setattr(which.kind, "update", update)
    monkeypatch.setattr(which.kind, "every", 2)
    place = "β" if which.axis == "words" else "α[1]"
    message = re.escape(f"an update of the prior '{which.kind.name}' made {place} {wrong:g};")
    with pytest.raises(PriorError, match=message):
        estimator(which, engine=engine).fit(X, **which.beside(X))


def test_an_update_of_the_priors_of_documents(monkeypatch):
    """α of a document that kernels cannot use is seen where that of an unknown document is fine."""
    rows = np.array([[0.1, 0.2], [0.3, np.inf]])
    monkeypatch.setattr(FixedAlpha, "per_document", True)
    monkeypatch.setattr(FixedAlpha, "every", 1)
    monkeypatch.setattr(FixedAlpha, "alpha_of", lambda prior, corpus: DocumentAlpha(rows, np.arange(2)))
    monkeypatch.setattr(FixedAlpha, "update", lambda prior, state, observed: prior)
    priors = Priors(FixedAlpha(np.full(2, 0.1)), FixedBeta(0.1))
    with pytest.raises(PriorError, match=r"made α of documents\[1, 1\] inf;"):
        priors.updated(SimpleNamespace(sweep=1, corpus=None), list, dict)
