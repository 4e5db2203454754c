"""The rounding error of a program against numbers of more digits, and against single perturbations of its tokens."""

import numpy as np
import pytest
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs.evaluate import BLOCK
from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.programs.rounding_error import EPSILON, MAX_ROUNDING, is_program_stable, sum_rounding
from spl.kernels.runtime.compiler import make_scratch
from spl.regression.packing import pack_alphabet, pack_program, pack_table

WORDS = Vocabulary(("x", "y"))
RESIDUES = (
    "1e12*(y**2 + (x - (x + y**2)))",
    "-8.73e11*(x + y - y - x)",
    "1e13*(x/y*y - x)",
    "1e11*(log(exp(x)) - x)",
    "sin(1e13*x)",
    "1e16*(1 - cos(1e-8*x)**2) - 1",
    "1e14*(sqrt(x)**2 - x)",
)
SOUND = (
    "x*y",
    "sqrt(x - 0.5)/y",
    "1e6*x - 1e6*y",
    "exp(5*x)*sin(9*y)",
    "1/(x + y)**8",
    "1000 - 1000*cos(0.01*x)",
    "log(x)*0 + 3",
)


def make_data(n_rows=40, target=None):
    table = np.random.default_rng(0).uniform(0.5, 2.0, (n_rows, 2))
    return Dataset.from_arrays(table, table[:, 0] if target is None else target, names=WORDS.variables)


def check(text, data):
    program = parse_expression(text, WORDS)
    alphabet = pack_alphabet(program.vocabulary)
    return bool(is_program_stable(pack_program(program), alphabet, pack_table(data), make_scratch(FIT_WORK)))


@pytest.mark.parametrize("text", RESIDUES)
def test_a_formula_whose_values_are_rounding_error_is_not_stable(text):
    assert not check(text, make_data())


@pytest.mark.parametrize("text", SOUND)
def test_a_formula_whose_values_are_its_own_is_stable(text):
    assert check(text, make_data())


def test_the_spread_of_the_target_decides_how_much_rounding_error_is_small():
    data = make_data()
    wide = make_data(target=1e9 * data.target)
    assert [check("1e11*(x + y - y - x)", each) for each in (data, wide)] == [False, True]


def test_dates_far_from_zero_are_no_rounding_error():
    seconds = 1.7e9 + np.linspace(0.0, 1e-2, 40)
    data = Dataset.from_arrays(np.column_stack([seconds, seconds]), seconds - 1.7e9, names=WORDS.variables)
    assert check("x - 1700000000", data)


def test_a_target_far_from_zero_is_as_exact_as_it_can_be():
    data = make_data()
    far = make_data(target=1e9 + 1e-3 * data.target)
    assert check("1e9 + 0.001*x", far)
    assert not check("1e9 + 0.001*x + 1e12*(x + y - y - x)", far)


def test_a_constant_target_tells_nothing():
    assert check(RESIDUES[0], make_data(target=np.full(40, 3.0)))


def test_the_edge_of_a_domain_is_no_rounding_error():
    table = np.column_stack([np.linspace(1.0, 3.0, 30), np.ones(30)])
    assert check("sqrt(x - y)", Dataset.from_arrays(table, table[:, 0], names=WORDS.variables))


@pytest.mark.parametrize("n_rows", [1, BLOCK - 1, fewer(2 * BLOCK + 3, BLOCK + 1)])
def test_all_blocks_of_rows_count(n_rows):
    table = np.full((n_rows + 1, 2), [1.0, 0.0])  # x + y - x is exact where y is 0
    table[-1] = 1.0, 1e-3
    table[0] = 2.0, 0.0
    data = Dataset.from_arrays(table, table[:, 0], names=WORDS.variables)
    assert not check("1e14*(x + y - x)", data)


@pytest.mark.slow
def test_the_sum_is_what_perturbations_of_single_results_add_up_to():
    """x*y + 3*x at x = 2, y = 5: every operator once, in the order + * *."""
    program = parse_expression("x*y + 3*x", WORDS)
    columns = np.array([[2.0], [5.0]])
    contributions = [16, 10, 6]  # |derivative by the operator's value * that value|
    total, work = np.empty(BLOCK), make_scratch(FIT_WORK)
    from spl.kernels.programs.constant_gradients import fill_tape, find_ends

    packed, alphabet = pack_program(program), pack_alphabet(program.vocabulary)
    ends = np.empty(3 * len(program), np.int64)
    length = np.int64(len(program))
    open_door(find_ends)(packed.tokens, length, ends)
    open_door(fill_tape)(
        packed.tokens, length, packed.guesses, alphabet, columns, np.int64(0), np.int64(1), work.tape, ends
    )
    open_door(sum_rounding)(packed.tokens, length, alphabet, np.int64(1), work.tape, work.adjoint, ends, total)
    assert total[0] == pytest.approx(sum(contributions))


def test_the_error_of_a_residue_is_about_what_it_really_is():
    """The bound must not be far from the truth, or sound formulas would be refused."""
    x, y = make_data(200).columns
    residue = np.abs(1e12 * (y**2 + (x - (x + y**2))))
    bound = 1e12 * EPSILON * 4 * (np.abs(x) + y**2)
    assert residue.max() <= bound.max()
    assert residue.max() >= 0.02 * bound.max()
    assert residue.max() > MAX_ROUNDING * np.std(x)
