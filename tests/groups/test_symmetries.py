"""Numbers of groups in one of many equal ways."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.sharing import Sharing
from spl.groups.symmetries import align_groups

ROWS = np.linspace(0.2, 3.0, 20)[np.newaxis]


def align(text, *groups):
    values = np.array(groups, float)
    return align_groups(make_formula(text, values[0]).program, values, values[0], ROWS)


@pytest.mark.parametrize(
    ("text", "typical", "other", "aligned"),
    [
        ("C*cos(4*x + C)", (1.5, 0.5), (-1.5, 0.7), (1.5, 0.7 - np.pi)),
        ("C*cos(C*x)", (1.5, 2.0), (1.4, -3.0), (1.4, 3.0)),
        ("C*sin(C*x)", (1.5, 2.0), (-1.4, -3.0), (1.4, 3.0)),
        ("C*sin(C*x + C)", (1.5, 2.0, 0.3), (-1.4, -3.0, -0.4), (1.4, 3.0, 0.4)),
        ("C*cos(4*x + C)", (1.5, 0.5), (1.4, 0.7 + 4 * np.pi), (1.4, 0.7)),
        ("sqrt(x**2 + C**2)", (1.5,), (-1.4,), (1.4,)),
    ],
)
def test_a_group_is_written_like_the_typical_one(text, typical, other, aligned):
    found = align(text, typical, other)
    np.testing.assert_allclose(found, [typical, aligned], rtol=1e-12)


def test_a_typical_phase_is_at_most_half_a_turn():
    np.testing.assert_allclose(align("C*cos(4*x + C)", (1.5, 0.5 + 2 * np.pi), (1.4, 0.7)), [(1.5, 0.5), (1.4, 0.7)])


def test_formulas_without_values_stay_as_they_are():
    np.testing.assert_array_equal(align("log(C*x)", (-1.0,), (2.0,)), [(-1.0,), (2.0,)])


@pytest.mark.parametrize("text", ["C*x + C", "C*exp(C*x)", "C*sin(x) + C", "C*cos(4*x) + C"])
def test_signs_that_matter_stay(text):
    np.testing.assert_array_equal(align(text, (1.5, 0.5), (-1.5, -0.7)), [(1.5, 0.5), (-1.5, -0.7)])


def test_an_amplitude_is_shared_whatever_its_sign_in_each_group(rng):
    phases = np.array([0.1, 2.9, 1.5, 0.7, 2.2, 1.1])
    codes = np.repeat(np.arange(phases.size), 30)
    x = rng.uniform(0.0, 6.0, codes.size)
    target = 1.5 * np.cos(4 * x + phases[codes]) + 0.01 * rng.normal(size=x.size)
    program = make_formula("C*cos(4*x + C)", (1.0, 1.0)).program
    found = Sharing(program, make_rows(x, target, codes)).choose()
    assert len(found.formula.scopes) == 1
    assert [abs(value) for value in found.formula.program.constants] == [pytest.approx(1.5, abs=0.01)]
