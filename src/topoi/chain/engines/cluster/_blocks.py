"""Chains whose topics lie in files, and are moved by workers: one after the other, each has all workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from topoi._disk.remote import Location
from topoi._machine.pool import Pool
from topoi.chain.checkpoint import Journal
from topoi.chain.engines.choose import NewChain, OpenJournal
from topoi.chain.engines.cluster._engine import Cluster, state_without_topics
from topoi.chain.engines.cluster._saved import Saved
from topoi.chain.engines.cluster._workers import Workers
from topoi.chain.engines.local import Engine
from topoi.chain.plan import Plan, check_parallel

R = TypeVar("R")


class Blocks:
    """The place of such chains; without a `folder` their files are temporary."""

    def __init__(self, workers: Workers, folder: Location | None) -> None:
        self.workers = workers
        self.on_disk = Saved(folder, workers.elsewhere)

    def check(self, plan: Plan, sampler: str) -> None:
        """Raise unless documents can be moved independently of each other."""
        check_parallel(plan, sampler)

    def at_once(self, pool: Pool) -> int:
        """One."""
        return 1

    def map(self, chain: Callable[[int, int, Pool], R], todo: Sequence[tuple[int, int]], pool: Pool) -> list[R]:
        """One after the other."""
        return [chain(*which, pool) for which in todo]

    def begin(self, new: NewChain, pool: Pool, open_journal: OpenJournal) -> tuple[Engine, Journal | None]:
        """A state without topics: the first task draws them."""
        state = state_without_topics(self.on_disk(new.corpus), new.priors, new.seed, new.supervision)
        journal = open_journal(state, "in blocks")  # checkpoints of other engines look different
        return Cluster(state, self.workers, None if journal is None else journal.folder), journal
