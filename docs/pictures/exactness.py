"""Picture of docs/exactness.md: a transition matrix from source code, and where two samplers end.

Run from the root of the repository: `PYTHONPATH=src:tests python docs/pictures/exactness.py`
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from support import naive
from support.copies import interpreted
from support.exact import PROPOSALS, REPEATED, block_matrix, collapsed_makers, stationary

collapsed = interpreted().SAMPLERS["collapsed"]
sweep = block_matrix(REPEATED, 0, len(REPEATED.documents), collapsed_makers(collapsed, REPEATED))


def end(matrix_of_document):
    """Where the sweep over all documents ends."""
    matrix = np.eye(len(PROPOSALS.states))
    for d in range(len(PROPOSALS.documents)):
        matrix = matrix @ matrix_of_document(d)
    return stationary(matrix)


posterior = PROPOSALS.posterior()
ends = {
    "light": end(lambda d: naive.light_matrix(PROPOSALS, d)),
    "light_published": end(lambda d: naive.published_matrix(PROPOSALS, d, "light_published")),
}
print(np.abs(REPEATED.posterior() @ sweep - REPEATED.posterior()).max())
print({name: 0.5 * np.abs(where - posterior).sum() for name, where in ends.items()})

figure = Figure(figsize=(8.4, 3.5), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
image = left.imshow(sweep, norm=LogNorm(1e-5, 1), cmap="Blues")
left.set(xlabel="topics after the sweep", ylabel="topics before the sweep", xticks=[], yticks=[])
left.set_title("T of `collapsed`: five tokens, 2⁵ states", fontsize=9, loc="left")
figure.colorbar(image, ax=left, shrink=0.8, label="probability")
states = np.arange(len(posterior))
for offset, (name, colour) in zip((-0.2, 0.2), (("light", "#2a9d8f"), ("light_published", "#e76f51")), strict=True):
    right.bar(states + offset, ends[name] - posterior, 0.4, color=colour, label=name)
right.axhline(0, color="#888888", linewidth=0.6)
right.set(xlabel="state (topics of four tokens)", ylabel="where it ends − posterior", xticks=[])
right.set_title("Exact: no difference. Published: a bias that never goes", fontsize=9, loc="left")
right.legend(frameon=False, fontsize=8)
right.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent.parent / "images" / "exactness.png", dpi=110)
