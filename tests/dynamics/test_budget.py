"""What is left for choosing a system: by the clock, or counted."""

import time

import numpy as np

from spl.dynamics.budget import NEVER, Deadline, SystemBudget


def test_fits_are_counted_and_nothing_else_if_there_is_no_deadline():
    budget = SystemBudget(NEVER, max_fits=3)
    for _ in range(3):
        assert budget.may_try()
        assert budget.begin_fit() == np.inf
    assert not budget.may_try()
    assert not budget.may_be_cut_off


def test_a_counted_fit_may_take_all_the_time_that_is_left_another_only_a_share():
    deadline = Deadline.after(100.0)
    assert 70.0 < SystemBudget(deadline, max_fits=3).begin_fit() <= 75.0
    assert 7.0 < SystemBudget(deadline).begin_fit() <= 7.5


def test_a_deadline_ends_what_is_counted():
    budget = SystemBudget(Deadline.after(-1.0), max_fits=3)
    assert not budget.may_try()
    assert budget.begin_fit() == 0.0
    assert budget.may_be_cut_off


def test_nothing_is_left_once_it_must_stop():
    budget = SystemBudget(NEVER, max_fits=3, must_stop=lambda: True)
    assert not budget.may_try()
    assert budget.seconds_left() == 0.0
    assert not budget.may_be_cut_off


def test_a_share_of_the_budget_is_used_up_before_the_rest():
    counted = SystemBudget(NEVER, max_fits=4)
    counted.begin_fit()
    counted.begin_fit()
    assert not counted.may_try(share=0.5)
    assert counted.may_try()
    timed = SystemBudget(Deadline.after(0.05))
    time.sleep(0.02)
    assert not timed.may_try(share=0.1)
    assert timed.may_try()
