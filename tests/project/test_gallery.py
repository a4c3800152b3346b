"""The pages of the gallery run with the present source, on small made-up files of the form that they ask for."""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from support.fill import fill
from support.places import ROOT

DOCS = ROOT / "docs"
GALLERY = DOCS / "gallery"
PAGES = sorted(page.stem for page in GALLERY.glob("*.md") if page.stem != "README")
LARGEST = 150 * 1024  # bytes of a picture
N_DOCUMENTS = 90
#: Words of three subjects, which the seeds of a page are among.
SUBJECTS = [
    ["iraq", "troops", "iraqi", "war", "army", "soldiers"],
    ["poll", "polls", "voters", "campaign", "senate", "race"],
    ["jobs", "tax", "deficit", "economy", "budget", "growth"],
]
WORDS = [word for subject in SUBJECTS for word in subject]


def counts(rng: np.random.Generator) -> tuple[sparse.csr_array, np.ndarray]:
    """Documents of mostly one subject each, and the subjects."""
    subject = np.arange(N_DOCUMENTS) % len(SUBJECTS)
    weight = np.full((N_DOCUMENTS, len(WORDS)), 0.3)
    for document, own in enumerate(subject):
        weight[document, 6 * own : 6 * own + 6] = 3.0
    return sparse.csr_array(rng.poisson(weight).astype(np.int32)), subject


def save_counts(folder: Path, *parts: str) -> np.ndarray:
    for part in parts:
        X, subject = counts(np.random.default_rng(len(part)))
        sparse.save_npz(folder / f"{part}.npz", sparse.csr_matrix(X))
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    return subject


def newsgroups(data: Path) -> None:
    folder = data / "20news_raw"
    folder.mkdir()
    X, subject = counts(np.random.default_rng(0))
    texts = [" ".join(np.repeat(WORDS, row)) for row in X.toarray()]
    lines = [json.dumps({"text": text, "label": int(k)}) for text, k in zip(texts, subject, strict=True)]
    (folder / "train.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    (folder / "labels.txt").write_text("sci.war\nsci.polls\nsci.money\n", "utf-8")


def hotel_reviews(data: Path) -> None:
    folder = data / "hotel_reviews"
    folder.mkdir()
    stars = save_counts(folder, "train", "test").astype(np.float32) * 2 + 1
    aspects = np.tile(stars[:, None], 5)
    aspects[::7] = -1  # not given
    for part in ("train", "test"):
        np.save(folder / f"{part}_y.npy", stars)
        np.save(folder / f"{part}_aspects.npy", aspects)


def arxiv(data: Path) -> None:
    folder = data / "arxiv_120k"
    folder.mkdir()
    X = sparse.csr_matrix(sparse.vstack([counts(np.random.default_rng(n))[0] for n in range(4)]))
    sparse.save_npz(folder / "train.npz", X)
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    names = [f"math/{94 + n % 6}0100{n % 10}" if n % 2 else f"{n % 19:02}01.0{n:04}" for n in range(X.shape[0])]
    (folder / "train_ids.txt.gz").write_bytes(gzip.compress("\n".join(names).encode()))


def reuters(data: Path) -> None:
    folder = data / "reuters_modapte20"
    folder.mkdir()
    subject = save_counts(folder, "train", "test")
    names = ["war", "iraq", "polls", "money", "tax", "growth"]
    labels = np.zeros((N_DOCUMENTS, len(names)), np.int8)
    for document, own in enumerate(subject):
        labels[document, [[0, 1, 2], [2], [3, 4, 5]][own]] = 1
    for part in ("train", "test"):
        sparse.save_npz(folder / f"{part}_labels.npz", sparse.csr_matrix(labels))
    (folder / "labels.txt").write_text("\n".join(names), "utf-8")


def number_of_topics(data: Path) -> None:
    folder = data / "uci_kos"
    folder.mkdir()
    save_counts(folder, "counts")


FILES: dict[str, Callable[[Path], None]] = {
    made.__name__: made for made in (arxiv, hotel_reviews, newsgroups, number_of_topics, reuters)
}


def test_every_page_has_files_here():
    assert sorted(FILES) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    FILES[page](tmp_path)
    monkeypatch.setenv("TOPOI_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    examples = fill.run(GALLERY / f"{page}.md")
    # What is shown was printed, and nothing that is printed is left out.
    assert [bool(printed) for _, printed in examples] == [match["output"] is not None for match, _ in examples]
    assert any(printed for _, printed in examples)
    assert [picture.name for picture in tmp_path.glob("*.png")] == [picture.name for picture in pictures(page)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_its_command_and_has_a_small_picture(page):
    text = (GALLERY / f"{page}.md").read_text("utf-8")
    assert f"python docs/fill.py docs/gallery/{page}.md" in text
    assert "## Limits" in text
    assert f"({page}.md)" in (GALLERY / "README.md").read_text("utf-8")
    assert pictures(page)
    for picture in pictures(page):
        assert 0 < picture.stat().st_size < LARGEST


def pictures(page: str) -> list[Path]:
    text = (GALLERY / f"{page}.md").read_text("utf-8")
    return [DOCS / "images" / name for name in re.findall(r"\]\(\.\./images/([\w.]+)\)", text)]
