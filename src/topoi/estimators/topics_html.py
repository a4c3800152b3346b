"""A fitted model as HTML for a notebook: its topics, with their shares as bars, and how its chains went.

Words and names are strangers' text: nothing of them becomes markup. Colours are those of the text around (inherited, or
`currentColor`), so that the table can be read on light and on dark themes of every notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoi.estimators.described import describe_topics, most_telling

N_WORDS = 10
MOST_TOPICS = 200  # in the table; a cell of a notebook is kept in its file
LONGEST = 60  # characters of a word or name

STYLE = """
.topoi-model{color:inherit;font-size:13px;line-height:1.4;max-width:72em}
.topoi-model p{margin:.3em 0}
.topoi-model .topoi-scroll{max-height:34em;overflow:auto}
.topoi-model table{border-collapse:collapse;width:100%;color:inherit;background:transparent;margin:0}
.topoi-model th,.topoi-model td{text-align:left;vertical-align:top;padding:.2em .7em .2em 0;border:0;
background:transparent;color:inherit;white-space:normal}
.topoi-model thead th{border-bottom:1px solid currentColor;font-weight:600}
.topoi-model .topoi-share{white-space:nowrap;width:11em}
.topoi-model .topoi-bar{display:inline-block;width:6em;margin-right:.5em}
.topoi-model .topoi-bar i{display:inline-block;height:.65em;background:currentColor;opacity:.4;min-width:1px}
.topoi-model svg{vertical-align:middle}
.topoi-model polyline{fill:none;stroke:currentColor;stroke-width:1.2;opacity:.7}
"""


def topics_html(estimator: Any) -> str:
    """The topics of a fitted estimator, the largest first, as one element."""
    rows = sorted(describe_topics(estimator, N_WORDS), key=lambda row: -row["share"])
    largest = max(rows[0]["share"], np.finfo(float).tiny)
    heads = ["topic", "share", *(["found in"] if "found_in" in rows[0] else []), "most telling words"]
    if "weights" in rows[0]:
        heads.append("raises or lowers" if estimator.target_.kind == "numbers" else "speaks for, against")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(_line(row, largest) for row in rows[:MOST_TOPICS])
    more = len(rows) - MOST_TOPICS
    notes = [f"… and {more:,} more: <code>topics_frame()</code> has all."] if more > 0 else []
    if estimator.vocabulary_ is None:
        notes.append("Words are numbers of columns: fit on texts or a <code>Corpus</code> to see words.")
    if "model" in rows[0]:
        notes.append("Shares are those within each model.")
    below = "".join(f"<p>{note}</p>" for note in notes)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return (
        f'<div class="topoi-model"><style>{STYLE}</style><p>{_summary(estimator, len(rows))}</p>'
        f'<div class="topoi-scroll" tabindex="0">{table}</div>{below}</div>'
    )


def _line(row: dict[str, Any], largest: float) -> str:
    """A topic as a line of the table."""
    width = 100 * row["share"] / largest
    bar = f'<span class="topoi-bar" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>'
    cells = [f"<td>{in_html(row['name'])}</td>", f'<td class="topoi-share">{bar}{row["share"]:.1%}</td>']
    if "found_in" in row:
        cells.append(f"<td>{row['found_in']} of {row['n_chains']}</td>")
    cells.append(f"<td>{' '.join(in_html(word['word']) for word in row['words'])}</td>")
    if "weights" in row:
        said = ", ".join(f"{in_html(name)} {value:+.1f}" for name, value in most_telling(row["weights"]))
        cells.append(f"<td>{said}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def in_html(text: Any) -> str:
    """A stranger's text inside an element: escaped, shortened, its direction its own, and fit for UTF-8."""
    plain = str(text)
    plain = plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
    return f"<bdi>{escape(plain.encode('utf-8', 'replace').decode('utf-8'))}</bdi>"


def _summary(estimator: Any, n_topics: int) -> str:
    """What it is, what it has learned from, and a line of the log joint."""
    models = estimator.topic_models_
    tokens = round(float(models[0].topic_counts.sum()))
    of = f" in {len(models):,} models" if len(models) > 1 else ""
    words = f"{n_topics:,} topics{of} of {models[0].n_words:,} words, from {tokens:,} tokens"
    trained = getattr(estimator, "doc_topic_", None)
    documents = "" if trained is None else f" in {len(trained):,} documents"
    rhat = "" if np.isnan(estimator.rhat_) else f", R-hat {estimator.rhat_:.2f}"
    name = escape(type(estimator).__name__)
    line = sparkline([one[:, 1] for one in estimator.estimators_[0].traces_]) if len(models) == 1 else ""
    return f"<b>{name}</b>: {words}{documents}; {estimator.n_sweeps_:,} sweeps{rhat}. {line}"


def sparkline(series: Sequence[NDArray[Any]], width: int = 90, height: int = 16) -> str:
    """Lines of the log joint of every chain over its sweeps; nothing where there are no two points of one."""
    lines = [np.asarray(values, np.float64) for values in series]
    lines = [values for values in lines if len(values) > 1 and np.isfinite(values).all()]
    if not lines:
        return ""
    low, high = min(values.min() for values in lines), max(values.max() for values in lines)
    spread, longest = (high - low) or 1.0, max(map(len, lines)) - 1
    drawn = []
    for values in lines:
        x = 1 + np.arange(len(values)) * (width - 2) / longest
        y = height - 1 - (values - low) / spread * (height - 2)
        drawn.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))}"/>')
    label = f"log joint over the sweeps, from {low:,.0f} to {high:,.0f}"
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(drawn)}</svg>"
    )
