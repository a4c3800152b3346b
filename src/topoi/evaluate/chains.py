"""Have the chains of a fit mixed, and have they found the same topics?

Their log joints over the sweeps, R-hat and effective sample size; and the topics of one chain matched with another's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.chain.diagnostics import rhat_ess
from topoi.chain.model import TopicModel
from topoi.estimators import alignment
from topoi.estimators.alignment import Alignment, TopicAgreement
from topoi.estimators.fitted import check_fitted
from topoi.evaluate.topics import one_model


def effective_samples(chains: list[NDArray[np.float64]], burn_in: int) -> float:
    """Bulk effective sample size of the log joint after the burn-in, over the sweeps that all chains made."""
    late = [trace[trace[:, 0] > burn_in, 1] for trace in chains]
    shortest = min(map(len, late))
    return rhat_ess(np.array([values[:shortest] for values in late]).reshape(len(late), shortest))["ess_bulk"]


def chain_diagnostics(estimator: Any) -> dict[str, float]:
    """R-hat and bulk effective sample size of the log joint after the burn-in (Vehtari et al. 2021).

    `rhat` near 1 (below 1.01 for good, 1.1 for most purposes) says that the chains agree; it needs two chains and four
    evaluations of each. `ess` is the number of independent draws that the evaluations of the log joint, one in ten
    sweeps, are worth; it needs twenty of each chain. nan where there are fewer. `n_chains` says of how many chains.
    With several models, the worst of each.
    """
    fitted = check_fitted(estimator)
    models = [one.traces_ for one in fitted.estimators_]
    ess = [effective_samples(chains, fitted.burn_in_) for chains in models]
    return {
        "rhat": float(fitted.rhat_),
        "ess": min(ess, key=lambda value: -math.inf if math.isnan(value) else value),
        "n_chains": min(map(len, models)),
    }


def align_topics(one: Any, other: Any) -> Alignment:
    """Match the topics of two fitted estimators or `TopicModel`s of the same words, one to one.

    The overlap of two topics is Σ_w min(p_w, q_w), where p and q are the shares that words have of the tokens of each:
    1 if they are the same, 0 if they have no word in common. The match has the largest sum of overlaps (the Hungarian
    method). Returns for every topic of `one` its `partner` in `other` (-1 if it has none), their `overlap`, and whether
    they count as the `same` topic: from an overlap of 0.5 on.
    """
    what = "way to match topics"
    return alignment.match_topics(one_model(one, what), one_model(other, what))


def topic_agreement(fitted: Any) -> list[TopicAgreement]:
    """In how many of its chains each topic of a fitted estimator was found; empty if there is one chain.

    Of every topic of the best chain (`model_`): `found_in`, the number of chains that have a topic that counts as the
    same, the best one included; `n_chains`; and `agreement`, the mean overlap with its partners in the other chains
    (see `align_topics`). Topics of several models stand side by side, as in `components_`; a `TopicModel` keeps no
    chains.
    """
    return [] if isinstance(fitted, TopicModel) else check_fitted(fitted).topic_agreement()


def agreement_of_topics(fitted: Any) -> dict[str, float]:
    """The mean agreement of the topics over the chains, and the share of the topics that every chain has found."""
    found = [one for one in topic_agreement(fitted) if one.found_in]
    if not found:
        return {"topic_agreement": math.nan, "found_in_all_chains": math.nan}
    return {
        "topic_agreement": math.fsum(one.agreement for one in found) / len(found),
        "found_in_all_chains": sum(one.found_in == one.n_chains for one in found) / len(found),
    }
