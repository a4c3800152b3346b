"""Hashes of fitted models: what must not depend on threads, the compiler, the process or the version of Python.

    cd tests && python -m support.hashes                     # every member, as lines for golden/hashes.json
    cd tests && python -m support.hashes "LDA collapsed"     # the line of one of them

Every sampler and every loss is a member, by being in its registry. `tests/golden/hashes.json` has a line for each, made
by Linux on x86-64: libraries of other systems may round exp and log in another way.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys

import numpy as np

from support.labelled import Documents
from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor
from topoi.chain.responses import RESPONSES
from topoi.chain.samplers import SAMPLERS

#: Documents, sweeps: few enough for the interpreter; enough for several blocks of documents and of words.
SIZES = {"tiny": (10, 3), "blocks": (400, 6)}
#: Which estimator learns with a kind of loss, and from what.
LEARNERS = {
    "labels": (MedLDAClassifier, "many"),
    "numbers": (MedLDARegressor, "number"),
    "counts": (MedLDARegressor, "count"),
}


def own(registry):
    """Topoi's own: another test of this process may have imported one of reproduce/, which adds itself."""
    return [name for name, member in registry.items() if member.__module__.startswith("topoi.")]


def of_sampler(sampler):
    return lambda data, corpus, **common: LDA(sampler=sampler, doc_topic_prior="learn", **common).fit(corpus)


def learner_of(loss):
    kind = RESPONSES[loss]
    return LEARNERS["counts" if getattr(kind, "predictive", False) else kind.predicts]


def of_loss(loss):
    learner, labels = learner_of(loss)
    return lambda data, corpus, **common: learner(loss=loss, **common).fit(corpus, getattr(data, labels))


def of_prior(given=None, **asks):
    """A fit with a prior; `given` makes what `fit` gets beside documents."""
    given = given or (lambda n: {})
    return lambda data, corpus, **common: LDA(**common | asks).fit(corpus, **given(corpus.n_documents))


#: Priors beyond a number and "learn", which every sampler has above.
PRIORS = {
    "LDA seeds": of_prior(seeds={"one": [2, 5, 7], "two": [30, 31]}, sampler="partial"),
    "LDA hdp": of_prior(doc_topic_prior="hdp", sampler="partial"),
    "LDA auto number": of_prior(n_topics="auto"),
    "LDA beta of words": lambda data, corpus, **common: LDA(
        **common, topic_word_prior=np.linspace(0.01, 0.5, corpus.n_words)
    ).fit(corpus),
    "LDA learned beta of words": of_prior(topic_word_prior="learn_words", n_sweeps=22),
    "LDA topic labels": of_prior(lambda n: {"topic_labels": [[["a"], ["b"], []][d % 3] for d in range(n)]}),
    "LDA prevalence": of_prior(lambda n: {"covariates": {"party": np.arange(n) % 3 // 2}}),
}
#: By name: a function that fits.
MEMBERS = (
    {f"LDA {sampler}": of_sampler(sampler) for sampler in ("auto", *own(SAMPLERS))}
    | PRIORS
    | {f"{learner_of(loss)[0].__name__} {loss}": of_loss(loss) for loss in own(RESPONSES)}
)


@functools.cache
def documents(size):
    data = Documents(SIZES[size][0], seed=5)
    corpus = Corpus.from_counts(data.X)
    assert (len(corpus.block_ptr) > 3) == (size == "blocks")
    return data, corpus


def hash_of(member: str, size: str, n_jobs: int = 1) -> str:
    """The hash of all that a fit leaves."""
    data, corpus = documents(size)
    common = {"n_topics": 5, "n_sweeps": SIZES[size][1], "n_samples": 2, "random_state": 0, "n_jobs": n_jobs}
    return digest(MEMBERS[member](data, corpus, **common), corpus)


def digest(model, corpus) -> str:
    """A hash of counts, priors, weights, and the answers to documents."""
    arrays = [model.model_.counts.toarray(), model.doc_topic_prior_, model.doc_topic_, model.log_joint_]
    arrays += [getattr(model, "topic_weights_", np.zeros(0)), model.transform(corpus)]
    out = hashlib.blake2b(digest_size=8)
    for array in arrays:
        out.update(f"{array.dtype.str} {array.shape}".encode())
        out.update(np.ascontiguousarray(array).data)
    return out.hexdigest()


def line(member: str) -> str:
    """What golden/hashes.json should have of a member."""
    return f"{json.dumps(member)}: {json.dumps({size: hash_of(member, size) for size in SIZES})}"


if __name__ == "__main__":
    print(",\n".join(f"  {line(member)}" for member in sys.argv[1:] or MEMBERS))
