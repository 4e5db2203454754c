"""Prices are what their comments say: of the sizes that the choice of formulas has, in the same order."""

from spl.kernels.programs.prices import (
    EQUAL_LOSS_SHARE,
    MATCH_NUMBER_CHARGE,
    MATCH_TOKEN_CHARGE,
    MOST_ERRORS,
    NUMBER_COST,
    PARENT_TOKEN_NATS,
)


def test_a_number_costs_more_than_a_token():
    assert NUMBER_COST > 1
    assert MATCH_NUMBER_CHARGE > MATCH_TOKEN_CHARGE > 0
    assert MATCH_NUMBER_CHARGE / MATCH_TOKEN_CHARGE < NUMBER_COST


def test_a_match_is_charged_about_what_a_parent_is():
    assert 0.5 < MATCH_TOKEN_CHARGE / 2 / PARENT_TOKEN_NATS < 2


def test_equal_losses_agree_far_better_than_the_best_determined_number():
    assert EQUAL_LOSS_SHARE < 1e-3 / MOST_ERRORS
