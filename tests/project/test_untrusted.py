"""Models and folders from strangers: no pattern, encoding or number in them takes time or memory without end."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading

import numpy as np
import pytest
from scipy import sparse

import topoi
from support.cli_files import QUICK, call, done, write_csv
from topoi import LDA, MedLDAClassifier, ParameterError
from topoi._disk.store import ModelError
from topoi._machine.pool import MOST_THREADS, Pool
from topoi.chain.model import MOST_EMPTY, TopicModel
from topoi.chain.priors import fixed_priors
from topoi.corpus.text.simple_pattern import LONGEST, is_simple
from topoi.estimators.saved import BELIEVED
from topoi.readers import read_documents

ENDLESS = r"(?:\w|\w\w)*!"
SIMPLE = [
    r"(?u)\b\w\w+\b", r"\S+", r"[a-zA-Z]+", r"\w+", r"[^\W\d_]{2,}", r"\b[a-z][a-z0-9_]{2,}\b", r"\w+(?:[-']\w+)*",
    r"\b\w+(?:[-']\w+)*\b", r"[a-z]+|\d+|[^\w\s]", r"\b\w{3}\b", r"[a-zäöü]{2,30}", r"\b[^\W\d_]+\b", r"\$\d+", r"\w",
]  # fmt: skip
NOT_SIMPLE = [
    ENDLESS, r"(a+)+$", r"(?:a|a)*b", r"(\w+)", r".*x", r"\w+z", r"\w*\w*\w*z", r"\w+\w+", r"a{1,9}{1,9}", r"\w{999,}",
    r"[a_]+(?:_[a_]+)*\b", r"\b[a_]+(?:_[a_]+)*\b", r"\b\w+(?:-[\w-]+)*\b", r"[\w-]+\b", r"\b[\w-]+\b", r"[a-z]+\b",
    r"\W+\b", r"\1", r"(?=a)", r"(?i)a+", r"[[:alpha:]]+", r"\Bx", r"a++b", "", "a|", "x" * (LONGEST + 1), "[a", "a)",
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untrusted")
    write_csv(folder / "posts.csv")
    options = ("--text", "body", "--label", "subject", *QUICK)
    done("fit", folder / "posts.csv", *options, "--token-pattern", r"[a-z]+", "-o", folder / "model")
    return folder


def forged(place, to, name="topoi.json", **changes):
    """The model with other options of reading in its JSON file."""
    shutil.copytree(place / "model", to)
    about = json.loads((to / name).read_text("utf-8"))
    about["reading"] |= changes
    (to / name).write_text(json.dumps(about), "utf-8")
    return to


def test_patterns():
    assert [pattern for pattern in SIMPLE if not is_simple(pattern)] == []
    assert [pattern for pattern in NOT_SIMPLE if is_simple(pattern)] == []


@pytest.mark.parametrize("pattern", SIMPLE)
def test_simple_patterns_need_no_more_steps_than_characters(pattern):
    """Texts on which a way back would be tried at every character: 200,000 of them would take hours."""
    for text in ("a" * 200_000 + "!", "-" * 200_000, "a-" * 100_000 + "1", "a" * 200_000 + "1", "_1" * 100_000 + "é"):
        re.findall(pattern, text)


@pytest.mark.parametrize(
    "command",
    [
        ("predict", "{model}", "{posts}"),
        ("transform", "{model}", "{posts}"),
        ("explain", "{model}", "{posts}"),
        ("explain", "{model}", "--text", "apple" * 20),
        ("export", "{model}", "{posts}", "-f", "doc-topic", "-o", "{out}.csv"),
        ("report", "{model}", "{posts}", "-o", "{out}.html"),
        ("evaluate", "{model}", "{posts}"),
    ],
)
def test_a_pattern_of_a_stranger(place, tmp_path, command):
    """It is refused; the same, given by the user, is used."""
    model = forged(place, tmp_path / "model", token_pattern=ENDLESS)
    parts = {"model": model, "posts": place / "posts.csv", "out": tmp_path / "out"}
    arguments = [part.format(**parts) for part in command]
    result = call(*arguments)
    assert result.exit_code == 2
    assert f"--token-pattern '{ENDLESS}'" in result.stderr.replace("\n", "")
    assert done(*arguments, "--token-pattern", r"(?:[a-z]+)").exit_code == 0
    assert done("topics", model).exit_code == 0  # nothing is cut


def test_a_pattern_of_a_stranger_and_counts(place, tmp_path):
    """Counts are not cut: nothing is asked."""
    model = forged(place, tmp_path / "model", token_pattern=ENDLESS)
    done("convert", place / "posts.csv", tmp_path / "posts.svm", "--text", "body")
    assert done("transform", model, tmp_path / "posts.svm").exit_code == 0


@pytest.mark.parametrize("encoding", ["punycode", "idna"])
def test_encodings_whose_time_grows_with_the_square(place, tmp_path, encoding):
    with pytest.raises(ParameterError, match="names of hosts"):
        read_documents(place / "posts.csv", encoding=encoding)
    assert call("predict", forged(place, tmp_path / "model", encoding=encoding), place / "posts.csv").exit_code == 2


def unfinished(place, folder, **changes):
    """The folder of a fit that was killed, with other settings or patterns in its note."""
    folder.mkdir()
    order = {
        "source": str(place / "posts.csv"),
        "reading": {"text": "body", "token_pattern": changes.pop("token_pattern", None)},
        "settings": vars(topoi.cli._settings.Settings(topics=4, sweeps=6, jobs=1)) | changes,
        "hold_out": 0.0,
        "checkpoint_seconds": 300.0,
    }
    (folder / "unfinished.json").write_text(json.dumps(order), "utf-8")
    return folder


@pytest.mark.parametrize("name", ["topics", "chains", "samples"])
def test_resume_does_not_believe_every_number(place, tmp_path, name):
    result = call("resume", unfinished(place, tmp_path / "run", **{name: 10**9}))
    assert result.exit_code == 2
    assert "n_" + name in result.stderr.replace("--", "n_")
    assert "not believed" in result.stderr


def test_resume_and_a_pattern_of_a_stranger(place, tmp_path):
    folder = unfinished(place, tmp_path / "run", token_pattern=ENDLESS)
    result = call("resume", folder)
    assert result.exit_code == 2
    assert "--token-pattern" in result.stderr
    assert done("resume", folder, "--token-pattern", "(?:[a-z]+)").exit_code == 0
    assert json.loads((folder / "topoi.json").read_text("utf-8"))["reading"]["token_pattern"] == "(?:[a-z]+)"


X = np.random.default_rng(0).poisson(0.7, (20, 15)) + (np.arange(15) == 0)
SHORT = {"n_sweeps": 3, "n_samples": 1, "random_state": 0}


@pytest.mark.parametrize("name", BELIEVED)
def test_numbers_in_a_model(tmp_path, name):
    """`set_params` after the fit is how a file comes to hold them; nothing asks before it is used."""
    model = MedLDAClassifier(3, **SHORT).fit(X, np.arange(20) % 2)
    model.set_params(**{name: BELIEVED[name]}).save(tmp_path / "at")
    assert getattr(topoi.load(tmp_path / "at"), name) == BELIEVED[name]
    model.set_params(**{name: BELIEVED[name] + 1}).save(tmp_path / "beyond")
    with pytest.raises(ModelError, match=rf"{name} is {BELIEVED[name] + 1}; .*trusted=True"):
        topoi.load(tmp_path / "beyond")
    assert getattr(topoi.load(tmp_path / "beyond", trusted=True), name) == BELIEVED[name] + 1


def with_topics(model, n_topics):
    """The same counts, among many more topics."""
    wide = [
        sparse.csr_array((m.data, m.indices, m.indptr), (m.shape[0], n_topics)) for m in (model.counts, model.counts)
    ]
    return TopicModel(*wide, model.n_samples, fixed_priors(np.full(n_topics, 0.1), model.beta), model.vocabulary)


@pytest.mark.parametrize("whole", [True, False])
def test_topics_of_a_model_that_has_no_words_for_them(tmp_path, whole):
    """They take 8 bytes each in the file, but room for each word and document of a prediction: all memory, if asked."""
    fitted = LDA(3, **SHORT).fit(X)
    most = MOST_EMPTY + fitted.model_.counts.nnz
    load = topoi.load if whole else TopicModel.load
    for n_topics in (most, most + 1):
        fitted.model_ = with_topics(fitted.model_, n_topics)
        (fitted if whole else fitted.model_).save(tmp_path / str(n_topics))
    assert load(tmp_path / str(most)) is not None
    with pytest.raises(ModelError, match=rf"there are {most + 1:,} topics, but .* counts of words; .*trusted=True"):
        load(tmp_path / str(most + 1))
    assert load(tmp_path / str(most + 1), trusted=True) is not None


def test_numbers_of_the_options_of_a_sampler(tmp_path):
    model = LDA(3, sampler="light", sampler_options={"n_mh": 2}, **SHORT).fit(X)
    model.set_params(sampler_options={"n_mh": 10**9}).save(tmp_path / "model")
    with pytest.raises(ModelError, match=r"n_mh is 1000000000"):
        topoi.load(tmp_path / "model")


def test_threads_are_no_more_than_can_be_used():
    at_once, most, lock, all_there = 0, 0, threading.Lock(), threading.Event()

    def work(_):
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        all_there.wait(0.5)
        with lock:
            at_once -= 1

    with Pool(10**9) as pool:
        pool.map(work, range(MOST_THREADS + 44))
    assert most <= max(MOST_THREADS, os.cpu_count())
