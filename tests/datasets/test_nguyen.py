import numpy as np
import pytest
import sympy

from spl.datasets import load_nguyen, nguyen_problems
from spl.errors import SplError
from spl.formulas.grammar import Grammar

PROBLEMS = nguyen_problems()
NAMES = [problem.name for problem in PROBLEMS]


def test_every_problem_of_the_paper_has_one_row():
    paper = [f"Nguyen-{i}" for i in range(1, 13)] + [f"Nguyen-{i}c" for i in (1, 2, 5, 8, 9)]
    assert [problem.name for problem in PROBLEMS if problem.paper_spl is not None] == paper
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(("field", "average"), [("paper_spl", 0.945), ("paper_nggp", 0.924), ("paper_gp", 0.382)])
def test_published_rates_average_as_the_paper_says(field, average):
    rates = [getattr(problem, field) for problem in PROBLEMS if getattr(problem, field) is not None]
    assert np.mean(rates) == pytest.approx(average, abs=5e-3)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_the_truth_of_a_formula_is_what_sympy_makes_of_its_text(problem):
    table, values = problem.make_train(seed=1)
    formula = sympy.lambdify(sympy.symbols(problem.variables), sympy.sympify(problem.expression), "numpy")
    np.testing.assert_allclose(formula(*table.T), values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_the_grammar_of_a_problem_can_be_read_and_uses_all_its_variables(problem):
    grammar = Grammar.from_text(problem.grammar_text)
    assert sorted(grammar.vocabulary.variables) == sorted(problem.variables)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_training_points_fill_the_training_range(problem):
    table, values = problem.make_train(seed=0)
    low, high = problem.train_range
    assert table.shape == (1000, len(problem.variables))
    assert values.shape == (1000,)
    assert np.all(np.isfinite(values))
    assert np.all((table >= low) & (table <= high))
    assert np.all(np.ptp(table, axis=0) > 0.95 * (high - low))


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_test_points_run_through_the_test_range_together(problem):
    table, values = problem.make_test()
    assert table.shape == (1001, len(problem.variables))
    assert np.all(np.isfinite(values))
    np.testing.assert_array_equal(table[0], problem.test_range[0])
    np.testing.assert_array_equal(table[-1], problem.test_range[1])
    np.testing.assert_array_equal(table, table[:, :1] * np.ones(table.shape[1]))


def test_a_seed_gives_the_same_points_again_and_another_seed_others():
    problem = load_nguyen("Nguyen-9")
    np.testing.assert_array_equal(problem.make_train(seed=3)[0], problem.make_train(seed=3)[0])
    assert not np.array_equal(problem.make_train(seed=3)[0], problem.make_train(seed=4)[0])


def test_variables_are_drawn_independently():
    table, _ = load_nguyen("Nguyen-9").make_train(seed=0)
    assert abs(np.corrcoef(table.T)[0, 1]) < 0.1


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_only_problems_with_a_c_have_constants(problem):
    assert problem.has_constants == problem.name.endswith("c")


def test_the_two_readings_of_nguyen_6_differ_only_in_the_formula():
    paper, code = load_nguyen("Nguyen-6"), load_nguyen("Nguyen-6-code")
    assert paper.expression != code.expression
    assert (paper.grammar_text, paper.train_range) == (code.grammar_text, code.train_range)


def test_the_two_ranges_of_nguyen_12_differ_only_in_the_points():
    paper, wide = load_nguyen("Nguyen-12"), load_nguyen("Nguyen-12-wide")
    assert (paper.expression, paper.grammar_text, paper.t_max) == (wide.expression, wide.grammar_text, wide.t_max)
    assert (paper.usual_range, wide.usual_range) == ((0, 1), (0, 10))
    assert wide.train_range == (0, 10)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_usual_points_are_20_of_the_usual_range_where_the_truth_is_finite(problem):
    low, high = problem.usual_range
    for (table, values), n_points in ((problem.make_usual_train(0), 20), (problem.make_usual_test(0), 1000)):
        assert table.shape == (n_points, len(problem.variables))
        assert np.all((table >= low) & (table <= high))
        assert np.all(np.isfinite(values))


def test_usual_test_points_are_none_of_the_training_points_of_any_seed():
    problem = load_nguyen("Nguyen-9")
    seen = {tuple(row) for seed in range(20) for row in problem.make_usual_train(seed)[0]}
    assert not seen & {tuple(row) for seed in range(20) for row in problem.make_usual_test(seed)[0]}


def test_an_unknown_problem_is_answered_with_the_nearest():
    with pytest.raises(SplError, match=r"There is no problem 'nguyen-7'\. Did you mean 'Nguyen-7'\?"):
        load_nguyen("nguyen-7")
    with pytest.raises(SplError, match="Choose from: Nguyen-1, "):
        load_nguyen("")
