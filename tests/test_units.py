"""The same law is found whatever the units of the columns: a search from end to end."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits

pytestmark = pytest.mark.search

LIMITS = Limits(timeout=None, max_evaluations=300_000)
LAWS = {
    "quotient": lambda a, b, c, d: a * b / (c + d),
    "polynomial": lambda a: 3 * a**2 + 1,
    "wave": lambda a, b: 2.5 * np.sin(a) + b**2,
    "coulomb": lambda a, b, c: 8.99 * a * b / c**2,
    "root": lambda a, b: np.sqrt(a**2 + b**2),
    "decay": lambda a, b: 3 * b * np.exp(-a) + 1,
}


def draw(law, seed, n_rows=100):
    """Return a table of ordinary size with its target."""
    table = np.random.default_rng(seed).uniform(0.5, 3.0, (n_rows, law.__code__.co_argcount))
    return table, law(*table.T)


def search(table, target):
    """Return the values of the formula that was chosen, its cost, and why the search ended."""
    data = Dataset.from_arrays(table, target)
    found = discover(RegressionRequest(data, Grammar.from_operators(DEFAULT_OPERATORS, data.names), limits=LIMITS))
    chosen = found.front[found.front.choose("mdl", found.n_rows, found.floor)]
    return chosen.program, found.stopped


def is_same(program, table, target):
    """Return whether a formula also has the values on rows that it was not fitted to."""
    error = evaluate(program, np.ascontiguousarray(table.T)) / target - 1
    return np.max(np.abs(error)) < 1e-9


@pytest.mark.parametrize("decades", [6, 30])
@pytest.mark.parametrize("name", LAWS)
def test_the_same_law_is_found_after_any_change_of_units(name, decades):
    law = LAWS[name]
    table, target = draw(law, 0)
    other_table, other_target = draw(law, 1)
    exponents = np.random.default_rng([decades, len(name), 1]).uniform(-decades, decades, table.shape[1] + 1)
    units = 10.0 ** (np.round(exponents) if decades == 30 else exponents)
    program, stopped = search(table * units[1:], target * units[0])
    assert stopped == "exact"
    assert is_same(program, other_table * units[1:], other_target * units[0])


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e-130, 1e130])
def test_targets_of_extreme_size_are_no_problem(scale):
    table, target = draw(LAWS["quotient"], 0)
    program, stopped = search(table, target * scale)
    assert stopped == "exact"
    assert is_same(program, table, target * scale)


def test_a_column_far_from_zero_is_as_good_as_one_near_it():
    table, _ = draw(LAWS["wave"], 0)
    times = 1e9 + 1e-3 * table[:, 0]
    since = (times - 1e9) * 1e3
    program, _ = search(np.column_stack([times, table[:, 1]]), since * table[:, 1] + 1)
    assert is_same(program, np.column_stack([times, table[:, 1]]), since * table[:, 1] + 1)


def test_a_target_far_from_zero_is_known_to_its_last_digit():
    table, target = draw(LAWS["wave"], 0)
    program, stopped = search(table, 1e9 + 1e-3 * target)
    assert stopped == "exact"
    shares = (evaluate(program, np.ascontiguousarray(table.T)) - 1e9) * 1e3
    assert np.max(np.abs(shares - target)) < 1e-3
