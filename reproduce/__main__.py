"""Reproduce figures and tables of the papers.

python -m reproduce fast_topics urn_trace --quick    # some, small
python -m reproduce --all                            # all, as in the papers
python -m reproduce --list
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from reproduce import page
from reproduce.harness import Figure, Scale, figures, recheck, run

OUTPUT = Path(__file__).resolve().parents[1] / "docs" / "reproduce"


def main(arguments: Sequence[str] | None = None, package: str = "reproduce") -> int:
    """Measure what is asked for, write it, print the verdicts; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures, by the names that --list prints")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--all", action="store_true", help="every figure")
    scales = parser.add_mutually_exclusive_group()
    scales.add_argument("--quick", action="store_true", help="small settings: a minute or two each")
    scales.add_argument("--fits", action="store_true", help="as in the papers, or what takes a few minutes each")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for pictures, tables and the page")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")
    parser.add_argument("--page", action="store_true", help="measure nothing: write everything anew from what is there")
    parser.add_argument(
        "--recheck",
        action="store_true",
        help="look by the quick settings for what runs, and whether edits changed any number; keep the results if not",
    )
    given = parser.parse_args(arguments)
    known = figures(package)
    if given.list:
        print(listing(known))
        return 0
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"no figure is called {', '.join(unknown)}; --list says what there is: {', '.join(known)}")
    if not (given.names or given.all or given.page):
        parser.error("name figures, or say --all, --list or --page")
    chosen = [figure for name, figure in known.items() if given.all or name in given.names]
    failures = []
    if given.recheck:
        print("\n".join(recheck(package, chosen, given.output)))
    elif not given.page:
        scale: Scale = "quick" if given.quick else "fits" if given.fits else "full"
        failures = run(package, chosen, given.output, scale, given.fresh)
    verdicts, faults = page.write(known.values(), given.output)
    names = {f"{figure.name}:" for figure in chosen}
    print("\n".join(line for line in verdicts if given.page or given.recheck or line.split()[0] in names))
    if failures or faults:
        print("\n".join(["Failed:", *failures, *faults]))
    return int(bool(failures or faults))


def listing(known: dict[str, Figure]) -> str:
    """Every figure with its paper and title, aligned."""
    width = max((len(name) for name in known), default=0)
    lines = [f"{name:{width}}  {figure.paper}: {figure.title}" for name, figure in known.items()]
    return "\n".join(textwrap.shorten(line, 140, placeholder=" …") if len(line) > 140 else line for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
