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
    "20 Newsgroups without stop words for Enron (e-mail), Reuters ModApte for the New York Times (news), arXiv "
    "abstracts for PubMed (abstracts): all far smaller, with far fewer tokens a word. The paper used 8 cores, this one."
)
#: Words with fewer tokens are left out, as in the paper ("a rare word limit of 10"); and all words, for comparison.
LIMIT = 10
LIMITED, ALL_WORDS = "10 tokens or more", "all"
WORDS = {LIMITED: LIMIT, ALL_WORDS: 1}
#: Documents of each corpus; None are all.
DOCUMENTS: dict[str, dict[str, int | None]] = {
    "quick": {"20ng": 1500, "reuters": 1500, "arxiv": 4000},
    "fits": {"20ng": 4000, "reuters": 4000, "arxiv": 8000},
    "full": {"20ng": None, "reuters": None, "arxiv": 30_000},
}
