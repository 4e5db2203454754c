"""Tables with many columns of which a law needs only a few.

The other columns are noise: normal or uniform on scales from 0.01 to 100, and one in five is correlated with a column of the law.
Relevant and other columns are in random order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.errors import DataError, SettingError, explain_unknown
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

WIDE_COLUMNS = (20, 100, 500)
WIDE_NOISE_LEVELS = (0.0, 0.05)  # standard deviation of the noise / root mean square of the exact values
N_WIDE_ROWS = 400
N_WIDE_TEST_ROWS = 1000
CORRELATED_SHARE = 0.2  # of the other columns
CORRELATIONS = (0.3, 0.6)  # of such a column with a column of the law
_TRAIN_STREAM, _TEST_STREAM, _COLUMNS_STREAM = 0, 1, 2  # separate the random numbers of rows, test rows and columns


@dataclass(frozen=True, slots=True, kw_only=True)
class WideLaw:
    """A law to be found among many columns. Its own columns are drawn uniformly from their ranges.

    Examples:
        >>> law = load_wide_law("wave")
        >>> law.expression, law.variables
        ('3*sin(a) + 2*b', ('a', 'b'))
    """

    name: str
    expression: str
    ranges: dict[str, tuple[float, float]]  # of each variable

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the relevant columns."""
        return tuple(self.ranges)

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact values [N] at rows [N, D] of the relevant columns."""
        return exact_values(parse_expression(self.expression, Vocabulary(self.variables)), table)


WIDE_LAWS = (
    WideLaw(name="difference", expression="2.5*a - 1.3*b", ranges={"a": (-2.0, 2.0), "b": (-2.0, 2.0)}),
    WideLaw(name="wave", expression="3*sin(a) + 2*b", ranges={"a": (-3.0, 3.0), "b": (-1.0, 1.0)}),
    WideLaw(name="damping", expression="2*b*exp(-0.7*a)", ranges={"a": (0.0, 4.0), "b": (0.5, 3.0)}),
    WideLaw(name="ratio", expression="4*a/b + 1.5*c", ranges={"a": (0.5, 3.0), "b": (0.5, 3.0), "c": (-2.0, 2.0)}),
    WideLaw(name="saturation", expression="a*b/(c + 1.2)", ranges={"a": (0.5, 3.0), "b": (0.5, 3.0), "c": (0.0, 5.0)}),
    WideLaw(name="bilinear", expression="a*b + 2*c**2", ranges={"a": (-2.0, 2.0), "b": (-2.0, 2.0), "c": (-1.5, 1.5)}),
    WideLaw(
        name="mixture",
        expression="1.5*a + 2*b - 0.8*c + 3*d",
        ranges={"a": (-2.0, 2.0), "b": (-1.0, 1.0), "c": (0.0, 5.0), "d": (-1.0, 1.0)},
    ),
    WideLaw(
        name="distance",
        expression="sqrt(a**2 + b**2) + 0.5*c*d",
        ranges={"a": (-3.0, 3.0), "b": (-3.0, 3.0), "c": (-2.0, 2.0), "d": (0.5, 3.0)},
    ),
    WideLaw(
        name="yield",
        expression="a*b + 1.4*c*log(d) - 0.9*e",
        ranges={"a": (-2.0, 2.0), "b": (0.5, 3.0), "c": (0.5, 3.0), "d": (0.5, 5.0), "e": (-3.0, 3.0)},
    ),
    WideLaw(
        name="monomial",
        expression="0.6*a*b*sqrt(c)/(d*e)",
        ranges={"a": (0.5, 3.0), "b": (0.5, 3.0), "c": (0.5, 5.0), "d": (0.5, 2.0), "e": (0.5, 2.0)},
    ),
)


class WideTable(NamedTuple):
    """Rows of many columns: names [D], values [N, D] and target [N]."""

    names: tuple[str, ...]
    table: NDArray[np.float64]
    target: NDArray[np.float64]


def make_wide_table(
    law: WideLaw, n_columns: int, seed: int, *, noise: float = 0.0, n_rows: int = N_WIDE_ROWS
) -> WideTable:
    """Return a table with the columns of a law among others, which are named z1, z2, ...

    Args:
        law: one of `WIDE_LAWS`.
        n_columns: number of columns, including those of the law.
        seed: random seed of the columns, rows and noise.
        noise: standard deviation of the noise over the root mean square of the exact values.
        n_rows: number of rows.

    Examples:
        >>> names, X, y = make_wide_table(load_wide_law("ratio"), 20, seed=0)
        >>> sorted(names)[:4], X.shape, y.shape
        (['a', 'b', 'c', 'z1'], (400, 20), (400,))
    """
    rng = np.random.default_rng([seed, _TRAIN_STREAM])
    exact = _draw(law, n_columns, seed, rng, n_rows)
    deviation = noise * np.sqrt(np.mean(exact.target**2))
    return exact._replace(target=exact.target + deviation * rng.standard_normal(n_rows))


def make_wide_test(law: WideLaw, n_columns: int, seed: int) -> WideTable:
    """Return other rows of the same columns with their exact targets.

    Args:
        law: one of `WIDE_LAWS`.
        n_columns: that of the table.
        seed: that of the table.

    Examples:
        >>> make_wide_test(load_wide_law("ratio"), 20, seed=0).table.shape
        (1000, 20)
    """
    return _draw(law, n_columns, seed, np.random.default_rng([seed, _TEST_STREAM]), N_WIDE_TEST_ROWS)


def load_wide_law(name: str) -> WideLaw:
    """Return the law with this name.

    Args:
        name: such as "wave"; all are in `WIDE_LAWS`.

    Examples:
        >>> load_wide_law("difference").expression
        '2.5*a - 1.3*b'
    """
    for law in WIDE_LAWS:
        if law.name == name:
            return law
    raise DataError(explain_unknown("wide law", name, [law.name for law in WIDE_LAWS]))


class _OtherColumn(NamedTuple):
    """How a column that plays no part is drawn."""

    is_uniform: bool
    centre: float
    scale: float
    source: int  # the column of the law that it is correlated with
    correlation: float  # 0 for most


def _draw(law: WideLaw, n_columns: int, seed: int, rng: np.random.Generator, n_rows: int) -> WideTable:
    """Return rows with exact targets. The columns follow from the seed, the values from the generator."""
    n_relevant, n_others = len(law.variables), n_columns - len(law.variables)
    if n_others < 0:
        raise SettingError(f"The law '{law.name}' has {n_relevant} columns; got a table of {n_columns}.")
    columns_rng = np.random.default_rng([seed, _COLUMNS_STREAM])
    kinds = [_draw_kind(columns_rng, n_relevant) for _ in range(n_others)]
    order = columns_rng.permutation(n_columns)
    low, high = np.transpose(list(law.ranges.values()))
    relevant = rng.uniform(low, high, size=(n_rows, n_relevant))
    scores = (relevant - (low + high) / 2) / ((high - low) / np.sqrt(12))  # of mean 0 and standard deviation 1
    others = [_draw_values(kind, scores, rng) for kind in kinds]
    names = (*law.variables, *(f"z{number}" for number in range(1, n_others + 1)))
    table = np.column_stack([relevant, *others])
    return WideTable(
        names=tuple(names[place] for place in order),
        table=np.ascontiguousarray(table[:, order]),
        target=law.truth_at(relevant),
    )


def _draw_kind(rng: np.random.Generator, n_relevant: int) -> _OtherColumn:
    is_correlated = rng.uniform() < CORRELATED_SHARE
    return _OtherColumn(
        is_uniform=bool(rng.uniform() < 0.5),
        centre=rng.normal(),
        scale=10.0 ** rng.uniform(-2, 2),
        source=int(rng.integers(n_relevant)),
        correlation=rng.uniform(*CORRELATIONS) * rng.choice([-1.0, 1.0]) if is_correlated else 0.0,
    )


def _draw_values(kind: _OtherColumn, scores: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    n_rows, half_width = len(scores), np.sqrt(3.0)  # of a uniform distribution with standard deviation 1
    own = rng.uniform(-half_width, half_width, n_rows) if kind.is_uniform else rng.standard_normal(n_rows)
    mixed = kind.correlation * scores[:, kind.source] + np.sqrt(1 - kind.correlation**2) * own
    return np.asarray(kind.scale * (kind.centre + mixed))
