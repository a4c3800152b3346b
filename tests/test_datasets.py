"""The corpus of docstrings: what it holds on this Python, and what it makes of awkward folders."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import sysconfig
import warnings
from collections import Counter
from pathlib import Path

import pytest

from topoi import datasets
from topoi.datasets import _MODULES, STOP_WORDS, Texts, _clean, _read_folder, python_docs
from topoi.errors import CorpusError

PROSE = "An opening sentence with words enough to make it count as one document"


@pytest.fixture(scope="module")
def docs() -> Texts:
    return python_docs()


def write(folder: Path, name: str, source: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source if isinstance(source, bytes) else source.encode())


def module(*subjects: str) -> str:
    return "\n".join(f'def f{i}():\n    """{PROSE} on {s}."""' for i, s in enumerate(subjects))


# What this Python gives


def test_size(docs: Texts) -> None:
    n_words = sum(len(re.findall(r"[A-Za-z]{2,}", text)) for text in docs.texts)
    assert 2_500 <= len(docs.texts) <= 6_000
    assert 120_000 <= n_words <= 400_000


def test_labels_go_with_texts(docs: Texts) -> None:
    assert len(docs.labels) == len(docs.texts)
    assert len(set(docs.labels)) >= 50
    label = dict(zip(docs.texts, docs.labels, strict=True))
    [text] = [t for t in label if t.startswith("Class that implements a condition variable.")]
    assert label[text] == "threading"


def test_every_python_gives_the_same_labels(docs: Texts) -> None:
    """Those of the list, whatever the version, the system and the distribution leave out or add."""
    assert set(docs.labels) == {*_MODULES, "language reference"}
    assert set(_MODULES) <= {name for name in sys.stdlib_module_names if not name.startswith("_")}


def test_many_labels_have_documents_to_learn_from(docs: Texts) -> None:
    """The demo and the tutorial take the ten with the most."""
    assert Counter(docs.labels).most_common(10)[-1][1] >= 60


def test_no_label_prevails(docs: Texts) -> None:
    assert max(Counter(docs.labels).values()) < 0.2 * len(docs.labels)


def test_texts_are_distinct_lines_of_prose(docs: Texts) -> None:
    assert len(set(docs.texts)) == len(docs.texts)
    assert all(len(re.findall(r"[^\W\d_]{2,}", text)) >= 11 for text in docs.texts)
    assert all(text == " ".join(text.split()) for text in docs.texts)
    assert not [text for text in docs.texts if re.search("https?://[a-z]", text)]


def test_another_process_reads_the_same_and_imports_nothing(docs: Texts) -> None:
    """Without docstrings of its own (-OO) and with warnings as errors, which must change nothing."""
    script = (
        "import inspect, json, sys, sysconfig; from topoi.datasets import python_docs\n"
        "sysconfig.get_paths(); before = set(sys.modules); docs = python_docs()\n"
        "json.dump([docs.texts, docs.labels, sorted(set(sys.modules) - before)], sys.stdout)"
    )
    run = subprocess.run([sys.executable, "-OO", "-W", "error", "-c", script], capture_output=True, check=True)
    texts, labels, imported = json.loads(run.stdout)
    assert (texts, labels) == (docs.texts, docs.labels)
    assert [name for name in imported if not name.startswith("encodings.")] == []


def test_a_dataset_is_frozen(docs: Texts) -> None:
    with pytest.raises(AttributeError):
        docs.texts = []  # type: ignore[misc]


def test_stop_words_are_what_vectorizers_want() -> None:
    assert isinstance(STOP_WORDS, list)
    assert sorted(set(STOP_WORDS)) == STOP_WORDS
    assert all(re.fullmatch("[a-z]+", word) for word in STOP_WORDS)
    assert {"the", "self", "returns", "argument"} <= set(STOP_WORDS)


# Folders laid out as a library


def documents_of(folder: Path) -> Texts:
    return _read_folder(folder, {"a", "b", "broken", "decimal", "good", "m"})


def test_order_is_that_of_files_then_lines(tmp_path: Path) -> None:
    write(tmp_path, "b.py", module("second", "first"))
    write(tmp_path, "a/z.py", module("zebras"))
    write(tmp_path, "a/b/c.py", module("cats"))
    found = documents_of(tmp_path)
    assert [text.split()[-1] for text in found.texts] == ["cats.", "zebras.", "second.", "first."]
    assert found.labels == ["a", "a", "b", "b"]


def test_docstrings_of_every_kind_of_owner(tmp_path: Path) -> None:
    source = f'''"""{PROSE}: module."""
if True:
    class C:
        """{PROSE}: class."""
        async def method(self):
            """{PROSE}: coroutine."""
            "{PROSE}: a mere string."
else:
    try:
        def f():
            """{PROSE}: function."""
    except ImportError:
        def f():
            """{PROSE}: substitute."""
'''
    write(tmp_path, "m.py", source)
    kinds = [text.split(": ")[1] for text in documents_of(tmp_path).texts]
    assert kinds == ["module.", "class.", "coroutine.", "function.", "substitute."]


def test_duplicates_and_short_texts_are_dropped(tmp_path: Path) -> None:
    write(tmp_path, "a.py", module("ants", "ants"))
    write(tmp_path, "b.py", module("ants") + '\nclass C:\n    """Only a few words."""')
    found = documents_of(tmp_path)
    assert found == Texts([f"{PROSE} on ants."], ["a"])


@pytest.mark.parametrize(
    "name",
    ["site-packages/m.py", "other.py", "_m.py", "m/tests/a.py", "m/test/a.py", "m/unix_events.py", "m.txt"],
)
def test_what_is_not_of_these_modules_is_skipped(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, module("skipped"))
    assert documents_of(tmp_path).texts == []


def test_private_sources_go_by_their_public_name(tmp_path: Path) -> None:
    write(tmp_path, "_pydecimal.py", module("decimals"))
    assert documents_of(tmp_path).labels == ["decimal"]


@pytest.mark.parametrize(
    "source",
    [
        f'"""{PROSE}."""\ndef f(:',
        f'"""{PROSE}."""\nprint "hello"',
        f'"""{PROSE}."""\0',
        f'"""{PROSE} \xe9."""'.encode("latin-1"),
        f'# coding: no-such-encoding\n"""{PROSE}."""',
        f'"""{PROSE}."""\n' + "(" * 1000 + ")" * 1000,
        b"",
    ],
    ids=["syntax", "python 2", "null", "not utf-8", "unknown encoding", "too deep", "empty"],
)
def test_broken_files_are_skipped(tmp_path: Path, source: str | bytes) -> None:
    write(tmp_path, "broken.py", source)
    write(tmp_path, "good.py", module("health"))
    assert documents_of(tmp_path).labels == ["good"]


def test_unreadable_files_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", module("ants"))
    write(tmp_path, "b.py", module("bees"))
    read = Path.read_bytes

    def read_or_refuse(path: Path) -> bytes:
        if path.name == "a.py":
            raise PermissionError(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_or_refuse)
    assert documents_of(tmp_path).labels == ["b"]


def test_declared_encodings_are_obeyed(tmp_path: Path) -> None:
    write(tmp_path, "m.py", f'# coding: latin-1\n"""{PROSE}: caf\xe9."""'.encode("latin-1"))
    assert documents_of(tmp_path).texts == [f"{PROSE}: caf\xe9."]


def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    source = f'"""{PROSE}.\n\n>>> add(1, 2)\n3\n\nUse it so::\n\n    spam = eggs\n\nand go on."""\n'
    write(tmp_path, "m.py", source.replace("\n", "\r\n"))
    assert documents_of(tmp_path).texts == [f"{PROSE}. Use it so and go on."]


def test_language_reference_is_cut_into_sections(tmp_path: Path) -> None:
    on_if = f"\n\n{PROSE} on if.\n"
    topics = {
        "if": "The if statement\n****************" + on_if,
        "compound": f"Compound\n********\n\n{PROSE} on all.\n\n\nThe if statement\n================" + on_if,
    }
    write(tmp_path, "pydoc_data/topics.py", f"topics = {topics!r}\n")
    found = documents_of(tmp_path)
    assert found == Texts([f"{PROSE} on if.", f"{PROSE} on all."], ["language reference"] * 2)


def test_settings_of_the_caller_are_kept(tmp_path: Path) -> None:
    write(tmp_path, "m.py", module("escapes") + '\nx = "\\d"')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(documents_of(tmp_path).texts) == 1
    assert caught == []
    assert gc.isenabled()
    gc.disable()
    try:
        documents_of(tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(("n", "missing"), [(None, "no such folder"), (0, "are missing"), (3, "give 3 documents")])
def test_a_library_without_sources_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int | None, missing: str
) -> None:
    folder = tmp_path / "lib"
    if n is not None:
        folder.mkdir()
        write(folder, "os.py", module(*map(str, range(n))))
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(folder)})
    with pytest.raises(CorpusError, match=missing) as caught:
        python_docs()
    assert str(folder) in str(caught.value)


# Cleaning


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Add.\n\n>>> add(1,\n...     2)\n3\n\nMore prose.", "Add. More prose."),
        ("    >>> indented\n    output", ""),
        ("Use it so::\n\n    spam = eggs\n\n    ham = spam\n\nand go on.", "Use it so and go on."),
        ("Ends in code::\n\n    spam = eggs", "Ends in code"),
        ("A :class:`Name` and :py:meth:`other`.", "A `Name` and `other`."),
        ("See https://example.org/a?b=c or write to me@example.org now.", "See or write to now."),
        ("Heading\n-------\n+---+---+\ntext", "Heading text"),
        ('Grammar:\n   if_stmt ::= "if" expression ":" suite\nends.', "Grammar: ends."),
        ("x = f(a[0], b[1]) + 2\nis computed", "is computed"),
        ("Über  naïve\tcafé", "Über naïve café"),
    ],
)
def test_clean(raw: str, text: str) -> None:
    assert _clean(raw) == text


def test_public_names() -> None:
    assert all(hasattr(datasets, name) for name in datasets.__all__)
