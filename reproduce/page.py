"""What is written of the figures: CSV and picture of each, and one page that sets them beside the papers' claims."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import versions
from reproduce.claims import CLAIMS, listed
from reproduce.decided import decide
from reproduce.harness import NOT_KEPT, Figure, Raw, Verdict
from reproduce.table import SCORE_GIBBS, Table

SIZE = (9.0, 3.8)  # inches
DPI = 90
FEW = 6
TOLD = {
    "full": "run with the settings of the paper",
    "fits": "run with larger ones than *quick*, a few minutes each (*fits*), where the paper's take hours",
    "quick": "quick",
}
INTRODUCTION = """\
# The papers, reproduced

The figures of measurements of the five papers, and some of our own, made again by one command. The papers' diagrams of
models and tables of notation and of corpora are not, nor are curves of methods that topoi lacks (variational MedLDA,
the older Gibbs MedLDA) and corpora that are not at hand (Enron, New York Times, PubMed, Wikipedia):

    TOPOI_DATA=~/data python -m reproduce NAME…     # or --all, or --list; with --quick or --fits smaller settings

[How to run it](../../reproduce/README.md).

Beside each claim stands what was measured here; the verdict is computed from the numbers. A claim of several parts
holds *in part* if at least half of them do. A verdict is given only where the seeds leave no other: the means of all
numbers are drawn again from the t distribution that the seeds allow, and 97.5 % of the draws must give the same verdict
(for one number against a limit: its 95 % interval is on one side); otherwise it is *not decided*, as many claims are
with three seeds. Seeds differ in the chain, not in the documents: nothing is said here of other corpora.

Runs called *quick* and *fits* are smaller than the papers', whose settings take some 180 CPU hours in all (the
settings of each figure say how small): read shapes and ratios, not digits. ± is the standard deviation over seeds. The
CSV files have all numbers, the JSON files the rows of each seed.

[All claims of the papers](#claims) are listed, each with the figure that judges it or the reason why none does.
[Errors in the papers](../paper_errors.md) that the code avoids are on a page of their own.
"""


def write(figures: Iterable[Figure], output: Path) -> tuple[list[str], list[str]]:
    """Write CSV, picture and page of every figure that has rows in the folder; returns verdicts and faults.

    Rows that a figure cannot judge, since it has changed since, leave it on the page as not decided.
    """
    output.mkdir(parents=True, exist_ok=True)
    judged, sections, raws, faults = [], [], [], []
    for figure in figures:
        raw = Raw(output, figure.name)
        if not raw.seeds:
            continue
        beside: list[str] = []
        try:
            table = raw.table(figure.keys)
            rows = [entry["rows"] for _, entry in sorted(raw.seeds.items())]
            verdict = figure.judge(table) if figure.decided_by else decide(figure.judge, rows, figure.keys)
            table.write(output / f"{figure.name}.csv")
            draw(figure, table, output / f"{figure.name}.png")
            beside = by_both_procedures(table)
        except Exception as error:  # of the figure's own code, whatever it is
            faults.append(f"{figure.name}: its rows cannot be judged or drawn, run it again ({error!r})")
            verdict = Verdict("not decided", "The rows that are stored are of an earlier form of this figure.")
        judged.append((figure, verdict))
        sections.append(section(figure, raw, verdict, beside))
        raws.append(raw)
    if judged:
        names = {figure.name for figure, _ in judged}
        text = "\n".join(
            [INTRODUCTION, age(judged, raws), summary(judged, raws), *sections, *claims(names), provenance(raws)]
        )
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


def age(judged: list[tuple[Figure, Verdict]], raws: list[Raw]) -> str:
    """How many of the figures were measured with the source that the page was written with."""
    old = sum(bool(raw.changes()) for raw in raws)
    confirmed = [raw for raw in raws if raw.confirmed and not raw.changes()]
    times = sum(bool(raw.older_times()) for raw in confirmed)
    count = Counter(raw.scale for raw in raws)
    scales = "; ".join(f"{count[scale]} figures are {told}" for scale, told in TOLD.items() if count[scale])
    return (
        f"This page was written with topoi {versions()['topoi']}. {scales}. Of its {len(judged)} figures {old} are "
        "*old*: a function that ran when they were measured, or a constant that it uses, was edited since, and they "
        "are to be measured again before they are quoted."
        + (
            f" {len(confirmed)} are *confirmed*: after such edits the quick settings gave the same rows, to the last "
            f"digit, which is evidence that no number changed; {times} of these have times, which an edit may change "
            "and which are of the older source (*older times*)."
            if confirmed
            else ""
        )
        + "\n"
    )


def summary(judged: list[tuple[Figure, Verdict]], raws: list[Raw]) -> str:
    """A table of all verdicts."""
    rows = [
        f"| {figure.paper} | [{figure.title}](#{figure.name}) | `{figure.name}` | {raw.scale} | {verdict.holds}"
        f"{mark(raw)} |"
        for (figure, verdict), raw in zip(judged, raws, strict=True)
    ]
    return "\n".join(["| paper | what | name | scale | holds here |", "| --- | --- | --- | --- | --- |", *rows, ""])


def claims(names: set[str]) -> list[str]:
    """The papers' claims, on the page of the papers' figures."""
    return [listed(names)] if names & {name for of in CLAIMS.values() for claim in of for name in claim.figures} else []


def mark(raw: Raw) -> str:
    """What stands behind a verdict whose numbers are of older source."""
    return " (old)" if raw.changes() else " (older times)" if raw.older_times() else ""


def section(figure: Figure, raw: Raw, verdict: Verdict, beside: list[str]) -> str:
    """Claim and measurement side by side, the picture, what else was found, and how it was made."""
    entries = list(raw.seeds.values())
    seconds = sum(entry["seconds"] for entry in entries)
    sources = sorted({entry["versions"]["topoi"] for entry in entries})
    assert raw.scale is not None
    facts = [
        f"Settings ({raw.scale}): {figure.at(raw.scale)[0]}",
        *([f"What fits into a few minutes: {figure.fits[0]}"] if figure.fits and raw.scale == "quick" else []),
        *([f"Where these say nothing, as in the small run: {figure.settings[0]}"] if raw.scale != "quick" else []),
        *([f"Full settings: {figure.settings[1]}"] if raw.scale != "full" else []),
        *([f"Data: {figure.stand_in}"] if figure.stand_in else []),
        f"{len(entries)} seed{'s' if len(entries) > 1 else ''}, {seconds:.0f} CPU seconds in all, "
        f"{max(entry['date'] for entry in entries)}, topoi {', '.join(sources)}. "
        f"Numbers: [{figure.name}.csv]({figure.name}.csv).",
        *beside,
        *([f"Not as in the paper: {figure.departures}"] if figure.departures else []),
        *([f"Decided by {figure.decided_by}."] if figure.decided_by else []),
        *([f"Old: {edited(raw.changes())}. Run it again before quoting it."] if raw.changes() else confirmed(raw)),
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


def confirmed(raw: Raw) -> list[str]:
    """That edits changed no number of the quick rows, and which columns are of times."""
    if not raw.confirmed:
        return []
    times = ", ".join(f"`{name}`" for name in raw.older_times())
    return [
        f"Confirmed {raw.confirmed['date']} by its quick settings, whose rows are as they were: "
        f"{edited(raw.confirmed['edits'])}.{f' Not compared, for they are of times: {times}.' if times else ''}"
    ]


def edited(names: list[str]) -> str:
    """What was edited, the first few by name."""
    if names == [NOT_KEPT]:
        return "measured when it was not yet kept what ran"
    named = ", ".join(f"`{name}`" for name in names[:FEW])
    return f"edited since it was measured: {named}{f' and {len(names) - FEW} more' if len(names) > FEW else ''}"


def by_both_procedures(table: Table) -> list[str]:
    """Scores by mean field and by the papers' test procedure, where a figure has both: means over the lines."""
    both = [line for line in table.lines if SCORE_GIBBS in line.mean]
    if not both:
        return []
    of = next(iter(both[0].keys))  # what lines are told apart by first: mostly the method
    found = []
    for value in table.different(of):
        lines = [line for line in both if line.keys[of] == value]
        if lines:
            score, gibbs = (np.mean([line.mean[column] for line in lines]) for column in ("score", SCORE_GIBBS))
            found.append(f"{value} {gibbs:.3f} ({score:.3f})")
    return [
        "Test procedure: with Gibbs sampling until the likelihood settles, as in the papers, the mean scores are (and "
        f"by mean field, as above): {'; '.join(found)}."
    ]


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
