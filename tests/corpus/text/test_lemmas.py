"""Words become their lemmas by a pipeline of spaCy, which a model names and does not hold."""

import importlib
import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import topoi
from support.spacy_pipelines import new_pipeline
from topoi import LDA, Corpus, MedLDAClassifier
from topoi.corpus.text import lemmas
from topoi.errors import CorpusError, PackageMissingError, ParameterError
from topoi.readers import read_documents

spacy = pytest.importorskip("spacy", reason="its wheels may be late for a new Python")

TEXTS = [
    "We saw the saws of Berlin; they were in the cities.",
    "The saw was in a city, and cities see their saws: Oslo.",
]
EXPECTED = [{"see": 1, "saw": 1, "berlin": 1, "city": 1}, {"saw": 2, "city": 2, "see": 1, "oslo": 1}]
OPTIONS = {"stop_words": ["the", "be", "a", "in", "of", "and", "we", "they", "their"]}


@pytest.fixture(autouse=True)
def _nothing_loaded(monkeypatch):
    monkeypatch.setattr(lemmas, "_loaded", {})


@pytest.fixture
def folder(tmp_path):
    new_pipeline().to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package as `spacy package` makes them and `pip install` lays them out."""
    site, name = tmp_path / "site", "en_desk_lemmas"
    (site / name).mkdir(parents=True)
    new_pipeline("desk_lemmas").to_disk(site / name / "data")
    (site / name / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_path\n"
        "def load(**options):\n    return load_model_from_path(Path(__file__).parent / 'data', **options)\n"
    )
    about = site / f"{name}-1.2.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    (about / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    yield name
    sys.modules.pop(name, None)


def words_of(corpus: Corpus) -> list[Counter]:
    assert corpus.vocabulary is not None
    return [Counter(corpus.vocabulary[corpus.document(d)].tolist()) for d in range(corpus.n_documents)]


def test_a_word_becomes_its_lemma_in_its_sentence(folder, package):
    for asked in (new_pipeline(), folder, str(folder), package):
        corpus = Corpus.from_texts(TEXTS, lemmas=asked, **OPTIONS)
        assert words_of(corpus) == EXPECTED
    assert corpus.preparation.lemmas == "en_desk_lemmas 1.2.3"
    assert corpus.preparation.stem == ""
    assert "lemmas by the spaCy pipeline en_desk_lemmas 1.2.3" in corpus.preparation.sentences()[0]
    assert words_of(Corpus.from_texts(["Saws"], lemmas=folder, lowercase=False)) == [{"saw": 1}]


def test_new_texts_pass_the_same_way(tmp_path, package):
    corpus = Corpus.from_texts(TEXTS, lemmas=package, phrases=True, **OPTIONS)
    corpus.save(tmp_path / "corpus")
    for known in (corpus, Corpus.load(tmp_path / "corpus"), Corpus.from_texts([""], like=corpus)):
        assert words_of(Corpus.from_texts(["They saw the saw"], like=known)) == [{"see": 1, "saw": 1}]
    known = set(corpus.vocabulary)
    cut = [Counter(word for word in text if word in known) for text in corpus.preparation.cut(TEXTS, corpus.vocabulary)]
    assert cut == EXPECTED
    # What are words already are lemmas already, as in a file of lists.
    (tmp_path / "lists.jsonl").write_text(json.dumps({"text": ["see", "saw", "saws"]}) + "\n")
    assert words_of(read_documents(tmp_path / "lists.jsonl", like=corpus).corpus) == [{"see": 1, "saw": 1}]


def test_a_model_names_its_pipeline(tmp_path, package):
    """It loads without it, is what it was without it, and takes texts once it is there."""
    model = LDA(2, n_sweeps=10, random_state=0).fit(Corpus.from_texts(TEXTS, lemmas=package, **OPTIONS))
    expected = model.transform(["They saw a city"])
    model.save(tmp_path / "model.topoi")
    lemmas._loaded.clear()
    sys.modules.pop(package, None)
    loaded = topoi.load(tmp_path / "model.topoi")
    np.testing.assert_array_equal(loaded.doc_topic_, model.doc_topic_)
    assert package not in sys.modules
    np.testing.assert_array_equal(loaded.transform(["They saw a city"]), expected)
    assert package in sys.modules


def test_loading_a_model_imports_no_spacy(tmp_path, folder):
    model = LDA(2, n_sweeps=10, random_state=0).fit(Corpus.from_texts(TEXTS, lemmas=folder, **OPTIONS))
    model.save(tmp_path / "model.topoi")
    code = (
        "import sys, topoi; model = topoi.load(sys.argv[1]); print(model.top_words(2), model.preparation_.lemmas);"
        "assert not {name for name in sys.modules if name.partition('.')[0] in ('spacy', 'thinc')}"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "model.topoi"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "en_desk 1.2.3" in done.stdout


def test_a_folder_is_never_taken_from_a_file(tmp_path, folder):
    """A name from a file finds installed packages that say that they are pipelines, and what the user has loaded."""
    corpus = Corpus.from_texts(TEXTS, lemmas=folder, **OPTIONS)
    assert words_of(Corpus.from_texts(["They saw"], like=corpus)) == [{"see": 1}]  # it is loaded
    lemmas._loaded.clear()
    with pytest.raises(ParameterError, match=r"by the spaCy pipeline en_desk 1\.2\.3, which is not installed. Install"):
        Corpus.from_texts(["They saw"], like=corpus)
    assert words_of(Corpus.from_texts(["They saw"], like=corpus, lemmas=folder)) == [{"see": 1}]
    corpus.save(tmp_path / "corpus")
    path = tmp_path / "corpus" / "corpus.json"
    header = json.loads(path.read_text("utf-8"))
    lemmas._loaded.clear()
    for evil in (f"{folder} 1.2.3", "../pipeline 1.0", "en_desk", "antigravity", "a\nb 1", 3):
        header["preparation"]["lemmas"] = evil
        path.write_text(json.dumps(header), "utf-8")
        with pytest.raises(CorpusError, match="not a saved corpus, or is damaged"):
            Corpus.load(tmp_path / "corpus")
    header["preparation"]["lemmas"] = "antigravity 1.0"  # a module that opens a browser when it is imported
    path.write_text(json.dumps(header), "utf-8")
    stranger = Corpus.load(tmp_path / "corpus")
    with pytest.raises(ParameterError, match=r"pipeline antigravity 1\.0, which is not installed"):
        Corpus.from_texts(["They saw"], like=stranger)
    assert "antigravity" not in sys.modules


def test_files_from_before_there_were_lemmas(tmp_path):
    Corpus.from_texts(TEXTS).save(tmp_path / "corpus")
    path = tmp_path / "corpus" / "corpus.json"
    header = json.loads(path.read_text("utf-8"))
    header["preparation"].pop("lemmas", None)
    path.write_text(json.dumps(header), "utf-8")
    assert Corpus.load(tmp_path / "corpus").preparation.lemmas == ""


def test_another_pipeline(folder, package):
    corpus = Corpus.from_texts(TEXTS, lemmas=folder, **OPTIONS)
    with pytest.raises(ParameterError, match=r"are lemmas by en_desk 1\.2\.3, so .* those of en_desk_lemmas 1\.2\.3"):
        Corpus.from_texts(TEXTS, like=corpus, lemmas=package)
    with pytest.raises(ParameterError, match="the words of the model are not lemmas"):
        Corpus.from_texts(TEXTS, like=Corpus.from_texts(TEXTS), lemmas=package)
    newer = new_pipeline()
    newer.meta["version"] = "2.0.0"
    with pytest.warns(UserWarning, match=r"by the spaCy pipeline en_desk 1\.2\.3, but en_desk 2\.0\.0 is here"):
        assert Corpus.from_texts(["They saw"], like=corpus, lemmas=newer).n_tokens == 1


def test_predictions_count_the_words_as_they_are_written(package):
    """Words beside topics are all words of the text; those of topics are lemmas."""
    texts, labels = TEXTS * 10, ["a", "b"] * 10
    corpus = Corpus.from_texts(texts, lemmas=package, ngrams=1, stop_words=OPTIONS["stop_words"])
    beside = set(corpus.ngrams.names)
    assert {"the", "cities", "saws", "were"} <= beside
    assert "be" not in beside
    model = MedLDAClassifier(2, n_sweeps=10, random_state=0).fit(corpus, labels)
    assert model.predict(TEXTS).tolist() == ["a", "b"]


def test_errors(tmp_path, monkeypatch, folder):
    with pytest.raises(ParameterError, match="no spaCy pipeline 'en_core_web_xs' is installed, and no folder"):
        Corpus.from_texts(TEXTS, lemmas="en_core_web_xs")
    with pytest.raises(ParameterError, match="no spaCy pipeline 'numpy' is installed"):  # a package, but no pipeline
        Corpus.from_texts(TEXTS, lemmas="numpy")
    with pytest.raises(ParameterError, match="makes no lemmas; its components are: none"):
        Corpus.from_texts(TEXTS, lemmas=spacy.blank("en"))
    bare = spacy.blank("en")
    bare.add_pipe("lemmatizer", config={"mode": "lookup"})
    with pytest.raises(ParameterError, match=r"spaCy cannot use the pipeline.*table"):
        Corpus.from_texts(TEXTS, lemmas=bare)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ParameterError, match="spaCy cannot load"):
        Corpus.from_texts(TEXTS, lemmas=tmp_path / "empty")
    for odd in (3, True, "", str.lower):
        with pytest.raises(ParameterError, match="lemmas: must name a pipeline of spaCy"):
            Corpus.from_texts(TEXTS, lemmas=odd)
    with pytest.raises(ParameterError, match="stem is another way"):
        Corpus.from_texts(TEXTS, lemmas=folder, stem=True)
    odd_name = new_pipeline("two words")
    with pytest.raises(ParameterError, match=r"is called 'en_two words 1\.2\.3', which no model can keep"):
        Corpus.from_texts(TEXTS, lemmas=odd_name)
    (tmp_path / "d.jsonl").write_text('{"text": ["files"]}\n')
    with pytest.raises(ParameterError, match="the documents are lists of words"):
        read_documents(tmp_path / "d.jsonl", lemmas=folder)
    (tmp_path / "d.txt").write_text("files\n")
    with pytest.raises(ParameterError, match="tokenized texts are cut already"):
        read_documents(tmp_path / "d.txt", lemmas=folder, tokenized=True)
    (tmp_path / "d.svm").write_text("1 1:2 2:1\n")
    with pytest.raises(ParameterError, match=r"lemmas: .* has counts of words"):
        read_documents(tmp_path / "d.svm", lemmas=folder)
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(PackageMissingError, match=r"pip install 'topoi\[lemmas\]'"):
        Corpus.from_texts(TEXTS, lemmas=folder)
