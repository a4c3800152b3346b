"""From texts to words: one way for files, for `Corpus.from_texts` and for texts that are given to an estimator."""

from topoi.corpus.text.given import as_texts, checked_texts, is_missing
from topoi.corpus.text.preparation import Preparation, TextOptions

__all__ = ["Preparation", "TextOptions", "as_texts", "checked_texts", "is_missing"]
