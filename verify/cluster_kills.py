"""Kill workers, and the driver, of fits on a Dask cluster at random moments: the model must have the same bytes.

    python verify/cluster_kills.py [--seeds 20] [--workers 3] [--drivers 20] [--s3]

For every seed a fit is made in memory, and one on the cluster for each kind of round, in which a worker is killed
(SIGKILL) while tasks of that kind are running: first topics, new topics, counts added up and φ drawn, checkpoint. Then
the driver, a process of its own, is killed at a random moment and the fit called again. Last, fits that nobody
disturbs on clusters of 1, 2 and 4 workers. With --s3 the corpus and the checkpoints of fits that are killed are
in an S3 server on this machine (`pip install s3fs 'moto[server]'`), and nothing is in a folder.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import numpy as np

from topoi import Checkpoints, MedLDAClassifier
from topoi._disk import remote
from topoi._disk.remote import locate
from topoi.chain.engines.cluster import _workers

ROUNDS = {"init": "begin", "sampling": "move", "reduction": "draw", "checkpoint": "seal"}
LONGEST = 60.0
SWEEPS = 6


def documents(n_documents=600, n_words=300, n_topics=6):
    """Counts from LDA, and the topics that a document has as its labels."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.3), n_documents)
    return np.array([rng.multinomial(60, p) for p in theta @ phi]), (theta > 0.2).astype(int)


X, Y = documents()


def model(seed, **more):
    """An estimator whose fit takes a second."""
    return MedLDAClassifier(
        n_topics=8, n_sweeps=SWEEPS, n_samples=2, sampler="partial", random_state=seed, refit=False, **more
    )  # fmt: skip


def digest(fitted):
    """A hash of all that was learned."""
    found = hashlib.blake2b(digest_size=8)
    for array in (fitted.components_, fitted.doc_topic_, fitted.topic_weights_, *fitted.traces_):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


class Deadly(_workers.Dask):
    """Kills a worker once, in one of the rounds of a kind."""

    def __init__(self, client, task, rng):
        super().__init__(client, print)
        self.task, self.rng = task, rng
        self.skip = rng.randrange({"move": SWEEPS, "draw": SWEEPS, "seal": 2}.get(task, 1))
        self.pids = pids(client)
        self.running = self.hit = False

    def kill(self):
        """Kill one."""
        self.hit = self.running
        os.kill(self.rng.choice(self.pids), signal.SIGKILL)

    def map(self, task, job, *given, **options):
        """Run a round, perhaps with a timer set."""
        ours = task.__name__ == self.task
        if ours and self.skip == 0:
            self.running = True
            threading.Timer(self.rng.uniform(0.0, 0.1), self.kill).start()
        if ours:
            self.skip -= 1
        try:
            return super().map(task, job, *given, **options)
        finally:
            self.running = False


def fit_and_kill(client, task, seed, folder):
    """A fit in which a worker is killed: its hash, seconds, and whether the round was still running."""
    from topoi.chain.engines import cluster

    deadly = Deadly(client, task, random.Random(f"{task} {seed}"))
    original = cluster.open_workers

    class Opened:
        def __enter__(self):
            return deadly

        def __exit__(self, *_):
            return None

    cluster.open_workers = lambda *_: Opened()
    begun = time.perf_counter()
    try:
        fitted = model(seed, engine=client).fit(X, Y, checkpoint=Checkpoints(folder, every_sweeps=3))
    finally:
        cluster.open_workers = original
    return digest(fitted), time.perf_counter() - begun, deadly.hit


def workers_are_there(client, n):
    """Wait until the workers that were killed have been replaced; False if Dask does not manage that."""
    end = time.monotonic() + 60  # where other work shares the machine, a new process takes its time
    while len(pids(client)) < n:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def pids(client):
    """Processes of the workers that are alive."""
    found = client.run(os.getpid, on_error="return").values()
    return sorted(pid for pid in found if isinstance(pid, int))


def kill_workers(args, expected):
    """A row of the table for every kind of round."""
    print(
        f"| a worker is killed in | fits | round still running | same bytes | longest, s |\n|{'---|' * 5}", flush=True
    )
    good = True
    for name in args.rounds:
        same = hits = 0
        longest = 0.0
        todo = list(range(args.seeds))
        while todo:
            with cluster_of(args.workers) as client:  # another one where a worker does not come back
                while todo and workers_are_there(client, args.workers):
                    seed = todo.pop(0)
                    with new_folder(args) as folder:
                        found, seconds, hit = fit_and_kill(client, ROUNDS[name], seed, folder)
                    same += found == expected[seed]
                    hits += hit
                    longest = max(longest, seconds)
        print(f"| {name} | {args.seeds} | {hits} | {same} | {longest:.1f} |", flush=True)
        good &= same == args.seeds and longest <= LONGEST
    return good


def drive(address, seed, folder):
    """What the driver's process does: a fit, and its hash."""
    checkpoint = Checkpoints(folder, every_sweeps=1)
    print(digest(model(seed, engine=address).fit(X, Y, checkpoint=checkpoint)), flush=True)


def kill_drivers(client, args, expected):
    """The row of the driver."""
    same = early = 0
    for seed in range(args.drivers):
        rng = random.Random(f"driver {seed}")
        with new_folder(args) as folder:
            command = [sys.executable, __file__, "--drive", client.scheduler.address, str(seed), folder]
            for last in (False, True):
                process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                if not last:
                    while not begun(folder) and process.poll() is None:
                        time.sleep(0.01)
                    time.sleep(rng.uniform(0.0, args.driver_seconds))
                    early += process.poll() is None
                    process.kill()
                out, _ = process.communicate()
            same += out.strip() == expected[seed]
    print(f"| driver killed and called again | {args.drivers} | {early} | {same} | |", flush=True)
    return same == args.drivers


def begun(folder):
    """Whether a fit has written anything but its corpus."""
    place = locate(f"{folder}/model-0-chain-0/blocks")
    return place.exists() if isinstance(place, Path) else bool(remote.below(place))


@contextlib.contextmanager
def new_folder(args):
    """A folder for checkpoints, on the disk or in the store."""
    if args.s3:
        import fsspec

        bucket = f"run-{uuid.uuid4().hex}"
        fsspec.filesystem("s3").mkdir(bucket)
        yield f"s3://{bucket}/run"
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield folder


@contextlib.contextmanager
def s3_server():
    """A server that speaks as S3 does, in this process, and an environment in which it is that of all processes."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    known = {"ACCESS_KEY_ID": "somebody", "SECRET_ACCESS_KEY": "something", "DEFAULT_REGION": "us-east-1"}
    os.environ.update({f"AWS_{name}": value for name, value in known.items()}, AWS_ENDPOINT_URL=f"http://{host}:{port}")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TOPOI_CACHE"] = cache
        try:
            yield
        finally:
            server.stop()


@contextlib.contextmanager
def cluster_of(n_workers):
    """A client of worker processes with one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def count_workers(args, expected):
    """The rows of clusters of several sizes."""
    good = True
    seeds = range(min(5, args.seeds))
    for n_workers in (1, 2, 4):
        with cluster_of(n_workers) as client:
            same = sum(digest(model(seed, engine=client).fit(X, Y)) == expected[seed] for seed in seeds)
        print(f"| nobody is killed, {n_workers} workers | {len(seeds)} | | {same} | |", flush=True)
        good &= same == len(seeds)
    return good


def main():
    """Print the table; the exit code says whether all went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--rounds", nargs="+", default=list(ROUNDS), choices=list(ROUNDS))
    parser.add_argument("--drivers", type=int, default=20)
    parser.add_argument("--driver-seconds", type=float, default=3.0, help="a fit's time, during which it is killed")
    parser.add_argument("--s3", action="store_true", help="corpus and checkpoints in an S3 server on this machine")
    parser.add_argument("--drive", nargs=3, metavar=("ADDRESS", "SEED", "FOLDER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.drive:
        drive(args.drive[0], int(args.drive[1]), args.drive[2])
        return
    with s3_server() if args.s3 else contextlib.nullcontext():
        good = check(args)
    sys.exit(0 if good else "some fits ended with other bytes, or took too long")


def check(args):
    """Print the table: whether all went well."""
    import dask

    expected = {seed: digest(model(seed).fit(X, Y)) for seed in range(max(args.seeds, args.drivers))}
    assert len(set(expected.values())) == len(expected)
    # A LocalCluster gives up a worker that has not come back within 15 seconds, which a busy machine may need.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    good = kill_workers(args, expected)
    with cluster_of(args.workers) as client:
        good &= kill_drivers(client, args, expected)
    return good & count_workers(args, expected)


if __name__ == "__main__":
    main()
