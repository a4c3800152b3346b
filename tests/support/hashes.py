"""Hashes of fitted models: what must not depend on threads, the compiler, the process or the version of Python.

    cd tests && python -m support.hashes [tiny | blocks] [threads]

prints them as JSON. `tests/golden/hashes.json` holds those of Linux on x86-64: libraries of other systems may round exp
and log in another way.
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

from support.labelled import Documents
from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor
from topoi.chain.samplers import SAMPLERS

#: Documents, sweeps: few enough for the interpreter; enough for several blocks of documents and of words.
SIZES = {"tiny": (10, 3), "blocks": (400, 6)}


def hashes(size: str, n_jobs: int = 1) -> dict[str, str]:
    """By estimator and sampler (and loss) the hash of all that a fit leaves."""
    n, sweeps = SIZES[size]
    data = Documents(n, seed=5)
    corpus = Corpus.from_counts(data.X)
    assert (len(corpus.block_ptr) > 3) == (size == "blocks")
    common = {"n_topics": 5, "n_sweeps": sweeps, "n_samples": 2, "random_state": 0, "n_jobs": n_jobs}
    out = {}
    # Topoi's own: another test of this process may have imported one of reproduce/, which adds itself to the registry.
    own = [name for name, sampler in SAMPLERS.items() if sampler.__module__.startswith("topoi.")]
    for sampler in ("auto", *own):
        out[f"LDA {sampler}"] = digest(LDA(sampler=sampler, doc_topic_prior="learn", **common).fit(corpus), corpus)
    for loss in ("hinge", "logistic"):
        model = MedLDAClassifier(loss=loss, **common).fit(corpus, data.many)
        out[f"MedLDAClassifier {loss}"] = digest(model, corpus)
    for loss in ("epsilon_insensitive", "squared"):
        model = MedLDARegressor(loss=loss, **common).fit(corpus, data.number)
        out[f"MedLDARegressor {loss}"] = digest(model, corpus)
    return out


def digest(model, corpus) -> str:
    """A hash of counts, priors, weights, and the answers to documents."""
    arrays = [model.model_.counts.toarray(), model.doc_topic_prior_, model.doc_topic_, model.log_joint_]
    arrays += [getattr(model, "topic_weights_", np.zeros(0)), model.transform(corpus)]
    out = hashlib.blake2b(digest_size=8)
    for array in arrays:
        out.update(f"{array.dtype.str} {array.shape}".encode())
        out.update(np.ascontiguousarray(array).data)
    return out.hexdigest()


if __name__ == "__main__":
    print(json.dumps(hashes(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1), indent=2))
