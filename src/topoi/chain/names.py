"""Names of topics: which there may be, and what a topic is called wherever it is shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi.chain.model import TopicModel

#: What a topic without a name is called: for people, and as the column of a table.
FOR_PEOPLE = "topic {}"
AS_COLUMN = "topic_{}"


def fault_of_names(names: Any, n_topics: int) -> str | None:
    """What is wrong with a list of names, "" for a topic that has none; None if it will do."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return "names of topics must be texts"
    if len(names) != n_topics:
        return f"there are {len(names)} names of {n_topics} topics"
    seen: set[str] = set()
    for name in filter(None, names):
        if name != name.strip() or not name.isprintable():
            return f"{name!r} cannot be the name of a topic: spaces around it, or signs that cannot be printed"
        if name in seen:
            return f"two topics have the name {name!r}"
        seen.add(name)
    return None


def name_topics(model: TopicModel, first: Sequence[str]) -> None:
    """Give the first topics of a model these names; without any the model stays as it is."""
    if any(first):
        model.topic_names = [*first, *[""] * (model.n_topics - len(first))]
        model.check()


def topic_labels(models: Sequence[TopicModel], unnamed: str = FOR_PEOPLE, taken: Collection[str] = ()) -> list[str]:
    """What to call every topic of models that stand side by side; no two are called the same.

    A topic without a name is called by its number, as `unnamed` says. Names get the number too where they alone would
    leave a doubt: several models have the same names, or one is `taken` by something else.
    """
    names = [name for model in models for name in model.topic_names or [""] * model.n_topics]
    plain = [unnamed.format(k) for k in range(len(names))]
    given = [name for name in names if name]
    doubtful = len(set(given)) < len(given) or not {*taken, *plain}.isdisjoint(given)
    return [f"{name} {k}" if name and doubtful else name or plain[k] for k, name in enumerate(names)]


def have_names(models: Sequence[TopicModel]) -> bool:
    """Whether some topic has a name."""
    return any(model.topic_names for model in models)
