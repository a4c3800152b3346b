"""Documents as arrays that kernels can read, checked as they are made."""

from topoi.corpus.corpus import Corpus

__all__ = ["Corpus"]
