"""Searches with and without units: what they are told, and when the law first was their choice."""

import numpy as np
import pytest
from tests.bench.knowledge_fakes import make_fit, read_formula

from spl.bench.knowledge_fit import first_right_choice, fit_handbook_law, has_right_structure, values_of, with_known
from spl.datasets import load_handbook_law, make_handbook_table, make_handbook_test

LAW = load_handbook_law("tidal_acceleration")


def test_a_search_without_units_follows_its_choices():
    table, target = make_handbook_table(LAW, 0, n_rows=100)
    found = fit_handbook_law(LAW, table, target, has_units=False, seed=0, timeout=20.0)
    unseen, truth = make_handbook_test(LAW, 0)
    np.testing.assert_allclose(values_of(LAW, found.program, unseen), truth, rtol=1e-6)
    assert found.choices[-1].program is found.program
    efforts = [(choice.seconds, choice.n_evaluations) for choice in found.choices]
    assert efforts == sorted(efforts)
    assert efforts[-1] == (found.seconds, found.n_evaluations)
    solution = first_right_choice(LAW, found.choices, unseen, truth)
    assert solution is not None
    assert 0 < solution.n_evaluations <= found.n_evaluations


def test_rows_have_the_values_of_the_constants_that_a_formula_may_have():
    table = np.ones((2, 3))
    np.testing.assert_array_equal(with_known(LAW, table, read_formula(LAW, "M", has_units=False)), table)
    assert with_known(LAW, table, read_formula(LAW, "M")).tolist() == [[1.0, 1.0, 1.0, 6.6743e-11]] * 2


@pytest.mark.parametrize(("text", "is_right"), [("3*G*M*r/d**3", True), ("3*G*M*r/d**2", False)])
def test_a_structure_is_right_whatever_its_numbers(text, is_right):
    unseen, truth = make_handbook_test(LAW, 0)
    assert has_right_structure(LAW, read_formula(LAW, text), unseen, truth) is is_right


def test_a_search_that_never_chose_the_law_has_no_solution():
    unseen, truth = make_handbook_test(LAW, 0)
    assert first_right_choice(LAW, make_fit(LAW, "M", "G*M/d**2").choices, unseen, truth) is None
    right = first_right_choice(LAW, make_fit(LAW, "M", "3*G*M*r/d**3", "2*G*M*r/d**3").choices, unseen, truth)
    assert right is not None
    assert right.n_evaluations == 200
