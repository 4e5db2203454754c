"""Fronts of noise: no formula in them may live on rounding errors.

Each formula is evaluated a second time with more digits (80-bit numbers, where the machine has them). If its values are its own, both
agree; if they are residues of rounding, they do not.
"""

import numpy as np
import pytest
from tests.fuzz.guard import MORE, guarded
from tests.kernels.program_twins import BINARY, UNARY

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.rounding_error import MAX_ROUNDING
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.slow

MAX_CHANGE = 20 * MAX_ROUNDING  # of the target's spread: what more digits may change
OPERATORS = (
    ("+", "-", "*"),
    ("+", "-", "*", "/"),
    ("+", "-", "*", "/", "exp", "log"),
    ("+", "-", "*", "/", "sin", "cos", "sqrt"),
)


def evaluate_with_more_digits(program, columns):
    """Return the values of a program by numpy's longest numbers, token by token from the right."""
    stack = []
    constants = list(program.constants)
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(columns[payload])
        elif kind in (tk.CONSTANT, tk.LITERAL):
            number = constants.pop() if kind == tk.CONSTANT else program.vocabulary.literals[payload]
            stack.append(np.full(columns.shape[1], np.longdouble(number)))
        elif kind == tk.POWER:
            stack.append(stack.pop() ** (payload - tk.POWER_OFFSET))
        elif token >= tk.FIRST_UNARY:
            stack.append(UNARY[token](stack.pop()))
        else:
            first = stack.pop()
            stack.append(BINARY[token](first, stack.pop()))
    [values] = stack
    return values


def make_table(seed):
    """Return noise over columns of several kinds: small, large, far from zero, whole numbers, copies but for the last digits."""
    random = np.random.default_rng([7, seed])
    n_rows = int(random.integers(10, 60))
    first = random.uniform(0.5, 2.0, n_rows)
    kinds = (
        random.normal(size=n_rows),
        1e4 * random.uniform(1, 2, n_rows),
        100 + random.uniform(0, 1, n_rows),
        random.integers(1, 9, n_rows).astype(float),
        first * (1 + 1e-9 * random.normal(size=n_rows)),
    )
    return np.column_stack([first, kinds[seed % len(kinds)]]), random.normal(size=n_rows)


@pytest.mark.parametrize("seed", range(max(round(20 * MORE), 1)))
def test_no_formula_of_a_front_lives_on_rounding_errors(seed):
    if np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("this machine has no longer numbers")
    table, target = make_table(seed)
    data = Dataset.from_arrays(table, target, names=["a", "b"])
    grammar = Grammar.from_operators(OPERATORS[seed % len(OPERATORS)], data.names)
    config = SearchConfig(patience=None, n_trees=1)
    with guarded("fronts"):
        front = discover(
            RegressionRequest(data, grammar, config=config, limits=Limits(timeout=None, max_evaluations=800), seed=seed)
        ).front
    columns = data.columns.astype(np.longdouble)
    for candidate in front:
        with np.errstate(all="ignore"):
            exact = evaluate_with_more_digits(candidate.program, columns)
        difference = np.sqrt(np.mean(np.asarray(evaluate(candidate.program, data.columns) - exact, float) ** 2))
        assert difference <= MAX_CHANGE * data.spread, candidate
