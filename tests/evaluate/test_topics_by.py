"""Shares of topics by group: the numbers themselves, their intervals, and the forms that they come in."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import sparse

import topoi
from topoi import LDA, Corpus, MedLDAClassifier, ParameterError
from topoi.evaluate import TopicsBy, topics_by, write_groups
from topoi.evaluate.topics_by import Sums, share_intervals

N_TOPICS, PER_TOPIC = 4, 15
GROUPS = np.array(["north", "south", "west"])
#: Shares of topics that documents of a group have.
MEANS = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.25, 0.25, 0.45, 0.05]])


def simulate(n_documents, length=60, seed=0, concentration=3.0):
    rng = np.random.default_rng(seed)
    n_words = N_TOPICS * PER_TOPIC
    phi = np.full((N_TOPICS, n_words), 0.05 / n_words)
    for k in range(N_TOPICS):
        phi[k, k * PER_TOPIC : (k + 1) * PER_TOPIC] += 0.95 / PER_TOPIC
    codes = np.arange(n_documents) % len(GROUPS)
    X = [rng.multinomial(length, rng.dirichlet(concentration * MEANS[g]) @ phi) for g in codes]
    return np.array(X), codes


@pytest.fixture(scope="module")
def fitted():
    X, codes = simulate(600)
    model = LDA(N_TOPICS, n_sweeps=120, n_samples=10, random_state=0, doc_topic_prior=1.0).fit(X)
    by_topic = model.components_.reshape(N_TOPICS, N_TOPICS, PER_TOPIC).sum(2)
    order = by_topic.argmax(0)  # the topic of the model that is each true one
    assert sorted(order) == list(range(N_TOPICS))
    return model, X, codes, order


def test_shares_are_those_of_the_groups_with_documents_and_without(fitted):
    """Without the prior: α = 1 draws θ of `transform` towards 1/4 by 4/64."""
    model, X, codes, order = fitted
    table = topics_by(model, GROUPS[codes], X)
    assert table.groups == list(GROUPS)
    assert table.n_documents.tolist() == [200] * 3
    np.testing.assert_allclose(table.share[:, order], MEANS, atol=0.045)
    np.testing.assert_allclose(table.share.sum(1), 1.0, atol=1e-6)
    of_fit = topics_by(model, GROUPS[codes])
    np.testing.assert_allclose(of_fit.share, table.share, atol=0.01)
    theta = np.array([model.transform(X[codes == g]).mean(0) for g in range(3)])
    assert np.abs(theta[:, order] - MEANS).max() > 1.5 * np.abs(table.share[:, order] - MEANS).max()
    assert topoi.topics_by is topics_by


def test_share_is_the_mean_of_expected_counts(fitted):
    model, X, codes, _ = fitted
    alpha = model.doc_topic_prior_
    lengths = X.sum(1, keepdims=True)
    x = (model.transform(X) * (lengths + alpha.sum()) - alpha) / lengths
    table = topics_by(model, codes, X)
    np.testing.assert_allclose(table.share, [x[codes == g].mean(0) for g in range(3)], atol=1e-9)
    longer = np.concatenate([X[:300], 3 * X[300:]])
    lengths = longer.sum(1, keepdims=True)
    counts = model.transform(longer) * (lengths + alpha.sum()) - alpha
    table = topics_by(model, codes, longer, weight="tokens")
    expected = [counts[codes == g].sum(0) / lengths[codes == g].sum() for g in range(3)]
    np.testing.assert_allclose(table.share, expected, atol=1e-9)


def test_pieces_do_not_matter(fitted, monkeypatch):
    from topoi.evaluate import document_shares

    model, X, codes, _ = fitted
    whole = topics_by(model, codes, X), topics_by(model, codes)
    monkeypatch.setattr(document_shares, "PIECE", 4 * 37)
    for one, other in zip(whole, (topics_by(model, codes, X), topics_by(model, codes)), strict=True):
        for name in ("share", "low", "high"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


def known_topics():
    """A model with the topics that documents are made of."""
    n_words = N_TOPICS * PER_TOPIC
    phi = np.full((N_TOPICS, n_words), 0.05 / n_words)
    for k in range(N_TOPICS):
        phi[k, k * PER_TOPIC : (k + 1) * PER_TOPIC] += 0.95 / PER_TOPIC
    model = LDA(N_TOPICS, n_sweeps=1, n_samples=1, random_state=0).fit(np.ones((4, n_words), int))
    counts = sparse.csr_array(np.rint(phi.T * 1e7).astype(model.model_.counts.dtype))
    model.model_.counts = model.model_.last_counts = counts
    return model


@pytest.mark.parametrize(("n_documents", "concentration"), [(18, 1.0), (90, 1.0), (600, 1.0), (90, 10.0)])
def test_coverage(n_documents, concentration):
    """Intervals of 80 % hold the true shares about so often; verify/topics_by.py has more. 600 of them: ±0.05 is more
    than three standard errors. In small groups they are wider than they need be, never narrower."""
    model, inside = known_topics(), []
    for seed in range(50):
        X, codes = simulate(n_documents, seed=seed, concentration=concentration)
        table = topics_by(model, codes, X, level=0.8)
        inside.append((table.low <= MEANS) & (table.high >= MEANS))
    assert 0.75 < np.mean(inside) < (0.95 if n_documents < 50 else 0.87)


def sums_of(x, groups):
    parts = [x[groups == g] for g in np.unique(groups)]
    n = np.array([float(len(part)) for part in parts])
    wx, wxx = np.array([part.sum(0) for part in parts]), np.array([(part**2).sum(0) for part in parts])
    return Sums(n, n, n, wx, wx, wxx)


def test_intervals_of_many_documents_are_normal_ones():
    rng = np.random.default_rng(0)
    x = rng.dirichlet([2.0, 3.0, 5.0], 4000)
    groups = np.repeat([0, 1], 2000)
    share, low, high = share_intervals(sums_of(x, groups), 0.9)
    error = np.array([x[groups == g].std(0, ddof=1) for g in (0, 1)]) / np.sqrt(2000)
    np.testing.assert_allclose(low, share - 1.645 * error, atol=0.03 * error.max())
    np.testing.assert_allclose(high, share + 1.645 * error, atol=0.03 * error.max())


def test_a_topic_that_a_small_group_does_not_have_is_not_impossible():
    x = np.zeros((50, 2))
    x[:, 0] = np.arange(50) < 20
    x[:, 1] = 1 - x[:, 0]
    groups = np.repeat([0, 1], [40, 10])  # the ten of the second have none of the first topic
    share, low, high = share_intervals(sums_of(x, groups), 0.9)
    assert share[1, 0] == low[1, 0] == 0.0
    assert 0.1 < high[1, 0] < 0.35
    # A single document says little.
    share, low, high = share_intervals(sums_of(np.array([[0.5, 0.5]]), np.array([0])), 0.9)
    assert (high - low > 0.8).all()


def test_documents_without_words_are_left_out(fitted):
    model, X, codes, _ = fitted
    some = X[:30].copy()
    some[[3, 7]] = 0
    with pytest.warns(UserWarning, match="2 documents with a value in 'group' have no word that the model"):
        table = topics_by(model, codes[:30], some)
    kept = np.setdiff1d(np.arange(30), [3, 7])
    np.testing.assert_array_equal(table.share, topics_by(model, codes[kept], some[kept]).share)
    assert table.n_empty == 2
    with pytest.warns(UserWarning, match="1 document with a value in 'kind' has no word .* and is left out"):
        topics_by(model, codes[:5], some[:5], name="kind")
    with pytest.raises(ParameterError, match="word that the model knows"):
        topics_by(model, [1, 2], np.zeros((2, X.shape[1]), int))


def test_several_models_and_labels_that_were_not_learned():
    X, codes = simulate(90)
    model = MedLDAClassifier(3, strategy="ovr", n_sweeps=8, n_samples=2, random_state=0).fit(X, codes % 3)
    other = np.arange(90) % 2 == 0
    table = topics_by(model, other, X)
    assert table.share.shape == (2, 9)
    np.testing.assert_allclose(table.share.sum(1), 3.0, atol=1e-6)
    with pytest.raises(ParameterError, match="documents: are needed"):
        topics_by(model, other)


def test_what_is_known_of_documents_is_used():
    """α of a document that depends on its covariates is taken out as it was put in."""
    X, codes = simulate(90)
    given = {"where": GROUPS[codes]}
    model = LDA(N_TOPICS, n_sweeps=30, n_samples=3, random_state=0).fit(X, covariates=given)
    corpus = model.with_prevalence(X, given)
    alpha = model.model_.priors.topics.alpha_of(corpus).by_document()
    x = (model.transform(corpus) * (60 + alpha.sum(1, keepdims=True)) - alpha) / 60
    table = topics_by(model, codes, corpus)
    np.testing.assert_allclose(table.share, [x[codes == g].mean(0) for g in range(3)], atol=1e-9)
    topics_by(model, codes)


def test_rows_frame_and_file(fitted, tmp_path):
    model, X, _codes, _ = fitted
    dates = np.datetime64("2024-01-10") + np.arange(len(X)) % 90
    table = topics_by(model, dates, X, name="date", period="month")
    assert repr(table) == "TopicsBy(4 months of 'date', 4 topics, 600 documents)"
    rows = list(table)
    assert len(rows) == len(table) == 16
    assert rows[5][:6] == ("date", "2024-02", rows[5].start, int(table.n_documents[1]), 1, "topic 1")
    frame = table.to_frame()
    assert frame.loc[5, "share"] == rows[5].share
    assert str(frame.loc[5, "start"]) == "2024-02-01"
    sections = topics_by(model, np.arange(len(X)) % 2, X, name="section")
    write_groups([sections, table], tmp_path / "shares.csv")
    with open(tmp_path / "shares.csv", encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert list(read[0]) == ["by", "group", "start", "n_documents", "topic", "name", "share", "low", "high"]
    assert len(read) == 8 + 16
    assert read[0]["start"] == ""
    assert read[8 + 5]["start"] == "2024-02-01"
    assert float(read[8 + 5]["high"]) == rows[5].high
    table.write(tmp_path / "one.jsonl")
    assert (tmp_path / "one.jsonl").read_text("utf-8").count("\n") == 16


def test_which_topics_vary():
    share = np.array([[0.6, 0.1, 0.3], [0.6, 0.3, 0.1]])
    bounds = {"low": share - 0.02, "high": share + 0.02}
    table = TopicsBy(
        "where", "categories", None, ["a", "b"], [None, None], [0, 1], np.array([10, 10]), ["x", "y", "z"], share,
        overall=share.mean(0), level=0.9, weight="documents", **bounds,
    )  # fmt: skip
    assert table.most_varying(2) == [1, 2]
    assert table.most_varying(5) == [1, 2, 0]
    assert table.largest(1) == [0]
    np.testing.assert_allclose(table.variation()[0], 0.0)


def test_errors(fitted):
    model, X, codes, _ = fitted
    with pytest.raises(ParameterError, match="groups: has 3 values, but there are 600 documents"):
        topics_by(model, ["a", "b", "c"], X)
    with pytest.raises(ParameterError, match="groups: has 3 values, but the model was fitted on 600 documents"):
        topics_by(model, ["a", "b", "c"])
    with pytest.raises(ParameterError, match="weight"):
        topics_by(model, codes, X, weight="words")
    with pytest.raises(ParameterError, match="give documents"):
        topics_by(model, codes, weight="tokens")
    with pytest.raises(ParameterError, match="level"):
        topics_by(model, codes, X, level=1.5)
    corpus = Corpus.from_counts(X)
    assert topics_by(model, codes, corpus).share.shape == (3, 4)
