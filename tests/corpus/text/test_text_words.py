"""How a text is cut: letters of any script, apostrophes, and the same words whether a text is ASCII or not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topoi.corpus.text.tokenizer import TOKEN_PATTERN, Words
from topoi.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat_sat 42 times, x y2z!", ["the", "cat", "sat", "times"]),
        ("don't can’t Ann's l'été aujourd’hui", ["dont", "cant", "ann", "été", "aujourd", "hui"]),
        ("I won't.", ["wont"]),
        ("Größe naïve ЖУК 日本", ["größe", "naïve", "жук", "日本"]),
        ("cafe\u0301 hyphen\u00adated", ["café", "hyphenated"]),  # a combining accent, a soft hyphen
        ("हिन्दी में शब्द", ["हिन्दी", "में", "शब्द"]),  # vowels that are marks belong to the word
        ("", []),
    ],
)
def test_words(text, words):
    assert Words().in_order(text) == words


def test_other_rules():
    assert Words(lowercase=False).in_order("The Cat") == ["The", "Cat"]
    assert Words(token_pattern=TOKEN_PATTERN).in_order("cat_1 42 don't") == ["cat_1", "42", "don"]
    assert Words(token_pattern=r"\S+").in_order("A-b c") == ["a-b", "c"]
    assert Words(tokenized=True).in_order("A-b C") == ["A-b", "C"]
    for bad in ("(", "(a)(b)", b"x"):
        with pytest.raises(ParameterError, match="token_pattern"):
            Words(token_pattern=bad)


@settings(max_examples=60)
@given(st.text(st.sampled_from("abzABZ'_09 .,-\tn't"), max_size=40))
def test_a_text_in_ascii_is_cut_as_any_other(text):
    """The quick way for ASCII gives what the pattern gives: a letter of another script is added to leave it."""
    assert Words().in_order(text) == [word for word in Words().in_order(f"{text} éé") if word != "éé"]
