"""Reports with a section more."""

from __future__ import annotations

import pytest

from support.skeletons import package_with, run_with

WRITE = """
from topoi import LDA
from topoi.report import write_report

X = [[4, 2, 0, 1], [1, 0, 0, 0], [3, 3, 9, 2]]
lda = LDA(2, n_sweeps=3, n_samples=1, random_state=0).fit(X)
write_report("with.html", lda, X=X, ids=["</script>", "b", "c"])
write_report("without.html", lda)
"""


@pytest.fixture(scope="session")
def pages_with_section(tmp_path_factory):
    """Reports by a copy of topoi with the skeleton in it: two files, an import and a registry line."""
    edits = [
        ("from topoi.report.subject", "from topoi.report.sections import longest\nfrom topoi.report.subject"),
        ('    "scores": scores.data,\n', '    "longest": longest.data,\n    "scores": scores.data,\n'),
    ]
    files = {"longest.py": "section.py", "longest.js": "section.js"}
    folder = package_with(tmp_path_factory.mktemp("with_section"), "report/sections", files, edits)
    run_with(folder, "-c", WRITE, NUMBA_DISABLE_JIT="1")  # three documents need no compiler
    return folder
