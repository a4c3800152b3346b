"""`topoi info`: about this installation, or about a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from topoi import __version__
from topoi.cli._app import console, print_json


def info(
    model: Annotated[str | None, typer.Argument(metavar="MODEL", help="Folder of a model.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show versions, the folder of the compile cache, every sampler and every loss; or what a model was made of.

    \b
      topoi info
      topoi info model --json
    """
    if model is not None:
        _about_model(model, json)
        return
    import platform
    from importlib.metadata import version

    from topoi import losses_table, samplers_table
    from topoi._machine.jit import cache_dir

    facts = {"topoi": __version__, "Python": platform.python_version()}
    facts |= {package: version(package) for package in ("numpy", "numba", "scikit-learn")}
    cache = cache_dir()
    if json:
        tables = {"samplers": samplers_table(), "losses": losses_table()}
        print_json({**facts, "cache": None if cache is None else str(cache), **tables})
        return
    _print_facts(facts | {"cache": cache or "none: no folder that only you can write to, every run compiles anew"})
    _print_samplers(samplers_table())
    _print_losses(losses_table())


def _print_facts(facts: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        table.add_row(str(name), str(value))
    console().print(table)


def _print_samplers(samplers: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("sampler", style="cyan", no_wrap=True)
    table.add_column("exact")
    table.add_column("parallel")
    table.add_column("cost per token", ratio=1)
    table.add_column("reference", ratio=1)
    for row in samplers:
        exact = "yes" if row["exact"] else f"no ({row['bias']:.3f})"
        table.add_row(row["name"], exact, "yes" if row["parallel"] else "no", row["cost"], row["reference"])
    out = console()
    out.print(table)
    out.print(" In brackets: distance from the posterior on a five-token corpus (docs/exactness.md).", style="dim")


def _print_losses(losses: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("loss", style="cyan", no_wrap=True)
    for name in ("predicts", "pseudo-likelihood", "settings"):
        table.add_column(name)
    for row in losses:
        table.add_row(row["name"], row["predicts"], row["loss_formula"], ", ".join(row["settings"]))
    console().print(table)


def _about_model(path: str, json: bool) -> None:
    """What `topoi.json` says; the estimator itself is not loaded."""
    from topoi._disk.remote import Remote
    from topoi._disk.remote import size as size_of
    from topoi.cli._folder import ESTIMATOR, read_about, to_read

    about = read_about(to_read(path))
    if json:
        print_json(about)
        return
    n, reading, settings = about["counts"], about["reading"], about["settings"]
    file = to_read(path) / ESTIMATOR
    size = (size_of(file) or 0) if isinstance(file, Remote) else file.stat().st_size
    rows: dict[str, Any] = {
        "model": f"{path} ({size / 1e6:.1f} MB, by topoi {about.get('written_by')})",
        "estimator": about.get("estimator"),
        "documents": f"{about.get('source')}: {n['learned_from']:,} learned from, {n['tokens']:,} tokens, "
        f"{n['words']:,} words",
        "reading": ", ".join(
            f"{key} {' and '.join(map(str, value)) if isinstance(value, list) else value}"
            for key, value in reading.items()
            if value not in (None, True, False)
        ),
        "settings": ", ".join(f"{key} {value}" for key, value in settings.items() if value is not None),
        "run": f"{about.get('sweeps')} sweeps, {about.get('stopped')}, {about.get('seconds')} s",
    }
    if isinstance(edits := about.get("edits"), list):
        rows["edited"] = (
            f"{len(edits)} edit{'' if len(edits) == 1 else 's'} of its topics; topoi info --json lists them"
        )
    from topoi.cli._outcome import number_in_words

    if posterior := number_in_words(about.get("topics")):
        rows["number of topics"] = posterior
    if about.get("labels", {}).get("kind"):
        rows["predictions"] = _predictor(about.get("refit"))
    scores = about["held_out"]
    if scores.get("documents"):
        numbers = [f"{key} {value:.4g}" for key, value in scores.items() if isinstance(value, float) and key != "share"]
        rows["held out"] = f"{scores['documents']} documents: {', '.join(numbers)}"
    _print_facts(rows)


def _predictor(refit: Any) -> str:
    """What predicts, and how much say its parts have: the weights of the chains, or those fitted anew."""
    if not isinstance(refit, dict):
        return "by the weights of the chains"
    named = {"power": "power of the idf", "strength": "C", "topics": "topics by", "covariates": "covariates by",
             "ngrams": "n-grams by", "ratio": "power of label ratios"}  # fmt: skip
    numbers = {named.get(name, name): value for name, value in refit.items() if isinstance(value, int | float)}
    chosen = ", ".join(f"{name} {value:g}" for name, value in numbers.items())
    return f"by weights fitted anew ({chosen})"
