"""What files may hold: declared for every field of every class that is written, and checked value by value."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from topoi import LDA, MedLDAClassifier, MedLDARegressor
from topoi._disk.schema import (
    FLAG,
    MAPPING,
    NUMBER,
    SPARSE,
    TEXT,
    WHOLE,
    Field,
    array_of,
    instance_of,
    list_of,
    optional,
)
from topoi._disk.store import ModelError, csr_of
from topoi.chain import checkpoint
from topoi.estimators.saved import PARTS, known_classes

VALUES = {
    "none": None, "flag": True, "whole": 3, "large": 2**63, "number": 0.5, "text": "x", "list": [1], "empty": [],
    "mapping": {}, "float64": np.zeros(2), "float32": np.zeros(2, "f4"), "swapped": np.zeros(2, ">f8"),
    "words": np.array(["a"]), "sparse": sparse.csr_array((2, 2)), "column sparse": sparse.csc_array((2, 2)),
    "scalar": np.float64(1.0), "tuple": (1,),
}  # fmt: skip

HOLDS = [
    (FLAG, {"flag"}),
    (WHOLE, {"whole"}),
    (NUMBER, {"whole", "large", "number", "scalar"}),
    (TEXT, {"text"}),
    (MAPPING, {"mapping"}),
    (SPARSE, {"sparse"}),
    (array_of(), {"float64", "float32", "swapped", "words"}),
    (array_of("float64"), {"float64"}),
    (array_of("float32"), {"float32"}),
    (list_of(WHOLE), {"list", "empty"}),
    (list_of(TEXT), {"empty"}),
    (optional(array_of("float32")), {"none", "float32"}),
    (optional(list_of(WHOLE)), {"none", "list", "empty"}),
    (instance_of(dict), {"mapping"}),
]


@pytest.mark.parametrize(("field", "fitting"), HOLDS, ids=lambda value: getattr(value, "name", ""))
def test_holds(field, fitting):
    assert {name for name, value in VALUES.items() if field.holds(value)} == fitting


@pytest.mark.parametrize("name", [*PARTS, *checkpoint.CLASSES])
def test_every_field_of_a_class_is_declared(name):
    """A field that is added to a class and not here would be lost without a word, unless the class says so itself."""
    stored = {**PARTS, **checkpoint.CLASSES}[name]
    kept = [field.name for field in dataclasses.fields(stored.cls) if field.metadata.get("stored", True)]
    assert list(stored.fields) == kept
    assert all(isinstance(field, Field) for field in stored.fields.values())


@pytest.mark.parametrize("estimator", [LDA, MedLDAClassifier, MedLDARegressor])
def test_every_attribute_of_an_estimator_is_declared(estimator):
    assert all(isinstance(field, Field) for field in estimator.saved_attributes.values())
    assert estimator.__name__ in known_classes()


@pytest.mark.parametrize("shape", [(1, []), (1,), (1, 2.0), (True, 2), (1, "2"), (1, 2, 3)])
def test_a_sparse_matrix_of_no_shape(shape):
    """A file may say anything. (NumPy compares with an empty list, and finds neither true nor false.)"""
    with pytest.raises(ModelError, match="parts that do not fit together"):
        csr_of(shape, np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32))
    assert csr_of((1, 2), np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32)).shape == (1, 2)
