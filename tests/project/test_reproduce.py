"""The harness of reproduce/, on a figure that takes no time; no data is needed."""

from __future__ import annotations

import csv
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from benchmarks.harness import statements
from reproduce import ran
from reproduce.__main__ import listing, main
from reproduce.harness import Raw, Verdict
from reproduce.pieces import Pieces, keep_in, piece
from reproduce.table import Table
from support.tiny_figure import edit


def test_runs_and_goes_on(package, tmp_path, measured, capsys):
    command = ["tiny", "--quick", "--output", str(tmp_path / "out")]
    assert main(command, package) == 0
    assert measured() == ["0 quick", "1 quick", "2 quick"]
    assert "tiny: yes. the score | is 22.0 ± 2.00" in capsys.readouterr().out
    assert main(command, package) == 0  # nothing left to measure
    assert len(measured()) == 3
    raw = Raw(tmp_path / "out", "tiny")
    del raw.seeds[1]
    raw.put("quick", 0, raw.seeds[0])
    assert main(command, package) == 0
    assert measured() == ["0 quick", "1 quick", "1 quick", "2 quick"]
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
    assert "edited since it was measured" not in page
    assert "What fits into a few minutes: middling." in page


def test_rows_of_other_keys_leave_the_page(package, in_process, tmp_path, capsys):
    """As rows are that were measured before a figure got another key."""
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    raw = Raw(out, "tiny")
    for seed, entry in list(raw.seeds.items()):
        rows = [{name: value for name, value in row.items() if name != "method"} for row in entry["rows"][:2]]
        raw.put("quick", seed, entry | {"rows": rows})
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
    assert measured() == ["0 quick", "1 quick", "1 quick", "2 quick"]


def test_rows_that_no_longer_fit_are_told(package, in_process, tmp_path, capsys):
    """They neither stop the page nor are mixed with new ones."""
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    raw = Raw(out, "tiny")
    entry = raw.seeds[0]
    for row in entry["rows"]:
        row["K"] += 5
    edit(tmp_path / package / "tiny.py", "return LEVEL * k", "return k * LEVEL")
    raw.put("quick", 0, entry)
    assert list(Raw(out, "tiny").seeds) == [0]
    assert main(["--page", "--output", str(out)], package) == 1
    assert "tiny: its rows cannot be judged or drawn, run it again" in capsys.readouterr().out
    assert main(["tiny", "--quick", "--output", str(out)], package) == 0
    assert sorted(Raw(out, "tiny").seeds) == [0, 1, 2]


def test_scales_are_not_mixed(package, in_process, tmp_path, measured):
    """A larger one takes the place of a smaller one; never the other way."""
    command = ["tiny", "--output", str(tmp_path / "out")]
    main([*command, "--quick"], package)
    assert len(measured()) == 3
    assert main([*command, "--fits"], package) == 0
    assert [line for line in measured() if "fits" in line] == ["0 fits", "1 fits"]
    assert "Settings (fits): middling." in (tmp_path / "out" / "README.md").read_text("utf-8")
    with pytest.raises(SystemExit, match=r"holds fits results and you ask for quick ones.*--fresh"):
        main([*command, "--quick"], package)
    assert main(command, package) == 0
    assert list(Raw(tmp_path / "out", "tiny").seeds) == [0, 1, 2, 3]
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "1 figures are run with the settings of the paper" in page
    assert "Where these say nothing, as in the small run: small." in page
    assert "middling" not in page


@pytest.mark.parametrize(
    ("before", "after", "old"),
    [
        ("def judge", "# a comment\ndef judge", ""),
        ("top > 10", "top > 30", ""),
        ("is above 10", "is above 30", ""),
        ("def draw", "def unused():\n    return 1\n\ndef draw", ""),
        ("LEVEL = 10.0", "LEVEL = 11.0", "`tiny.LEVEL`"),
        ("return LEVEL * k", "return LEVEL * k + 0", "`tiny.level`"),
        ("2 * seed}", "3 * seed}", "`tiny.measure`"),
    ],
)
def test_edits_of_what_ran_count(package, in_process, tmp_path, before, after, old):
    out = tmp_path / "out"
    main(["tiny", "--quick", "--output", str(out)], package)
    edit(tmp_path / package / "tiny.py", before, after)
    main(["--page", "--output", str(out)], package)
    page = (out / "README.md").read_text("utf-8")
    assert f"Of its 1 figures {int(bool(old))} are *old*" in page
    assert f"edited since it was measured: {old}." in page or not old


def test_recheck_finds_what_runs_now_and_did_not(package, in_process, tmp_path, capsys):
    """As a function that a registry names by another string: no definition that ran was edited."""
    out = tmp_path / "out"
    command = ["tiny", "--quick", "--output", str(out)]
    main(command, package)
    assert main(["tiny", "--recheck", "--output", str(out)], package) == 0
    assert "tiny: nothing changed" in capsys.readouterr().out
    raw = Raw(out, "tiny")
    raw.ran = [said for said in raw.ran if not said.startswith("tiny.level ")]
    raw.found = []
    raw.write()
    assert raw.changes() == []
    main(["tiny", "--recheck", "--output", str(out)], package)
    assert "tiny: tiny.level; confirmed, the quick rows are the same\n" in capsys.readouterr().out
    assert Raw(out, "tiny").changes() == []


SOURCE = {
    "kernels.py": """
        from numba import njit
        from .rest import WIDTH
        LINES = {"a": 1, "b": 2}
        LIMIT = 3

        @njit
        def inner(x):
            return x + WIDTH

        @njit
        def outer(x: LIMIT) -> LIMIT:
            return inner(x)

        class Sampler:
            least = LINES

            def sweep(self):
                'Told, not run.'
                return outer(1)

            def other(self):
                return plain(2)

        def plain(x):
            return [LIMIT for _ in range(x)]
    """,
    "rest.py": """
        WIDTH = 16
        NARROW = 1
    """,
}


@pytest.fixture
def some_source(tmp_path):
    """The definitions of a small package, as of topoi or of reproduce."""

    def made(package, files=SOURCE):
        folder = tmp_path / package
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(textwrap.dedent(text), "utf-8")
        return ran.Source({package: folder})

    return made


def test_compiled_functions_and_constants_are_found_from_the_source(some_source):
    """Those that what ran uses: not other methods, plain functions that did not run, or annotations."""
    source = some_source("topoi")
    found = source.with_what_they_use([("topoi.kernels", "Sampler.sweep")])
    names = {said.rpartition(" ")[0] for said in found}
    assert names == {
        "kernels.Sampler.sweep", "kernels.Sampler", "kernels.LINES", "kernels.outer", "kernels.inner", "rest.WIDTH"
    }  # fmt: skip
    names = {said.rpartition(" ")[0] for said in source.with_what_they_use([("topoi.kernels", "plain")])}
    assert names == {"kernels.plain", "kernels.LIMIT"}


@pytest.mark.parametrize(
    ("file", "before", "after", "n_lost"),
    [
        ("kernels.py", "x + WIDTH", "x - WIDTH", 1),
        ("rest.py", "WIDTH = 16", "WIDTH = 8", 1),
        ("rest.py", "NARROW = 1", "NARROW = 2", 0),
        ("kernels.py", "plain(2)", "plain(3)", 0),
        ("kernels.py", "Told, not run.", "Told otherwise.", 0),
        ("kernels.py", '"b": 2}', '"b": 2, "c": 3}', 0),
        ("kernels.py", '"b": 2}', '"b": 3}', 1),
        ("kernels.py", "from .rest", "from topoi.rest", 0),
    ],
)
def test_what_an_edit_makes_old(some_source, file, before, after, n_lost):
    found = some_source("topoi").with_what_they_use([("topoi.kernels", "Sampler.sweep")])
    assert before in SOURCE[file]
    now = some_source("topoi", SOURCE | {file: SOURCE[file].replace(before, after)}).everything
    assert len(set(found) - now) == n_lost


def test_entries_of_figures_count_whole(some_source):
    """Where a figure goes through a dictionary, one more entry is another measurement."""
    found = some_source("figures").with_what_they_use([("figures.kernels", "Sampler.sweep")])
    more = SOURCE["kernels.py"].replace('"b": 2}', '"b": 2, "c": 3}')
    assert len(set(found) - some_source("figures", SOURCE | {"kernels.py": more}).everything) == 1


def test_trace_sees_functions_in_threads_and_none_afterwards():
    def work():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(listing, {}).result()

    before = sys.gettrace()
    answer, found = ran.traced(work)
    assert answer == ""
    assert any(said.startswith("__main__.listing ") for said in found)
    assert sys.gettrace() is before


def test_pieces_that_are_done_are_not_done_again(tmp_path):
    done = []

    def work(x):
        done.append(x)
        return [{"x": x, "y": 0.1 * x}]

    path = tmp_path / "pieces.json"
    assert piece(("a", 3), work, 3) == [{"x": 3, "y": 0.1 * 3}]  # kept nowhere
    try:
        for made_with, n_done in ((["quick", ["f 1"]], 3), (["quick", ["f 1"]], 3), (["quick", ["f 2"]], 5)):
            keep_in(Pieces(path, made_with))
            assert piece(("a", 3), work, 3) == [{"x": 3, "y": 0.1 * 3}]
            assert piece(("a", 4), work, 4) == [{"x": 4, "y": 0.1 * 4}]
            assert len(done) == n_done
    finally:
        keep_in(None)
    Pieces(path, ["quick", ["f 2"]]).drop()
    assert not path.exists()


STOPPING = """
    if not sys.gettrace():
        if os.environ.get("TINY_STOPS") == str(k):
            raise KeyboardInterrupt
        with open(os.environ["TINY_LOG"], "a", encoding="utf-8") as log:
            log.write("piece\\n")
    return LEVEL * k
"""


def test_a_killed_seed_goes_on(package, in_process, tmp_path, monkeypatch):
    """What was done of it is not done again, and its pieces are gone when it is done."""
    out, module = tmp_path / "out", tmp_path / package / "tiny.py"
    edit(module, "level(k) + 2", "piece((k, m), level, k) + 2")
    edit(module, "import sys\n", "import sys\nfrom reproduce.pieces import piece\n")
    edit(module, "    return LEVEL * k\n", STOPPING)
    monkeypatch.setattr("reproduce.harness.AT_A_TIME", 1)
    monkeypatch.setenv("TINY_STOPS", "2")
    with pytest.raises(KeyboardInterrupt):
        main(["tiny", "--quick", "--output", str(out)], package)
    assert (tmp_path / "log").read_text("utf-8").count("piece") == len(list((out / ".pieces").iterdir())) > 0
    monkeypatch.delenv("TINY_STOPS")
    assert main(["tiny", "--quick", "--output", str(out)], package) == 0
    assert (tmp_path / "log").read_text("utf-8").count("piece") == 3 * 4
    assert list((out / ".pieces").iterdir()) == []


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
