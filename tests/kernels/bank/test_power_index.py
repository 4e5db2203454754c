"""The index up to powers, against numpy's least squares in logarithms."""

import numpy as np
from tests.kernels.completion_twins import SmallCompletion
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.bank.power_index import LEFT_OVER, look_up_power, take_off_variables
from spl.kernels.runtime.compiler import kernel

TEXT = "f -> f + f | f * f | f / f | exp(f) | x | y"

call_look_up = open_door(look_up_power)


@kernel
def call_take_off(index, row):
    return take_off_variables(index, row)


def make_small():
    with np.errstate(all="ignore"):
        return SmallCompletion(TEXT, n_rows=24, n_entries=fewer(300, 60))


def design_of(small):
    return np.column_stack([np.ones(small.bank.n_values), np.log(np.abs(small.columns.T[: small.bank.n_values]))])


def residual(small, logs):
    design = design_of(small)
    return logs - design @ np.linalg.lstsq(design, logs, rcond=None)[0]


def test_what_is_left_of_a_row_is_the_residual_of_least_squares(rng):
    small = make_small()
    logs = rng.standard_normal(small.bank.n_values)
    row = logs.copy()
    share = call_take_off(small.completion.power_index, row)
    np.testing.assert_allclose(row, residual(small, logs), atol=1e-12)
    assert np.isclose(share, np.linalg.norm(row) / np.linalg.norm(logs))


def test_the_solver_gives_the_exponents_of_the_variables(rng):
    small = make_small()
    logs = rng.standard_normal(small.bank.n_values)
    expected = np.linalg.lstsq(design_of(small), logs, rcond=None)[0][1:]
    np.testing.assert_allclose(small.completion.power_index.solver @ logs, expected, atol=1e-10)


def test_every_entry_that_is_no_monomial_is_found_as_itself_or_as_one_equal_up_to_powers():
    small = make_small()
    index, n = small.completion.power_index, small.bank.n_values
    n_found = 0
    for entry in range(small.bank.n_of[0]):
        values = small.bank.values[entry * n : (entry + 1) * n]
        left = residual(small, np.log(np.abs(values)))
        if not np.all(np.isfinite(left)) or np.linalg.norm(left) <= 10 * LEFT_OVER * np.linalg.norm(
            np.log(np.abs(values))
        ):
            continue
        found = call_look_up(index, 0, values, 0)
        assert 0 <= found <= entry
        found = index.entry[found]
        other = residual(small, np.log(np.abs(small.bank.values[found * n : (found + 1) * n])))
        cosine = left @ other / (np.linalg.norm(left) * np.linalg.norm(other))
        assert abs(abs(cosine) - 1) < 1e-9
        n_found += 1
    assert n_found > 10


def test_values_that_no_entry_has_are_not_found(rng):
    small = make_small()
    values = rng.uniform(0.5, 2.0, small.bank.n_values)
    assert call_look_up(small.completion.power_index, 0, values, 0) == -1
