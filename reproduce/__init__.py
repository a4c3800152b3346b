"""The figures and tables of the papers, made again. `reproduce/README.md` says how to run them."""

import benchmarks  # noqa: F401  (its import keeps linear algebra to one thread)
