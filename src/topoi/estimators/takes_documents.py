"""Documents as an estimator is given them, texts, counts or a corpus, as a corpus that its model can use."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from topoi._disk.remote import is_url
from topoi.chain.model import TopicModel
from topoi.corpus import Corpus
from topoi.corpus.text import Preparation, as_texts
from topoi.errors import CorpusError


class TakesDocuments:
    """Makes a corpus of X: of the words that the model knows, or of its own where a fit learns from X."""

    n_features_in_: int
    engine: Any
    _preparation: Preparation  # only if the fit was one of texts

    @property
    def topic_models_(self) -> list[TopicModel]:
        """The topic models of the estimator."""
        raise NotImplementedError

    @property
    def preparation_(self) -> Preparation | None:
        """How texts became the words that the columns of X are, and what was left out; None if X had counts."""
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            raise AttributeError("preparation_ is there only after fit")
        return vars(self).get("_preparation")

    def as_corpus(self, X: Any) -> Corpus:
        """X as a corpus of the words that the model knows: texts, counts, a `Corpus`, or the folder of a saved one."""
        check_is_fitted(self)
        return self._corpus(X, reset=False, allow_empty=True)

    def _corpus(
        self, X: Any, reset: bool, allow_empty: bool = False, like: Corpus | None = None, learn: bool = False
    ) -> Corpus:
        """X as a corpus, checked against what the estimator was fitted on, or is being fitted on: `like`.

        They are learned from with `reset`, which forgets what was learned before, or `learn`, which does not.
        """
        if isinstance(X, str | os.PathLike):
            X = self._load(X)
        elif not isinstance(X, Corpus) and (texts := as_texts(X)) is not None:
            X = self._from_texts(texts, reset, allow_empty, like)
        if isinstance(X, Corpus):
            if X.n_tokens == 0 and not allow_empty:
                raise CorpusError(f"every document is empty: none of {X.n_documents} has a word of the vocabulary.")
            if reset:
                self.n_features_in_ = X.n_words
                for name in ("feature_names_in_", "_preparation"):
                    self.__dict__.pop(name, None)  # of an earlier fit
                if X.preparation is not None:
                    self._preparation = X.preparation
            elif X.n_words != self.n_features_in_:
                raise CorpusError(f"X has {X.n_words} words, but the model was fitted on {self.n_features_in_}.")
            else:
                self._check_vocabulary(X, like)
            X.check_file()
            # A file may be cut short while we look at it. Engines read documents from the folder, and check them.
            return X if (reset or learn) and self.engine is not None else X.in_memory
        if type(X) is np.ndarray and X.dtype == object and X.size and not isinstance(X.flat[0], str):
            try:
                X = check_array(X, dtype=np.float64, ensure_all_finite=False)  # numbers stored as objects
            except ValueError as error:  # what is no number at all stays a TypeError, as scikit-learn wants it
                raise CorpusError(str(error)) from error
        corpus = Corpus.from_counts(X, allow_empty=allow_empty)
        if reset:
            self.__dict__.pop("_preparation", None)
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except ValueError as error:  # the number or the names of the columns, in scikit-learn's words
            raise CorpusError(str(error)) from error
        if not reset:
            self._check_vocabulary(corpus, like)
        return corpus

    def _load(self, path: str | os.PathLike[str]) -> Corpus:
        try:
            return Corpus.load(path)
        except CorpusError as error:
            if os.path.isfile(path):
                read = f"topoi.readers.read_documents({os.fspath(path)!r}).corpus"
                what = f"X is the name of a file, not of the folder of a corpus. Read it first: {read}"
                raise CorpusError(what) from error
            if isinstance(path, str) and not is_url(path) and not os.path.exists(path):
                what = "X is a string, and no folder has this name; for a text give a list: [text]."
                raise CorpusError(f"{path!r:.60}: {what}") from error
            raise

    @property
    def ngrams_of_texts(self) -> int | None:
        """What `fit` counts of texts beside the words of topics, as `ngrams` of `Corpus.from_texts`."""
        return None

    def _from_texts(self, texts: list[Any], reset: bool, allow_empty: bool, like: Corpus | None) -> Corpus:
        """Texts as a corpus: of words of their own with `reset`, else of those of the model or of `like`."""
        if reset:
            return Corpus.from_texts(texts, ngrams=self.ngrams_of_texts)
        known = self if like is None else like
        if (self.preparation_ if like is None else like.preparation) is None:
            raise CorpusError(
                "X has texts, but the model was fitted on counts, and does not know how these were made from texts. "
                "Give counts, made as before; or fit the model on texts."
            )
        return Corpus.from_texts(texts, like=known, allow_empty=allow_empty)

    def _check_vocabulary(self, corpus: Corpus, like: Corpus | None) -> None:
        """Raise if the columns are known to be other words than those of the model."""
        fitted = self.topic_models_[0].vocabulary if like is None else like.vocabulary
        given = corpus.vocabulary
        if fitted is None or given is None or (wrong := np.flatnonzero(fitted != given)).size == 0:
            return
        w = int(wrong[0])
        raise CorpusError(f"column {w} is {given[w]!r}, but {fitted[w]!r} in the model's vocabulary.", column=w)
