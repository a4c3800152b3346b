"""Words by their stems: "file", "files" and "filed" are one word, which is shown as the form that comes most often.

Stems are those of Snowball (Porter 2001), from the package snowballstemmer, by the language of the corpus. They are
no words ("studi", "privat"), so that nobody sees them: the vocabulary has the most frequent form of each. A new word is
brought to the form whose stem it has; nothing but these forms has to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from topoi.corpus.text.stop_words import LANGUAGES
from topoi.errors import PackageMissingError, ParameterError

LONGEST = 100  # characters of a word that has a stem: the time of a stemmer may grow with the square of them
REMEMBERED = 2**17  # words of new texts whose form is not looked for again

Stem = Callable[[str], str]


@cache
def stemmer_of(language: str) -> Stem:
    """The stemmer of a language, by name; an error if there is none."""
    try:
        import snowballstemmer
    except ImportError as error:
        raise PackageMissingError(
            "stems of words need snowballstemmer, which is not installed: pip install 'topoi[stem]'"
        ) from error
    known = sorted(set(snowballstemmer.algorithms()).intersection(LANGUAGES.values()))
    if language not in known:
        raise ParameterError("stem", f"there is no stemmer for {language.title()}; there are {', '.join(known)}")
    stem: Stem = snowballstemmer.stemmer(language).stemWord
    return lambda word: stem(word) if len(word) <= LONGEST else word


def choose_forms(words: Sequence[str], n_tokens: NDArray[np.int64], fewest: int, stem: Stem) -> NDArray[np.int32]:
    """For each word the number of the form that stands for it: of all with its stem the most frequent, then the first.

    Words below `fewest`, which are stop words, stand for themselves.
    """
    forms = np.arange(len(words), dtype=np.int32)
    by_stem: dict[str, int] = {}
    stems = [stem(word) for word in words[fewest:]]
    for number in sorted(range(fewest, len(words)), key=lambda i: (-n_tokens[i], words[i])):
        forms[number] = by_stem.setdefault(stems[number - fewest], number)
    return forms


def held_words(stop_words: Iterable[str], words: Iterable[str], stem: Stem) -> list[str]:
    """Stop words that have the stem of one of the words, as "using" that of "useful": they are not stemmed."""
    stems = set(map(stem, words))
    return sorted(word for word in stop_words if stem(word) in stems)


def form_finder(
    stem: Stem, vocabulary: Iterable[str], phrases: Mapping[tuple[str, str], str], held: Iterable[str]
) -> Callable[[str], str]:
    """What brings a word of a new text to the form that a vocabulary and its phrases know; others stay as they are."""
    joined, kept = set(phrases.values()), frozenset(held)
    known = (*vocabulary, *(part for pair in phrases for part in pair))
    by_stem = {stem(word): word for word in known if word not in joined}

    @lru_cache(maxsize=REMEMBERED)
    def form(word: str) -> str:
        return word if word in kept else by_stem.get(stem(word), word)

    return form
