"""Formulas with own numbers: their numbers keep their meaning when some are renamed, dropped or added."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.formula import make_own, name_variables, plain_formula, to_candidate
from spl.regression.candidate import cost_of
from spl.regression.fit import evaluate

ROWS = make_rows(np.linspace(0.5, 2.0, 6), np.ones(6), list("aabbcc"))


def values_of(formula):
    names = formula.program.vocabulary.variables[formula.n_columns :]
    return evaluate(formula.program, ROWS.extend(formula.scopes, formula.values, names).columns)


def test_own_numbers_that_are_left_do_not_change_the_values():
    formula = make_formula("k3*x + k2", values=([9, 9, 9], [1, 2, 3], [4, 5, 6]))
    kept = formula.without_unused()
    assert to_text(kept.program) == "k1*x + k2"
    assert [each.tolist() for each in kept.values] == [[4, 5, 6], [1, 2, 3]]
    np.testing.assert_array_equal(values_of(kept), values_of(formula))


def test_a_formula_whose_own_numbers_are_all_in_use_stays_itself():
    formula = make_formula("k1*x + k2", values=([1, 2, 3], [4, 5, 6]))
    assert formula.without_unused() is formula


@pytest.mark.parametrize(("place", "expected"), [(0, "k1*x + 3"), (1, "2*x + k1")])
def test_a_constant_made_own_with_its_old_value_in_all_groups_changes_nothing(place, expected):
    line = plain_formula(parse_expression("C*x + C", Vocabulary(("x",))).with_constants([2.0, 3.0]))
    own = make_own(line, place, 0, np.full(3, line.program.constants[place]))
    assert to_text(own.program) == expected
    np.testing.assert_array_equal(values_of(own), values_of(line))
    assert line.is_plain
    assert not own.is_plain


def test_own_numbers_have_names_that_no_column_has():
    assert name_variables(Vocabulary(("k1", "x")), ("k1", "x"), 2).variables == ("k1", "x", "k2", "k3")


def test_formulas_are_the_same_whatever_their_numbers_but_not_whatever_their_groupings():
    one = make_formula("k1*x + C", [1], ([1, 2, 3],))
    assert one.key == make_formula("k1*x + C", [5], ([7, 8, 9],)).key
    assert one.key != make_formula("k1*x + C", [1], ([1, 2, 3],), scopes=(1,)).key


def test_a_candidate_has_the_labels_and_values_of_its_own_numbers_and_pays_for_each():
    formula = make_formula("k1*x + k2", values=([1, 2, 3], [4, 5, 6]))
    found = to_candidate(formula, 0.5, 7.0, [("g", ("a", "b", "c"))])
    assert [(each.name, each.grouping, each.value_of("b")) for each in found.own] == [
        ("k1", "g", 2.0),
        ("k2", "g", 5.0),
    ]
    assert found.cost == cost_of(found.program) + 2
    assert (found.loss, found.number_nats) == (0.5, 7.0)
