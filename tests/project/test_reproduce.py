"""The harness of reproduce/, on a figure that takes no time; no data is needed."""

from __future__ import annotations

import csv
import textwrap

import numpy as np
import pytest

from benchmarks.harness import statements
from reproduce.__main__ import main
from reproduce.harness import Raw, Verdict
from reproduce.source import stamp
from reproduce.table import Table
from support.places import ROOT

TINY = '''
"""A figure of numbers that are known."""
import os
from reproduce.harness import Figure, Verdict

LEVEL = 10.0

def measure(quick, seed):
    with open(os.environ["TINY_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{seed} {quick}\\n")
    if os.environ.get("TINY_FAILS") == str(seed):
        raise RuntimeError("out of luck")
    return [{"method": m, "K": k, "score": LEVEL * k + 2 * seed} for m in ("a", "b|c") for k in (1, 2)]

def judge(table):
    top = table.mean("score", method="a", K=2)
    return Verdict("yes" if top > 10 else "no", f"the score | is {top:.1f} ± {table.sd('score', method='a', K=2):.2f}")

def draw(table, figure):
    axis = figure.subplots()
    axis.errorbar(*table.curve("K", "score", method="a"))

FIGURE = Figure("tiny", "Paper, Fig. 10", "Scores", "the score | is above 10", "", ("small.", "large."), (3, 4),
                measure, ("method", "K"), judge, draw)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one figure and one helper, whose name no other test has imported."""
    name = f"figures_{tmp_path.name.replace('-', '_')}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "helper.py").write_text("x = 1\n", "utf-8")
    (folder / "tiny.py").write_text(TINY, "utf-8")
    log = tmp_path / "log"
    log.touch()
    monkeypatch.setenv("TINY_LOG", str(log))
    # The process of a seed imports the figure too.
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(ROOT)
    stamp.cache_clear()
    return name


@pytest.fixture
def in_process(monkeypatch):
    """Seeds are measured right here, which is quicker."""
    monkeypatch.setattr("reproduce.harness.alone", lambda function, *arguments: function(*arguments))


@pytest.fixture
def measured(tmp_path):
    """Which seeds were measured so far, sorted: two run at a time."""
    return lambda: sorted((tmp_path / "log").read_text("utf-8").splitlines())


def test_runs_and_goes_on(package, tmp_path, measured, capsys):
    command = ["tiny", "--quick", "--output", str(tmp_path / "out")]
    assert main(command, package) == 0
    assert measured() == ["0 True", "1 True", "2 True"]
    assert "tiny: yes. the score | is 22.0 ± 2.00" in capsys.readouterr().out
    assert main(command, package) == 0  # nothing left to measure
    assert len(measured()) == 3
    raw = Raw(tmp_path / "out", "tiny")
    del raw.seeds[1]
    raw.put(True, 0, raw.seeds[0])
    assert main(command, package) == 0
    assert measured() == ["0 True", "1 True", "1 True", "2 True"]
    assert main([*command, "--fresh"], package) == 0
    assert len(measured()) == 7


def test_writes_table_picture_and_page(package, in_process, tmp_path):
    out = tmp_path / "out"
    assert main(["--all", "--quick", "--output", str(out)], package) == 0
    with (out / "tiny.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], row["K"]) for row in rows] == [("a", "1"), ("a", "2"), ("b|c", "1"), ("b|c", "2")]
    assert rows[1] == {"method": "a", "K": "2", "seeds": "3", "score": "22", "score_sd": "2"}
    assert (out / "tiny.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "README.md").read_text("utf-8")
    assert "| the score \\| is above 10 | **Holds: yes.** the score \\| is 22.0 ± 2.00 |" in page
    assert "Settings (quick): small." in page
    assert "Full settings: large." in page
    assert "![Scores](tiny.png)" in page
    assert str(tmp_path) not in page
    assert "edited since" not in page
    raw = Raw(out, "tiny")
    raw.put(True, 0, raw.seeds[0] | {"source": "other"})
    main(["--page", "--output", str(out)], package)
    assert "edited since" in (out / "README.md").read_text("utf-8")


def test_rows_of_other_keys_leave_the_page(package, in_process, tmp_path, capsys):
    """As rows are that were measured before a figure got another key."""
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    raw = Raw(out, "tiny")
    for seed, entry in list(raw.seeds.items()):
        rows = [{name: value for name, value in row.items() if name != "method"} for row in entry["rows"][:2]]
        raw.put(True, seed, entry | {"rows": rows})
    main(["--page", "--output", str(out)], package)
    assert "of an earlier form of this figure" in (out / "README.md").read_text("utf-8")


def test_page_is_written_anew_without_measuring(package, in_process, tmp_path, measured):
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    (out / "README.md").unlink()
    (out / "tiny.png").unlink()
    assert main(["--page", "--output", str(out)], package) == 0
    assert (out / "README.md").exists()
    assert (out / "tiny.png").exists()
    assert len(measured()) == 3


def test_a_seed_that_fails_is_told_and_tried_again(package, tmp_path, measured, monkeypatch, capsys):
    command = ["tiny", "--quick", "--output", str(tmp_path / "out")]
    monkeypatch.setenv("TINY_FAILS", "1")
    assert main(command, package) == 1
    assert "tiny, seed 1: RuntimeError: out of luck" in capsys.readouterr().out
    assert "2 seeds" in (tmp_path / "out" / "README.md").read_text("utf-8")
    monkeypatch.delenv("TINY_FAILS")
    assert main(command, package) == 0
    assert measured() == ["0 True", "1 True", "1 True", "2 True"]


def test_rows_that_no_longer_fit_are_told(package, in_process, tmp_path, capsys):
    """They neither stop the page nor are mixed with new ones."""
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    raw = Raw(out, "tiny")
    entry = raw.seeds[0]
    for row in entry["rows"]:
        row["K"] += 5
    raw.put(True, 0, entry | {"source": "other"})
    assert list(Raw(out, "tiny").seeds) == [0]
    assert main(["--page", "--output", str(out)], package) == 1
    assert "tiny: its rows cannot be judged or drawn, run it again" in capsys.readouterr().out
    assert main(["tiny", "--quick", "--output", str(out)], package) == 0
    assert sorted(Raw(out, "tiny").seeds) == [0, 1, 2]


def test_quick_results_are_not_mixed_with_full_ones(package, in_process, tmp_path, measured):
    command = ["tiny", "--output", str(tmp_path / "out")]
    main([*command, "--quick"], package)
    with pytest.raises(SystemExit, match=r"holds quick results and you ask for full ones.*--fresh"):
        main(command, package)
    assert main([*command, "--fresh"], package) == 0
    assert measured()[-1] == "3 False"


def test_edits_of_what_is_measured_count(package, tmp_path):
    module = tmp_path / package / "tiny.py"

    def now(text):
        module.write_text(text, "utf-8")
        stamp.cache_clear()
        return stamp(package, "tiny")

    before = now(TINY)
    assert now(TINY.replace("def judge", "# a comment\ndef judge")) == before
    assert now(TINY.replace("top > 10", "top > 30")) == before
    assert now(TINY.replace("is above 10", "is above 30")) == before
    assert now(TINY.replace("LEVEL = 10.0", "LEVEL = 11.0")) != before
    assert now(TINY + "\nfrom topoi.chain.loop import run\n") == now(TINY + "\nfrom topoi.loop import run\n") != before
    assert now(TINY + "\nfrom topoi.chain.loop import Run\n") != now(TINY + "\nfrom topoi.chain.loop import run\n")
    assert now(TINY + "\nfrom topoi.chain.samples import run\n") != now(TINY + "\nfrom topoi.chain.loop import run\n")
    with_helper = now(TINY + f"\nfrom {package}.helper import x\n")
    (tmp_path / package / "helper.py").write_text("x = 2\n", "utf-8")
    assert now(TINY + f"\nfrom {package}.helper import x\n") != with_helper


def test_list(package, capsys):
    assert main(["--list"], package) == 0
    assert capsys.readouterr().out == "tiny  Paper, Fig. 10: Scores\n"


@pytest.mark.parametrize(("arguments", "message"), [(["nothing"], "no figure is called nothing"), ([], "name figures")])
def test_bad_calls(package, arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments, package)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_average():
    seeds = [[{"K": 1, "x": 1.0}, {"K": 2, "x": 5.0}], [{"K": 2, "x": 7.0}, {"K": 1, "x": 2.0}], [{"K": 1, "x": 6.0}]]
    table = Table.average(seeds, ["K"])
    assert table.mean("x", K=1) == 3.0
    assert table.sd("x", K=1) == pytest.approx(np.sqrt(7))
    assert table.mean("x", K=2) == 6.0
    assert [line.n_seeds for line in table.lines] == [3, 2]
    at, mean, _ = table.curve("K", "x")
    assert (at.tolist(), mean.tolist()) == ([1, 2], [3.0, 6.0])
    assert np.isnan(Table.average(seeds[:1], ["K"]).sd("x", K=1))
    with pytest.raises(LookupError, match="0 lines"):
        table.mean("x", K=3)


def test_rows_that_cannot_be_averaged():
    with pytest.raises(ValueError, match="lacks its key 'K'"):
        Table.average([[{"x": 1.0}]], ["K"])
    with pytest.raises(ValueError, match="the same keys"):
        Table.average([[{"K": 1, "x": 1.0}, {"K": 1, "x": 2.0}]], ["K"])


def test_verdict_is_one_of_four():
    with pytest.raises(ValueError, match="not 'perhaps'"):
        Verdict("perhaps", "")


def test_no_data_is_told(monkeypatch, tmp_path):
    from reproduce.corpora import corpus

    monkeypatch.delenv("TOPOI_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"set TOPOI_DATA to the folder that holds uci_kos/counts.npz"):
        corpus("kos")
    monkeypatch.setenv("TOPOI_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"its folder uci_kos lacks counts.npz"):
        corpus("kos")


def test_what_a_module_says():
    """Statements, with what their comments, docstrings and the places of imported modules add to them left out."""
    source = """
        '''A module.'''
        from topoi.chain.loop import run  # moved
        from . import other

        def kernel(x):
            '''Doubles.'''
            return 2 * x

        class Empty:
            '''Nothing.'''
    """
    assert statements(textwrap.dedent(source)) == [
        "from loop import run", "from . import other", "def kernel(x):\n    return 2 * x", "class Empty:\n    pass"
    ]  # fmt: skip
