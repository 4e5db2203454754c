"""Terms that are the same for all runs, with factors of each run's own."""

import numpy as np

from spl.dynamics.run_terms import RunTable


def test_terms_are_found_whose_factors_have_another_sign_in_each_run(rng):
    values = rng.standard_normal((120, 8))
    codes = np.repeat(np.arange(4), 30)
    target = np.array([1.0, -1.0, 2.0, -2.0])[codes] * values[:, 5]
    assert (5,) in list(RunTable.split(values, target, codes).propose(8))


def test_errors_are_those_of_separate_fits(rng):
    values = rng.standard_normal((40, 3))
    codes = np.repeat([0, 1], 20)
    target = np.where(codes == 0, 2.0, -1.0) * values[:, 0] + 0.1 * rng.standard_normal(40)
    errors = RunTable.split(values, target, codes).squared_errors([0])
    for run in (0, 1):
        x, y = values[codes == run, 0], target[codes == run]
        factor = (x @ y) / (x @ x)
        np.testing.assert_allclose(errors[run], np.mean((y - factor * x) ** 2))


def test_no_terms_beyond_what_short_runs_determine_are_eliminated(rng):
    values = rng.standard_normal((24, 20))
    sets = list(RunTable.split(values, values[:, 0], np.repeat([0, 1], 12)).propose(20))
    assert (0,) in sets
