"""The rule that recommends a number of topics, on curves made by hand."""

from __future__ import annotations

import math

import pytest

from topoi.selection.recommend import criterion_of, recommend

NAN = math.nan


def row(n_topics, value, error=0.1, coherence=0.2, stability=0.6, nearest=0.2):
    return {"n_topics": n_topics, "log_likelihood": value, "log_likelihood_se": error, "coherence": coherence,
            "coherence_se": 0.02, "stability": stability, "nearest": nearest}  # fmt: skip


def curve(*values, error=0.1, **more):
    return [row(10 * 2**place, value, error, **more) for place, value in enumerate(values)]


def test_the_smallest_within_one_standard_error_of_the_best():
    found = recommend(curve(-8.0, -7.05, -7.0, -7.2))
    assert found.best == 20
    assert found.reason == (
        "20 topics: the smallest number whose held-out log-likelihood per token (-7.050) is within one standard error "
        "(0.100) of the best (-7.000, 40 topics)."
    )
    assert found.remarks == ("The held-out log-likelihood per token rises up to 40 topics and falls after them.",)


def test_the_best_itself():
    found = recommend(curve(-8.0, -7.5, -7.0, -7.5))
    assert found.best == 40
    assert "40 topics: they have the best" in found.reason
    assert "no smaller number is within one standard error (0.100) of it" in found.reason


def test_the_error_is_that_of_the_best():
    table = curve(-7.3, -7.0, -7.1)
    table[0]["log_likelihood_se"] = 10.0
    assert recommend(table).best == 20
    table[1]["log_likelihood_se"] = 0.5
    assert recommend(table).best == 10


def test_exactly_one_standard_error_is_within():
    assert recommend([row(10, -7.25), row(20, -7.0, 0.25)]).best == 10


def test_the_order_of_the_rows_does_not_matter():
    assert recommend(curve(-8.0, -7.05, -7.0)[::-1]).best == 20


def test_still_rising_at_the_edge():
    found = recommend(curve(-8.0, -7.5, -7.0))
    assert found.best == 40
    assert "is still rising at 40 topics" in found.remarks[0]
    assert found.remarks[-1] == "Warning: 40 is the largest number tried; a larger one may be better still."


def test_best_at_the_other_edge():
    found = recommend(curve(-7.0, -7.5, -8.0))
    assert found.best == 10
    assert "no smaller number" not in found.reason
    assert "falls from 10 topics on" in found.remarks[0]
    assert found.remarks[-1] == "Warning: 10 is the smallest number tried; a smaller one may be as good."
    assert len(recommend([row(1, -7.0), row(2, -8.0)]).remarks) == 1  # there is nothing smaller than 1


def test_level():
    found = recommend(curve(-7.05, -7.0, -7.05))
    assert found.best == 10
    assert "is level" in found.remarks[0]
    found = recommend(curve(-8.0, -7.02, -7.0, -7.05))
    assert "rises up to 40 topics, and then stays level up to 80 topics" in found.remarks[0]


def test_topics_that_do_not_hold_together_are_left_out():
    table = curve(-8.0, -7.5, -7.0)
    table[2]["coherence"] = -0.03
    found = recommend(table)
    assert found.best == 20
    assert found.left_out == (40,)
    assert "the best held-out log-likelihood per token of the numbers that are left (-7.500)" in found.reason
    table[2]["coherence"] = -0.01  # that may be chance
    assert recommend(table).best == 40
    table[2] |= {"coherence": -0.01, "coherence_se": NAN}
    assert recommend(table).best == 20
    table[2] |= {"coherence": -0.03, "coherence_se": 0.02}
    assert "Left out: 40 topics; their top words are together less often than by chance." in found.remarks
    assert not any("Warning" in remark for remark in found.remarks)  # 40 was tried: 20 is not the edge


def test_topics_that_are_not_found_again_are_left_out():
    table = curve(-8.0, -7.5, -7.0)
    table[2] |= {"stability": 0.2, "nearest": 0.2}
    found = recommend(table)
    assert found.best == 20
    assert any(remark.startswith("Left out: 40 topics; other documents") for remark in found.remarks)


def test_coherence_says_nothing_if_it_is_low_for_all():
    found = recommend(curve(-8.0, -7.0, -7.5, coherence=-0.3))
    assert found.best == 20
    assert len(found.remarks) == 1
    table = curve(-8.0, -7.5, -7.0, coherence=-0.3)
    table[2]["stability"] = 0.1
    assert recommend(table).left_out == (40,)  # for its stability alone


def test_none_is_left_out_if_all_would_be():
    table = curve(-8.0, -7.0, -7.5, stability=0.1)
    found = recommend(table)
    assert found.best == 20
    assert "No number was left out, though the topics of all are weak: see coherence and stability." in found.remarks


def test_one_number():
    found = recommend(curve(-7.0))
    assert found.best == 10
    assert found.remarks == ("Only one number was tried: there is nothing to compare it with.",)


def test_one_fold_has_no_standard_error():
    found = recommend(curve(-7.01, -7.0, -7.01, error=NAN, stability=NAN, nearest=NAN))
    assert found.best == 20
    assert found.reason == "20 topics: they have the best held-out log-likelihood per token (-7.000)."
    assert "one fold" in found.remarks[-1]


def test_what_is_not_a_number_is_not_recommended():
    found = recommend(curve(-8.0, NAN, -7.0, coherence=NAN))
    assert found.best == 40
    nothing = recommend(curve(NAN, NAN))
    assert nothing.best is None
    assert nothing.reason.startswith("No number can be recommended")


def test_ties_go_to_the_smaller_number():
    assert recommend(curve(-8.0, -7.0, -7.0, error=0.0)).best == 20


@pytest.mark.parametrize("name", ["accuracy", "R²"])
def test_the_score_of_predictions_decides(name):
    table = curve(-8.0, -7.5, -7.0)
    for one, score in zip(table, (0.7, 0.9, 0.895), strict=True):
        one |= {"score": score, "score_se": 0.01}
    assert criterion_of(table) == "score"
    found = recommend(table, name)
    assert found.best == 20
    assert found.reason.startswith(f"20 topics: they have the best held-out {name} (0.900)")
    for one in table:
        one["score"] = NAN
    assert criterion_of(table) == "log_likelihood"
