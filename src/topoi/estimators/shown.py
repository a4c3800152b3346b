"""What a fitted estimator shows of itself: in a notebook, as data frames, as traces for ArviZ, as a page or a card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.chain.model import TopicModel
from topoi.errors import ParameterError
from topoi.estimators.described import describe_topics
from topoi.estimators.frames import topic_frame, word_frame
from topoi.estimators.topics_html import topics_html
from topoi.estimators.trace_tree import trace_tree

if TYPE_CHECKING:
    from topoi.report.card import ModelCard
    from topoi.report.inline import Report


class ShowsItself:
    """Methods by which people look at a fitted estimator.

    In a notebook an estimator that is not fitted is shown as scikit-learn's diagram of its parameters; a fitted one as
    its topics, with the diagram below, folded. A Pipeline is always a diagram. `sklearn.set_config(display="text")`
    switches all of it off, and `repr` and `print` are as they are without a notebook.
    """

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return self._topics_and(diagram)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._topics_and(bundle["text/html"])
        return bundle

    def _topics_and(self, diagram: str) -> str:
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return diagram
        return f"{topics_html(self)}<details><summary>Parameters and attributes</summary>{diagram}</details>"

    def top_words(
        self, n: int = 10, vocabulary: Sequence[str] | None = None, as_frame: bool = False, order: str = "telling"
    ) -> Any:
        """n words of every topic, the most telling first. `vocabulary` names the columns where X did not.

        Telling are those of the twenty most probable words of a topic that are rarer in the other topics: they are put
        in the order of φ_kw · (log φ_kw − mean of log φ_jw over all topics j), the score of Blei & Lafferty (2009).
        Any further ones follow by probability. With ``order="probability"`` the most probable words come first.

        With `as_frame`, a data frame of pandas with a row for each word of each topic: topic, name, share, rank, word
        and probability; with several chains also in how many of them the topic was found, and its agreement.

        Examples
        --------
        >>> from topoi import LDA
        >>> X = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2], [0, 0, 2, 3]]
        >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit(X)
        >>> len(lda.top_words(2, ["cat", "dog", "bus", "car"]))
        2
        """
        models = self._models_with(vocabulary)
        if not as_frame:
            return [words for model in models for words in model.top_words(n, order)]
        return word_frame(describe_topics(self, n, models=models, order=order))  # type: ignore[arg-type]

    def topics_frame(self, n: int = 10, vocabulary: Sequence[str] | None = None) -> Any:
        """The topics as a data frame of pandas, a row for each: name, share, and its n most telling words.

        With several chains it also says in how many of them the topic was found, and a supervised model has a column
        for each weight.
        """
        models = self._models_with(vocabulary)
        return topic_frame(describe_topics(self, n, models=models))  # type: ignore[arg-type]

    def to_arviz(self) -> Any:
        """The traces of the chains as an `xarray.DataTree`, for ArviZ: ``arviz_stats.summary(model.to_arviz())``.

        The group `posterior` has the log joint after the burn-in, (chain, draw), where a draw is the number of a sweep;
        `warmup_posterior` has it before. `sample_stats` has the scores of the documents that `fit` watched
        (`validation=`), if there are some, and `topic_number` the number of topics where it was found
        (``n_topics="auto"``; of the best chain). Weights and shares of single topics are not in it: topic 3 of one
        chain is not topic 3 of another, see `topic_agreement`. Chains that ended early are cut to the sweeps of all.
        """
        check_is_fitted(self)
        return trace_tree(self.estimators_, self.target_.models)  # type: ignore[attr-defined]

    def report(self, X: Any = None, y: Any = None, *, title: str | None = None, **given: Any) -> Report:
        """The report as an object that a notebook shows inline, and that `save` writes to a file.

        X, y and the others are those of `topoi.report.write_report`: ``texts=``, ``ids=``, ``held_out=`` and so on.
        """
        from topoi.report.inline import make_report

        return make_report(self, X=X, y=y, title=title, **given)

    def model_card(
        self, *, title: str | None = None, data: Any = None, scores: Any = None, notes: str = "",
        file: str = "model.topoi",
    ) -> ModelCard:  # fmt: skip
        """A page of Markdown to pass on with the model: its data, settings, scores and topics.

        `data` and `scores` are mappings of names to values: what the documents are, and how good the model is, for
        instance ``topoi.evaluate.evaluate(model, X)``. `notes` is Markdown of your own, as on what the model is for;
        `file` is the name of the model file. A notebook shows the card; ``card.save("MODEL_CARD.md")`` writes it.
        """
        from topoi.report.card import make_card

        return make_card(self, title=title, data=data, scores=scores, notes=notes, file=file)

    def with_vocabulary(self, vocabulary: Sequence[str]) -> Self:
        """A copy whose words have these names, one for each column of X; all else is shared with this estimator.

        For a model that was fitted on counts without names: its topics are then shown by words in tables, pictures and
        the report.

        Examples
        --------
        >>> from topoi import LDA
        >>> lda = LDA(n_topics=2, n_sweeps=50, random_state=0).fit([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 3, 2]])
        >>> lda.with_vocabulary(["cat", "dog", "bus", "car"]).vocabulary_.tolist()
        ['cat', 'dog', 'bus', 'car']
        """
        check_is_fitted(self)
        known: int = self.n_features_in_  # type: ignore[attr-defined]
        if len(vocabulary) != known:
            raise ParameterError("vocabulary", f"has {len(vocabulary)} words, but the model {known}")
        names = np.asarray(vocabulary, dtype=object)
        renamed: dict[int, TopicModel] = {}  # a model that is in several places stays one object

        def rename(model: TopicModel) -> TopicModel:
            return renamed.setdefault(id(model), replace(model, vocabulary=names))

        fitted = vars(self)
        new = type(self)(**self.get_params(deep=False))  # type: ignore[attr-defined]
        vars(new).update(fitted)
        if "model_" in fitted:
            vars(new)["model_"] = rename(fitted["model_"])
        if "chains_" in fitted:
            vars(new)["chains_"] = [rename(model) for model in fitted["chains_"]]
        if "_chains" in fitted:  # with the weights of a supervised model
            vars(new)["_chains"] = [replace(chain, model=rename(chain.model)) for chain in fitted["_chains"]]
        if "_several" in fitted:  # a model for each class or pair of classes
            vars(new)["_several"] = [one.with_vocabulary(vocabulary) for one in fitted["_several"]]
        return new

    def _models_with(self, vocabulary: Sequence[str] | None) -> list[TopicModel]:
        """The topic models, with other names of the words if there are some."""
        check_is_fitted(self)
        named: Any = self if vocabulary is None else self.with_vocabulary(vocabulary)
        models: list[TopicModel] = named.topic_models_
        return models
