"""Topics of two models matched one to one, and in how many chains a topic was found."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from support.labelled import classifier
from topoi import LDA, Corpus, ParameterError, TopicModel, load
from topoi._disk.store import ModelError
from topoi.chain.priors import fixed_priors
from topoi.estimators.alignment import NONE, SAME, agreement_of, match_topics, overlaps
from topoi.evaluate import align_topics, evaluate, topic_agreement


def model(counts, beta=0.01):
    """A model whose topics have these counts of words: a row for each topic."""
    by_word = sparse.csr_array(np.array(counts, np.int64).T)
    return TopicModel(by_word, by_word, 1, fixed_priors(np.full(by_word.shape[1], 0.1), beta))


def random_counts(seed, n_topics=6, n_words=40):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.2, 20.0, (n_topics, n_words)))


def test_overlap_is_the_probability_in_common():
    one, other = random_counts(0), random_counts(1, 9)
    p, q = one / one.sum(1, keepdims=True), other / other.sum(1, keepdims=True)
    expected = np.minimum(p[:, None], q[None]).sum(2)
    np.testing.assert_allclose(overlaps(model(one), model(other)), expected, atol=1e-12)
    np.testing.assert_allclose(overlaps(model(one), model(one)).diagonal(), 1.0)
    # 1 − overlap is the total variation distance, whatever the number of tokens, of samples and β.
    np.testing.assert_allclose(1 - expected, 0.5 * np.abs(p[:, None] - q[None]).sum(2), atol=1e-12)
    np.testing.assert_allclose(overlaps(model(one * 7, beta=3.0), model(other)), expected, atol=1e-12)


def test_a_permutation_is_found():
    counts = random_counts(2, 12)
    order = np.random.default_rng(3).permutation(12)
    found = match_topics(model(counts), model(counts[order]))
    np.testing.assert_array_equal(order[found.partner], np.arange(12))
    np.testing.assert_allclose(found.overlap, 1.0)
    assert found.same.all()


@pytest.mark.parametrize("seed", range(5))
def test_no_other_match_has_more_in_common(seed):
    one, other = model(random_counts(seed, 5)), model(random_counts(seed + 100, 5))
    overlap = overlaps(one, other)
    best = max(overlap[range(5), list(order)].sum() for order in permutations(range(5)))
    found = match_topics(one, other)
    assert found.overlap.sum() == pytest.approx(best)
    assert sorted(found.partner.tolist()) == list(range(5))


def test_ties_give_every_topic_a_partner_of_its_own():
    same = model([[3, 1], [3, 1], [3, 1]])
    found = match_topics(same, same)
    assert sorted(found.partner.tolist()) == [0, 1, 2]
    np.testing.assert_allclose(found.overlap, 1.0)


def test_numbers_of_topics_may_differ():
    few, many = model([[9, 0, 0], [0, 9, 0]]), model([[0, 0, 9], [0, 9, 0], [9, 0, 0]])
    assert match_topics(few, many).partner.tolist() == [2, 1]
    back = match_topics(many, few)
    assert back.partner.tolist() == [NONE, 1, 0]
    assert back.overlap.tolist() == [0, 1, 1]
    assert back.same.tolist() == [False, True, True]


def test_topics_without_tokens_have_no_partner():
    some = model([[5, 5, 0], [0, 0, 0], [0, 0, 8]])
    found = match_topics(some, some)
    assert found.partner.tolist() == [0, NONE, 2]
    assert found.overlap.tolist() == [1, 0, 1]
    nothing = model([[0, 0, 0], [0, 0, 0]])
    assert match_topics(nothing, some).partner.tolist() == [NONE, NONE]


def test_other_words_are_an_error():
    with pytest.raises(ParameterError, match="has 3 words, but the model it is compared with 2"):
        match_topics(model([[1, 2]]), model([[1, 2, 3]]))


def test_found_in_so_many_chains():
    own = model([[10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 6, 4], [0, 0, 0, 0]])
    alike = model([[0, 9, 0, 0], [8, 0, 0, 0], [0, 0, 1, 9], [0, 0, 0, 0]])  # the third has 0.1 + 0.4 in common
    without = model([[0, 0, 0, 3], [0, 7, 0, 0], [0, 3, 0, 0], [0, 2, 0, 0]])
    found = agreement_of(own, [alike, without, without])
    assert [one.found_in for one in found] == [2, 4, 2, 0]
    assert {one.n_chains for one in found} == {4}
    np.testing.assert_allclose([one.agreement for one in found], [1 / 3, 1, (0.5 + 0.4 + 0.4) / 3, np.nan])


def test_a_topic_of_one_chain_alone():
    own = model([[5, 5, 0, 0], [0, 0, 5, 5]])
    other = model([[5, 5, 0, 0], [4, 6, 0, 0]])
    assert [one.found_in for one in agreement_of(own, [other] * 3)] == [4, 1]


def test_half_is_the_limit():
    assert SAME == 0.5
    own = model([[100, 100]])
    assert match_topics(own, model([[100, 0]])).same.tolist() == [True]
    assert match_topics(model([[100, 100, 1]]), model([[1, 0, 0]])).same.tolist() == [False]


# ---- Of estimators -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus():
    """Three subjects that share no word: every chain finds them."""
    rng = np.random.default_rng(5)
    subject = np.arange(60) % 3
    p = np.kron(np.eye(3), np.full((1, 8), 1 / 8))
    return Corpus.from_counts(np.array([rng.multinomial(40, p[k]) for k in subject])), subject


def lda(corpus, **more):
    """With a small α one chain in forty stays where two subjects share a topic, with any sampler; with 3 none did."""
    settings = {"n_topics": 3, "n_sweeps": 40, "n_samples": 4, "n_chains": 4, "random_state": 0, "doc_topic_prior": 3.0}
    return LDA(**settings | more).fit(corpus)


def test_clear_topics_are_found_in_all_chains(corpus, tmp_path):
    fitted = lda(corpus[0])
    found = fitted.topic_agreement()
    assert [(one.found_in, one.n_chains) for one in found] == [(4, 4)] * 3
    assert min(one.agreement for one in found) > 0.9
    others = [chain for chain in fitted.chains_ if chain is not fitted.model_]
    assert len(others) == 3
    assert found == agreement_of(fitted.model_, others) == topic_agreement(fitted)
    fitted.save(tmp_path / "lda.topoi")
    assert load(tmp_path / "lda.topoi").topic_agreement() == found
    told = evaluate(fitted, corpus[0], measures="topic_agreement")
    assert told == {
        "topic_agreement": pytest.approx(np.mean([one.agreement for one in found])),
        "found_in_all_chains": 1.0,
    }


def test_one_chain_has_nothing_to_agree_with(corpus):
    fitted = lda(corpus[0], n_chains=1)
    assert fitted.topic_agreement() == topic_agreement(fitted) == topic_agreement(fitted.model_) == []
    assert "topic_agreement" not in evaluate(fitted, corpus[0])
    with pytest.raises(ParameterError, match="topic_agreement: there is one chain"):
        evaluate(fitted, corpus[0], measures="topic_agreement")
    with pytest.raises(ParameterError, match="keeps no chains"):
        evaluate(fitted.model_, corpus[0], measures="topic_agreement")


def test_models_for_each_label_stand_side_by_side(corpus):
    documents, subject = corpus
    settings = {"n_topics": 2, "strategy": "ovr", "n_sweeps": 12, "refit": False, "n_chains": 2}
    fitted = classifier(**settings).fit(documents, subject)
    found = fitted.topic_agreement()
    assert len(found) == len(fitted.components_) == 6
    assert found == [one for each in fitted.estimators_ for one in each.topic_agreement()]
    assert {one.n_chains for one in found} == {2}
    assert "topic_agreement" in evaluate(fitted, documents)
    with pytest.raises(ParameterError, match="3 topic models"):
        align_topics(fitted, fitted)


def test_two_fits_are_aligned(corpus):
    one, other = lda(corpus[0], n_chains=1), lda(corpus[0], n_chains=1, random_state=1)
    found = align_topics(one, other)
    np.testing.assert_array_equal(found.partner, match_topics(one.model_, other.model_).partner)
    assert found.same.all()
    np.testing.assert_array_equal(align_topics(one.model_, other).partner, found.partner)


def test_a_file_with_chains_of_other_words_is_refused(corpus, tmp_path):
    fitted = lda(corpus[0])
    fitted.chains_[1] = model([[1, 2], [3, 4], [5, 6]])
    fitted.save(tmp_path / "odd.topoi")
    with pytest.raises(ModelError, match="other words"):
        load(tmp_path / "odd.topoi")
