"""Fits on a Dask cluster, or out of core on one machine: the same bytes as in memory, for any number of workers."""

from topoi.chain.engines.cluster._engine import Cluster, state_without_topics
from topoi.chain.engines.cluster._faults import EngineError
from topoi.chain.engines.cluster._saved import Saved
from topoi.chain.engines.cluster._workers import Workers, open_workers

__all__ = ["Cluster", "EngineError", "Saved", "Workers", "open_workers", "state_without_topics"]
