"""What a cluster costs: CPU seconds per sweep in memory, in files, and on Dask workers, on one machine.

    python -m benchmarks.cluster [--data arxiv_588k] [--topics 100] [--sampler partial] [--sweeps 6] [--workers 2]

CPU time is that of all processes together: what it has more than the fit in memory is overhead. Wall-clock time is
given too; it says something only where nothing else runs. The first sweep is left out (compilation, page cache).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.data import data_folder
from topoi import LDA, Corpus


class Clock:
    """CPU seconds of all processes, and wall-clock time, after every sweep."""

    def __init__(self, client=None):
        self.client = client
        self.times = []

    def __call__(self, progress):
        """Note the times."""
        workers = [] if self.client is None else self.client.run(time.process_time).values()
        self.times.append((time.process_time(), sum(workers), time.perf_counter()))

    def per_sweep(self):
        """Driver, workers, wall clock: the best of all sweeps but the first and the last, which is evaluated."""
        sweeps = np.diff(np.array(self.times), axis=0)[:-1]
        return sweeps[sweeps[:, :2].sum(1).argmin()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="arxiv_588k")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sampler", default="partial")
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory() as folder:
        Corpus.from_counts(sparse.load_npz(data_folder() / args.data / "train.npz")).save(Path(folder) / "corpus")
        corpus = Corpus.load(Path(folder) / "corpus")
        print(f"{args.data}: {corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words")
        print(f"{args.topics} topics, {args.sampler}\n", flush=True)
        print("| engine | CPU s per sweep: driver | workers | in memory / all | wall-clock s |\n|---|---|---|---|---|")
        models = []

        def row(name, engine, clock, n_jobs=1):
            settings = {"sampler": args.sampler, "n_sweeps": args.sweeps, "n_samples": 1, "random_state": 0}
            lda = LDA(args.topics, **settings, n_jobs=n_jobs, engine=engine, callbacks=[clock])
            models.append(lda.fit(corpus).model_.last_counts)
            driver, workers, wall = clock.per_sweep()
            row.base = getattr(row, "base", driver)
            print(
                f"| {name} | {driver:.2f} | {workers:.2f} | {row.base / (driver + workers):.2f} | {wall:.2f} |",
                flush=True,
            )

        row("in memory, 1 thread", None, Clock())
        row(f"in memory, {args.workers} threads", None, Clock(), args.workers)
        row("blocks, 1 thread", "blocks", Clock())
        with (
            LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            row(f"Dask, {args.workers} workers of 1 thread", client, Clock(client))
        assert all((model != models[0]).nnz == 0 for model in models)


if __name__ == "__main__":
    main()
