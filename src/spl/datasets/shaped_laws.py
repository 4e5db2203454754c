"""Ten laws of which a scientist knows the shape: measured with few rows and noise, and asked far outside of the data.

Each row says where the law is measured, where it is asked (beyond the data in at least one column), and what is known of it besides:
signs, slopes, symmetries, limits. The statements are true, and say neither the form of the law nor its numbers, except for known
limiting values.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate

N_BEYOND_ROWS = 500
_SHAPES_STREAM = 20_261  # separates these random numbers from those of other problems

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapedLaw:
    """A law, where it is measured and asked, and what is known of its shape."""

    name: str
    target: str
    formula: str
    measured: Ranges  # of the rows of the table, by column
    beyond: Ranges  # of the rows that are asked; columns that are not named have the same range as in the table
    n_rows: int
    noise: float  # standard deviation of the noise, as a share of that of the law on the table
    knowledge: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.measured)

    def values(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the law on columns [D, N], without noise."""
        return evaluate(parse_expression(self.formula, Vocabulary(self.columns)), columns)

    def table(self, seed: int) -> Dataset:
        """Return the rows that are measured, with noise.

        Examples:
            >>> table = SHAPED_LAWS["saturation"].table(seed=0)
            >>> table.names, table.n_rows
            (('s',), 10)
        """
        random = np.random.default_rng([_SHAPES_STREAM, seed, *self.name.encode()])
        columns = _draw(random, self.measured, self.n_rows)
        values = self.values(columns)
        noisy = values + self.noise * values.std() * random.standard_normal(self.n_rows)
        return Dataset.from_arrays(columns.T, noisy, names=self.columns)

    def rows_beyond(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return columns [D, N] outside of the data, and the law there, without noise."""
        random = np.random.default_rng([_SHAPES_STREAM, *self.name.encode()])
        columns = _draw(random, {**self.measured, **self.beyond}, N_BEYOND_ROWS)
        return columns, self.values(columns)


def _draw(random: np.random.Generator, ranges: Ranges, n_rows: int) -> NDArray[np.float64]:
    return np.array([random.uniform(low, high, n_rows) for low, high in ranges.values()])


_LAWS = (
    ShapedLaw(
        name="discharge",
        target="V",
        formula="5*exp(-t/2.3)",
        measured={"t": (0.0, 2.0)},
        beyond={"t": (2.0, 10.0)},
        n_rows=12,
        noise=0.05,
        knowledge=("V > 0", "decreasing in t", "convex in t", "V -> 0 as t -> inf"),
    ),
    ShapedLaw(
        name="saturation",
        target="v",
        formula="4.2*s/(1.7 + s)",
        measured={"s": (0.2, 2.0)},
        beyond={"s": (2.0, 12.0)},
        n_rows=10,
        noise=0.05,
        knowledge=("v(s=0) = 0", "increasing in s", "concave in s"),
    ),
    ShapedLaw(
        name="settling",
        target="v",
        formula="6*(1 - exp(-t/1.8))",
        measured={"t": (0.0, 2.5)},
        beyond={"t": (2.5, 12.0)},
        n_rows=12,
        noise=0.05,
        knowledge=("v(t=0) = 0", "increasing in t", "concave in t", "v < 20"),
    ),
    ShapedLaw(
        name="screened-potential",
        target="U",
        formula="3*exp(-r/1.5)/r",
        measured={"r": (0.5, 2.0)},
        beyond={"r": (2.0, 8.0)},
        n_rows=12,
        noise=0.05,
        knowledge=("U > 0", "decreasing in r", "convex in r", "U -> 0 as r -> inf"),
    ),
    ShapedLaw(
        name="attraction",
        target="F",
        formula="2.5*m1*m2/r**2",
        measured={"m1": (1.0, 3.0), "m2": (1.0, 3.0), "r": (1.0, 2.0)},
        beyond={"m1": (3.0, 6.0), "r": (2.0, 8.0)},
        n_rows=12,
        noise=0.1,
        knowledge=("symmetric in m1, m2", "F(m1=0) = 0", "F > 0", "decreasing in r", "F -> 0 as r -> inf"),
    ),
    ShapedLaw(
        name="parallel-resistors",
        target="R",
        formula="r1*r2/(r1 + r2)",
        measured={"r1": (1.0, 5.0), "r2": (1.0, 5.0)},
        beyond={"r1": (5.0, 50.0), "r2": (1.0, 50.0)},
        n_rows=12,
        noise=0.05,
        knowledge=("symmetric in r1, r2", "R(r1=0) = 0", "increasing in r1", "concave in r1", "R -> r2 as r1 -> inf"),
    ),
    ShapedLaw(
        name="relativistic-energy",
        target="E",
        formula="sqrt(m**2 + p**2)",
        measured={"m": (0.5, 2.0), "p": (-1.0, 1.0)},
        beyond={"p": (1.0, 8.0)},
        n_rows=12,
        noise=0.05,
        knowledge=("even in p", "E(p=0) = m", "convex in p", "E > 0"),
    ),
    ShapedLaw(
        name="pendulum-energy",
        target="U",
        formula="2*(1 - cos(q))",
        measured={"q": (-1.5, 1.5)},
        beyond={"q": (1.5, 3.1)},
        n_rows=12,
        noise=0.05,
        knowledge=("even in q", "U(q=0) = 0", "U >= 0"),
    ),
    ShapedLaw(
        name="heat-capacity",
        target="c",
        formula="3*(2/T)**2*exp(2/T)/(exp(2/T) - 1)**2",
        measured={"T": (0.2, 1.5)},
        beyond={"T": (1.5, 8.0)},
        n_rows=15,
        noise=0.05,
        knowledge=("c > 0", "increasing in T", "c -> 3 as T -> inf", "c -> 0 as T -> 0"),
    ),
    ShapedLaw(
        name="magnetisation",
        target="M",
        formula="h/sqrt(1.3 + h**2)",
        measured={"h": (0.1, 1.5)},
        beyond={"h": (-8.0, 8.0)},
        n_rows=10,
        noise=0.05,
        knowledge=("odd in h", "increasing in h", "M -> 1 as h -> inf"),
    ),
)
SHAPED_LAWS = {law.name: law for law in _LAWS}
