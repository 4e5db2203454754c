"""The noise model of a law with own numbers: one for all groups together."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.fit import fit_jointly
from spl.groups.noise import decide_noise
from spl.noise.models import AUTO, NORMAL, POISSON, RELATIVE, STUDENT
from spl.regression.noise_choice import PLAIN_NOISE

CODES = np.repeat(np.arange(6), 20)
SCALES = np.array([1.0, 10.0, 100.0, 2.0, 30.0, 5.0])


@pytest.fixture
def x(rng):
    return rng.uniform(1, 3, CODES.size)


def decide(rows, asked):
    fits = [fit_jointly(make_formula(text, values=(np.ones(6),)), rows) for text in ("k1*x", "k1*exp(x)")]
    return decide_noise(fits, rows, asked)


def test_noise_that_grows_from_group_to_group_is_relative(rng, x):
    rows = make_rows(x, SCALES[CODES] * x * (1 + 0.1 * rng.normal(size=x.size)), CODES)
    found = decide(rows, AUTO)
    assert found.choice.name == RELATIVE.name
    assert found.rows.data.noise is RELATIVE
    assert found.choice.numbers["relative error"] == pytest.approx(0.1, rel=0.2)
    np.testing.assert_allclose(found.fits[0].formula.values[0], SCALES, rtol=0.1)


def test_even_noise_stays_even(rng, x):
    rows = make_rows(x, SCALES[CODES] * x + rng.normal(size=x.size), CODES)
    found = decide(rows, AUTO)
    assert found.choice.name == NORMAL.name
    assert RELATIVE.name in found.choice.others
    assert not found.outliers


def test_outliers_are_found_in_the_groups_they_are_in(rng, x):
    target = SCALES[CODES] * x + 0.1 * rng.normal(size=x.size)
    target[[3, 45, 110]] += [5.0, -7.0, 9.0]
    found = decide(make_rows(x, target, CODES), AUTO)
    assert found.choice.name == STUDENT.name
    assert found.outliers == (3, 45, 110)
    np.testing.assert_allclose(found.fits[0].formula.values[0], SCALES, rtol=0.1)


def test_the_model_that_was_asked_for_is_used_whatever_describes_the_data_best(rng, x):
    rows = make_rows(x, rng.poisson(20 * SCALES[CODES] * x).astype(float), CODES, noise=POISSON)
    found = decide(rows, POISSON)
    assert found.choice.name == POISSON.name
    assert found.rows is rows


def test_without_a_noise_model_least_squares_stays_as_it_is(rng, x):
    rows = make_rows(x, SCALES[CODES] * x + rng.normal(size=x.size), CODES)
    found = decide(rows, NORMAL)
    assert found.choice is PLAIN_NOISE
    assert found.rows is rows


def test_an_exact_law_needs_no_other_noise_model(x):
    found = decide(make_rows(x, SCALES[CODES] * x, CODES), AUTO)
    assert found.choice.name == NORMAL.name
    assert not found.choice.others
