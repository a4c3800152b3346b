"""A synthetic corpus of any size, and what a sweep over it costs: the constants of docs/scale.md.

    python -m benchmarks.scale [--documents 50000] [--topics 1000] [--words 50000] [--sampler polya_urn] [--sweeps 20]

The corpus is drawn from LDA with a Zipf vocabulary, a chunk of documents at a time and straight to disk, so that it may
be larger than memory; labels follow the topics. It is then fitted with topics in files, and the tables give CPU time
and bytes of every kind of task and file in the last sweep.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from topoi import LDA, Corpus
from topoi.chain.engines.cluster import _workers

CHUNK = 20_000  # documents
LENGTH = 100  # tokens of a document, on average
TOPICS_OF_A_DOCUMENT = 4.0


def generate(folder, n_documents, n_words, n_topics, n_labels=20, seed=0):
    """Write a corpus to `folder`; returns the labels (documents, labels).

    Word w has weight 1/(w + 10); a topic has about one word in 30, reweighted at random; a document has a few topics.
    """
    rng = np.random.default_rng(seed)
    zipf = 1.0 / (np.arange(n_words) + 10.0)
    topics = []
    for _ in range(n_topics):
        words = np.flatnonzero(rng.random(n_words) < 1 / 30)
        below = np.cumsum(zipf[words] * rng.gamma(0.5, 2.0, len(words)))
        topics.append((words.astype(np.int32), below / below[-1]))
    lengths = rng.poisson(LENGTH, n_documents)
    doc_ptr = np.concatenate(([0], np.cumsum(lengths)))
    folder = Path(folder)
    folder.mkdir(parents=True)
    np.save(folder / "doc_ptr.npy", doc_ptr.astype(np.int64))
    words = np.lib.format.open_memmap(folder / "words.npy", "w+", np.int32, (int(doc_ptr[-1]),))
    labels = np.zeros((n_documents, n_labels), np.int8)
    for first in range(0, n_documents, CHUNK):
        last = min(first + CHUNK, n_documents)
        n_of = 1 + rng.poisson(TOPICS_OF_A_DOCUMENT - 1, last - first)
        chosen = rng.integers(n_topics, size=(last - first, n_of.max()))
        document = np.repeat(np.arange(last - first), lengths[first:last])
        z = chosen[document, (rng.random(len(document)) * n_of[document]).astype(np.int64)]
        w = np.empty(len(z), np.int32)
        order = np.argsort(z, kind="stable")
        edges = np.searchsorted(z[order], np.arange(n_topics + 1))
        for k, (of_topic, below) in enumerate(topics):
            here = order[edges[k] : edges[k + 1]]
            w[here] = of_topic[np.searchsorted(below, rng.random(len(here)))]
        words[doc_ptr[first] : doc_ptr[last]] = w[np.lexsort((w, document))]
        labels[first + document, z % n_labels] = 1
    words.flush()
    (folder / "corpus.json").write_text(json.dumps({"version": 1, "n_words": n_words, "has_vocabulary": False}))
    return labels


class Watch:
    """CPU seconds by kind of task, and bytes by kind of file, of one sweep."""

    def __init__(self, at):
        self.at, self.seconds, self.bytes = at, defaultdict(float), defaultdict(int)

    def map(self, original):
        """Threads.map, watched."""

        def watched(threads, task, job, *given, over):
            begun = time.process_time()
            answers = original(threads, task, job, *given, over=over)
            if self.at in given:
                self.seconds[task.__name__] += time.process_time() - begun
                if task.__name__ == "move":
                    for sweep in (self.at, self.at + 1):
                        for path in job.sweep(sweep).iterdir():
                            kind = path.name.split("-")[0]
                            if (sweep > self.at) == (kind in ("z", "counts", "pairs")):
                                self.bytes[kind] += path.stat().st_size
            return answers

        return watched


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--sampler", default="polya_urn")
    parser.add_argument("--sweeps", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        generate(f"{folder}/corpus", args.documents, args.words, args.topics)
        corpus = Corpus.load(f"{folder}/corpus")
        watch = Watch(args.sweeps - 1)
        _workers.Threads.map = watch.map(_workers.Threads.map)
        settings = {"sampler": args.sampler, "n_sweeps": args.sweeps, "n_samples": 1, "random_state": 0}
        LDA(args.topics, **settings, engine="blocks").fit(corpus, checkpoint=f"{folder}/run")
    n = corpus.n_tokens
    print(f"{corpus!r}, {args.topics} topics, {args.sampler}")
    print("\n| task | CPU ns per token |\n|---|---|")
    for task, seconds in sorted(watch.seconds.items()):
        print(f"| {task} | {seconds / n * 1e9:.1f} |")
    print("\n| file | bytes per token |\n|---|---|")
    for kind, size in sorted(watch.bytes.items()):
        print(f"| {kind} | {size / n:.2f} |")


if __name__ == "__main__":
    main()
