"""What is written of the figures: CSV and picture of each, and one page that sets them beside the papers' claims."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reproduce.harness import Figure, Raw, Verdict
from reproduce.source import stamp
from reproduce.table import Table

SIZE = (9.0, 3.8)  # inches
DPI = 90
INTRODUCTION = """\
# The papers, reproduced

Every figure and table of the five papers, and some of our own, made again by one command:

    TOPOI_DATA=~/data python -m reproduce NAME…     # or --all, or --list; with --quick the small settings

[How to run it](../../reproduce/README.md).

Beside each claim stands what was measured here; the verdict is computed from the numbers. *Quick* runs are small (the
settings say how small): read shapes and ratios, not digits. ± is the standard deviation over seeds. The CSV files have
all numbers, the JSON files the rows of each seed.
"""


def write(figures: Iterable[Figure], output: Path) -> tuple[list[str], list[str]]:
    """Write CSV, picture and page of every figure that has rows in the folder; returns verdicts and faults.

    Rows that a figure cannot judge, since it has changed since, leave it out of the page.
    """
    output.mkdir(parents=True, exist_ok=True)
    judged, sections, raws, faults = [], [], [], []
    for figure in figures:
        raw = Raw(output, figure.name)
        if not raw.seeds:
            continue
        try:
            table = raw.table(figure.keys)
            verdict = figure.judge(table)
            table.write(output / f"{figure.name}.csv")
            draw(figure, table, output / f"{figure.name}.png")
        except Exception as error:  # of the figure's own code, whatever it is
            faults.append(f"{figure.name}: its rows cannot be judged or drawn, run it again ({error!r})")
            continue
        judged.append((figure, verdict))
        sections.append(section(figure, raw, verdict))
        raws.append(raw)
    if judged:
        text = "\n".join([INTRODUCTION, summary(judged), *sections, provenance(raws)])
        (output / "README.md").write_text(text, "utf-8")
    return [f"{figure.name}: {verdict.holds}. {verdict.text}" for figure, verdict in judged], faults


def draw(figure: Figure, table: Table, path: Path) -> None:
    """Write the picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    picture = plt.figure(figsize=SIZE, layout="constrained")
    figure.draw(table, picture)
    picture.savefig(path, dpi=DPI, metadata={"Software": None})
    plt.close(picture)


def summary(judged: list[tuple[Figure, Verdict]]) -> str:
    """A table of all verdicts."""
    rows = [
        f"| {figure.paper} | [{figure.title}](#{figure.name}) | `{figure.name}` | {verdict.holds} |"
        for figure, verdict in judged
    ]
    return "\n".join(["| paper | what | name | holds here |", "| --- | --- | --- | --- |", *rows, ""])


def section(figure: Figure, raw: Raw, verdict: Verdict) -> str:
    """Claim and measurement side by side, the picture, and how it was made."""
    entries = list(raw.seeds.values())
    seconds = sum(entry["seconds"] for entry in entries)
    sources = sorted({entry["versions"]["topoi"] for entry in entries})
    kind = "quick" if raw.quick else "full"
    now = stamp(figure.judge.__module__.split(".")[0], figure.name)
    edited = "The source that it was measured with was edited since: run it again before quoting it."
    facts = [
        f"Settings ({kind}): {figure.settings[0 if raw.quick else 1]}",
        *([f"Full settings: {figure.settings[1]}"] if raw.quick else []),
        *([f"Data: {figure.stand_in}"] if figure.stand_in else []),
        f"{len(entries)} seed{'s' if len(entries) > 1 else ''}, {seconds:.0f} CPU seconds in all, "
        f"{max(entry['date'] for entry in entries)}, topoi {', '.join(sources)}. "
        f"Numbers: [{figure.name}.csv]({figure.name}.csv).",
        *([edited] if any(entry["source"] != now for entry in entries) else []),
    ]
    return "\n".join(
        [
            f'<a id="{figure.name}"></a>\n',
            f"## {figure.title}\n",
            f"{figure.paper} · `python -m reproduce {figure.name}`\n",
            "| the paper | here |\n| --- | --- |",
            f"| {_cell(figure.claim)} | **Holds: {verdict.holds}.** {_cell(verdict.text)} |\n",
            f"![{figure.title}]({figure.name}.png)\n",
            *(f"- {fact}" for fact in facts),
            "",
        ]
    )


def provenance(raws: list[Raw]) -> str:
    """Machines and versions of all measurements; topoi's own stand with the figures."""
    entries = [entry for raw in raws for entry in raw.seeds.values()]
    lines = ["## Machine and versions\n"]
    lines += [f"- Machine: {_join(found)}." for found in _different(entry["machine"] for entry in entries)]
    others = [{k: v for k, v in entry["versions"].items() if k != "topoi"} for entry in entries]
    lines += [f"- Versions: {_join(found)}." for found in _different(others)]
    lines.append("- Time is CPU time (`time.process_time`), one thread, one core, nothing else of the run beside it.")
    return "\n".join(lines) + "\n"


def _different(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in dict.fromkeys(json.dumps(one) for one in found)]


def _join(pairs: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
