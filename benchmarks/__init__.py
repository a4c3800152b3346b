"""Measurements of topoi and its peers, in one run. `benchmarks/README.md` says how to run them."""

import os

# One thread for everybody's linear algebra; the libraries read this when they are first imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
