"""Random formulas to be recovered from their values, as a benchmark of the default settings.

The n-th formula of a seed is always the same, however many are made: cost, constants and number of variables follow from its
number, and each kind (a cost, with or without constants) has its own random stream. A formula is drawn as a random tree and
kept if it is already in its simplest form, stays well inside its domain, and needs every variable and every term.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.datasets.random_programs import CONSTANT_DIGITS, can_be_shorter, draw_program, is_worth_finding, shape_of
from spl.errors import DataError, SettingError
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.operators import ARITHMETIC, find_operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import make_token, parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.simplify import simplify

MIN_FORMULA_COST, MAX_FORMULA_COST = 5, 15
MAX_FORMULA_VARIABLES = 5
N_TRAIN, N_TEST = 200, 1000
_N_COSTS = MAX_FORMULA_COST - MIN_FORMULA_COST + 1
_N_KINDS = 2 * _N_COSTS
_COST_STEP = 4  # from one formula to the next, so that a few consecutive ones are a fair sample
_TEST_STREAM = 1  # separates the random numbers of the test points from those of the training points

_VARIABLE_RANGES = ((-2.0, 2.0), (0.5, 3.0), (1.0, 5.0))
_SAFE_RANGE = (0.5, 3.0)  # of all variables, if a formula leaves its domain on the ranges drawn
_MAX_DRAWS = 20_000  # per formula; about ten are enough as long as any are left
_N_CHECKS = 1000  # points on which a formula is checked, besides the corners of its ranges
_DEFAULT_TOKENS = ARITHMETIC | {find_operator(name).opcode for name in DEFAULT_OPERATORS}

Ranges = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomFormula:
    """A formula with the ranges of its variables. Its cost is that of its simplest form.

    Examples:
        >>> formula = make_random_formulas(1)[0]
        >>> formula.name, formula.cost, formula.has_constants
        ('random-000', 5, False)
        >>> X, y = formula.make_train(seed=0, noise=0.01)
        >>> X.shape == (200, len(formula.variables)), y.shape
        (True, (200,))
    """

    name: str
    expression: str
    variables: tuple[str, ...]
    ranges: Ranges  # one per variable
    cost: int
    has_constants: bool

    def make_train(
        self, seed: int, *, n_rows: int = N_TRAIN, noise: float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return X [N, D], each variable drawn uniformly from its range, and y [N].

        Noise is Gaussian; `noise` is its standard deviation over the root mean square of the exact values. All levels scale the
        same random numbers.
        """
        rng = np.random.default_rng(seed)
        table = self._draw(rng, n_rows)
        exact = self.truth_at(table)
        deviation = noise * np.sqrt(np.mean(exact**2))
        return table, exact + deviation * rng.standard_normal(n_rows)

    def make_test(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return other points, X [1000, D], and their exact y [1000]."""
        table = self._draw(np.random.default_rng([seed, _TEST_STREAM]), N_TEST)
        return table, self.truth_at(table)

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact values at the rows of a table [N, D]."""
        return exact_values(parse_expression(self.expression, Vocabulary(self.variables)), table)

    def _draw(self, rng: np.random.Generator, n_rows: int) -> NDArray[np.float64]:
        low, high = np.transpose(self.ranges)
        return rng.uniform(low, high, size=(n_rows, len(self.variables)))


def make_random_formulas(n: int = 200, seed: int = 0) -> list[RandomFormula]:
    """Return the first n formulas of a seed: costs 5 to 15 in equal shares, every second one with constants, no two alike.

    There are few short formulas, so asking for more than about a thousand may fail.

    Args:
        n: number of formulas.
        seed: random seed of the formulas.

    Examples:
        >>> [formula.cost for formula in make_random_formulas(4)]
        [5, 9, 13, 6]
    """
    if n < 0:
        raise SettingError(f"`n` must be 0 or more; got {n}.")
    streams = [_stream(seed, kind) for kind in range(min(n, _N_KINDS))]
    return [next(streams[number % _N_KINDS]) for number in range(n)]


def load_random_formula(name: str, seed: int = 0) -> RandomFormula:
    """Return the formula with this name, without making all previous ones.

    Args:
        name: such as "random-003".
        seed: random seed of the formulas.

    Examples:
        >>> load_random_formula("random-003") == make_random_formulas(4)[3]
        True
        >>> load_random_formula("random")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: There is no random formula 'random'. Their names are random-000, random-001, and so on.
    """
    match = re.fullmatch(r"random-(\d{3,})", name)
    if match is None:
        raise DataError(f"There is no random formula '{name}'. Their names are random-000, random-001, and so on.")
    n_before, kind = divmod(int(match[1]), _N_KINDS)
    return next(islice(_stream(seed, kind), n_before, None))


def _stream(seed: int, kind: int) -> Iterator[RandomFormula]:
    """Yield the formulas of one kind: those whose numbers leave the remainder `kind`."""
    rng = np.random.default_rng([seed, kind])
    cost = MIN_FORMULA_COST + _COST_STEP * kind % _N_COSTS
    has_constants = kind % 2 == 1
    max_variables = min(MAX_FORMULA_VARIABLES, (cost + 1) // 2 - has_constants)  # there are at most (cost + 1)/2 leaves
    seen: set[str] = set()
    for number in count(kind, _N_KINDS):
        n_variables = 1 + (number // _N_KINDS + kind) % max_variables
        drawn = _draw_other(rng, seen, cost, n_variables, has_constants)
        seen.add(shape_of(drawn.program))
        yield RandomFormula(
            name=f"random-{number:03d}",
            expression=to_text(drawn.program),
            variables=drawn.program.vocabulary.variables,
            ranges=drawn.ranges,
            cost=cost,
            has_constants=has_constants,
        )


class _Drawn(NamedTuple):
    program: Program
    ranges: Ranges


def _draw_other(rng: np.random.Generator, seen: set[str], cost: int, n_variables: int, has_constants: bool) -> _Drawn:
    """Return a formula whose shape is not among those seen."""
    names = tuple(f"x{number}" for number in range(1, n_variables + 1))
    for _ in range(_MAX_DRAWS):
        program = draw_program(rng, cost=cost, names=names, has_constants=has_constants)
        if program is None or can_be_shorter(program) or shape_of(program) in seen:
            continue
        ranges = _find_ranges(rng, program)
        if ranges is None:
            continue
        simple = simplify(program)
        if simple.cost < cost or not _is_plain(simple) or not is_worth_finding(simple, _check_points(ranges)):
            continue
        drawn = _name_in_order(simple, ranges)
        if shape_of(drawn.program) not in seen:
            return drawn
    raise DataError(f"There are no more formulas of cost {cost} with {n_variables} variables. Ask for fewer.")


def _find_ranges(rng: np.random.Generator, program: Program) -> Ranges | None:
    """Return ranges on which a program is worth finding; None if there are none among those tried."""
    n_variables = len(program.vocabulary.variables)
    drawn = tuple(_VARIABLE_RANGES[k] for k in rng.integers(len(_VARIABLE_RANGES), size=n_variables))
    safe = (_SAFE_RANGE,) * n_variables
    return next((ranges for ranges in (drawn, safe) if is_worth_finding(program, _check_points(ranges))), None)


def _check_points(ranges: Ranges) -> NDArray[np.float64]:
    """Return many reproducible points in the ranges, and all corners."""
    low, high = np.transpose(ranges)
    inside = np.random.default_rng(0).uniform(low, high, size=(_N_CHECKS, len(ranges)))
    return np.concatenate([inside, list(product(*ranges))])


def _is_plain(program: Program) -> bool:
    """Return whether a simplified program has only tokens of the default operators, variables, and short constants."""
    has_plain_tokens = all(
        token in _DEFAULT_TOKENS or token >> tk.KIND_SHIFT in (tk.VARIABLE, tk.CONSTANT) for token in program.tokens
    )
    return has_plain_tokens and all(value == float(f"{value:.{CONSTANT_DIGITS}g}") for value in program.constants)


def _name_in_order(program: Program, ranges: Ranges) -> _Drawn:
    """Return the program with its variables numbered in order of appearance, so that equal ones are recognised."""
    columns = [token & tk.PAYLOAD_MASK for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE]
    order = list(dict.fromkeys(columns))
    renamed = {make_token(tk.VARIABLE, old): make_token(tk.VARIABLE, new) for new, old in enumerate(order)}
    tokens = tuple(renamed.get(token, token) for token in program.tokens)
    names = Vocabulary(program.vocabulary.variables)
    return _Drawn(Program(tokens, names, program.constants), tuple(ranges[old] for old in order))
