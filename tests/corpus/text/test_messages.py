"""Of a message what its author wrote stays."""

from __future__ import annotations

from collections import Counter

import pytest

from topoi.corpus.text.clean import Cleaner
from topoi.corpus.text.messages import is_message, own_words

POST = """From: jane@example.org (Jane Doe)
Subject: Re: Brakes that squeal
Organization: University of Nowhere
Lines: 9
Keywords: brakes

In article <123@x.example.org> joe@x.example.org (Joe) writes:
>My brakes squeal.
|> They are new.
JD> really
: so are mine

Try other pads.
Date: this is how a message that is passed on begins

I said it before: pads.
--
Jane Doe, University of Nowhere
"""
OWN = "Brakes that squeal brakes Try other pads. I said it before: pads."


@pytest.mark.parametrize("clean", ["auto", "email"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\t"])
def test_a_post(clean, end):
    """Tabs in place of line breaks, too, as some collections have them."""
    cleaner = Cleaner(clean)
    assert cleaner(POST.strip().replace("\n", end) + "\n").split() == OWN.split()
    assert (cleaner.removed["headers"], cleaner.removed["signatures"]) == (1, 1)
    assert cleaner.removed["quoted lines"] >= 5


def test_other_texts_are_not_messages():
    for text in ("From: here to there is far.", "Subject: a story\n\nIt was dark.", "A: one\nB: two\n\nmore", "", "no"):
        assert not is_message(text)
        assert Cleaner()(text) == text
    assert is_message(POST)
    assert is_message("From joe@x Mon Jan 1\nFrom: joe@x\nSubject: hello\n\ntext")
    assert is_message(" path!of!news\nSubject: hello\nFrom: joe@x\n\ntext")


def test_every_text_is_a_message_if_it_is_said():
    text = "> quoted\nmine\n\n-- \nJane"
    assert Cleaner("email")(text).split() == ["mine"]
    assert Cleaner("auto")(text) == text


def test_a_signature_without_a_rule():
    removed = Counter()
    assert own_words("what I say\n\nJane Doe\njane@example.org", removed).split() == ["what", "I", "say"]
    assert removed["signatures"] == 1
    assert own_words("write to jane@example.org", Counter()) == "write to jane@example.org"  # there is nothing else


def test_a_rule_in_the_middle_is_none_of_a_signature():
    text = "above\n---\n" + "line of text\n" * 20
    assert own_words(text, Counter()).split()[0] == "above"
    assert own_words(text, Counter()).count("line") == 20


def test_headers_of_regular_postings():
    text = "From: a@b.c\nSubject: FAQ\n\nArchive-name: cars/faq\nVersion: 2\n\nThe text"
    assert own_words(text, Counter()).split() == ["FAQ", "The", "text"]
