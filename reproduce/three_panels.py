"""The picture of Gibbs MedLDA's Fig. 1 and 2: score, training time and test time over K."""

from __future__ import annotations

from typing import Any

from reproduce.drawing import curves, panels
from reproduce.table import Table
from reproduce.verdicts import log_ticks


def score_train_test(table: Table, figure: Any, score: str) -> None:
    """Three panels over K, a curve a method; training time is on a logarithmic axis."""
    axes = panels(figure, 3)
    labels = {"score": score, "train": "training, CPU s", "test": "test, CPU s"}
    for axis, (column, label) in zip(axes, labels.items(), strict=True):
        curves(axis, table, "K", column, "method")
        axis.set(xlabel="topics K", ylabel=label, xticks=table.different("K"))
    axes[1].set_yscale("log")
    log_ticks(axes[1].yaxis, *axes[1].get_ylim())
    axes[2].set_ylim(bottom=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
