"""The words that a page needs, each written once."""

from __future__ import annotations

from topoi.chain.model import TopicModel


class WordTable:
    """Words by number: `names` in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._number: dict[int, int] = {}
        self._number_of_ngram: dict[str, int] = {}

    def add(self, model: TopicModel, w: int) -> int:
        """The number here of word `w` of a model; the models of an estimator have one vocabulary."""
        number = self._number.get(w)
        if number is None:
            number = self._number[w] = len(self.names)
            self.names.append(model.word(w))
        return number

    def add_ngram(self, name: str) -> int:
        """The number here of an n-gram."""
        number = self._number_of_ngram.get(name)
        if number is None:
            number = self._number_of_ngram[name] = len(self.names)
            self.names.append(name)
        return number
