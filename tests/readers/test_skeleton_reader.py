"""The reader that docs/architecture.md tells people to copy, once added the way the recipe says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.skeletons import package_with, passed_with, run_with

READ = """
import gzip
import json
from topoi.errors import FileError
from topoi.readers import read_documents

open("a.ft", "w").write("__label__pets a cat sat\\n\\nno label here\\n__label__trips a city\\n")
gzip.open("b.ft.gz", "wb").write(b"__label__2.5 a cat\\n__label__-1 a dog\\n")
open("c.ft", "w").write("__label__pets a cat\\n__label__a __label__b two labels\\n")
data = read_documents("a.ft")
found = {
    "labels": data.labels.tolist(),
    "words": data.corpus.vocabulary.tolist(),
    "targets": read_documents("b.ft.gz", target=True).labels.tolist(),
    "skipped": read_documents("c.ft", on_error="skip").n_skipped,
}
try:
    read_documents("c.ft")
except FileError as error:
    found["error"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of topoi with the skeleton in it: a file and a registry line."""
    line = '    "fasttext": Format("a label and a text a line", (".ft",), documents=late("fasttext:documents")),\n'
    edits = [("FORMATS = {\n", "FORMATS = {\n" + line)]
    folder = tmp_path_factory.mktemp("with_reader")
    return package_with(folder, "readers", {"fasttext.py": "reader.py"}, edits, registry="_formats.py")


def test_skeleton_reads(package):
    found = json.loads(run_with(package, "-c", READ))
    assert found == {
        "labels": ["pets", None, "trips"],
        "words": ["cat", "city", "here", "label", "no", "sat"],
        "targets": [2.5, -1.0],
        "skipped": 1,
        "error": "c.ft, line 2: expected one name after __label__, a blank and a text, not "
        "'__label__a __label__b two labels'.",
    }


@pytest.mark.slow
def test_skeleton_passes_the_tests_of_every_format(package):
    here = Path(__file__)
    assert passed_with(
        package, "fasttext", here.with_name("test_reader_faults.py"), here.with_name("test_reader_fuzz.py")
    )
