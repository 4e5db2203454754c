"""Twenty well-known laws of engineering, chemistry, biology and earth science, one row each.

They were chosen before any search was run on them. Every law is positive. Each column has two ranges: its usual one, and one on
which the target covers at least three decades. `law_tables` makes noisy tables of them.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.errors import DataError, SettingError, explain_unknown
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a column, drawn uniformly, or with a uniform logarithm.

    Examples:
        >>> Range(0.01, 100.0, is_log=True).at(np.array([0.0, 0.5, 1.0]))
        array([1.e-02, 1.e+00, 1.e+02])
    """

    low: float
    high: float
    is_log: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise SettingError(f"A range must go from a number to a larger one; got {self.low} to {self.high}.")
        if self.is_log and self.low <= 0:
            raise SettingError(f"A logarithmic range must begin above 0; got {self.low}.")

    def at(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values at places from 0, the low end, to 1, the high end."""
        if self.is_log:
            return np.asarray(self.low * (self.high / self.low) ** places)
        return self.low + (self.high - self.low) * places


def uniform(low: float, high: float) -> Range:
    """Return a range that is drawn uniformly."""
    return Range(low, high)


def log_uniform(low: float, high: float) -> Range:
    """Return a range whose logarithm is drawn uniformly."""
    return Range(low, high, is_log=True)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a law: its name and its two ranges."""

    name: str
    usual: Range
    decades: Range  # with the other columns, lets the target cover at least three decades


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A well-known law with the ranges of its columns.

    Examples:
        >>> law = load_law("michaelis_menten")
        >>> law.expression, law.variables, law.field
        ('2.4*s/(0.6 + s)', ('s',), 'biology')
        >>> law.truth_at(np.array([[0.6], [3.0]]))
        array([1.2, 2. ])
    """

    name: str
    field: str  # one of FIELDS
    about: str  # what the law gives
    expression: str
    columns: tuple[Column, ...]
    counts_factor: (
        float  # as counts, the law is multiplied by this: on its decades, most means are then between 1 and 1,000
    )

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def draw_rows(self, rng: np.random.Generator, n_rows: int, *, over_decades: bool) -> NDArray[np.float64]:
        """Return rows [N, D] from the usual ranges, or from those on which the target covers decades."""
        places = rng.uniform(size=(n_rows, len(self.columns)))
        ranges = [column.decades if over_decades else column.usual for column in self.columns]
        return np.column_stack([range_.at(places[:, k]) for k, range_ in enumerate(ranges)])

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact values [N] at the rows of a table [N, D]."""
        return exact_values(parse_expression(self.expression, Vocabulary(self.variables)), table)


FIELDS = ("biology", "chemistry", "earth science", "engineering")
LAWS = (
    # ---- biology ----
    Law(
        name="michaelis_menten",
        field="biology",
        about="rate of an enzyme with substrate s",
        expression="2.4*s/(0.6 + s)",
        columns=(Column("s", uniform(0.05, 5.0), log_uniform(0.0003, 50.0)),),
        counts_factor=400.0,
    ),
    Law(
        name="haldane",
        field="biology",
        about="growth rate of microbes that too much substrate s inhibits (Andrews)",
        expression="0.9*s/(0.5 + s + s**2/6)",
        columns=(Column("s", uniform(0.05, 15.0), log_uniform(0.0002, 60.0)),),
        counts_factor=1700.0,
    ),
    Law(
        name="hill",
        field="biology",
        about="bound share of a receptor with two cooperating sites, by the concentration x of the ligand",
        expression="1.8*x**2/(0.7 + x**2)",
        columns=(Column("x", uniform(0.05, 4.0), log_uniform(0.02, 10.0)),),
        counts_factor=550.0,
    ),
    Law(
        name="kleiber",
        field="biology",
        about="metabolic rate in watts of an animal of mass m in kilograms",
        expression="3.4*m**0.75",
        columns=(Column("m", uniform(0.5, 80.0), log_uniform(0.02, 500.0)),),
        counts_factor=2.8,
    ),
    Law(
        name="logistic",
        field="biology",
        about="population with limited resources at time t",
        expression="80/(1 + 1600*exp(-0.9*t))",
        columns=(Column("t", uniform(3.0, 14.0), uniform(-1.0, 15.0)),),
        counts_factor=12.0,
    ),
    # ---- chemistry ----
    Law(
        name="arrhenius",
        field="chemistry",
        about="rate constant at temperature T in kelvins",
        expression="3200000*exp(-5200/T)",
        columns=(Column("T", uniform(280.0, 360.0), uniform(260.0, 440.0)),),
        counts_factor=43.0,
    ),
    Law(
        name="langmuir",
        field="chemistry",
        about="adsorbed amount of gas a on a surface for which gas b competes, by their pressures",
        expression="3.1*a/(1 + 0.8*a + 0.3*b)",
        columns=(
            Column("a", uniform(0.1, 6.0), log_uniform(0.002, 50.0)),
            Column("b", uniform(0.1, 10.0), log_uniform(0.1, 20.0)),
        ),
        counts_factor=260.0,
    ),
    Law(
        name="bodenstein",
        field="chemistry",
        about="rate of H2 + Br2 -> 2 HBr, by the concentrations h of H2, b of Br2 and p of HBr",
        expression="1.4*h*sqrt(b)/(1 + 0.4*p/b)",
        columns=(
            Column("h", uniform(0.2, 2.0), log_uniform(0.02, 5.0)),
            Column("b", uniform(0.2, 2.0), log_uniform(0.2, 5.0)),
            Column("p", uniform(0.0, 4.0), log_uniform(0.05, 5.0)),
        ),
        counts_factor=65.0,
    ),
    Law(
        name="beer_lambert",
        field="chemistry",
        about="light that passes a solution: intensity i before it, concentration c, path d",
        expression="i*exp(-0.5*c*d)",
        columns=(
            Column("i", uniform(1.0, 10.0), log_uniform(1.0, 50.0)),
            Column("c", uniform(0.1, 2.0), uniform(0.1, 3.0)),
            Column("d", uniform(0.5, 3.0), uniform(0.5, 4.0)),
        ),
        counts_factor=22.0,
    ),
    Law(
        name="decay",
        field="chemistry",
        about="count rate of a radioactive sample with activity a at time t, and the background",
        expression="a*exp(-0.4*t) + 1",
        columns=(
            Column("a", uniform(2.0, 10.0), log_uniform(2.0, 2000.0)),
            Column("t", uniform(0.0, 8.0), uniform(0.0, 8.0)),
        ),
        counts_factor=0.7,
    ),
    # ---- earth science ----
    Law(
        name="gutenberg_richter",
        field="earth science",
        about="earthquakes per year of magnitude m or more",
        expression="exp(9.2 - 2.1*m)",
        columns=(Column("m", uniform(2.0, 5.0), uniform(1.0, 4.6)),),
        counts_factor=0.8,
    ),
    Law(
        name="barometric",
        field="earth science",
        about="air pressure in hectopascals at height h in kilometres, for a temperature T in kelvins",
        expression="1013*exp(-34.2*h/T)",
        columns=(
            Column("h", uniform(0.0, 12.0), uniform(0.0, 60.0)),
            Column("T", uniform(220.0, 310.0), uniform(220.0, 310.0)),
        ),
        counts_factor=1.0,
    ),
    Law(
        name="manning",
        field="earth science",
        about="speed of water in a channel with hydraulic radius r, slope s and roughness n",
        expression="r**(2/3)*sqrt(s)/n",
        columns=(
            Column("r", uniform(0.3, 3.0), log_uniform(0.02, 10.0)),
            Column("s", uniform(0.001, 0.02), log_uniform(0.0001, 0.05)),
            Column("n", uniform(0.015, 0.06), log_uniform(0.01, 0.1)),
        ),
        counts_factor=12.0,
    ),
    Law(
        name="stokes",
        field="earth science",
        about="settling speed of a grain with relative density g and diameter d, in water of viscosity v",
        expression="0.545*(g - 1)*d**2/v",
        columns=(
            Column("g", uniform(1.2, 4.0), uniform(1.2, 4.0)),
            Column("d", uniform(0.05, 0.4), log_uniform(0.02, 0.5)),
            Column("v", uniform(0.6, 1.8), uniform(0.6, 1.8)),
        ),
        counts_factor=2000.0,
    ),
    Law(
        name="wind_profile",
        field="earth science",
        about="wind speed at height z over open land, by the friction velocity u",
        expression="2.5*u*log(z/0.03)",
        columns=(
            Column("u", uniform(0.1, 0.8), log_uniform(0.01, 3.0)),
            Column("z", uniform(0.5, 50.0), log_uniform(0.05, 100.0)),
        ),
        counts_factor=20.0,
    ),
    # ---- engineering ----
    Law(
        name="radiant_exchange",
        field="engineering",
        about="heat that a surface of emissivity e at temperature t radiates to walls at temperature w, in thousands of kelvins",
        expression="56.7*e*(t**4 - w**4)",
        columns=(
            Column("e", uniform(0.2, 1.0), log_uniform(0.1, 1.0)),
            Column("t", uniform(0.5, 1.5), log_uniform(0.45, 2.0)),
            Column("w", uniform(0.25, 0.42), uniform(0.25, 0.42)),
        ),
        counts_factor=1.1,
    ),
    Law(
        name="drag",
        field="engineering",
        about="air drag of a body with drag coefficient c and area a at speed v",
        expression="0.6*c*a*v**2",
        columns=(
            Column("c", uniform(0.1, 1.5), log_uniform(0.2, 1.5)),
            Column("a", uniform(0.2, 3.0), log_uniform(0.3, 3.0)),
            Column("v", uniform(5.0, 40.0), log_uniform(3.0, 50.0)),
        ),
        counts_factor=0.25,
    ),
    Law(
        name="planck",
        field="engineering",
        about="radiation of a furnace at temperature t, by the frequency x",
        expression="1.5*x**3/(exp(x/t) - 1)",
        columns=(
            Column("x", uniform(0.3, 8.0), log_uniform(0.05, 8.0)),
            Column("t", uniform(0.7, 2.0), uniform(0.7, 2.0)),
        ),
        counts_factor=60.0,
    ),
    Law(
        name="chip_power",
        field="engineering",
        about="power of a chip at voltage v and clock frequency f: switching and leakage",
        expression="0.9*v**2*f + 0.3*v",
        columns=(
            Column("v", uniform(0.6, 1.4), log_uniform(0.3, 3.0)),
            Column("f", uniform(0.1, 4.0), log_uniform(0.1, 50.0)),
        ),
        counts_factor=3.0,
    ),
    Law(
        name="darcy",
        field="engineering",
        about="flow through soil of conductivity k between water levels a and b at a distance l",
        expression="86.4*k*(a - b)/l",
        columns=(
            Column("k", uniform(0.01, 0.1), log_uniform(0.01, 0.2)),
            Column("a", uniform(5.0, 10.0), uniform(5.0, 10.0)),
            Column("b", uniform(0.0, 4.0), uniform(0.0, 4.0)),
            Column("l", uniform(2.0, 20.0), log_uniform(0.5, 200.0)),
        ),
        counts_factor=6.0,
    ),
)


def load_law(name: str) -> Law:
    """Return the law with this name.

    Args:
        name: such as "hill"; all are in `LAWS`.

    Examples:
        >>> load_law("hill").expression
        '1.8*x**2/(0.7 + x**2)'
        >>> load_law("hil")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: There is no law 'hil'. Did you mean 'hill'?
    """
    for law in LAWS:
        if law.name == name:
            return law
    raise DataError(explain_unknown("law", name, [law.name for law in LAWS]))
