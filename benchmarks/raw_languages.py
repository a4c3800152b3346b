"""Topics of raw texts in German, French and other languages with default settings: which language and words are found.

    apt-get install debian-handbook debian-reference-de debian-reference-fr debian-faq-de debian-faq-fr \\
        developers-reference-de developers-reference-fr
    python benchmarks/raw_languages.py de fr
    python benchmarks/raw_languages.py --recognise

The texts are pages of Debian's documentation as they are in the packages, HTML and all, cut at their headings. Packages
that were unpacked elsewhere (`dpkg-deb -x`) are found by `--root`. `--recognise` makes no topics: it tells which
languages are found in each translation of the Debian handbook.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from topoi import LDA, Corpus

HANDBOOK = "usr/share/doc/debian-handbook/html"
#: Where pages are; {} is the language.
PAGES = (
    HANDBOOK + "/{}-*/*.html",
    "usr/share/debian-reference/*.{}.html*",
    "usr/share/doc/debian/FAQ/{}/*.html",
    "usr/share/developers-reference/{}/*.html",
)
HEADING = re.compile(r"(?=<h[1-6][ >])")
N_TOPICS, N_WORDS = 20, 8


def sections(root: Path, patterns: tuple[str, ...], language: str) -> list[str]:
    """Raw HTML from one heading to the next; what comes before the first (the head of a page) is none."""
    pages = sorted(path for pattern in patterns for path in root.glob(pattern.format(language)))
    return [part for page in pages for part in HEADING.split(page.read_text(encoding="utf8", errors="replace"))[1:]]


def show_topics(texts: list[str], language: str, seed: int) -> None:
    """Fit as anybody would, and print what there is to see."""
    model = LDA(N_TOPICS, random_state=seed).fit(texts)
    made, n_tokens = model.preparation_, round(model.model_.topic_counts.sum())
    assert made is not None
    print(f"\n{language}: {len(texts):,} texts; found: {made.language.replace(',', ', ')}; {n_tokens:,} words kept")
    print("\n".join(made.sentences()))
    for words in model.top_words(N_WORDS):
        print("  " + " ".join(words))


def recognised(root: Path) -> None:
    """A line for each translation of the handbook, most of which are English in part, and some nearly all of it."""
    for folder in sorted((root / HANDBOOK).iterdir()):
        texts = sections(root, (HANDBOOK + "/{}/*.html",), folder.name)
        preparation = Corpus.from_texts(texts).preparation
        assert preparation is not None
        names, n = preparation.language.replace(",", ", "), preparation.removed.get("stop words", 0)
        print(f"{folder.name}: {names}; {n:,} stop words")


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="codes: de, fr")
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--recognise", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if asked.recognise:
        recognised(asked.root)
    for language in asked.languages:
        texts = sections(asked.root, PAGES, language)
        if not texts:
            parser.error(f"there are no pages in {language!r} below {asked.root}; see above for the packages")
        show_topics(texts, language, asked.seed)


if __name__ == "__main__":
    main()
