import functools

import numpy as np
import pytest
import sympy

from spl.datasets import load_random_formula, make_random_formulas
from spl.datasets.random_programs import shape_of
from spl.errors import DataError, SettingError
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.simplify import simplify

N_FORMULAS = 66


@functools.cache
def all_formulas():
    return make_random_formulas(N_FORMULAS)


@pytest.fixture
def formula(request):
    return all_formulas()[request.param]


def each_of_first(n):
    return pytest.mark.parametrize("formula", range(n), indirect=True)


def program_of(formula):
    return parse_expression(formula.expression, Vocabulary(formula.variables))


def with_constants(formula):
    return literals_to_constants(program_of(formula))


# ---- the list ------------------------------------------------------------------------------------


def test_a_formula_does_not_depend_on_how_many_are_made():
    assert make_random_formulas(30) == all_formulas()[:30]
    assert load_random_formula("random-029") == all_formulas()[29]


def test_the_list_is_the_same_on_every_machine():
    assert [formula.expression for formula in all_formulas()[:3]] == [
        "cos(x1) + x1**2",
        "cos(x1)*(x2 + 3.43)/x1**2",
        "sqrt(x1*x2/(x2/x1 + (x2**2 + x3)))",
    ]


def test_another_seed_gives_other_formulas():
    assert {formula.expression for formula in make_random_formulas(5, seed=1)}.isdisjoint(
        formula.expression for formula in all_formulas()
    )


def test_costs_from_5_to_15_come_equally_often_half_of_them_with_constants():
    kinds = [(formula.cost, formula.has_constants) for formula in all_formulas()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        (cost, has_constants): 3 for cost in range(5, 16) for has_constants in (False, True)
    }


def test_there_are_formulas_of_one_to_five_variables():
    assert {len(formula.variables) for formula in all_formulas()} == {1, 2, 3, 4, 5}


def test_no_two_formulas_are_alike():
    shapes = [(formula.cost, formula.has_constants, shape_of(with_constants(formula))) for formula in all_formulas()]
    assert len(set(shapes)) == N_FORMULAS


def test_when_there_are_no_more_formulas_it_is_said(monkeypatch):
    monkeypatch.setattr("spl.datasets.random_formulas._MAX_DRAWS", 0)
    with pytest.raises(DataError, match=r"no more formulas of cost 5 with 1 variables\. Ask for fewer\."):
        make_random_formulas(1)


@pytest.mark.parametrize("name", ["17", "random-1", "Nguyen-1"])
def test_an_unknown_name_is_an_error_that_says_what_names_are_like(name):
    with pytest.raises(DataError, match=r"Their names are random-000"):
        load_random_formula(name)


def test_a_negative_number_of_formulas_is_refused():
    with pytest.raises(SettingError, match="got -1"):
        make_random_formulas(-1)


# ---- each formula --------------------------------------------------------------------------------


@each_of_first(N_FORMULAS)
def test_the_cost_is_that_of_the_text_which_cannot_be_simplified(formula):
    program = program_of(formula)
    assert program.cost == formula.cost
    assert simplify(program).cost == formula.cost


@each_of_first(N_FORMULAS)
def test_numbers_stand_there_if_and_only_if_there_are_constants(formula):
    numbers = program_of(formula).vocabulary.literals
    assert bool(numbers) == formula.has_constants
    assert all(0.1 <= abs(number) <= 10 and number == float(f"{number:.3g}") for number in numbers)


@each_of_first(N_FORMULAS)
def test_a_formula_is_finite_and_every_variable_matters_on_its_ranges(formula):
    low, high = np.transpose(formula.ranges)
    table = np.random.default_rng(7).uniform(low, high, size=(20_000, len(formula.variables)))
    values = formula.truth_at(table)
    assert np.all(np.isfinite(values))
    for column in range(len(formula.variables)):
        moved = table.copy()
        moved[:, column] = np.roll(table[:, column], 1)
        assert np.std(formula.truth_at(moved) - values) > 0.02 * np.std(values)


@each_of_first(11)
def test_the_truth_is_what_sympy_makes_of_the_text(formula):
    table, values = formula.make_test(seed=1)
    function = sympy.lambdify(sympy.symbols(formula.variables), sympy.sympify(formula.expression), "numpy")
    np.testing.assert_allclose(function(*table.T), values, rtol=1e-9)


@each_of_first(11)
def test_the_default_grammar_can_say_it_with_powers_spelled_out(formula):
    grammar = Grammar.from_operators([*DEFAULT_OPERATORS, "pow2", "pow3", "neg"], formula.variables)
    text = formula.expression
    for number in program_of(formula).vocabulary.literals:
        text = text.replace(f"{abs(number)!r}", "C")
    assert grammar.derives(text)


# ---- tables --------------------------------------------------------------------------------------


def test_training_points_fill_their_ranges_and_test_points_are_others():
    formula = all_formulas()[4]
    table, values = formula.make_train(seed=0, n_rows=1000)
    low, high = np.transpose(formula.ranges)
    assert np.all((table >= low) & (table <= high))
    assert np.all(np.ptp(table, axis=0) > 0.95 * (high - low))
    np.testing.assert_array_equal(values, formula.truth_at(table))
    assert not np.isin(formula.make_test(seed=0)[0], table).any()


def test_noise_is_a_share_of_the_root_mean_square_of_the_exact_values():
    formula = all_formulas()[0]
    table, target = formula.make_train(seed=3, n_rows=100_000, noise=0.1)
    exact = formula.truth_at(table)
    assert np.sqrt(np.mean((target - exact) ** 2) / np.mean(exact**2)) == pytest.approx(0.1, rel=0.02)


def test_one_seed_is_one_table_and_another_seed_another():
    first, again, other = (all_formulas()[0].make_train(seed, noise=0.1)[1] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
