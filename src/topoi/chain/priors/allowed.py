"""Documents that may have some of the topics only: labelled and partially labelled LDA.

    α_dk = α_k if document d may have topic k, else 0

The table `Corpus.about["topic labels"]` has a column for each of the topics 0, 1, … that belong to a label, 1 where the
document has the label, and a last column that is 1 where its labels are known. The topics after these are shared: all
documents may have them. Without shared topics this is labelled LDA (Ramage, Hall, Nallapati & Manning 2009, EMNLP);
with them and with several topics of a label, partially labelled LDA (Ramage, Manning & Dumais 2011, KDD).

A document whose labels are not known may have all topics. Its α is the average of those of the others, α_k times the
share of them that may have topic k, one document more counted in: so it has as much of rare labels as the others do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topoi._disk.schema import WHOLE, Field, array_of
from topoi._disk.store import ModelError
from topoi.chain.alpha import DocumentAlpha
from topoi.chain.priors.base import LARGEST_PRIOR, TopicPrior, parted
from topoi.chain.priors.distinct import distinct_of
from topoi.chain.priors.fixed_alpha import FixedAlpha
from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError


@dataclass(frozen=True, eq=False)
class Allowed(TopicPrior):
    """α that is 0 where a document may not have a topic.

    `base` (K) is α of a topic where it may; the first `n_own` topics are those of labels. `alpha` is that of a document
    whose labels are not known.
    """

    base: NDArray[np.float64]
    n_own: int

    name = "allowed"
    per_document = True
    forbids = True
    about = "topic labels"
    stored: ClassVar[dict[str, Field]] = TopicPrior.stored | {"base": array_of("float64"), "n_own": WHOLE}

    @classmethod
    def from_value(cls, value: Any, n_topics: int, corpus: Corpus) -> Self | None:
        """None, a number or one for each topic, if it is known which topics the documents may have."""
        table = corpus.about.get(cls.about)
        if table is None:
            return None
        fixed = FixedAlpha.from_value(value, n_topics, corpus)
        if fixed is None:
            raise ParameterError(
                cls.parameter,
                f"is {value!r}; must be a positive number, one per topic or None where documents have topic labels: "
                "which topics a document may have is given, and is not learned",
            )
        n_own = table.shape[1] - 1
        if not 0 <= n_own <= n_topics:
            raise ParameterError("n_topics", f"is {n_topics}, but labels have {n_own} topics")
        n_documents = np.asarray(table.sum(0), np.float64).ravel()
        share = np.ones(n_topics)
        share[:n_own] = (n_documents[:-1] + 1) / (n_documents[-1] + 1)
        return cls(fixed.alpha * share, fixed.alpha, n_own)

    def alpha_of(self, corpus: Corpus) -> DocumentAlpha:
        """α of every document by its row of the table; of documents without a table, that of unknown labels."""
        if self.about not in corpus.about:
            return super().alpha_of(corpus)
        found, row_of = distinct_of(corpus, self.about)
        if found.shape[1] != self.n_own + 1:
            raise CorpusError(f"{self.about} has {found.shape[1]} columns; this model has {self.n_own + 1}.")
        allowed = sparse.csr_array(found).toarray()
        known = allowed[:, -1:] > 0
        rows = np.where(known, self.base, self.alpha)
        rows[:, : self.n_own] *= ~known | (allowed[:, :-1] > 0)
        total = rows.sum(1)
        if (total == 0).any():
            d = int(np.flatnonzero(total[row_of] == 0)[0])
            raise CorpusError(f"{self.about} leave document {d} no topic: it has no label, and no topic is shared.")
        return DocumentAlpha(rows, row_of)

    @property
    def n_bound(self) -> int:
        """Topics of labels: tables of documents know them by their numbers."""
        return self.n_own

    def joined(self, number: NDArray[np.int64]) -> Self:
        """Shared topics joined; those of labels stay."""
        return replace(super().joined(number), base=np.bincount(number, self.base).astype(np.float64))

    def divided(self, k: int, share: float) -> Self:
        """A shared topic as two."""
        return replace(super().divided(k, share), base=parted(self.base, k, share))

    def check(self) -> None:
        """Raise unless the fields, which may come from a file, can be those of such a prior."""
        super().check()
        if self.base.shape != self.alpha.shape or not ((self.base > 0) & (self.base < LARGEST_PRIOR)).all():
            raise ModelError("base must be positive numbers, one per topic")
        if not 0 <= self.n_own <= len(self.alpha):
            raise ModelError(f"{self.n_own} of {len(self.alpha)} topics cannot belong to labels")
