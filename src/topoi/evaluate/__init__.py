"""How good a model is: on new documents, by its topics, by its predictions, and by its chains. See docs/evaluation.md.

`evaluate` makes all measures that apply; each is also a function of its own.
"""

from __future__ import annotations

from topoi.estimators.alignment import Alignment, TopicAgreement
from topoi.evaluate.advice import convergence_in_words
from topoi.evaluate.chains import align_topics, chain_diagnostics, topic_agreement
from topoi.evaluate.classification import ClassificationScores, calibration_error, classification_scores
from topoi.evaluate.coherence import c_v, npmi, u_mass
from topoi.evaluate.composition import topic_effects
from topoi.evaluate.held_out import HeldOut, document_completion, left_to_right, log_likelihoods
from topoi.evaluate.measures import MEASURES, evaluate, score_predictions
from topoi.evaluate.regression import RegressionScores, regression_scores
from topoi.evaluate.share_table import TopicsBy, TopicShare, write_groups
from topoi.evaluate.topics import diversity, exclusivity, top_columns, topic_names, topic_shares
from topoi.evaluate.topics_by import topics_by

__all__ = [
    "MEASURES",
    "Alignment",
    "ClassificationScores",
    "HeldOut",
    "RegressionScores",
    "TopicAgreement",
    "TopicShare",
    "TopicsBy",
    "align_topics",
    "c_v",
    "calibration_error",
    "chain_diagnostics",
    "classification_scores",
    "convergence_in_words",
    "diversity",
    "document_completion",
    "evaluate",
    "exclusivity",
    "left_to_right",
    "log_likelihoods",
    "npmi",
    "regression_scores",
    "score_predictions",
    "top_columns",
    "topic_agreement",
    "topic_effects",
    "topic_names",
    "topic_shares",
    "topics_by",
    "u_mass",
    "write_groups",
]
