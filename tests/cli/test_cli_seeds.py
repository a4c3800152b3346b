"""`topoi fit --seeds`: guided topics from a file."""

from __future__ import annotations

import json

import pytest

import topoi
from support.cli_files import QUICK, as_json, call, done, write_csv
from topoi.cli._stop import Stop

SEEDS = {"the weather": ["rain", "sto*", "sunny"], "fruit": ["apple", "plum"]}


@pytest.fixture
def place(tmp_path):
    write_csv(tmp_path / "posts.csv")
    (tmp_path / "seeds.json").write_text(json.dumps(SEEDS), encoding="utf-8")
    (tmp_path / "seeds.csv").write_text("the weather,rain,sto*,sunny\nfruit,apple,plum\n", encoding="utf-8")
    return tmp_path


def fit(place, *options):
    return call("fit", place / "posts.csv", "--text", "body", *QUICK, "-o", place / "model", *options)


@pytest.mark.parametrize("labels", [(), ("--label", "subject"), ("--target", "stars")])
def test_topics_have_the_names_of_the_file(place, labels):
    result = fit(place, *labels, "--seeds", place / "seeds.json", "--seed-strength", 0.5)
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "words that the vocabulary does not have are left out: of 'the weather': 'sunny'." in told
    model = topoi.load(place / "model" / "estimator.topoi")
    assert model.seeds == SEEDS
    assert model.seed_strength == 0.5
    rows = as_json("topics", place / "model", "--json")["topics"]
    assert [row["name"] for row in rows] == ["the weather", "fruit", "topic 2", "topic 3"]
    assert {"rain", "storm"} <= {word["word"] for word in rows[0]["words"]}
    assert "the weather" in done("topics", place / "model").stdout


def test_formats_make_the_same_model(place):
    assert fit(place, "--seeds", place / "seeds.json").exit_code == 0
    first = topoi.load(place / "model" / "estimator.topoi").components_
    assert fit(place, "--seeds", place / "seeds.csv", "--force").exit_code == 0
    assert topoi.load(place / "model" / "estimator.topoi").components_.tobytes() == first.tobytes()


def test_killed_and_resumed(place):
    assert fit(place, "--seeds", place / "seeds.json").exit_code == 0
    whole = topoi.load(place / "model" / "estimator.topoi").components_
    options = ("--seeds", place / "seeds.json", "--checkpoint-seconds", 0, "--force")
    with pytest.MonkeyPatch.context() as patch:  # as by SIGTERM in the first sweep
        patch.setattr(Stop, "__call__", lambda stop, progress: setattr(stop, "requested", True) or True)
        assert fit(place, *options).exit_code == 130
    assert call("resume", place / "model").exit_code == 0
    assert topoi.load(place / "model" / "estimator.topoi").components_.tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("seeds", "options", "told"),
    [
        ('{"fruit": ["rocket"]}', (), "--seeds: the topic 'fruit' has no word that the vocabulary has: 'rocket'."),
        ('{"fruit": []}', (), "--seeds: the topic 'fruit' has no words."),
        ('{"fruit": [1.5]}', (), "--seeds: the topic 'fruit' has 1.5, a float"),
        ('{"a": ["rain"], "a": ["storm"]}', (), "the topic 'a' is there twice"),
        ('{"a": ["rain"]}', ("--seed-strength", 0), "--seed-strength: must be a number from 0.001 to 100, not 0.0."),
        (json.dumps({name: ["rain"] for name in "abcde"}), (), "--seeds: names 5 topics, but --topics is 4; 'e' would"),
    ],
)
def test_refused(place, seeds, options, told):
    (place / "seeds.json").write_text(seeds, encoding="utf-8")
    result = fit(place, "--seeds", place / "seeds.json", *options)
    assert result.exit_code in (1, 2), result.output
    assert told in " ".join(result.stderr.replace("│", " ").split())
    assert not (place / "model").exists()


def test_no_such_file(place):
    result = fit(place, "--seeds", place / "none.json")
    assert result.exit_code in (1, 2)
    assert "there is no such file" in " ".join(result.stderr.split())
