"""Documents as arrays that kernels can read, checked as they are made."""

from topoi.corpus.corpus import Corpus
from topoi.corpus.ngrams import Ngrams

__all__ = ["Corpus", "Ngrams"]
