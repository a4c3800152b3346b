"""Fits on a Dask cluster, or out of core on one machine: the same bytes as in memory, for any number of workers."""

from topoi.chain.engines.cluster._blocks import Blocks
from topoi.chain.engines.cluster._connect import connect
from topoi.chain.engines.cluster._engine import Cluster
from topoi.chain.engines.cluster._faults import EngineError
from topoi.chain.engines.cluster._meet import meet_workers
from topoi.chain.engines.cluster._workers import Workers, open_workers

__all__ = ["Blocks", "Cluster", "EngineError", "Workers", "connect", "meet_workers", "open_workers"]
