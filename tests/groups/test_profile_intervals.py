"""Profiles of shared and own numbers, against a scan of the likelihood that fits all other numbers by scipy."""

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares
from scipy.stats import t as student
from tests.groups.tables import make_formula, make_rows

from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.numbers import JointPlace
from spl.groups.profile_intervals import JointProfile
from spl.groups.uncertainty import measure_joint_curvature

CODES = np.repeat(np.arange(3), 12)
LEVEL = 0.9


@pytest.fixture
def decays(rng):
    """Return rows of noisy decays, and the curvature of their law: own heights, one rate."""
    x = rng.uniform(0.1, 3, 36)
    rows = make_rows(x, np.array([1.0, 2.0, 3.0])[CODES] * np.exp(-1.3 * x) + 0.15 * rng.normal(size=36), CODES)
    found = fit_jointly(make_formula("k1*exp(C*x)", [-1.0], (np.ones(3),)), rows, LAST_JOINT_EFFORT).candidate(rows)
    extended = rows.extend((0,), (np.array(found.own[0].values),), ("k1",))
    return rows, measure_joint_curvature(found.program, found.own, extended, [CODES], 1)


def ends_by_scan(rows, best, moved):
    """Return the ends of the interval of one of four numbers, the rate first: F statistic, all others fitted again."""
    x, y = rows.data.columns[0], rows.data.target

    def errors(numbers):
        return numbers[1:][CODES] * np.exp(numbers[0] * x) - y

    def square(value):
        others = least_squares(
            lambda free: errors(np.insert(free, moved, value)), np.delete(best, moved), xtol=1e-14, ftol=1e-14
        )
        return 2 * others.cost

    degrees = 36 - 4
    limit = square(best[moved]) * (1 + student.ppf(0.5 + LEVEL / 2, degrees) ** 2 / degrees)
    return [brentq(lambda value: square(value) - limit, best[moved], best[moved] + away) for away in (-1.5, 1.5)]


def test_ends_are_where_the_data_speaks_against_a_number(decays):
    rows, curvature = decays
    position = curvature.program.tokens.index(CONSTANT_TOKEN)
    best = np.array([*curvature.program.constants, *curvature.own[0].values])
    profile = JointProfile(rows, (0,), LEVEL)
    for moved, place in enumerate([JointPlace(position), *(JointPlace(own=0, group=k) for k in range(3))]):
        np.testing.assert_allclose(profile.find_ends(curvature, place), ends_by_scan(rows, best, moved), atol=2e-3)


def test_exact_laws_have_intervals_of_rounding_error(rng):
    x = rng.uniform(0.1, 3, 36)
    rows = make_rows(x, np.array([1.0, 2.0, 3.0])[CODES] * x, CODES)
    found = fit_jointly(make_formula("k1*x", values=(np.ones(3),)), rows, LAST_JOINT_EFFORT).candidate(rows)
    extended = rows.extend((0,), (np.array(found.own[0].values),), ("k1",))
    curvature = measure_joint_curvature(found.program, found.own, extended, [CODES], 1)
    low, high = JointProfile(rows, (0,), LEVEL).find_ends(curvature, JointPlace(own=0, group=1))
    assert high - low < 1e-9
    assert (low + high) / 2 == pytest.approx(2.0, abs=1e-9)
