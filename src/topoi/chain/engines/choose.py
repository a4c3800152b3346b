"""Where the chains of a fit run, as a user asks for it by `engine`: in this process, or in blocks that others may move.

What a fit does not need is not loaded: `cluster` is imported only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

from topoi._disk.remote import Location
from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Journal
from topoi.chain.engines.local import Engine, Local
from topoi.chain.plan import Plan
from topoi.chain.priors import Priors
from topoi.chain.responses.supervision import Supervision
from topoi.chain.state import Start, new_state
from topoi.corpus import Corpus

R = TypeVar("R")
#: Opens the journal of a chain, given its state and what else its checkpoints depend on; None without checkpoints.
OpenJournal = Callable[..., Journal | None]


class NewChain(NamedTuple):
    """What a chain begins with."""

    corpus: Corpus
    priors: Priors
    seed: int
    supervision: Supervision | None
    start: Start | None = None


class Place(Protocol):
    """Where chains run."""

    def check(self, plan: Plan, sampler: str) -> None:
        """Raise unless the samplers of a plan can be used there; `sampler` is what the user has named."""

    def at_once(self, pool: Pool) -> int:
        """How many chains run at the same time, at most."""

    def map(self, chain: Callable[[int, int, Pool], R], todo: Sequence[tuple[int, int]], pool: Pool) -> list[R]:
        """Run chains, each known by two numbers and given the threads that it may use."""

    def begin(self, new: NewChain, pool: Pool, open_journal: OpenJournal) -> tuple[Engine, Journal | None]:
        """A new chain with its state, and its journal."""


class Here:
    """In this process, with all topics in memory."""

    def check(self, plan: Plan, sampler: str) -> None:
        """Every sampler can be used."""

    def at_once(self, pool: Pool) -> int:
        """One on every thread."""
        return pool.n_jobs

    def map(self, chain: Callable[[int, int, Pool], R], todo: Sequence[tuple[int, int]], pool: Pool) -> list[R]:
        """Several chains share the threads, a single one has them all."""
        if len(todo) == 1:
            return [chain(*todo[0], pool)]
        return pool.map(lambda which: chain(*which, Pool(1)), todo)

    def begin(self, new: NewChain, pool: Pool, open_journal: OpenJournal) -> tuple[Engine, Journal | None]:
        """Topics as given, else drawn at random, or by targets."""
        state = new_state(new.corpus.in_memory, new.priors, new.seed, new.supervision, new.start)
        if new.supervision is not None:
            new.supervision.refresh(state, pool)
        return Local(state, pool), open_journal(state)


@contextmanager
def open_place(engine: Any, pool: Pool, say: Callable[[str], None], folder: Location | None) -> Iterator[Place]:
    """Where a user means by `engine`; `say` tells what is waited for, `folder` is that of the checkpoints, if any."""
    if engine is None:
        yield Here()
        return
    from topoi.chain.engines.cluster import Blocks, open_workers

    with open_workers(engine, pool, say) as workers:
        yield Blocks(workers, folder)
