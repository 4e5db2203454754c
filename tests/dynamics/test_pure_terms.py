import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.dynamics.proposals import fit_sums
from spl.dynamics.pure_terms import PureTable
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.units.table_units import read_table_units

OPERATORS = ("+", "-", "*", "/", "sin")
UNITS = read_table_units({"a": "rad", "w": "1/s"}, "1/s**2", {"g": "9.81 m/s**2", "l": "0.5 m"}, names=["a", "w"])
FREE = read_table_units({"a": "m", "w": "1/s"}, "1/s**2", names=["a", "w"], are_numbers_free=True)


@pytest.fixture
def data(rng):
    a, w = rng.uniform(-2, 2, (2, 60))
    known = np.repeat([[9.81], [0.5]], 60, axis=1)
    columns = np.vstack([a, w, known])
    return Dataset.from_arrays(columns.T, -19.62 * np.sin(a) - 0.7 * w * w, names=UNITS.names)


def test_all_sums_and_terms_of_an_equation_have_its_unit(data):
    grammar = Grammar.from_operators(OPERATORS, UNITS.names)
    sums = fit_sums(data, grammar, units=UNITS)
    assert len(sums.candidates) > 10
    assert all(UNITS.allow(each.program) for each in sums.candidates)
    assert len(sums.library.terms) > 10
    terms = [Program(term, sums.library.vocabulary) for term in sums.library.terms]
    assert all(UNITS.allow(term) for term in terms)
    assert "w*w" in [to_text(term) for term in terms]
    np.testing.assert_allclose(sums.library.values[:, 0], 9.81 / 0.5)
    assert min(each.loss for each in sums.candidates if each.cost < 20) < 1e-9


def test_where_numbers_have_units_functions_of_columns_need_pure_numbers(data):
    two = Dataset.from_arrays(data.columns[:2].T, data.target, names=["a", "w"])
    grammar = Grammar.from_operators(OPERATORS, ["a", "w"])
    sums = fit_sums(two, grammar, units=FREE)
    texts = [to_text(Program(term, sums.library.vocabulary)) for term in sums.library.terms if term]
    assert "a*w" in texts
    assert not any("sin" in text for text in texts)
    assert sums.candidates
    assert all(FREE.allow(each.program) for each in sums.candidates)


def test_rules_about_columns_and_free_numbers_need_no_groups(data):
    rules = Grammar.from_text("f -> f + f | C*f | sin(a) | w*w", variables=UNITS.names)
    assert PureTable.of(rules, data, UNITS) is None
    assert PureTable.of(Grammar.from_operators(OPERATORS, UNITS.names), data, FREE) is None
