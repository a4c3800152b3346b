"""How much say topics, words and covariates are given: chosen on training documents that a pilot has not seen.

Topics that were learned from the labels of a document predict it too well, even when its own words are taken out, and
would be given too much say: so neither the topics nor the weights of a pilot have seen the documents that judge it
(estimators/pilot.py). What is compared is the log loss of calibrated probabilities, or the squared error of numbers,
which is less noisy than a count of errors. The scores of the same documents calibrate the probabilities, choose
thresholds, and measure the errors that intervals are made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from topoi._machine.pool import Pool
from topoi.predict.descent import fit_weights
from topoi.predict.label_ratios import RATIOS
from topoi.predict.refit import FINAL_PASSES, NONE, Aim, ScoreParts, Settings, ratios_for, usual_settings, with_targets
from topoi.predict.word_features import NGRAM_SCALES, POWERS, inverse_document_frequency

#: Documents whose weights are fitted to choose settings, at most. With fewer documents than the last fit has, topics
#: would be given too much say: words need more documents.
N_CHOOSING = 20_000
ALL = 2**62
#: Passes over the documents when settings for labels are chosen. Weights of numbers need more, the more the stronger
#: they are: with few passes the strong ones seem better than they will be.
CHOOSING_PASSES = 20
#: Weights that are fitted at once, at most: strengths that are tried together share what is read of the documents.
AT_ONCE = 64

#: Losses that differ by no more than this share are alike. Of strengths that are alike the largest is taken: labels are
#: told apart best by weights somewhat stronger than those whose probabilities are best.
ALIKE = 0.01

#: With a smaller share of the documents in a trial, the strength is corrected as for this one: that of many documents
#: hardly depends on how many they are.
LEAST_SHARE = 2 / 3

STRENGTHS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
TOPIC_SCALES = (0.1, 0.2, 0.35, 0.6, 1.0)
COVARIATE_SCALES = (0.03, 0.1, 0.3, 1.0)

Scores = NDArray[np.float64]
Tasks = NDArray[np.int64]


@dataclass(frozen=True)
class Trial:
    """Documents that a pilot has learned from, what they aim at, and documents that it has not seen."""

    parts: ScoreParts
    aim: Aim
    unseen: ScoreParts

    def rows(self, most: int) -> NDArray[np.int64]:
        """Those that weights are fitted on, at most so many."""
        rows = with_targets(self.aim)
        n = min(most, len(rows))
        return rows[np.arange(n) * len(rows) // max(n, 1)]

    def scores(
        self, settings: Settings, strengths: tuple[float, ...], tasks: Tasks, most: int, n_passes: int, seed: int,
        pool: Pool,
    ) -> list[Scores]:  # fmt: skip
        """Scores of the unseen documents by weights of every strength, fitted on at most so many of the others."""
        aim, rows = self.aim.of(tasks), self.rows(most)
        idf = inverse_document_frequency(self.parts.bag)
        ratios = ratios_for(self.parts, self.aim) if settings.ratio else NONE
        table = self.parts.take(rows).table(idf, ratios, settings)
        unseen = self.unseen.table(idf, ratios, settings)
        step = max(AT_ONCE // len(tasks), 1)
        found: list[Scores] = []
        for first in range(0, len(strengths), step):
            some = strengths[first : first + step]
            targets, weight = (np.tile(array[rows], (1, len(some))) for array in (aim.targets, aim.weight))
            given = (np.repeat(some, len(tasks)), aim.one_sided, seed, pool, n_passes)
            found += np.split(unseen.scores(fit_weights(table, targets, weight, *given)), len(some), axis=1)
        return found


def choose_settings(trials: list[Trial], aim: Aim, n_documents: int, seed: int, pool: Pool) -> tuple[Settings, Scores]:
    """The settings that are best for the unseen documents of all trials, and the scores of these with them.

    `aim` is that of the unseen documents, one trial after the other; the settings are for a fit of `n_documents`. One
    setting is chosen after the other, each together with the strength.
    """
    has_words, has_covariates = trials[0].parts.bag.shape[1] > 0, trials[0].parts.covariates.shape[1] > 0
    has_ngrams = trials[0].parts.n_ngrams > 0
    tasks = aim.telling()
    judge = aim.of(tasks)
    known: dict[Settings, float] = {}
    few_passes = CHOOSING_PASSES if aim.one_sided else FINAL_PASSES

    def scores(settings: Settings, strengths: tuple[float, ...], tasks: Tasks, most: int, n: int) -> list[Scores]:
        each = [trial.scores(settings, strengths, tasks, most, n, seed, pool) for trial in trials]
        return [np.concatenate(one) for one in zip(*each, strict=True)]

    def best(candidates: list[Settings], strengths: tuple[float, ...]) -> Settings:
        """The best of the candidates with any of the strengths."""
        tried = []
        for candidate in candidates:
            new = tuple(value for value in strengths if replace(candidate, strength=value) not in known)
            found_by = scores(candidate, new, tasks, N_CHOOSING, few_passes) if new else []
            for value, found in zip(new, found_by, strict=True):
                known[replace(candidate, strength=value)] = judge.loss(found)
            tried += [replace(candidate, strength=value) for value in strengths]
        return min(tried, key=known.__getitem__)

    few_tasks = len(tasks) * len(STRENGTHS) <= AT_ONCE  # then all strengths cost what one does
    settings = best([usual_settings(has_words, has_ngrams)], STRENGTHS if few_tasks else STRENGTHS[::2])
    settings = best([settings], around(settings.strength))
    for name, values, there in (
        ("power", POWERS, has_words),
        ("ngrams", NGRAM_SCALES, has_ngrams),
        ("topics", TOPIC_SCALES, has_words),
        ("covariates", COVARIATE_SCALES, has_covariates),
        ("ratio", RATIOS, has_words and aim.one_sided and aim.targets.shape[1] == 1),
    ):
        if there:
            tried = STRENGTHS if few_tasks else around(settings.strength)
            settings = best([replace(settings, **{name: value}) for value in values], tried)
    if aim.one_sided:
        stronger = tuple(value for value in around(settings.strength, 2) if value >= settings.strength)
        best([settings], stronger)
        alike = [replace(settings, strength=value) for value in stronger]
        settings = [one for one in alike if known[one] <= (1 + ALIKE) * known[settings]][-1]
    (final,) = scores(settings, (settings.strength,), np.arange(aim.targets.shape[1]), ALL, FINAL_PASSES)
    return replace(settings, strength=settings.strength * _for_all(trials, n_documents)), final


def around(strength: float, reach: int = 1) -> tuple[float, ...]:
    """The strength, and those beside it."""
    i = STRENGTHS.index(strength)
    return STRENGTHS[max(i - reach, 0) : i + reach + 1]


def _for_all(trials: list[Trial], n_documents: int) -> float:
    """What the strength that is best for trials is multiplied by, for a fit of all documents.

    Squares of more documents weigh more against the prior of the weights. With the same C scores would be larger than
    those that the probabilities were calibrated on; and the best C of numbers falls about as 1/n (docs/supervised.md).
    """
    return max(float(np.mean([len(trial.rows(ALL)) for trial in trials])) / n_documents, LEAST_SHARE)
