"""What is no language is taken out of texts, and nothing else."""

from __future__ import annotations

import pytest

from topoi.corpus.text.clean import CLEAN, Cleaner
from topoi.errors import ParameterError


def cleaned(text, clean="auto"):
    return Cleaner(clean)(text).split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see https://example.org/a?b=c, or www.example.com now", "see or now"),
        ("write to jane.doe+x@cs.example.edu today", "write to today"),
        ("on host ftp.cs.example.edu. And cs.ubc.ca", "on host . And"),
        ("the end.The next begins; e.g. this", "the end.The next begins; e.g. this"),
        ("<p class='x'>caf&eacute; &amp; <b>tea</b></p>", "café & tea"),
        ("a<!-- hidden > text -->b <SCRIPT>var x=1</SCRIPT> c", "a b c"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("x " + "ab+/" * 15 + "= y", "x y"),
        ("日本" * 60, "日本" * 60),  # has no blanks, and is no code
    ],
)
def test_junk(text, words):
    assert cleaned(text) == words.split()


def test_encoded_files():
    line = "M" + "(&^$" * 15
    text = f"a picture:\nbegin 644 cat.gif\n{line}\n{line}\n#86)C\n`\nend\nthat was it"
    assert cleaned(text) == ["a", "picture:", "that", "was", "it"]
    assert cleaned(text.replace("\n", "\t")) == ["a", "picture:", "that", "was", "it"]
    part = f"Part 2 of 3\n{line}\n{line}\nto be continued"  # neither begin nor end
    assert cleaned(part) == ["Part", "2", "of", "3", "to", "be", "continued"]
    assert cleaned("Many words\nMore words") == ["Many", "words", "More", "words"]


def test_armour():
    text = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nwhat I say\n-----BEGIN PGP SIGNATURE-----\nVersion: 2\niQBVAg\n"
        "-----END PGP SIGNATURE-----\nafter"
    )
    assert cleaned(text) == ["what", "I", "say", "after"]
    open_end = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nthis never ends"
    assert cleaned(open_end) == ["this", "never", "ends"]


def test_breaks_that_close_themselves():
    """Beside those of HTML: an element of XML may be what the text is about."""
    assert cleaned("one<br/>two<BR/>three<hr/>four<br />five<img src='a'/>") == ["one", "two", "three", "four", "five"]
    assert cleaned("the tag <child/> of it") == ["the", "tag", "<child/>", "of", "it"]


def test_what_was_removed_is_counted():
    clean = Cleaner()
    clean("a@b.org http://x.org <i>x</i>")
    clean("c@d.org")
    assert clean.removed == {"addresses": 3, "tags": 2}


def test_none_and_others():
    text = "<b>a@b.org</b>"
    assert Cleaner("none")(text) == text
    assert CLEAN == ("auto", "email", "none")
    with pytest.raises(ParameterError, match="clean: must be one of 'auto', 'email', 'none', not 'soap'"):
        Cleaner("soap")


@pytest.mark.parametrize(
    "piece", ["a@", "<a ", "<!--", "<script", "www.", "a.b.", "-----BEGIN X-----\n", "&#1", "M" * 61 + "\n"]
)
def test_time_is_proportional_to_the_length(piece):
    """A text made to harm: with time that grows as the square of its length it would take hours."""
    Cleaner("email")(piece * 200_000)
