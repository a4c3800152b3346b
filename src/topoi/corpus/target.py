"""What is predicted of documents: one label of each, several, numbers, or nothing.

There is one description of it, from the file that is read to the page that is written: a data set says what its labels
are, and a fitted estimator what it predicts, in these words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from topoi.errors import ParameterError

#: Of every document one label, several (any number of them), or numbers; None is that nothing is predicted.
Kind = Literal["one", "several", "numbers"]


@dataclass(frozen=True)
class Target:
    """What is predicted. `values` are the labels in order, or the numbers of the outputs; `names` are for people.

    `strategy` is how labels are shared out to models: all to one ("multitask"), one each ("ovr"), or a model for every
    pair ("ovo"). Two labels of which one is right are always one model. `ordered` says that the labels are in
    order, and have one score for all of them.
    """

    kind: Kind | None = None
    values: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    strategy: str = "multitask"
    ordered: bool = False

    @property
    def binary(self) -> bool:
        """Whether one score tells two labels apart: it is that of the second."""
        return self.kind == "one" and len(self.values) == 2

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of labels that have a model each, in the order of the models; none where it is not by pairs."""
        by_pairs = self.kind == "one" and self.strategy == "ovo" and not self.binary
        return list(combinations(range(len(self.values)), 2)) if by_pairs else []

    @property
    def tasks(self) -> list[str]:
        """What a positive score speaks for, one for each row of the weights."""
        if self.pairs:
            return [f"{self.names[j]}, not {self.names[i]}" for i, j in self.pairs]
        return self.answers

    @property
    def answers(self) -> list[str]:
        """What is to be told of a document, whatever models tell it: labels, of two the second, or outputs."""
        if self.ordered and not self.binary:
            return [f"{self.names[-1]}, not {self.names[0]}"]
        return self.names[1:] if self.binary else self.names

    @property
    def models(self) -> list[str]:
        """What each of several models tells apart; no names where there is one."""
        if self.pairs:
            return [f"{self.names[i]} or {self.names[j]}" for i, j in self.pairs]
        several = self.strategy == "ovr" and not self.binary and len(self.values) > 1
        return [f"{name} or not" for name in self.names] if several else []

    def named(self, names: Sequence[Any] | None) -> Target:
        """The same with other names of the labels or outputs; None keeps them."""
        if names is None:
            return self
        if len(names) != len(self.names):
            known = ", ".join(self.names)
            raise ParameterError("label_names", f"has {len(names)} names, but the model has {len(self.names)}: {known}")
        return replace(self, names=[str(name) for name in names])
