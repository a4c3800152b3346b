"""Seeds of guided topics: what they mean, where chains begin, and what is refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from topoi import LDA, Corpus, MedLDAClassifier, MedLDARegressor, ParameterError, load
from topoi.chain.priors import DocumentAlpha, FixedAlpha, resolve_priors
from topoi.chain.priors.seeds import GROWS, UnknownSeedWarning, find_seeds
from topoi.chain.state import first_topics, new_state

WORDS = ["economy", "economic", "eco", "biology", "geology", "log", "c*", "cat"]
X = np.random.default_rng(5).poisson(1.5, (30, 8))
CORPUS = Corpus.from_counts(X, WORDS)
N_W = X.sum(0)


def pseudo(seeds, n_topics=3, strength=1.0, corpus=CORPUS):
    return find_seeds(seeds, strength, corpus).pseudo_counts(corpus, n_topics).toarray()


@pytest.mark.parametrize("strength", [0.001, 0.3, 1.0, 7.5])
def test_a_seed_word_counts_as_a_share_of_its_tokens(strength):
    expected = np.zeros((8, 3), int)
    for column, topic in [(0, 0), (1, 0), (7, 1), (0, 1)]:  # a word may be in two
        expected[column, topic] = max(1, round(strength * N_W[column]))
    np.testing.assert_array_equal(
        pseudo({"a": ["economy", "economic"], "b": ["cat", "economy"]}, 3, strength), expected
    )


@pytest.mark.parametrize(
    ("word", "columns"),
    [("econom*", [0, 1]), ("*ology", [3, 4]), ("*log*", [3, 4, 5]), ("eco*", [0, 1, 2]), ("e*c", [1]), ("c*", [6]),
     ("**ology", [3, 4]), ("log*", [5]), ("economy", [0])],
)  # fmt: skip
def test_wildcards(word, columns):
    """A word that is there with its star is itself."""
    assert np.flatnonzero(pseudo({"a": [word]}).sum(1)).tolist() == columns


def test_a_word_twice_is_there_once():
    np.testing.assert_array_equal(pseudo({"a": ["economy", "econ*", "economy"]}), pseudo({"a": ["econ*"]}))


def test_columns_without_names():
    corpus = Corpus.from_counts(X)
    np.testing.assert_array_equal(pseudo({"a": [0, np.int32(1)]}, corpus=corpus), pseudo({"a": ["econom*"]}))
    np.testing.assert_array_equal(pseudo({"a": np.array([0, 1])}, corpus=corpus), pseudo({"a": ["econom*"]}))


def test_a_word_without_tokens_counts_once():
    """The documents of a pair of classes may lack it."""
    found = find_seeds({"a": ["cat"]}, 1.0, CORPUS)
    without = CORPUS.take(X[:, 7] == 0)
    assert without.word_counts[7] == 0
    assert found.pseudo_counts(without, 2).toarray()[7].tolist() == [1, 0]


def test_unknown_words_are_told_once():
    with pytest.warns(UnknownSeedWarning) as caught:
        lda = LDA(3, n_sweeps=4, n_chains=2, seeds={"a": ["cat", "Economy", "xyz"], "b": ["log", "q*"]}).fit(CORPUS)
    (told,) = [str(warning.message) for warning in caught if warning.category is UnknownSeedWarning]
    assert told == (
        "seeds: words that the vocabulary does not have are left out: "
        "of 'a': 'Economy' ('economy' is there), 'xyz'; of 'b': 'q*'"
    )
    assert caught[0].filename == __file__
    assert lda.topic_names_ == ["a", "b", "topic 2"]
    with pytest.warns(UnknownSeedWarning) as caught:  # nor for each of the pilots and pairs
        MedLDAClassifier(3, strategy="ovo", n_sweeps=4, seeds={"a": ["cat", "xyz"]}).fit(CORPUS, np.arange(30) % 3)
    assert sum(warning.category is UnknownSeedWarning for warning in caught) == 1
    with pytest.warns(UnknownSeedWarning, match="'w9' and 10 more$"):
        find_seeds({"a": ["cat", *(f"w{i}" for i in range(20))]}, 1.0, CORPUS)


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({"a": ["dog", "cow*"]}, "the topic 'a' has no word that the vocabulary has: 'dog', 'cow*'"),
        ({"a": ["cat"], "b": []}, "the topic 'b' has no words"),
        ({"a": "cat"}, "the topic 'a' has 'cat'; it must have a list of words"),
        ({"a": 3}, "the topic 'a' has 3; it must have a list of words"),
        ({"a": ["cat", 1.5]}, "the topic 'a' has 1.5, a float; words must be texts"),
        ({"a": ["cat", True]}, "the topic 'a' has True, a bool"),
        ({"a": ["cat", None]}, "the topic 'a' has None, a NoneType"),
        ({"a": ["cat", ["log"]]}, "the topic 'a' has ['log'], a list"),
        ({"a": ["cat", "**"]}, "the topic 'a' has '**', which is no word"),
        ({"a": ["cat", ""]}, "the topic 'a' has '', which is no word"),
        ({"a": ["cat", 3]}, "the topic 'a' has 3; the columns have names: give the word"),
        ({"": ["cat"]}, "has a topic ''"),
        ({3: ["cat"]}, "has a topic 3"),
        ({"a\n": ["cat"]}, "cannot be the name of a topic"),
        (["cat"], "must be a dict of names of topics and lists of words, not ['cat']"),
        ({name: ["cat"] for name in "abcd"}, "names 4 topics, but n_topics is 3; 'd' would be one too many"),
    ],
)
@pytest.mark.parametrize("kind", [LDA, MedLDAClassifier, MedLDARegressor])
def test_refused(kind, seeds, told):
    model = kind(3, n_sweeps=4, seeds=seeds)
    with pytest.raises(ParameterError, match=re.escape(told)) as caught:
        model.fit(CORPUS, *([] if kind is LDA else [np.arange(30) % 2]))
    assert caught.value.parameter == "seeds"
    assert not hasattr(model, "n_sweeps_")


def test_refused_without_names():
    corpus = Corpus.from_counts(X)
    with pytest.raises(ParameterError, match="the topic 'a' has 'cat', but the columns of X have no names"):
        LDA(3, seeds={"a": ["cat"]}).fit(corpus)
    for column in (8, -1):
        with pytest.raises(ParameterError, match=f"the topic 'a' has column {column}, but they are 0 to 7"):
            LDA(3, seeds={"a": [column]}).fit(corpus)


@pytest.mark.parametrize("strength", [0, -1.0, 1e-4, 101, np.nan, np.inf, "1", None, True])
def test_strength_out_of_range(strength):
    with pytest.raises(ParameterError, match=re.escape(f"must be a number from 0.001 to 100, not {strength!r}")):
        LDA(3, seeds={"a": ["cat"]}, seed_strength=strength).fit(CORPUS)


def test_more_than_can_be_counted():
    many = Corpus.from_counts(np.array([[2**22]]), ["cat"])
    object.__setattr__(many, "word_counts", np.array([2**26]))
    with pytest.raises(ParameterError, match="seed_strength: is 100, too much"):
        find_seeds({"a": ["cat"]}, 100, many).pseudo_counts(many, 2)


def test_first_topics():
    """Tokens of seed words begin in their topics; all others are drawn from the topics without seeds."""
    seeds = find_seeds({"a": ["economy", "cat"], "b": ["log", "cat"]}, 1.0, CORPUS)
    free = 2 + first_topics(CORPUS, resolve_priors(None, None, 3, CORPUS), 3)
    priors = resolve_priors(None, 5.0, 5, CORPUS, seeds)  # with so large a β they grow
    z = first_topics(CORPUS, priors, 3)
    words = CORPUS.words
    assert set(z[words == 0]) == {0}
    assert set(z[words == 5]) == {1}
    np.testing.assert_array_equal(z[words == 7], free[words == 7] % 2)  # which has both
    assert set(z[words == 7]) == {0, 1}
    others = ~np.isin(words, [0, 5, 7])
    np.testing.assert_array_equal(z[others], free[others])
    assert z.dtype == free.dtype
    every = first_topics(CORPUS, resolve_priors(None, 5.0, 2, CORPUS, seeds), 3)  # all have seeds
    np.testing.assert_array_equal(every[others], first_topics(CORPUS, resolve_priors(None, None, 2, CORPUS), 3)[others])
    np.testing.assert_array_equal(new_state(CORPUS, priors, 3).base_table, seeds.pseudo_counts(CORPUS, 5).toarray())


def test_topics_that_could_not_grow_begin_with_other_words():
    """A word that a topic of seeds alone would hardly have could never come to it."""
    seeds = find_seeds({"a": ["economy", "eco"], "b": ["log"]}, 1.0, CORPUS)
    a, b = 2 * (N_W[0] + N_W[2]) / (GROWS * 8), 2 * N_W[5] / (GROWS * 8)  # the β with which each can just grow
    assert b < a
    others = ~np.isin(CORPUS.words, [0, 2, 5])
    for beta, begin in [(0.99 * b, {0, 1, 2, 3}), (1.01 * b, {0, 2, 3}), (0.99 * a, {0, 2, 3}), (1.01 * a, {2, 3})]:
        z = first_topics(CORPUS, resolve_priors(None, beta, 4, CORPUS, seeds), 3)
        assert set(z[others]) == begin
        assert set(z[~others]) == {0, 1}


def test_first_topics_are_allowed_ones(monkeypatch):
    """In a document that may not have the topic of a seed, its word is as others are."""
    rows, row_of = np.array([[0.1, 0.1, 0.1], [0.0, 0.1, 0.1], [0.1, 0.0, 0.0]]), np.arange(30) % 3
    monkeypatch.setattr(FixedAlpha, "alpha_of", lambda prior, corpus: DocumentAlpha(rows, row_of))
    seeds = find_seeds({"a": ["economy"]}, 1.0, CORPUS)
    z = first_topics(CORPUS, resolve_priors(None, 5.0, 3, CORPUS, seeds), 3)
    of_second = np.repeat(row_of, CORPUS.doc_lengths) == 1
    assert set(z[(CORPUS.words == 0) & ~of_second]) == {0}
    assert set(z[of_second]) == {1, 2}
    assert set(z[np.repeat(row_of, CORPUS.doc_lengths) == 2]) == {0}


def test_without_seeds_nothing_changes():
    for seeds in (None, {}):
        model = LDA(3, n_sweeps=6, random_state=0, seeds=seeds).fit(CORPUS)
        assert model.model_.counts.sum() == model.model_.n_samples * X.sum()
        assert model.model_.topic_names is None


def test_counts_contain_them_and_files_do_too(tmp_path):
    seeds = {"a": ["econom*"], "b": ["cat", "log"]}
    model = LDA(3, n_sweeps=6, n_samples=1, random_state=0, seeds=seeds, seed_strength=2.0).fit(CORPUS)
    np.testing.assert_array_equal(model.model_.counts.sum(1) - N_W, pseudo(seeds, 3, 2.0).sum(1))
    assert (model.model_.counts.toarray() >= pseudo(seeds, 3, 2.0)).all()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert list(again.seeds) == ["a", "b"]
    assert again.topic_names_ == model.topic_names_ == ["a", "b", "topic 2"]
    for one in (again, model):
        one.partial_fit(CORPUS)
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.model_.last_counts.sum(1) - 2 * N_W, pseudo(seeds, 3, 2.0).sum(1))


def test_a_data_frame_has_words():
    frame = pd.DataFrame(X, columns=WORDS)
    found = LDA(3, n_sweeps=6, random_state=0, seeds={"a": ["cat"]}).fit(frame)
    assert found.topic_names_ == ["a", "topic 1", "topic 2"]


@pytest.mark.parametrize("beta", [None, "learn"])
def test_seeds_lead(beta):
    """Each of four kinds of documents is found by two of its words, in the topic that was named, at once and later."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(4, size=200)
    phi = np.kron(np.eye(4), rng.dirichlet(np.full(50, 0.5))) * 0.9 + 0.1 / 200
    X = np.array([rng.multinomial(60, phi[kind]) for kind in kinds])
    order = [2, 0, 3, 1]
    frequent = np.argsort(-phi[0])[3:5]  # neither the first nor rare
    seeds = {f"kind {kind}": (50 * kind + frequent).tolist() for kind in order}
    for n_sweeps in (20, 400):
        model = LDA(6, n_sweeps=n_sweeps, random_state=0, seeds=seeds, topic_word_prior=beta).fit(X)
        for topic, kind in enumerate(order):
            tops = model.top_words(8)[topic]
            assert sum(int(word) // 50 == kind for word in tops) >= 7, tops
        right = np.array(order)[model.doc_topic_[:, :4].argmax(1)] == kinds
        assert right.mean() > 0.9


def test_supervised_models_are_guided():
    y = np.arange(30) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MedLDAClassifier(3, n_sweeps=6, random_state=0, seeds={"a": ["cat"]}).fit(CORPUS, y)
        ovr = MedLDAClassifier(3, strategy="ovr", n_sweeps=6, random_state=0, seeds={"a": ["cat"]}).fit(CORPUS, y)
        number = MedLDARegressor(3, n_sweeps=6, random_state=0, seeds={"a": ["cat"]}).fit(CORPUS, X[:, 0])
    assert model.topic_names_ == number.topic_names_ == ["a", "topic 1", "topic 2"]
    assert ovr.topic_names_ == ["a 0", "topic 1", "topic 2", "a 3", "topic 4", "topic 5", "a 6", "topic 7", "topic 8"]
    for fitted in (model, number, *ovr.estimators_):
        assert fitted.model_.last_counts[7, 0] >= N_W[7]
