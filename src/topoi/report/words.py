"""The words that a page needs, each written once."""

from __future__ import annotations

from topoi.chain.model import TopicModel


class WordTable:
    """Words by number: `names` in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._number: dict[int, int] = {}

    def add(self, model: TopicModel, w: int) -> int:
        """The number here of word `w` of a model; the models of an estimator have one vocabulary."""
        number = self._number.get(w)
        if number is None:
            number = self._number[w] = len(self.names)
            self.names.append(model.word(w))
        return number
