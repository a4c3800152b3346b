"""Processes that compile at the same time, with an empty cache: python verify/cold_cache.py [processes]

All of them fit LDA with one empty folder for machine code, at once; then one more fits with what they left there. Every
process must end well with the same model, and the last must compile nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

FIT = """
import hashlib, sys, time
import numpy as np
from topoi import LDA
X = np.random.default_rng(0).poisson(2.0, (300, 40))
lda = LDA(4, sampler=sys.argv[1], n_sweeps=3, random_state=0).fit(X)
print(hashlib.blake2b(lda.components_.tobytes(), digest_size=8).hexdigest(), time.process_time())
"""


def main() -> None:
    """Start all at once, then one more."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}

        def start() -> subprocess.Popen[str]:
            command = [sys.executable, "-c", FIT, "collapsed"]
            return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

        begun = time.monotonic()
        together = [start() for _ in range(n)]
        told = [process.communicate()[0].split() for process in together]
        last = start().communicate()[0].split()
        codes = [process.returncode for process in together]
        seconds = ", ".join(f"{float(line[1]):.0f}" for line in told if line)
        print(f"{n} processes: exit codes {codes}, CPU seconds {seconds}; {time.monotonic() - begun:.0f} s in all")
        print(f"one more, with their cache: {float(last[1]):.1f} CPU seconds")
        found = {line[0] for line in [*told, last] if line}
        print(f"models: {found}")
        sys.exit(0 if not any(codes) and len(found) == 1 else 1)


if __name__ == "__main__":
    main()
