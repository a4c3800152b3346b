"""Stop words by language, and which language it is."""

from __future__ import annotations

from collections import Counter

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topoi import Corpus
from topoi.corpus.text.stop_words import LANGUAGES, recognise, stop_words_of
from topoi.corpus.text.tokenizer import Words
from topoi.errors import ParameterError

TEXTS = {
    "english": "The cat sat on the mat, and it was not what they had wanted when it came in from the rain with him.",
    "german": "Der Hund lief über die Straße und war nicht zu halten, als er mit dem Ball aus dem Haus kam, wie immer.",
    "french": "Le chat est sur la table et il ne veut pas que nous soyons dans la maison avec lui pour le repas.",
    "spanish": "El perro no quiere que la gente esté en la casa con él, pero los niños son de los que no se van.",
    "italian": "Il gatto non è sulla sedia ma sotto il tavolo, e non vuole che noi siamo con lui nella casa di sera.",
    "russian": "Он не хотел, чтобы они были в этом доме, но это было так, как она сказала ему тогда, и все же он ушел.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_recognised(language):
    cut = Words().in_order
    assert recognise(Counter(cut(TEXTS[language])), cut) == [language]
    corpus = Corpus.from_texts([TEXTS[language]])
    assert corpus.preparation.language == language
    assert corpus.preparation.removed["stop words"] == len(cut(TEXTS[language])) - corpus.n_tokens > 5


def test_texts_that_were_translated_in_part_have_two_languages():
    english = (
        "Where there are many things which you have not done before, ask those who did them, because they know why "
        "it should be so. What is this about? If he can, then how would she do the same without us? From now on both "
        "of them were here, and after that everyone else had been there too, with all their own work."
    )
    cut = Words().in_order
    german = [TEXTS["german"]] * 12
    corpus = Corpus.from_texts([*german, english])
    assert corpus.preparation.language == "german,english"
    assert not {"und", "nicht", "the", "which"} & set(corpus.vocabulary)
    # A quotation here and there is no second language, nor are a few words that come often.
    assert recognise(Counter(cut(" ".join((*german * 10, english)))), cut) == ["german"]
    assert recognise(Counter(cut(" ".join((*german, "the and of " * 20)))), cut) == ["german"]


def test_no_language():
    corpus = Corpus.from_texts(["alpha beta gamma delta"] * 3)
    assert corpus.preparation.language == "unknown"
    assert "stop words" not in corpus.preparation.removed
    assert corpus.n_tokens == 12
    assert "No language was recognised" in corpus.preparation.sentences()[0]


def test_every_language_has_a_list():
    for code, name in LANGUAGES.items():
        assert stop_words_of(code) == stop_words_of(name.title())
        assert len(stop_words_of(name)) > 20
    assert stop_words_of("english") > ENGLISH_STOP_WORDS
    assert not {"computer", "information", "microsoft"} & stop_words_of("english")


def test_what_is_asked_for():
    text = TEXTS["german"]
    assert "hund" in Corpus.from_texts([text], stop_words="de").vocabulary
    both = Corpus.from_texts([text + " " + TEXTS["english"]], stop_words="german,english")
    assert both.preparation.language == "german,english"
    assert not {"und", "the"} & set(both.vocabulary)
    assert "of German and English" in both.preparation.sentences()[0]
    given = Corpus.from_texts(["don't stop the cat"], stop_words=["don't", "The"])
    assert given.vocabulary.tolist() == ["cat", "stop"]  # words of the list are cut as those of texts
    assert given.preparation.language == "given"
    for none in (None, "none"):
        assert "und" in Corpus.from_texts([text], stop_words=none).vocabulary
    for bad in ("klingon", "german,klingon", 3, [3]):
        with pytest.raises(ParameterError, match="stop_words"):
            Corpus.from_texts([text], stop_words=bad)
