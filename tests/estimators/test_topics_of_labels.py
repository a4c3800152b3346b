"""Labels that say which topics documents may have: what users give, and what estimators make of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import topoi
from topoi import LDA, Checkpoints, MedLDAClassifier, MedLDARegressor, ParameterError
from topoi._disk.store import ModelError
from topoi.chain.priors.allowed import Allowed
from topoi.estimators.topics_of_labels import TopicLabels, check_topic_labels
from topoi.evaluate import evaluate

NAMES = ["earth", "fire", "water"]
#: Words of each label, and of what is in all documents.
PHI = np.kron(np.eye(4), np.full(6, 1 / 6))


def documents(n, seed, length=40):
    """Counts of documents from the model, with α = 1, and one or two labels for each."""
    rng = np.random.default_rng(seed)
    labels = [rng.choice(NAMES, rng.integers(1, 3), replace=False).tolist() for _ in range(n)]
    shares = np.array([[*(rng.exponential() * (name in own) for name in NAMES), rng.exponential()] for own in labels])
    shares /= shares.sum(1, keepdims=True)
    return np.array([rng.multinomial(length, share @ PHI) for share in shares]), labels


X, LABELS = documents(120, seed=1)
INDICATORS = np.array([[name in own for name in NAMES] for own in LABELS])
NEW, NEW_LABELS = documents(30, seed=2)


def quick(n_topics=4, **more):
    return LDA(n_topics, **{"n_sweeps": 8, "n_samples": 2, "random_state": 0} | more)


def bytes_of(model):
    found = (model.components_, model.doc_topic_, model.log_joint_, model.transform(NEW, topic_labels=NEW_LABELS))
    return [array.tobytes() for array in found]


class Frame:
    """The little of a data frame that is looked at."""

    def __init__(self, columns):
        self.columns = list(columns)
        self.values = columns

    def __getitem__(self, name):
        return self.values[name]


COLUMNS = dict(zip(NAMES, INDICATORS.T, strict=True))


@pytest.mark.parametrize(
    "given",
    [
        [set(own) for own in LABELS],
        [tuple(own) for own in LABELS],
        np.array([np.array(own) for own in LABELS], object),
        COLUMNS,
        {name: column.astype(float) for name, column in COLUMNS.items()},
        Frame(COLUMNS),
    ],
    ids=["sets", "tuples", "array of arrays", "mapping", "floats", "frame"],
)
def test_forms(given):
    """Whatever says the same gives the same bytes."""
    assert bytes_of(quick().fit(X, topic_labels=given)) == bytes_of(quick().fit(X, topic_labels=LABELS))


def test_pandas():
    pandas = pytest.importorskip("pandas")
    expected = bytes_of(quick().fit(X, topic_labels=LABELS))
    assert bytes_of(quick().fit(X, topic_labels=pandas.Series(LABELS))) == expected
    assert bytes_of(quick().fit(X, topic_labels=pandas.DataFrame(INDICATORS, columns=NAMES))) == expected


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_a_matrix_has_numbers_for_names(make):
    model = quick().fit(X, topic_labels=make(INDICATORS.astype(int)))
    assert model.topic_labels_ == ["0", "1", "2"]
    np.testing.assert_array_equal(model.components_, quick().fit(X, topic_labels=LABELS).components_)


def test_names_and_topics():
    model = quick(5).fit(X, topic_labels=LABELS)
    assert model.topic_names_ == [*NAMES, "topic 3", "topic 4"]
    assert model.topic_labels_ == NAMES
    assert not model.doc_topic_[:, :3][~INDICATORS].any()
    assert (model.doc_topic_[:, 3:] > 0).all()
    several = quick(8, topics_per_label=2).fit(X, topic_labels=LABELS)
    assert several.topic_names_[:3] == ["earth 1", "earth 2", "fire 1"]
    assert not several.doc_topic_[:, :6][~np.repeat(INDICATORS, 2, axis=1)].any()


def test_without_any():
    assert quick().fit(X).topic_labels_ == []


def test_one_label_each():
    model = quick(3).fit(X, topic_labels=[own[0] for own in LABELS])
    has = [own[0] for own in LABELS]
    assert (model.doc_topic_.argmax(1) == [NAMES.index(name) for name in has]).all()


@pytest.mark.parametrize("unknown", [None, np.nan])
def test_none_is_not_known_and_an_empty_list_is_none(unknown):
    model = quick().fit(X, topic_labels=[unknown, [], *LABELS[2:]])
    assert (model.doc_topic_[0] > 0).all()
    np.testing.assert_array_equal(model.doc_topic_[1] > 0, [False, False, False, True])
    rows = INDICATORS.astype(float)
    rows[0], rows[1] = np.nan, 0
    np.testing.assert_array_equal(quick().fit(X, topic_labels=rows).doc_topic_, model.doc_topic_)


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("engine", [None, "blocks"])
def test_same_bytes(n_jobs, engine, monkeypatch):
    monkeypatch.setattr(topoi.Corpus, "_block_size", property(lambda corpus: 400))
    given = {"sampler": "partial", "topics_per_label": 2}
    expected = bytes_of(quick(8, **given).fit(X, topic_labels=LABELS))
    assert bytes_of(quick(8, n_jobs=n_jobs, engine=engine, **given).fit(X, topic_labels=LABELS)) == expected


def test_other_labels_are_another_fit(tmp_path):
    """A checkpoint of other labels is not gone on with."""
    stopped = quick(callbacks=[lambda progress: progress.sweep == 3])
    stopped.fit(X, topic_labels=LABELS, checkpoint=Checkpoints(tmp_path, every_sweeps=1))
    other = [LABELS[1], *LABELS[1:]]
    with pytest.raises(topoi.TopoiError):
        quick().fit(X, topic_labels=other, checkpoint=tmp_path)
    assert bytes_of(quick().fit(X, topic_labels=LABELS, checkpoint=tmp_path)) == bytes_of(
        quick().fit(X, topic_labels=LABELS)
    )


def test_new_documents():
    model = quick().fit(X, topic_labels=LABELS)
    shares = model.transform(NEW, topic_labels=NEW_LABELS)
    has = np.array([[name in own for name in NAMES] for own in NEW_LABELS])
    assert not shares[:, :3][~has].any()
    np.testing.assert_allclose(shares.sum(1), 1)
    assert (model.transform(NEW) > 0).all()
    # Of each document alone as in a batch.
    np.testing.assert_array_equal(model.transform(NEW[3:4], topic_labels=NEW_LABELS[3:4])[0], shares[3])


def test_it_goes_on():
    model = quick().fit(X, topic_labels=LABELS).partial_fit(NEW, topic_labels=NEW_LABELS)
    assert model.topic_labels_ == NAMES
    assert model.topic_names_[:3] == NAMES
    has = np.array([[name in own for name in NAMES] for own in NEW_LABELS])
    assert not model.doc_topic_[:, :3][~has].any()
    assert quick().partial_fit(X, topic_labels=LABELS).topic_labels_ == NAMES


def test_documents_with_labels_of_another_model():
    documents = quick().fit(X, topic_labels=LABELS).with_topic_labels(X, LABELS)
    with pytest.raises(ParameterError, match="those that X has are labels of another model"):
        quick().fit(documents)
    expected = bytes_of(quick().fit(X, topic_labels=LABELS))
    assert bytes_of(quick().fit(documents, topic_labels=LABELS)) == expected


def test_a_new_fit_forgets_them():
    model = quick().fit(X, topic_labels=LABELS).fit(X)
    assert model.topic_labels_ == []
    assert not isinstance(model.model_.priors.topics, Allowed)


def test_recovery():
    """Topics of labels are those that the documents were made of, and the shared one has the words of all."""
    found, labels = documents(600, seed=3)
    model = LDA(4, doc_topic_prior=1.0, n_sweeps=300, random_state=0).fit(found, topic_labels=labels)
    away = 0.5 * np.abs(model.components_ - PHI).sum(1)
    assert (away < 0.1).all(), away


@pytest.mark.parametrize("refit", [True, False])
def test_with_labels_to_predict(refit, tmp_path):
    y = np.array(["fire" in own for own in LABELS])
    model = MedLDAClassifier(4, n_sweeps=10, random_state=0, refit=refit).fit(X, y, topic_labels=LABELS)
    assert model.topic_names_ == [*NAMES, "topic 3"]
    assert not model.doc_topic_[:, :3][~INDICATORS].any()
    truth = np.array(["fire" in own for own in NEW_LABELS])
    if refit:  # which sees topics of new documents as they will be
        assert model.score(NEW, truth, topic_labels=NEW_LABELS) > 0.9
    with_labels = model.decision_function(NEW, topic_labels=NEW_LABELS)
    assert (with_labels != model.decision_function(NEW)).any()
    np.testing.assert_array_equal(model.predict(NEW, topic_labels=NEW_LABELS), with_labels > 0)
    assert model.predict_proba(NEW, topic_labels=NEW_LABELS).shape == (30, 2)
    assert len(model.explain(NEW[:2], topic_labels=NEW_LABELS[:2])) == 2
    model.save(tmp_path / "model")
    again = topoi.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(NEW, topic_labels=NEW_LABELS), with_labels)


@pytest.mark.parametrize("strategy", ["ovr", "ovo"])
def test_several_models(strategy, tmp_path):
    y = np.array([own[0] for own in LABELS])
    model = MedLDAClassifier(4, n_sweeps=4, random_state=0, strategy=strategy).fit(X, y, topic_labels=LABELS)
    assert all(one.topic_labels_ == NAMES for one in model.estimators_)
    shares = model.transform(NEW, topic_labels=NEW_LABELS)
    has = np.array([[name in own for name in NAMES] for own in NEW_LABELS])
    assert not shares[:, :3][~has].any()
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(topoi.load(tmp_path / "model").transform(NEW, topic_labels=NEW_LABELS), shares)


@pytest.mark.parametrize("refit", [True, False])
def test_with_numbers_to_predict(refit):
    y = np.array([len(own) + ("fire" in own) for own in LABELS], float)
    model = MedLDARegressor(4, n_sweeps=10, random_state=0, refit=refit).fit(X, y, topic_labels=LABELS)
    assert model.topic_names_ == [*NAMES, "topic 3"]
    truth = np.array([len(own) + ("fire" in own) for own in NEW_LABELS], float)
    if refit:
        assert model.score(NEW, truth, topic_labels=NEW_LABELS) > 0.3
    assert (model.predict(NEW, topic_labels=NEW_LABELS) != model.predict(NEW)).any()
    assert model.predict_interval(NEW, topic_labels=NEW_LABELS).shape == (30, 2)
    assert len(model.explain(NEW[:2], topic_labels=NEW_LABELS[:2])) == 2


# ---- Errors --------------------------------------------------------------------------------------------------------


def changed(d, own):
    return [own if row == d else labels for row, labels in enumerate(LABELS)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (LABELS[:-1], "has 119 rows, but there are 120 documents"),
        (INDICATORS[1:], "has 119 rows, but there are 120 documents"),
        ({"a": [1]}, "has 1 rows, but there are 120 documents"),
        (changed(7, [3]), "row 7 has the label 3, a int; must be a text"),
        (changed(7, 3), "row 7 is 3; must be a list of names"),
        (changed(7, ["fire "]), "row 7 has the label 'fire ': it is empty, has spaces around it"),
        (changed(7, [""]), "row 7 has the label ''"),
        (3, "must be a list with the labels of each document"),
        ("fire", "must be a list with the labels of each document"),
        ([None] * 120, "has no label at all"),
        ([[]] * 120, "has no label at all"),
        (INDICATORS * 2, "row 0 has 2 in the column"),
        (np.array([["x"]] * 120), "it must hold 0 and 1, or NaN"),
        ({"a": INDICATORS}, "the column 'a' must be numbers 0 and 1"),
        ({" a": INDICATORS[:, 0]}, "cannot be the name of a topic"),
    ],
)
def test_errors(given, message):
    with pytest.raises(ParameterError, match=message) as caught:
        quick(130).fit(X, topic_labels=given)
    assert caught.value.parameter == "topic_labels"


def test_a_row_that_is_known_in_part():
    rows = INDICATORS.astype(float)
    rows[5, 1] = np.nan
    with pytest.raises(ParameterError, match="row 5 has nan in the column '1', in a row that is known otherwise"):
        quick().fit(X, topic_labels=rows)


def test_more_labels_than_topics():
    with pytest.raises(ParameterError, match=r"is 2, but there are 3 topic labels: 'earth', .* at least 3"):
        quick(2).fit(X, topic_labels=LABELS)
    with pytest.raises(ParameterError, match=r"is 5, but there are 3 topic labels with 2 topics each.* at least 6"):
        quick(5, topics_per_label=2).fit(X, topic_labels=LABELS)


@pytest.mark.parametrize("wrong", [0, 1.5, "2", None])
def test_topics_per_label(wrong):
    with pytest.raises(ParameterError, match="topics_per_label"):
        quick(topics_per_label=wrong).fit(X, topic_labels=LABELS)


def test_a_document_that_may_have_no_topic():
    with pytest.raises(ParameterError, match="row 4 has no label, and all 3 topics belong to labels"):
        quick(3).fit(X, topic_labels=changed(4, []))


def test_samplers_that_cannot():
    with pytest.raises(ParameterError, match="'light' uses the same α for all documents"):
        quick(sampler="light").fit(X, topic_labels=LABELS)


def test_new_documents_with_other_labels():
    model = quick().fit(X, topic_labels=LABELS)
    with pytest.raises(ParameterError, match="row 1 has the label 'air', which the fit did not have: 'earth', 'fire'"):
        model.transform(NEW[:2], topic_labels=[["fire"], ["air"]])
    with pytest.raises(ParameterError, match="were not given to fit"):
        quick().fit(X).transform(NEW, topic_labels=NEW_LABELS)


@pytest.mark.parametrize(
    "labels",
    [
        None,
        TopicLabels(["a"], 1),
        TopicLabels(NAMES, 2),
        TopicLabels(["a", "a", "b"], 1),
        TopicLabels(["", "a", "b"], 1),
    ],
)
def test_files_of_strangers(labels):
    """Labels and models that do not fit together are refused."""
    model = quick().fit(X, topic_labels=LABELS).model_
    check_topic_labels(TopicLabels(NAMES, 1), [model])
    with pytest.raises(ModelError):
        check_topic_labels(labels, [model])
    if labels is not None:
        with pytest.raises(ModelError):
            check_topic_labels(labels, [quick().fit(X).model_])


@pytest.mark.parametrize("kind", [LDA, MedLDAClassifier, MedLDARegressor])
def test_seeds_and_labels_do_not_both_say_what_the_first_topics_are(kind):
    y = () if kind is LDA else (np.arange(8) % 2,)
    with pytest.raises(ParameterError, match="seeds: say what the first topics are, and so do topic_labels"):
        kind(3, seeds={"one": [0]}).fit(np.ones((8, 4), int), *y, topic_labels=[["a"], ["b"]] * 4)


def test_held_out_words_of_documents_with_labels():
    model = quick().fit(X, topic_labels=LABELS)
    known = model.perplexity(NEW, topic_labels=NEW_LABELS)
    assert known < model.perplexity(NEW)
    assert known == model.perplexity(model.with_topic_labels(NEW, NEW_LABELS))
    assert model.score(NEW, topic_labels=NEW_LABELS) == pytest.approx(-np.log(known))
    assert evaluate(model, NEW, topic_labels=NEW_LABELS)["perplexity"] == known
    with pytest.raises(ParameterError, match="topic_labels: were not given to fit"):
        quick().fit(X).perplexity(NEW, topic_labels=NEW_LABELS)
