"""Edits of topics as data: names, merges, topics to hide, to split and to reorder, in a small JSON file.

    {"format": "topoi edits", "version": 1, "topics": 20, "model": "9f2c41d07be35a68",
     "edits": [{"edit": "name", "topic": 3, "name": "space flight"},
               {"edit": "merge", "topics": [1, 5]},
               {"edit": "hide", "topic": 7},
               {"edit": "split", "topic": 2},
               {"edit": "order", "topics": [3, 1]}]}

Every number is that of a topic before any edit, so that the order of the entries does not matter. The report writes
such files, people may, and strangers too: all of it is checked, and an error names the entry.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi._disk import strict_json
from topoi._disk.mapped import pieces
from topoi.chain.model import TopicModel
from topoi.chain.names import fault_of_names
from topoi.errors import FileError, ParameterError

FORMAT = "topoi edits"
VERSION = 1
#: What an entry of each kind says, beside "edit".
KEYS = {
    "name": ("topic", "name"),
    "merge": ("topics",),
    "hide": ("topic",),
    "show": ("topic",),
    "split": ("topic",),
    "order": ("topics",),
}
LONGEST_NAME = 200
MOST_BYTES = 2**24


class EditError(ParameterError):
    """Edits that cannot be carried out; the message names the entry."""

    def __init__(self, message: str, entry: int | None = None, kind: str = "") -> None:
        where = "" if entry is None else f"entry {entry}{f' ({kind})' if kind else ''}: "
        super().__init__("edits", where + message)
        self.entry = entry


@dataclass(frozen=True)
class Arrangement:
    """What becomes of the topics of one model.

    The topics in `splits`, rising, become two each, side by side; then topic k becomes part of topic number[k]. `names`
    and `hidden` are those of the topics that come out.
    """

    splits: list[int]
    number: NDArray[np.int64]
    names: list[str]
    hidden: list[int]


@dataclass(frozen=True)
class Edits:
    """The entries of a file, each checked by itself; `topics` and `model` say what they are about, if it is known."""

    entries: list[dict[str, Any]]
    topics: int | None = None
    model: str | None = None

    def arrangements(self, models: Sequence[TopicModel]) -> list[Arrangement]:
        """What becomes of each of several models, whose topics are numbered side by side."""
        sizes = [model.n_topics for model in models]
        if self.topics is not None and self.topics != sum(sizes):
            raise EditError(f"are for a model of {self.topics} topics, but this one has {sum(sizes)}")
        if self.model is not None and self.model != (this := topics_fingerprint(models)):
            raise EditError(
                f"are for the model {self.model:.60}, but this one is {this}; if that is what you want, remove "
                '"model" from the edits'
            )
        first = np.concatenate(([0], np.cumsum(sizes))).tolist()
        wishes = [_Wishes(model) for model in models]
        for number, entry in enumerate(self.entries):
            listed = entry["topics"] if "topics" in entry else [entry["topic"]]
            for topic in listed:
                if topic >= first[-1]:
                    raise EditError(f"there is no topic {topic}; the model has {first[-1]}", number, entry["edit"])
            owner = [int(np.searchsorted(first, topic, side="right")) - 1 for topic in listed]
            if entry["edit"] == "merge" and len(set(owner)) > 1:
                raise EditError(f"topics {listed} are of different models; only topics of one can be merged",
                                number, "merge")  # fmt: skip
            for which in dict.fromkeys(owner):
                own = [topic - first[which] for topic, model in zip(listed, owner, strict=True) if model == which]
                wishes[which].take(number, entry, own, first[which])
        return [wish.arrangement() for wish in wishes]


class _Wishes:
    """What is asked for of the topics of one model, entry after entry."""

    def __init__(self, model: TopicModel) -> None:
        self.model = model
        self.bound = model.priors.topics.n_bound
        self.names: dict[int, str] = {}
        self.hidden = set(model.hidden)
        self.asked: dict[tuple[str, int], int] = {}  # the entry that asks for something of a topic
        self.into: dict[int, int] = {}  # of merged topics but the first of each merge
        self.order: list[int] = []

    def take(self, number: int, entry: Mapping[str, Any], topics: list[int], first: int) -> None:
        """One entry, with the numbers that its topics have in this model."""
        kind = entry["edit"]
        for k in topics:
            # What comes of two entries would depend on which is read first.
            role = {"show": "hide"}.get(kind, kind)
            if (role, k) in self.asked:
                raise EditError(
                    f"topic {first + k} is also in entry {self.asked[role, k]} ({kind}); say it once", number, kind
                )
            self.asked[role, k] = number
            if kind in ("merge", "split", "order") and k < self.bound:
                raise EditError(f"topic {first + k} belongs to a label of the fit (topic_labels), and stays as it is; "
                                "it can be named and hidden", number, kind)  # fmt: skip
        if kind == "name":
            self.names[topics[0]] = entry["name"]
        elif kind == "merge":
            self.into |= dict.fromkeys(topics[1:], topics[0])
        elif kind == "hide":
            self.hidden.add(topics[0])
        elif kind == "show":
            self.hidden.discard(topics[0])
        elif kind == "order":
            if self.order:
                raise EditError("there is another order in an earlier entry; give one", number, kind)
            self.order = topics
        for role, k in list(self.asked):
            if k in self.into and role != "merge":
                why = f"topic {first + k} is merged into topic {first + self.into[k]}; say it of that one"
                raise EditError(why, self.asked[role, k], role)
            if role == "split" and ("merge", k) in self.asked:
                raise EditError(f"topic {first + k} cannot be split and merged at once; apply one after the other",
                                self.asked[role, k], role)  # fmt: skip

    def arrangement(self) -> Arrangement:
        """What comes of it."""
        stay = [k for k in range(self.model.n_topics) if k not in self.into]
        placed = [*range(self.bound), *self.order]
        order = placed + [k for k in stay if k not in set(placed)]
        splits = sorted(k for role, k in self.asked if role == "split")
        parts = {k: 1 + (k in splits) for k in stay}
        place = dict(zip(order, np.cumsum([0, *(parts[k] for k in order)]).tolist(), strict=False))
        number: list[int] = []
        for k in range(self.model.n_topics):
            first = place[self.into.get(k, k)]
            number += [first, first + 1] if k in splits else [first]
        hidden = [j for k in order if k in self.hidden for j in range(place[k], place[k] + parts[k])]
        return Arrangement(splits, np.array(number, np.int64), self._names(order, parts), sorted(hidden))

    def _names(self, order: list[int], parts: Mapping[int, int]) -> list[str]:
        """Names in the new order: as asked for, else what the topic, or the first part that has one, was called."""
        before = self.model.topic_names or [""] * self.model.n_topics
        members: dict[int, list[int]] = {k: [k] for k in order}
        for k, head in self.into.items():
            members[head].append(k)
        names = []
        for k in order:
            own = self.names.get(k, next((before[j] for j in members[k] if before[j]), ""))
            names += [own, *[""] * (parts[k] - 1)]
        if (fault := fault_of_names(names, len(names))) is not None:
            raise EditError(fault, next((self.asked["name", k] for k in self.names if names.count(self.names[k]) > 1),
                                        None), "name")  # fmt: skip
        return names


def topics_fingerprint(models: Sequence[TopicModel]) -> str:
    """Sixteen digits that tell the topics of a model, numbers and words, from those of others."""
    digest = hashlib.sha256()
    for model in models:
        counts = model.counts
        digest.update(np.array([*counts.shape, model.n_samples], "<i8").tobytes())
        for part in (counts.indptr, counts.indices, counts.data):
            for piece in pieces(np.asarray(part)):
                digest.update(piece.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def as_edits(given: Any) -> Edits:
    """What a user means by edits: a file that the report has written, or what stands in one."""
    if isinstance(given, Edits):
        return given
    if isinstance(given, str | os.PathLike):
        return read_edits(Path(given))
    if isinstance(given, list | tuple):
        given = {"format": FORMAT, "version": VERSION, "edits": given}
    if not isinstance(given, Mapping):
        what = "must be a path, a list of entries, or a mapping with the keys format, version and edits"
        raise EditError(f"{what}, not {given!r:.60}")
    if given.get("format") != FORMAT:
        raise EditError(f'have the format {given.get("format")!r:.60}, not "{FORMAT}"')
    if given.get("version") != VERSION or isinstance(given.get("version"), bool):
        raise EditError(f"have version {given.get('version')!r:.60}; this topoi reads {VERSION}. Update it")
    _check_keys(given, ("format", "version", "edits"), ("topics", "model"), None)
    topics, model, entries = given.get("topics"), given.get("model"), given["edits"]
    if topics is not None and not _is_number(topics):
        raise EditError(f"topics must be the number of topics of the model, not {topics!r:.60}")
    if model is not None and not isinstance(model, str):
        raise EditError(f"model must be the fingerprint of a model, not {model!r:.60}")
    if not isinstance(entries, list | tuple):
        raise EditError(f"edits must be a list of entries, not {entries!r:.60}")
    return Edits([_checked(number, entry) for number, entry in enumerate(entries)], topics, model)


def read_edits(path: Path) -> Edits:
    """Edits from a JSON file."""
    try:
        found = strict_json.read(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise FileError(f"{path}: there is no such file; the report downloads edits.", str(path)) from error
    except ValueError as error:
        raise FileError(f"{path}: is not JSON: {error}", str(path)) from error
    return as_edits(found if isinstance(found, Mapping | list) else {"format": found})  # a text would be a path


def _checked(number: int, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("edit"), str) or entry["edit"] not in KEYS:
        raise EditError(f'must have "edit", one of {", ".join(KEYS)}, but is {entry!r:.60}', number)
    kind = entry["edit"]
    _check_keys(entry, ("edit", *KEYS[kind]), (), number)
    if "topic" in KEYS[kind] and not _is_number(entry["topic"]):
        raise EditError(f"topic must be the number of a topic, not {entry['topic']!r:.60}", number, kind)
    if "topics" in KEYS[kind]:
        topics, least = entry["topics"], 2 if kind == "merge" else 1
        if not isinstance(topics, list | tuple) or len(topics) < least or not all(map(_is_number, topics)):
            raise EditError(f"topics must be {least} or more numbers of topics, not {topics!r:.60}", number, kind)
        if len(set(topics)) < len(topics):
            twice = next(topic for topic in topics if topics.count(topic) > 1)
            raise EditError(f"topic {twice} stands twice in topics", number, kind)
    if kind == "name":
        name = entry["name"]
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            raise EditError(f"name must be a text of at most {LONGEST_NAME} characters, not {name!r:.60}", number, kind)
        if (fault := fault_of_names([name], 1)) is not None:
            raise EditError(fault, number, kind)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in entry.items()}


def _check_keys(given: Mapping[str, Any], needed: Sequence[str], more: Sequence[str], entry: int | None) -> None:
    kind = "" if entry is None else given["edit"]
    for key in needed:
        if key not in given:
            raise EditError(f"{'' if entry is not None else 'have '}no {key!r}", entry, kind)
    for key in given:
        if key not in (*needed, *more):
            known = ", ".join((*needed, *more))
            raise EditError(f"{'' if entry is not None else 'have '}an unknown key {key!r:.60}; there are {known}",
                            entry, kind)  # fmt: skip


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(0 <= value < 2**31)
