"""What tests of the loop begin with: a small state, and a callback that remembers."""

from __future__ import annotations

import numpy as np

from topoi.chain.priors import fixed_priors
from topoi.chain.state import new_state


def fresh(corpus, seed=1, n_topics=5):
    return new_state(corpus, fixed_priors(np.linspace(0.1, 0.5, n_topics), 0.05), seed)


class Record:
    """A callback that remembers, and stops the run at one sweep."""

    def __init__(self, stop_at=None):
        self.seen = []
        self.stop_at = stop_at

    def __call__(self, progress):
        self.seen.append(progress)
        return progress.sweep == self.stop_at

    @property
    def sweeps(self):
        return [progress.sweep for progress in self.seen]
