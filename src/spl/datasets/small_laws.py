"""Twenty simple laws of one to three columns for small tables, one row each. `spl bench trust` makes tables of them.

They were chosen before any search was run on them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.datasets.laws import Range, uniform
from spl.errors import SettingError, explain_unknown
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

N_SMALL_ROWS = 15
SMALL_NOISE = 0.1  # standard deviation of the noise over that of the exact values


@dataclass(frozen=True, slots=True)
class SmallLaw:
    """A simple law with the range of each column.

    Examples:
        >>> law = load_small_law("decay")
        >>> law.expression, law.variables
        ('3*exp(-0.6*t)', ('t',))
        >>> law.truth_at(np.array([[0.0]]))
        array([3.])
    """

    name: str
    expression: str
    ranges: dict[str, Range]  # of each column

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.ranges)

    def draw_rows(self, rng: np.random.Generator, n_rows: int) -> NDArray[np.float64]:
        """Return rows [N, D]."""
        places = rng.uniform(size=(n_rows, len(self.ranges)))
        return np.column_stack([each.at(places[:, k]) for k, each in enumerate(self.ranges.values())])

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact values [N] at the rows of a table [N, D]."""
        return exact_values(parse_expression(self.expression, Vocabulary(self.variables)), table)


SMALL_LAWS = (
    SmallLaw("line", "2.3*x - 0.7", {"x": uniform(-1.0, 3.0)}),
    SmallLaw("parabola", "0.8*x**2 + 1.3", {"x": uniform(-2.0, 2.0)}),
    SmallLaw("cubic", "1.1*x**3 - 2.4*x", {"x": uniform(-2.0, 2.0)}),
    SmallLaw("decay", "3*exp(-0.6*t)", {"t": uniform(0.0, 4.0)}),
    SmallLaw("saturation", "5*s/(1.4 + s)", {"s": uniform(0.1, 8.0)}),
    SmallLaw("oscillation", "1.7*sin(2.2*t)", {"t": uniform(0.0, 4.0)}),
    SmallLaw("logarithm", "1.2*log(x) + 2.5", {"x": uniform(0.5, 8.0)}),
    SmallLaw("root", "2.1*sqrt(h)", {"h": uniform(0.2, 9.0)}),
    SmallLaw("inverse", "4.2/x + 0.8", {"x": uniform(0.5, 5.0)}),
    SmallLaw("inverse_square", "6.5/d**2", {"d": uniform(0.6, 3.0)}),
    SmallLaw("product", "1.6*x*y", {"x": uniform(0.5, 4.0), "y": uniform(0.5, 4.0)}),
    SmallLaw("ratio", "2.7*x/y", {"x": uniform(0.5, 4.0), "y": uniform(0.5, 4.0)}),
    SmallLaw("plane", "1.4*x - 2.2*y", {"x": uniform(-2.0, 2.0), "y": uniform(-2.0, 2.0)}),
    SmallLaw("kinetic", "0.5*m*v**2", {"m": uniform(0.5, 4.0), "v": uniform(0.5, 4.0)}),
    SmallLaw("distance", "sqrt(x**2 + y**2)", {"x": uniform(0.5, 4.0), "y": uniform(0.5, 4.0)}),
    SmallLaw("wave", "2.4*x*sin(y)", {"x": uniform(0.5, 3.0), "y": uniform(0.0, 3.0)}),
    SmallLaw("heating", "0.9*x**2 + 1.8*y", {"x": uniform(-2.0, 2.0), "y": uniform(-2.0, 2.0)}),
    SmallLaw("gas", "8.3*n*T/V", {"n": uniform(0.5, 2.0), "T": uniform(2.0, 5.0), "V": uniform(1.0, 4.0)}),
    SmallLaw("attraction", "1.5*m*M/r**2", {"m": uniform(1.0, 4.0), "M": uniform(1.0, 4.0), "r": uniform(1.0, 2.5)}),
    SmallLaw("flow", "2*a*b - 1.2*c", {"a": uniform(0.5, 3.0), "b": uniform(0.5, 3.0), "c": uniform(0.5, 3.0)}),
)
SMALL_LAW_NAMES = tuple(law.name for law in SMALL_LAWS)


def load_small_law(name: str) -> SmallLaw:
    """Return the law with a name.

    Examples:
        >>> load_small_law("gravity")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: There is no law 'gravity'...
    """
    if name not in SMALL_LAW_NAMES:
        raise SettingError(explain_unknown("law", name, SMALL_LAW_NAMES))
    return SMALL_LAWS[SMALL_LAW_NAMES.index(name)]


def measure_small_law(law: SmallLaw, rng: np.random.Generator, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return measurements [N] of a law at the rows of a table: the exact values with even normal noise.

    The noise is a share of the spread of the law over its ranges, so that it does not depend on the rows.
    """
    return np.asarray(law.truth_at(table) + noise_of_small_law(law) * rng.standard_normal(len(table)))


def noise_of_small_law(law: SmallLaw) -> float:
    """Return the standard deviation of the noise of a law.

    Examples:
        >>> round(noise_of_small_law(load_small_law("line")), 2)
        0.27
    """
    spread = law.truth_at(law.draw_rows(np.random.default_rng(0), 10_000)).std()
    return SMALL_NOISE * float(spread)
