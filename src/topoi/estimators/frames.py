"""Topics as data frames of pandas, which is not a dependency: it is imported when a frame is asked for."""

from __future__ import annotations

from typing import Any

from topoi.errors import PackageMissingError
from topoi.estimators.described import TRUST


def pandas_for(what: str) -> Any:
    """The package pandas, or an error that says what to install."""
    try:
        import pandas as pd
    except ImportError as error:
        raise PackageMissingError(f"{what} needs pandas, which is not installed: pip install pandas") from error
    return pd


def word_frame(rows: list[dict[str, Any]]) -> Any:
    """A row for each topic and each of its words: topic, name, share, trust where there are chains, rank, word, p."""
    pd = pandas_for("top_words(as_frame=True)")
    trust = TRUST if any("found_in" in row for row in rows) else ()
    names = ("topic", "name", "share", *trust, "rank", "word", "probability")
    flat = [{**row, "rank": rank, **word} for row in rows for rank, word in enumerate(row["words"], 1)]
    return pd.DataFrame({name: [entry[name] for entry in flat] for name in names})


def topic_frame(rows: list[dict[str, Any]]) -> Any:
    """A row for each topic: name, share, words, trust where there are chains, and a column for each weight."""
    pd = pandas_for("topics_frame")
    table = []
    for row in rows:
        entry = {name: value for name, value in row.items() if name not in ("words", "weights")}
        entry["words"] = " ".join(word["word"] for word in row["words"])
        entry |= {f"weight of {label}": weight for label, weight in row.get("weights", {}).items()}
        table.append(entry)
    return pd.DataFrame(table).set_index("topic")
