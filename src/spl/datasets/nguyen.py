"""The Nguyen problems as the paper poses them: one row each, with ranges, grammar, settings and published results.

Sources: Sun et al. (2023), Table 1 (formulas and recovery rates), appendix B (operators, settings, constraints) and the
last table (seconds); the ranges, numbers of points and grammars are those of the published experiment. The table and
the published code disagree on Nguyen-6; both versions have a row. Other papers use 20 points from smaller ranges:
`usual_range` is that of Petersen et al. (2021), and Nguyen-12 has a second row with the wider range of its variant
Nguyen-12*.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.errors import DataError, suggest_name
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

BASIC = ("+", "-", "*", "/", "cos", "sin", "exp")
WITH_ROOTS = (*BASIC, "log", "sqrt")
N_USUAL_TRAIN, N_USUAL_TEST = 20, 1000
_TEST_STREAM = 1  # separates the random numbers of the test points from those of the training points


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A formula to be recovered from its values. Rates are shares of 100 runs, seconds are averages over them.

    Examples:
        >>> problem = load_nguyen("Nguyen-9")
        >>> problem.expression, problem.variables
        ('sin(x) + sin(y**2)', ('x', 'y'))
        >>> X, y = problem.make_train(seed=0)
        >>> X.shape, y.shape
        ((1000, 2), (1000,))
    """

    name: str
    expression: str
    grammar_text: str
    variables: tuple[str, ...] = ("x",)
    operators: tuple[str, ...] = BASIC
    constraints: tuple[int, ...] = ()  # numbers in the paper's list in appendix B; the grammar satisfies them

    train_range: tuple[float, float] = (-10.0, 10.0)
    test_range: tuple[float, float] = (0.0, 100.0)
    n_train: int = 1000
    n_test: int = 1001
    usual_range: tuple[float, float] = (-1.0, 1.0)  # of the 20 points that other papers use

    module_transplants: int = 20
    episodes_between_transplants: int
    t_max: int = 50
    max_modules: int = 5

    paper_spl: float | None  # recovery rates; None where the paper has no row
    paper_nggp: float | None
    paper_gp: float | None
    paper_seconds: float | None
    paper_nggp_seconds: float | None

    @property
    def has_constants(self) -> bool:
        """Whether the grammar has constants to be fitted."""
        return re.search(r"\bC\b", self.grammar_text) is not None

    def make_train(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return X [N, D], each variable drawn independently and uniformly from the training range, and y [N]."""
        shape = (self.n_train, len(self.variables))
        table = np.random.default_rng(seed).uniform(*self.train_range, size=shape)
        return table, self.truth_at(table)

    def make_test(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return X [N, D], all variables running over the test range together in equal steps, and y [N]."""
        points = np.linspace(*self.test_range, self.n_test)
        table = np.repeat(points[:, np.newaxis], len(self.variables), axis=1)
        return table, self.truth_at(table)

    def make_usual_train(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return X [20, D] drawn from the usual range, and y [20]."""
        return self._draw_usual(np.random.default_rng(seed), N_USUAL_TRAIN)

    def make_usual_test(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return other points of the usual range, X [1000, D], and y [1000]."""
        return self._draw_usual(np.random.default_rng([seed, _TEST_STREAM]), N_USUAL_TEST)

    def _draw_usual(self, rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        table = rng.uniform(*self.usual_range, size=(n, len(self.variables)))
        return table, self.truth_at(table)

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the true values at the rows of a table [N, D]."""
        return exact_values(parse_expression(self.expression, Vocabulary(variables=self.variables)), table)


_POWER_RULES = "A -> A + A | A - A | A * A | A / A | x | x**2 | x**4 | exp(A) | cos(x) | sin(x)"

_INNER = "B -> B + B | B - B | x | x**2 | x**3 | 1"

_INNER_XY = "B -> B + B | B - B | 1 | x | y | x**2 | y**2 | x * y | x**2 * y | x * y**2 | x**3 | y**3"

_WAVES = f"""\
A -> A + A | A - A | A * A | A / A | exp(A) | cos(B) | sin(B) | 1 | x
{_INNER}"""

_WAVES_XY = f"""\
A -> A + A | A - A | A * A | A / A | exp(A) | 1 | x | y | cos(B) | sin(B)
{_INNER_XY}"""

_LOGS = f"""\
A -> A + A | A - A | A * A | A / A | exp(A) | x | cos(x) | sin(x) | log(B) | sqrt(B)
{_INNER}"""

_LOGS_XY = f"""\
A -> x | y | A + A | A - A | A * A | A / A | exp(A) | log(B) | sqrt(B) | cos(B) | sin(B)
{_INNER_XY}"""

_NESTED = "A -> A + A | A - A | A * A | A / A | x | cos(A) | sin(A) | exp(A) | log(A) | sqrt(A)"

_POWERS_XY = (
    "A -> A + A | A - A | A * A | A / A | x | x**2 | x**4 | y | y**2 | y**4 | 1 | 2"
    " | exp(A) | cos(x) | sin(x) | cos(y) | sin(y)"
)

_POWERS_C = "A -> A + A | A - A | A * A | A / A | x | x**2 | x**4 | A * C | exp(x) | cos(C * x) | sin(C * x)"

_WAVES_C = f"""\
A -> A + A | A - A | A * A | A / A | A * C | exp(A) | cos(B) | sin(B) | 1 | x
{_INNER} | B * C"""

_NESTED_C = f"{_NESTED} | A * C"

_WAVES_XY_C = """\
A -> A + A | A - A | A * A | A / A | A * C | 1 | x | y | cos(B) | sin(B) | exp(B)
B -> B * C | 1 | B + B | B - B | x | y | x**2 | y**2 | x * y | x**2 * y | x * y**2 | x**3 | y**3"""

_PROBLEMS = (
    Problem(
        name="Nguyen-1",
        expression="x**3 + x**2 + x",
        grammar_text=_POWER_RULES,
        constraints=(1, 3),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.99,
        paper_seconds=8.776,
        paper_nggp_seconds=2.734,
    ),
    Problem(
        name="Nguyen-2",
        expression="x**4 + x**3 + x**2 + x",
        grammar_text=_POWER_RULES,
        constraints=(1, 3),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.90,
        paper_seconds=7.296,
        paper_nggp_seconds=3.296,
    ),
    Problem(
        name="Nguyen-3",
        expression="x**5 + x**4 + x**3 + x**2 + x",
        grammar_text=_POWER_RULES,
        constraints=(1, 3),
        episodes_between_transplants=100_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.34,
        paper_seconds=81.287,
        paper_nggp_seconds=3.945,
    ),
    Problem(
        name="Nguyen-4",
        expression="x**6 + x**5 + x**4 + x**3 + x**2 + x",
        grammar_text=_POWER_RULES,
        constraints=(1, 3),
        episodes_between_transplants=100_000,
        paper_spl=0.99,
        paper_nggp=1.00,
        paper_gp=0.54,
        paper_seconds=567.061,
        paper_nggp_seconds=5.764,
    ),
    Problem(
        name="Nguyen-5",
        expression="sin(x**2) * cos(x) - 1",
        grammar_text=_WAVES,
        constraints=(2, 3),
        episodes_between_transplants=100_000,
        paper_spl=0.95,
        paper_nggp=0.80,
        paper_gp=0.12,
        paper_seconds=431.228,
        paper_nggp_seconds=77.627,
    ),
    Problem(
        name="Nguyen-6",
        expression="sin(x**2) + sin(x + x**2)",
        grammar_text=_WAVES,
        constraints=(2, 3),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.11,
        paper_seconds=64.651,
        paper_nggp_seconds=104.588,
    ),
    Problem(  # the formula in the published code, where the paper's table has the one above
        name="Nguyen-6-code",
        expression="sin(x) + sin(x + x**2)",
        grammar_text=_WAVES,
        constraints=(2, 3),
        episodes_between_transplants=10_000,
        paper_spl=None,
        paper_nggp=None,
        paper_gp=None,
        paper_seconds=None,
        paper_nggp_seconds=None,
    ),
    Problem(
        name="Nguyen-7",
        expression="log(x + 1) + log(x**2 + 1)",
        grammar_text=_LOGS,
        operators=WITH_ROOTS,
        constraints=(2, 3),
        train_range=(0.0, 100.0),
        usual_range=(0.0, 2.0),
        episodes_between_transplants=5_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.17,
        paper_seconds=14.995,
        paper_nggp_seconds=3.024,
    ),
    Problem(
        name="Nguyen-8",
        expression="sqrt(x)",
        grammar_text=_NESTED,
        operators=WITH_ROOTS,
        train_range=(0.0, 100.0),
        usual_range=(0.0, 4.0),
        episodes_between_transplants=5_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=1.00,
        paper_seconds=5.59,
        paper_nggp_seconds=2.896,
    ),
    Problem(
        name="Nguyen-9",
        expression="sin(x) + sin(y**2)",
        grammar_text=_WAVES_XY,
        variables=("x", "y"),
        constraints=(2, 3, 4),
        usual_range=(0.0, 1.0),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.76,
        paper_seconds=5.743,
        paper_nggp_seconds=13.229,
    ),
    Problem(
        name="Nguyen-10",
        expression="2 * sin(x) * cos(y)",
        grammar_text=_WAVES_XY,
        variables=("x", "y"),
        constraints=(2, 3, 4),
        usual_range=(0.0, 1.0),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.86,
        paper_seconds=53.245,
        paper_nggp_seconds=86.497,
    ),
    Problem(
        name="Nguyen-11",
        expression="x**y",
        grammar_text=_LOGS_XY,
        variables=("x", "y"),
        operators=WITH_ROOTS,
        constraints=(2, 3),
        train_range=(0.0, 10.0),
        test_range=(1.0, 11.0),
        usual_range=(0.0, 1.0),
        episodes_between_transplants=10_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.13,
        paper_seconds=10.163,
        paper_nggp_seconds=44.399,
    ),
    Problem(
        name="Nguyen-12",
        expression="x**4 - x**3 + y**2 / 2 - y",
        grammar_text=_POWERS_XY,
        variables=("x", "y"),
        constraints=(1, 3, 4),
        usual_range=(0.0, 1.0),
        episodes_between_transplants=100_000,
        paper_spl=0.28,
        paper_nggp=0.04,
        paper_gp=0.00,
        paper_seconds=187.9,
        paper_nggp_seconds=334.757,
    ),
    Problem(  # the same formula on the range of Nguyen-12*
        name="Nguyen-12-wide",
        expression="x**4 - x**3 + y**2 / 2 - y",
        grammar_text=_POWERS_XY,
        variables=("x", "y"),
        constraints=(1, 3, 4),
        train_range=(0.0, 10.0),
        usual_range=(0.0, 10.0),
        episodes_between_transplants=100_000,
        paper_spl=None,
        paper_nggp=None,
        paper_gp=None,
        paper_seconds=None,
        paper_nggp_seconds=None,
    ),
    Problem(
        name="Nguyen-1c",
        expression="3.39 * x**3 + 2.12 * x**2 + 1.78 * x",
        grammar_text=_POWERS_C,
        constraints=(1, 3),
        episodes_between_transplants=2_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.00,
        paper_seconds=452.734,
        paper_nggp_seconds=362.075,
    ),
    Problem(
        name="Nguyen-2c",
        expression="0.48 * x**4 + 3.39 * x**3 + 2.12 * x**2 + 1.78 * x",
        grammar_text=_POWERS_C,
        constraints=(1, 3),
        episodes_between_transplants=10_000,
        paper_spl=0.94,
        paper_nggp=1.00,
        paper_gp=0.00,
        paper_seconds=295.769,
        paper_nggp_seconds=1188.215,
    ),
    Problem(
        name="Nguyen-5c",
        expression="sin(x**2) * cos(x) - 0.75",
        grammar_text=_WAVES_C,
        constraints=(2, 3),
        episodes_between_transplants=10_000,
        paper_spl=0.95,
        paper_nggp=0.98,
        paper_gp=0.01,
        paper_seconds=2178.891,
        paper_nggp_seconds=1365.777,
    ),
    Problem(
        name="Nguyen-8c",
        expression="sqrt(1.23 * x)",
        grammar_text=_NESTED_C,
        operators=WITH_ROOTS,
        train_range=(0.0, 100.0),
        usual_range=(0.0, 4.0),
        episodes_between_transplants=2_000,
        paper_spl=1.00,
        paper_nggp=1.00,
        paper_gp=0.56,
        paper_seconds=77.892,
        paper_nggp_seconds=129.349,
    ),
    Problem(
        name="Nguyen-9c",
        expression="sin(1.5 * x) + sin(0.5 * y**2)",
        grammar_text=_WAVES_XY_C,
        variables=("x", "y"),
        constraints=(2, 3, 4),
        usual_range=(0.0, 1.0),
        episodes_between_transplants=1_000,
        paper_spl=0.96,
        paper_nggp=0.90,
        paper_gp=0.00,
        paper_seconds=2001.402,
        paper_nggp_seconds=3066.41,
    ),
)


def nguyen_problems() -> tuple[Problem, ...]:
    """Return all problems, in the order of the paper's table.

    Examples:
        >>> [problem.name for problem in nguyen_problems()][:2]
        ['Nguyen-1', 'Nguyen-2']
    """
    return _PROBLEMS


def load_nguyen(name: str) -> Problem:
    """Return the problem with this name.

    Args:
        name: such as "Nguyen-12".

    Examples:
        >>> load_nguyen("Nguyen-12").expression
        'x**4 - x**3 + y**2 / 2 - y'
        >>> load_nguyen("Nguyen12")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: There is no problem 'Nguyen12'. Did you mean 'Nguyen-12'?
    """
    by_name = {problem.name: problem for problem in _PROBLEMS}
    if name not in by_name:
        remedy = suggest_name(name, by_name) or f" Choose from: {', '.join(by_name)}."
        raise DataError(f"There is no problem '{name}'.{remedy}")
    return by_name[name]
