"""JSON from strangers: too deep, too large or with endless numbers, it is refused by an error of our own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cli_files import call
from support.reader_files import error_of, read
from topoi._disk import strict_json
from topoi.chain.checkpoint import Checkpoints
from topoi.corpus import Corpus
from topoi.errors import CorpusError, ParameterError

HOSTILE = {
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "just too deep": "[" * 101 + "]" * 101,
    "never closed": '{"n_words": "' + '\\"' * 100_000,
    "a number without end": '{"version": 1' + "0" * 4000 + "}",
    "more digits than Python takes": "1" * 5000,
    "not UTF-8": b"\xff\xfe",
    "a BOM": "\ufeff{}",
    "nothing": "",
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_python_writes_is_read(value):
    assert strict_json.parse(json.dumps(value)) == value
    assert strict_json.parse(json.dumps(value, ensure_ascii=False)) == value


def test_brackets_in_strings_do_not_count():
    text = json.dumps({"text": '["\\{' * 100_000})
    assert strict_json.parse(text) == json.loads(text)
    assert strict_json.parse("[" * 100 + "]" * 100)


def test_many_small_values_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="more than 1000000 lists and objects"):
        strict_json.parse("[" + "[]," * 1_000_001 + "[]]")
    assert "more than 1000000 lists" in error_of('{"text": [' + "{}," * 1_000_001 + "{}]}", format="jsonl")


@pytest.mark.parametrize("what", HOSTILE)
def test_files_of_our_own(what, tmp_path):
    content = HOSTILE[what]
    content = content if isinstance(content, bytes) else content.encode("utf-8")

    def write(path):
        path.write_bytes(content)

    Corpus.from_counts(np.eye(3, dtype=int), ["a", "b", "c"]).save(tmp_path / "corpus")
    for name in ("vocabulary.json", "corpus.json"):
        write(tmp_path / "corpus" / name)
        with pytest.raises(CorpusError, match="is not a saved corpus, or is damaged"):
            Corpus.load(tmp_path / "corpus")
    write(tmp_path / "seed.json")
    with pytest.raises(ParameterError, match=r"seed\.json is damaged"):
        Checkpoints(tmp_path).seed(1)
    for name, command in (("topoi.json", "topics"), ("unfinished.json", "resume")):
        write(tmp_path / name)
        result = call(command, tmp_path)
        assert (result.exit_code, name in result.stderr) == (2, True), result.output
        assert len(result.stderr.splitlines()) == 1


def test_numbers_of_other_types_in_a_seed(tmp_path):
    for seed in ("true", "-1", "1.5", "4294967296", "null"):
        (tmp_path / "seed.json").write_text(seed, "utf-8")
        with pytest.raises(ParameterError, match=r"seed\.json is damaged"):
            Checkpoints(tmp_path).seed(1)


@pytest.mark.parametrize("value", ["[" * 99 + "]" * 99, '["\\ud800", ' + "[" * 95 + "]" * 95 + "]"])
@pytest.mark.parametrize("key", ["text", "label", "id", "other"])
def test_deep_values_in_json_lines(key, value):
    line = json.dumps({"text": "one", "label": "a", "id": 1}).replace("}", f', "{key}": {value}}}')
    data = read(line + '\n{"text": "two", "label": "b", "id": 2}\n', format="jsonl", label="label", id="id",
                on_error="skip")  # fmt: skip
    assert data.n_skipped == (key != "other")


def test_a_pipe_in_place_of_a_file(tmp_path):
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "seed.json")
    with pytest.raises(ParameterError, match=r"seed\.json is damaged"):
        Checkpoints(tmp_path).seed(1)
