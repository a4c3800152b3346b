"""An estimator of every kind to be saved, what it says as bytes, and lies to put into its file."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd

from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor

QUICK = {"n_topics": 3, "n_sweeps": 6, "n_samples": 2, "random_state": 0}


def lda(data, **settings):
    return LDA(**QUICK | settings).fit(data.X)


def classifier(data, y="many", **settings):
    return MedLDAClassifier(**QUICK | settings).fit(data.X, getattr(data, y))


def regressor(data, y="number", **settings):
    return MedLDARegressor(**QUICK | settings).fit(data.X, getattr(data, y))


def names(data):
    """Labels as words."""
    data = copy.copy(data)
    data.__dict__["words"] = np.array(["α", "b c", "d", "e", "f"])[data.many]
    return data


MAKERS = {
    "lda": lda,
    "lda, chains": lambda data: lda(data, n_chains=2, doc_topic_prior="learn", topic_word_prior="learn"),
    "lda, array": lambda data: lda(data, doc_topic_prior=np.array([0.1, 0.2, 0.3]), sampler="light",
                                   sampler_options={"n_mh": 2}),
    "lda, named columns": lambda data: LDA(**QUICK).fit(
        pd.DataFrame(data.X, columns=[f"w{j}" for j in range(data.X.shape[1])])),
    "lda, vocabulary": lambda data: LDA(**QUICK).fit(
        Corpus.from_counts(data.X, [f"w{j}" for j in range(data.X.shape[1])])),
    "two": lambda data: classifier(data, "two"),
    "many": classifier,
    "words": lambda data: classifier(names(data), "words", n_chains=2),
    "several": lambda data: classifier(data, "several"),
    "logistic": lambda data: classifier(data, loss="logistic", class_weight={0: 2.0}),
    "ovr": lambda data: classifier(data, strategy="ovr"),
    "ovo": lambda data: classifier(data, strategy="ovo"),
    "number": regressor,
    "squared": lambda data: regressor(data, loss="squared", held_out=0.2),
}  # fmt: skip


def answers(model, X):
    """All that a model says, as bytes."""
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    out = [model.transform(X), model.components_, np.array(model.top_words(3, order="probability"), dtype=str)]
    methods = ("predict", "decision_function", "predict_proba", "predict_interval")
    out += [np.asarray(getattr(model, method)(X)) for method in methods if hasattr(model, method)]
    learned = ("topic_weights_", "topic_weights_std_", "classes_")
    out += [getattr(model, name) for name in learned if hasattr(model, name)]
    said = [part.tobytes() if part.dtype != object else part.tolist() for part in out]
    if hasattr(model, "explain") and getattr(model, "_fitted_strategy", "") != "ovo":
        said.append(model.explain(X[:3]))
    return said


JUNK = [None, True, -1, 0, 10**30, 1e308, "", "x", [], [[]], {}, {"is": "x"}, {"is": "again", "number": 0},
        {"is": "again", "number": 10**6}, {"is": "float", "text": "nan"}, {"is": "dict", "items": [[1, 2]]},
        {"is": "tuple", "items": []}, {"is": "array", "name": "fitted.0.alpha"},
        {"is": "TopicModel", "fields": {}}]  # fmt: skip


def nodes(tree, path=()):
    """Every place in a tree."""
    if path:
        yield path
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from nodes(value, (*path, key))


def replaced(tree, path, value):
    tree = copy.deepcopy(tree)
    place = tree
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return tree


def header_of(file):
    raw = file.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["topoi"])
