"""θ of the training documents, `doc_topic_`: whether a fit keeps it, and what is said where it did not.

It is the only part of a fitted model that grows with the documents, and at scale the largest array of all: 10⁷
documents with 1,000 topics have 40 GB of it. Predictions do not need it, so that a fit can go without.
"""

from __future__ import annotations

from typing import Any

from topoi.errors import ParameterError

#: Shares (documents × topics) that are kept if the user does not say: 2 GB of them.
MOST_SHARES = 500_000_000


def check_keep(keep: Any) -> None:
    """Raise unless `keep` is something that `keeps_shares` takes."""
    if keep is not None and not isinstance(keep, bool):
        raise ParameterError("keep_doc_topic", f"must be True, False or None, not {keep!r}")


def keeps_shares(keep: bool | None, n_documents: int, n_topics: int) -> bool:
    """Whether a fit of so many documents keeps their topic shares."""
    return n_documents * n_topics <= MOST_SHARES if keep is None else keep


def why_missing(fitted: Any) -> str:
    """What to say to somebody who asks for shares that a fitted estimator has not."""
    if not fitted.__sklearn_is_fitted__():
        return "doc_topic_ is there only after fit"
    return (
        "doc_topic_, the topic shares of the training documents, was not kept: they were more than "
        f"{MOST_SHARES:,}, keep_doc_topic is False, or the model was saved without documents. "
        "transform(X) gives the shares of the documents X, part by part if need be"
    )


class SharesOfDocuments:
    """In place of `doc_topic_` where it was not kept: asking for it says why it is missing.

    An attribute of the object itself comes first, so that this is asked only where there is none.
    """

    def __get__(self, fitted: Any, owner: type[Any] | None = None) -> Any:
        if fitted is None:
            return self
        raise AttributeError(why_missing(fitted))
