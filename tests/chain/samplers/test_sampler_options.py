"""Options of samplers, from the user to the sampler's constructor."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from support.corpora import random_counts
from topoi import LDA, MedLDAClassifier, MedLDARegressor
from topoi.chain.plan import Plan, make_plan
from topoi.chain.samplers import SAMPLERS
from topoi.errors import ParameterError

X = random_counts(40, 30, 20, seed=9)
X[X.sum(1) == 0, 0] = 1
Y = np.arange(40) % 2
OTHER = {"light_med": {"composition": "cycle", "n_mh": 2}, "light_med_published": {"composition": "doc", "n_mh": 1}}


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_declared_options_are_those_of_the_constructor(name):
    kind = SAMPLERS[name]
    parameters = inspect.signature(kind.__init__).parameters
    named = {name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD}
    assert set(kind.options) == named - {"self", "state", "pool"}
    kind.check_options({option: parameters[option].default for option in kind.options})


@pytest.mark.parametrize("name", [name for name in sorted(SAMPLERS) if "n_mh" in SAMPLERS[name].options])
def test_options_reach_the_sampler_and_make_the_bytes(name):
    fits = [
        LDA(3, sampler=name, sampler_options=option, n_sweeps=6, random_state=1).fit(X).doc_topic_.tobytes()
        for option in (None, {}, {"n_mh": 1}, {"n_mh": 1})
    ]
    assert fits[0] == fits[1]
    assert fits[2] == fits[3]
    assert fits[0] != fits[2]


@pytest.mark.parametrize("name", sorted(OTHER))
@pytest.mark.parametrize("estimator", [MedLDAClassifier, MedLDARegressor])
def test_supervised(estimator, name):
    made = estimator(3, sampler=name, sampler_options=OTHER[name], n_sweeps=6, random_state=1)
    assert made.get_params()["sampler_options"] == OTHER[name]
    again = clone(pickle.loads(pickle.dumps(made)))
    assert again.sampler_options == OTHER[name]
    assert made.fit(X, Y).doc_topic_.tobytes() == again.fit(X, Y).doc_topic_.tobytes()
    plain = clone(made).set_params(sampler_options=None).fit(X, Y)
    assert plain.doc_topic_.tobytes() != made.doc_topic_.tobytes()


def test_partial_fit_keeps_to_the_options():
    made = LDA(3, sampler="light", sampler_options={"n_mh": 1}, n_sweeps=4, random_state=1).fit(X)
    other = LDA(3, sampler="light", sampler_options={"n_mh": 1}, n_sweeps=4, random_state=1).fit(X)
    other.set_params(sampler_options={"n_mh": 3})
    assert made.partial_fit(X).doc_topic_.tobytes() != other.partial_fit(X).doc_topic_.tobytes()


@pytest.mark.parametrize(
    ("sampler", "options", "says"),
    [
        ("light_med", {"n_hm": 2}, "no option 'n_hm'; it has composition, n_mh"),
        ("light_med", {"composition": "words"}, "one of mixture, cycle, word, doc, exp, not 'words'"),
        ("light_med", {"composition": ["word"]}, "composition must be one of"),
        ("light_med", {"n_mh": 0}, "n_mh must be a whole number of at least 1, not 0"),
        ("light", {"n_mh": 2.0}, "n_mh must be a whole number"),
        ("light", {"n_mh": True}, "n_mh must be a whole number"),
        ("polya_urn", {"look_up": -1}, "at least 0"),
        ("collapsed", {"n_mh": 2}, "collapsed has no option 'n_mh'; it has none"),
        ("auto", {"n_mh": 2}, 'must be None for sampler="auto"'),
        ("auto", {}, 'must be None for sampler="auto"'),
        ("light", [("n_mh", 2)], "must be a dict"),
    ],
)
def test_errors_name_the_option(sampler, options, says):
    with pytest.raises(ParameterError) as error:
        LDA(3, sampler=sampler, sampler_options=options).fit(X)
    assert error.value.parameter == "sampler_options"
    assert says in str(error.value)


def test_plan():
    assert make_plan("light", None, 3, options={"n_mh": np.int64(3)}).options == {"n_mh": 3}
    assert make_plan("light", None, 3).options is None
    with pytest.raises(ParameterError, match="no option"):
        Plan("delayed", "collapsed", {"n_mh": 1})
