"""Words that say nothing about topics, by language, and which language a corpus is in.

The lists are those of the package stopwordsiso. Its English one has words as "computer", "information" and "microsoft",
so that of scikit-learn is taken in its place, with what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from topoi.errors import ParameterError

#: Languages by the codes of ISO 639-1. Chinese, Japanese and Thai are written without blanks: their texts must be cut
#: into words before, and are not recognised.
LANGUAGES = {
    "af": "afrikaans", "ar": "arabic", "bg": "bulgarian", "bn": "bengali", "br": "breton", "ca": "catalan",
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish",
    "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "gl": "galician",
    "gu": "gujarati", "ha": "hausa", "he": "hebrew", "hi": "hindi", "hr": "croatian", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "ku": "kurdish",
    "la": "latin", "lt": "lithuanian", "lv": "latvian", "mr": "marathi", "ms": "malay", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sk": "slovak",
    "sl": "slovenian", "so": "somali", "st": "sotho", "sv": "swedish", "sw": "swahili", "th": "thai", "tl": "tagalog",
    "tr": "turkish", "uk": "ukrainian", "ur": "urdu", "vi": "vietnamese", "yo": "yoruba", "zh": "chinese", "zu": "zulu",
}  # fmt: skip
WITHOUT_BLANKS = frozenset(("japanese", "thai", "chinese"))
#: Words of English beside those of scikit-learn: forms of verbs that it has in other forms, what an apostrophe leaves,
#: and words of conversation.
MORE_ENGLISH = frozenset((
    "able", "actually", "ago", "aint", "anybody", "anymore", "arent", "away", "came", "come", "comes", "coming",
    "couldnt", "course", "did", "didnt", "does", "doesnt", "doing", "don", "dont", "em", "especially",
    "everybody", "exactly", "far", "gets", "getting", "given", "gives", "giving", "goes", "going", "gone",
    "gonna", "got", "gotten", "hadnt", "half", "hasnt", "having", "havent", "hes", "im", "instead", "isnt",
    "ive", "just", "kind", "knew", "know", "knowing", "known", "knows", "let", "lets", "like", "liked",
    "likely", "little", "ll", "long", "look", "looked", "looking", "looks", "lot", "lots", "maybe", "make",
    "makes", "making", "mean", "means", "need", "needed", "needs", "nt", "oh", "ok", "okay", "ones", "ought",
    "people", "perhaps", "possible", "possibly", "pretty", "probably", "quite", "really", "right", "said",
    "saw", "say", "saying", "says", "seen", "shall", "shes", "shouldnt", "simply", "somebody", "sort", "stuff",
    "sure", "surely", "taken", "takes", "taking", "tell", "tells", "thanks", "thank", "thats", "theres",
    "theyre", "thing", "things", "think", "thinking", "thinks", "thought", "told", "took", "tried", "tries",
    "try", "trying", "unless", "use", "used", "uses", "using", "usually", "ve", "want", "wanted", "wants",
    "wasnt", "way", "ways", "went", "werent", "weve", "whats", "wont", "wouldnt", "yeah", "yes", "youd",
    "youll", "youre", "youve",
))  # fmt: skip
#: Share of the words of a corpus that stop words are at least, in a language that is recognised, and how many different
#: ones are found. In running text they are about half of the words, in titles and notes some tenth.
SHARE, DIFFERENT = 0.05, 5
#: How many different ones are found of a second language, and how many languages a corpus may have. What is found in
#: 26 translations of the Debian handbook, most of them translated in part: benchmarks/raw_languages.py --recognise.
DIFFERENT_MORE, MOST_LANGUAGES = 20, 3

Cut = Callable[[str], Iterable[str]]


def stop_words_of(language: str) -> frozenset[str]:
    """The list of a language, by name or code; an error if there is none."""
    name = LANGUAGES.get(language.lower(), language.lower())
    if name == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS) | MORE_ENGLISH
    code = next((code for code, known in LANGUAGES.items() if known == name), None)
    if code is None:
        few = "english, german, french, spanish"
        raise ParameterError(
            "stop_words", f"there is no list for {language!r}; give a language, as {few} (docs/howto/own_text.md), "
            "its code (de), a list of words, 'auto' or None"
        )  # fmt: skip
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(code))


def check_stop_words(asked: Any) -> None:
    """Raise unless these are stop words: None, "auto", names of languages or a list of words."""
    if isinstance(asked, str):
        for name in languages_in(asked):
            stop_words_of(name)
        return
    try:
        if asked is None or all(isinstance(word, str) for word in asked):
            return
    except TypeError:
        pass
    raise ParameterError("stop_words", f"must be None, 'auto', a language or a list of words, not {asked!r}")


def languages_in(asked: str) -> list[str]:
    """The languages that a text as "german,english" names; none in "auto" and "none"."""
    return [] if asked in ("auto", "none") else [name.strip() for name in asked.split(",")]


def cut_list(words: Iterable[str], cut: Cut) -> frozenset[str]:
    """Stop words as they stand in texts that are cut: "don't" and "aujourd'hui" are cut as well."""
    return frozenset(part for word in words for part in cut(word))


@cache
def _lists(cut: Cut) -> dict[str, frozenset[str]]:
    """Those of all languages that can be recognised."""
    names = [name for name in LANGUAGES.values() if name not in WITHOUT_BLANKS]
    return {name: cut_list(stop_words_of(name), cut) for name in names}


def recognise(counts: Mapping[str, int], cut: Cut) -> list[str]:
    """The languages whose stop words are a good part of the words that are counted here; none if no list's are.

    The first is the one with most of them. A second has as large a share without those that the first has too, and
    many of them: so it is where texts were translated in part, or quote another language.
    """
    enough = SHARE * sum(counts.values())
    found: list[str] = []
    known: set[str] = set()
    while len(found) < MOST_LANGUAGES:
        best, most = "", 0
        for name, words in _lists(cut).items():
            new = [counts[word] for word in words if word in counts and word not in known and len(word) > 1]
            if sum(new) > most and len(new) >= (DIFFERENT_MORE if found else DIFFERENT):
                best, most = name, sum(new)
        if not best or most < enough:
            break
        found.append(best)
        known |= _lists(cut)[best]
    return found
