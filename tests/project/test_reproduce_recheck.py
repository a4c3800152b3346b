"""`--recheck`: which results an edit leaves as they are."""

from __future__ import annotations

import pytest

from reproduce.__main__ import main
from reproduce.harness import Raw
from reproduce.quick_rows import compared, digests
from support.tiny_figure import edit


@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize(
    ("after", "said", "mark"),
    [
        ("return LEVEL * k + 0", "confirmed, the quick rows are the same", ""),
        ("return LEVEL * k + 1e-12", "the quick rows differ in `score`", "old"),
    ],
)
def test_recheck_keeps_results_whose_quick_rows_are_the_same(
    package, in_process, tmp_path, measured, capsys, scale, after, said, mark
):
    """The seeds are not measured again after such an edit, and are after another."""
    out = tmp_path / "out"
    command = ["tiny", *([] if scale == "full" else ["--quick"]), "--output", str(out)]
    main(command, package)
    n = len(measured())
    edit(tmp_path / package / "tiny.py", "return LEVEL * k", after)
    main(["tiny", "--recheck", "--output", str(out)], package)
    assert f"tiny: tiny.level; {said}\n" in capsys.readouterr().out
    page = (out / "README.md").read_text("utf-8")
    kept = "by its quick settings, whose rows are as they were: edited since it was measured: `tiny.level`."
    assert ("(old)" in page) == bool(mark)
    assert (kept in page) == (not mark)
    main(command, package)
    assert len(measured()) == (2 * n if mark else n)


def test_recheck_shows_nothing_of_times(package, in_process, tmp_path, measured, capsys):
    """They stay those of the older source, which the page says, and are not averaged with newer ones."""
    out, module = tmp_path / "out", tmp_path / package / "tiny.py"
    edit(module, "+ 2 * seed}", '+ 2 * seed, "train": time.perf_counter()}')
    edit(module, "import sys\n", "import sys\nimport time\n")
    command = ["tiny", "--quick", "--output", str(out)]
    main(command, package)
    edit(module, "return LEVEL * k", "return k * LEVEL")
    main(["tiny", "--recheck", "--output", str(out)], package)
    assert "confirmed, the quick rows are the same but for train\n" in capsys.readouterr().out
    page = (out / "README.md").read_text("utf-8")
    assert "yes (older times) |" in page
    assert "Not compared, for they are of times: `train`." in page
    raw = Raw(out, "tiny")
    del raw.seeds[1]
    raw.write()
    main(command, package)
    assert len(measured()) == 6
    assert Raw(out, "tiny").older_times() == []


def test_recheck_needs_rows_to_compare(package, in_process, tmp_path, monkeypatch, capsys):
    """Results that kept none, figures of nothing but times, and quick settings that fail stay old."""
    out, module = tmp_path / "out", tmp_path / package / "tiny.py"
    recheck = ["tiny", "--recheck", "--output", str(out)]
    main(["tiny", "--output", str(out)], package)
    raw = Raw(out, "tiny")
    raw.quick = {}
    raw.write()
    edit(module, "return LEVEL * k", "return k * LEVEL")
    main(recheck, package)
    assert "no quick rows were kept" in capsys.readouterr().out
    main(["tiny", "--output", str(out)], package)
    edit(module, "return k * LEVEL", "return time.perf_counter() * k")
    edit(module, "import sys\n", "import sys\nimport time\n")
    main(recheck, package)
    assert "the quick rows are of nothing but times" in capsys.readouterr().out
    monkeypatch.setattr("reproduce.harness.alone", lambda *_: {"failed": "out of luck"})
    main(recheck, package)
    said = capsys.readouterr().out
    assert "tiny, quick: out of luck" in said
    assert "confirmed" not in said
    assert Raw(out, "tiny").changes() == ["tiny.level"]


def test_what_two_runs_and_the_kept_rows_show():
    """A number that cannot be represented, and columns that are new or gone, count as they should."""
    before = [{"K": 1, "score": float("nan"), "gone": 1, "train": 0.1}, {"K": 2, "score": 0.5, "train": 0.2}]
    now = [{"K": 1, "score": float("nan"), "new": 1, "train": 0.3}, {"K": 2, "score": 0.5, "train": 0.2}]
    again = [{"K": 1, "score": float("nan"), "new": 1, "train": 0.4}, {"K": 2, "score": 0.5, "train": 0.2}]
    seen = compared(digests(before), digests(now), digests(again), ["K"])
    assert (sorted(seen.changed), seen.times, seen.same) == (["gone", "new"], ["train"], ["score"])
    assert not seen.confirms
    of_keys_alone = compared(digests([{"K": 1}]), digests([{"K": 1}]), digests([{"K": 1}]), ["K"])
    assert not of_keys_alone.confirms
