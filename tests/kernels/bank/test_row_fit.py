"""Squared errors that are differences of large numbers."""

import numpy as np
import pytest
from tests.kernels.doors import open_door

from spl.kernels.bank.row_fit import fit_offset, fit_sums, goal_sums, weighted_sums
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET

N = 64
call_sums, call_goal = open_door(weighted_sums), open_door(goal_sums)
call_fit, call_offset = open_door(fit_sums), open_door(fit_offset)


def fit_to_itself(seed, factor, shift):
    """Return the errors of a row whose goal is that row, scaled and shifted: all are 0 but for rounding."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(1.0, 2.0, N)
    rows = np.concatenate([rng.uniform(0.5, 1.5, N), factor * values + shift])
    n, zero = np.int64(N), np.int64(0)
    own = call_sums(values, zero, rows, zero, n, n)
    goal = call_goal(rows, zero, n, n)
    modes = [IDENTICAL] if (factor, shift) == (1.0, 0.0) else []
    modes += [UP_TO_SCALE] if shift == 0.0 else []
    errors = [call_fit(own, goal, np.int64(mode))[0] for mode in (*modes, UP_TO_SCALE_AND_OFFSET)]
    return [*errors, *([call_offset(own, goal)[0]] if factor == 1.0 else [])]


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (3.7, 0.0), (1.0, 1e3), (1e-3, 1e6)])
def test_an_error_is_never_negative(factor, shift):
    errors = [error for seed in range(40) for error in fit_to_itself(seed, factor, shift)]
    assert min(errors) > 0.0


def test_more_numbers_never_make_an_exact_fit_look_better():
    for seed in range(40):
        exact, *others = fit_to_itself(seed, 1.0, 0.0)
        assert exact <= min(others)
