"""What estimators do with covariates of prevalence: put them beside the documents, and tell their effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topoi._disk.store import ModelError
from topoi.chain.model import TopicModel
from topoi.chain.priors.prevalence import Prevalence
from topoi.corpus import Corpus
from topoi.errors import ParameterError
from topoi.estimators.formula import parse_formula
from topoi.estimators.marginal import TopicEffect, marginal_effects
from topoi.estimators.terms import Terms, learn_terms


class HasPrevalence:
    """An estimator whose topics may be more or less prevalent with covariates of the documents."""

    prevalence: str | None
    _terms: Terms  # only if the fit had some

    @property
    def topic_models_(self) -> list[TopicModel]:
        """The topic models of the estimator."""
        raise NotImplementedError

    def as_corpus(self, X: Any) -> Corpus:
        """New documents as a corpus."""
        raise NotImplementedError

    def with_prevalence(self, X: Any, covariates: Any) -> Corpus:
        """New documents with the covariates that their topics depend on: a `Corpus` that methods take in place of X.

        `covariates` of `transform` do the same for one call. An error if topics do not depend on any.
        """
        corpus = self.as_corpus(X)
        self._check_used(covariates)
        return self._beside_terms(corpus, covariates)

    def _with_terms(self, corpus: Corpus, covariates: Any, by_default: bool) -> tuple[Corpus, dict[str, Any]]:
        """Documents to learn from with the table of their terms, and what is to be remembered of these.

        Without a formula covariates are all terms if that is so `by_default`, else none.
        """
        if self.prevalence is None and (covariates is None or not by_default):
            return corpus, {}
        if covariates is None:
            raise ParameterError(
                "covariates", f"are needed: prevalence is {self.prevalence!r}. Give fit the columns that it names"
            )
        asked = None if self.prevalence is None else parse_formula(self.prevalence)
        terms, table = learn_terms(asked, covariates, corpus.n_documents)
        return corpus.with_about(**{Prevalence.about: table}), {"_terms": terms}

    @property
    def _terms_so_far(self) -> dict[str, Any]:
        """What a fit has remembered."""
        return {"_terms": self._terms} if "_terms" in vars(self) else {}

    def _beside_terms(self, corpus: Corpus, covariates: Any) -> Corpus:
        """New documents with the table of their terms; as they are if nothing but their words is known."""
        return beside_terms(corpus, vars(self).get("_terms"), covariates)

    def _check_used(self, covariates: Any) -> None:
        """Raise if covariates are given on which topics do not depend."""
        if covariates is not None and "_terms" not in vars(self):
            raise ParameterError(
                "covariates",
                "are given, but fit had none that topics depend on; leave them out here, or give them to fit as well",
            )

    @property
    def prevalence_covariates_(self) -> dict[str, str]:
        """Covariates that the prevalence of topics depends on, each a "number", "category" or "spline"."""
        return {} if "_terms" not in vars(self) else {one.name: one.kind for one in self._terms.variables}

    def topic_effects(self, level: float = 0.9, grid: int | None = None) -> list[TopicEffect]:
        """The change of the expected share of every topic with every covariate of prevalence, with an interval.

        Parameters
        ----------
        level : float, default 0.9
            Probability that an interval has.
        grid : int or None, default None
            Tell the effects of numbers at so many values; None is 11 of a spline, and one standard deviation more of
            other numbers.

        Returns
        -------
        list of TopicEffect
            Rows ``(topic, covariate, value, mean, low, high)``: of a category the share of the topic if all documents
            had it, minus the share that it has; of a spline, if all had this value; of a number, if all had one
            standard deviation more ("+1 sd"). `pandas.DataFrame(model.topic_effects())` makes a table of them. The
            intervals come from the kept samples of the best chain: a larger `n_samples` makes them steadier.
        """
        if "_terms" not in vars(self):
            raise ParameterError(
                "covariates",
                "that topics depend on were not given to fit, so there are no effects on topics. Fit again with "
                "covariates, or regress the topic shares of this model on them: topoi.evaluate.topic_effects",
            )
        found, first = [], 0
        for model in self.topic_models_:
            found += marginal_effects(self._terms, model, level, grid, first)
            first += model.n_topics
        return found


def beside_terms(corpus: Corpus, terms: Terms | None, covariates: Any) -> Corpus:
    """Documents with the table of their terms; as they are if there are none, or nothing is known of them."""
    if terms is None or covariates is None:
        return corpus
    return corpus.with_about(**{Prevalence.about: terms.encode(covariates, corpus.n_documents)})


def check_terms(terms: Terms | None, models: Sequence[TopicModel]) -> None:
    """Raise unless models, which may come from a file, are of these terms, or of none."""
    for model in models:
        prior = model.priors.topics
        if (terms is not None) != isinstance(prior, Prevalence):
            raise ModelError("a model has covariates of prevalence, but not what they are, or the other way round")
        if isinstance(prior, Prevalence):
            assert terms is not None
            if len(prior.average) != len(terms.columns) or "weights" not in model.draws:
                raise ModelError("the covariates of prevalence are not those of the model")
