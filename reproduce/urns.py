"""What the figures of Pólya Urn LDA have in common: who is compared, and on what."""

from __future__ import annotations

from typing import Any

ALPHA, BETA = 0.1, 0.01  # the paper's
#: Name, sampler and options. The paper's opponent walks the topics of the document and has alias tables for the prior's
#: part; where these do not pay, walking the word's row is the fairer opponent. Ours weighs all topics, up to 1,024.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "partially collapsed": ("partial_alias", {}),
    "partially collapsed, rows walked": ("partial", {"dense_up_to": 0}),
    "partially collapsed, dense": ("partial", {}),
    "Pólya urn": ("polya_urn", {}),
}
OPPONENT, WALKED, DENSE, URN = METHODS
STAND_IN = (
    "20 Newsgroups without stop words for Enron (e-mail), arXiv abstracts for PubMed (abstracts); New York Times has "
    "no stand-in. The paper used 8 cores, this one."
)
