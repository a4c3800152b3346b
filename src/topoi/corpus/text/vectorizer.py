"""Vectorisers of scikit-learn, in place of topoi's own way from texts to words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topoi.errors import CorpusError, ParameterError


def check_vectorizer(vectorizer: Any) -> None:
    """Raise unless it is a vectoriser, fitted or not."""
    if isinstance(vectorizer, type) or not hasattr(vectorizer, "fit_transform"):
        raise ParameterError("vectorizer", f"must be a vectoriser like CountVectorizer(), not {vectorizer!r}.")


def cutter(vectorizer: Any) -> Callable[[str], list[str]]:
    """How a vectoriser cuts a text into words, before stop words are left out."""
    if getattr(vectorizer, "analyzer", None) != "word" or not hasattr(vectorizer, "build_tokenizer"):
        raise ParameterError(
            "ngrams", "need a vectoriser that cuts texts into words, as CountVectorizer(); else Corpus.from_tokens"
        )
    preprocess, tokenize = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    return lambda text: tokenize(preprocess(vectorizer.decode(text)))


def vectorize(texts: list[str], vectorizer: Any) -> Any:
    """Counts of the words of texts; the vectoriser is fitted on them unless it is fitted already."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(vectorizer)
    except NotFittedError:
        try:
            return vectorizer.fit_transform(texts)
        except ValueError as error:
            raise CorpusError(f"the texts give no corpus: {error}") from error
    return vectorizer.transform(texts)
