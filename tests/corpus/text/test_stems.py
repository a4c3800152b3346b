"""Words of the same stem are one, in the texts of a fit and in new ones."""

import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

import topoi
from topoi import LDA, Corpus
from topoi.corpus.text.stems import stemmer_of
from topoi.corpus.text.stop_words import stop_words_of
from topoi.datasets import python_docs
from topoi.errors import PackageMissingError, ParameterError
from topoi.readers import read_documents

TEXTS = [
    "The files are in the house. A file is not the same as the files, which were filed by those who had them.",
    "It is very useful to open the files when there is nobody in the houses; this is what the house is for.",
]


def words_of(corpus: Corpus) -> list[Counter]:
    assert corpus.vocabulary is not None
    return [Counter(corpus.vocabulary[corpus.document(d)]) for d in range(corpus.n_documents)]


def test_the_most_frequent_form_is_shown():
    corpus = Corpus.from_texts(TEXTS, stem=True)
    assert words_of(corpus)[0] == {"files": 4, "house": 1}
    assert words_of(corpus)[1] == {"files": 1, "house": 2, "useful": 1, "open": 1}
    assert corpus.preparation.stem == "english"
    assert "by stems of English" in corpus.preparation.sentences()[0]


def test_new_words_are_brought_to_the_forms_of_the_fit(tmp_path):
    corpus = Corpus.from_texts(TEXTS, stem=True)
    corpus.save(tmp_path / "corpus")
    for known in (corpus, Corpus.load(tmp_path / "corpus")):
        new = Corpus.from_texts(["Filing, housing, opened: usefulness! Using it."], like=known)
        # "using" is a stop word, then and now.
        assert words_of(new) == [{"files": 1, "house": 1, "open": 1, "useful": 1}]
        assert new.preparation.stem == "english"
        again = Corpus.from_texts(["Filing. Using."], like=new)
        assert words_of(again) == [{"files": 1}]
    assert stemmer_of("english")("using") == stemmer_of("english")("useful")
    assert "using" in corpus.preparation.held


@pytest.mark.parametrize("phrases", [False, True])
def test_texts_of_the_fit_have_the_same_words_when_they_are_new(phrases):
    texts = python_docs().texts[:600]
    corpus = Corpus.from_texts(texts, stem=True, phrases=phrases)
    assert any("_" in word for word in corpus.vocabulary) is phrases
    again = Corpus.from_texts(texts, like=corpus)
    assert again.preparation.removed.keys() <= corpus.preparation.removed.keys()
    np.testing.assert_array_equal(again.words, corpus.words)
    np.testing.assert_array_equal(again.doc_ptr, corpus.doc_ptr)
    cut = corpus.preparation.cut(texts, corpus.vocabulary)
    known = set(corpus.vocabulary)
    assert words_of(corpus) == [Counter(word for word in document if word in known) for document in cut]


def test_forms_by_a_slow_and_obvious_way():
    """A naive twin: count words without stems, then join them."""
    texts = python_docs().texts[:300]
    plain = words_of(Corpus.from_texts(texts, min_df=1, max_df=1.0))
    total, stem = sum(plain, Counter()), stemmer_of("english")
    families = defaultdict(list)
    for word in sorted(total):
        families[stem(word)].append(word)
    form = {word: max(family, key=lambda other: total[other]) for family in families.values() for word in family}
    expected = [Counter() for _ in plain]
    for document, counts in zip(expected, plain, strict=True):
        for word, n in counts.items():
            document[form[word]] += n
    assert words_of(Corpus.from_texts(texts, min_df=1, max_df=1.0, stem=True)) == expected
    assert len(families) < 0.9 * len(total)


def test_a_model_keeps_it(tmp_path):
    model = LDA(2, n_sweeps=10, random_state=0).fit(Corpus.from_texts(TEXTS, stem=True))
    model.save(tmp_path / "model.topoi")
    loaded = topoi.load(tmp_path / "model.topoi")
    assert words_of(loaded.as_corpus(["Filing and using."])) == [{"files": 1}]
    np.testing.assert_array_equal(loaded.transform(["She filed it"]), model.transform(["files"]))


def test_other_languages():
    german = ["Die Häuser und das Haus sind nicht da, wo sie vorher gewesen sind, und ein Haus ist nicht mehr hier."]
    corpus = Corpus.from_texts(german, stem=True)
    assert corpus.preparation.stem == "german"
    assert words_of(corpus)[0]["haus"] == 3 - ("häuser" in stop_words_of("german"))
    # Named, it need not be recognised; stop words may also stay, or be a list.
    assert words_of(Corpus.from_texts(["Häuser Haus Haus"], stem=True, stop_words="de")) == [{"haus": 3}]
    for stop_words in (None, ["da"]):
        kept = Corpus.from_texts(german, stem=True, stop_words=stop_words)
        assert kept.preparation.stem == "german"
        assert words_of(kept)[0]["haus"] == 3
        assert kept.preparation.language == ("" if stop_words is None else "given")


def test_errors(monkeypatch, tmp_path):
    with pytest.raises(ParameterError, match="none was recognised; name it"):
        Corpus.from_texts(["alpha beta gamma"], stem=True)
    with pytest.raises(ParameterError, match=r"no stemmer for Ukrainian; there are arabic, .*, turkish"):
        Corpus.from_texts(["alpha beta gamma"], stem=True, stop_words="uk")
    with pytest.raises(ParameterError, match="stem: must be True or False"):
        Corpus.from_texts(TEXTS, stem="german")
    (tmp_path / "d.jsonl").write_text('{"text": "The files are here"}\n')
    with pytest.raises(ParameterError, match="where a vocabulary is given"):
        read_documents(tmp_path / "d.jsonl", stem=True, vocabulary=["file"])
    (tmp_path / "d.svm").write_text("1 1:2 2:1\n")
    with pytest.raises(ParameterError, match="has counts of words"):
        read_documents(tmp_path / "d.svm", stem=True)
    stemmer_of.cache_clear()
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(PackageMissingError, match=r"pip install 'topoi\[stem\]'"):
        Corpus.from_texts(TEXTS, stem=True)
    assert Corpus.from_texts(TEXTS).preparation.stem == ""
