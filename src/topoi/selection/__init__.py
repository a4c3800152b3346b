"""The number of topics, chosen by cross-validation.

`choose` fits several numbers, measures each on documents that were held out, and recommends one: see
docs/howto/number_of_topics.md.
"""

from __future__ import annotations

from topoi.selection.choose import choose
from topoi.selection.comparison import Choice

__all__ = ["Choice", "choose"]
