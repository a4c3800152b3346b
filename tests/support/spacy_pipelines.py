"""Pipelines of spaCy that need no download: rules and tables as those of its English ones, and a tagger of patterns."""

from __future__ import annotations

from typing import Any

RULES = {
    "lemma_rules": {"noun": [["ies", "y"], ["s", ""]], "verb": []},
    "lemma_exc": {"noun": {}, "verb": {"saw": ["see"], "were": ["be"], "was": ["be"]}},
    "lemma_index": {"noun": ["saw", "city"], "verb": ["see", "be"]},
}


def new_pipeline(name: str = "desk") -> Any:
    """A pipeline whose lemmas depend on the sentence: "saw" is a noun after "the", else a form of "see"."""
    import spacy

    nlp = spacy.blank("en", meta={"name": name, "version": "1.2.3"})
    ruler = nlp.add_pipe("attribute_ruler")
    for word in ("saw", "were", "was", "see"):
        ruler.add([[{"LOWER": word}]], {"POS": "VERB"})
    ruler.add([[{"LOWER": "the"}, {"LOWER": "saw"}]], {"POS": "NOUN"}, index=1)
    ruler.add([[{"LOWER": {"IN": ["saws", "cities", "city"]}}]], {"POS": "NOUN"})
    tables = spacy.lookups.Lookups()
    for table, values in RULES.items():
        tables.add_table(table, values)
    nlp.add_pipe("lemmatizer", config={"mode": "rule"}).initialize(lookups=tables)
    return nlp
