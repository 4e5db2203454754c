"""Fifteen laws whose rows come in groups, one row each: every group has one or two numbers of its own.

They were chosen, with their ranges, before any search with groups existed. Numbers in the text of a law are the same for all groups;
its own numbers have names. `PAIRED_LAWS` have two groupings at once. `grouped_tables` makes tables of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.datasets.laws import Range, log_uniform, uniform
from spl.errors import DataError, explain_unknown
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


@dataclass(frozen=True, slots=True)
class OwnRange:
    """A number that each group of a grouping has for itself, and where its values lie."""

    name: str  # in the expression
    values: Range
    grouping: str


@dataclass(frozen=True, slots=True)
class GroupedLaw:
    """A law with the ranges of its columns and of the numbers that each group has for itself.

    Examples:
        >>> law = load_grouped_law("cooling")
        >>> law.expression, law.variables, law.own_names, law.groupings
        ('21 + (h - 21)*exp(-k*t)', ('h', 't'), ('k',), ('cup',))
        >>> law.truth_at(np.array([[71.0, 10.0]]), {"k": np.array([0.1])})
        array([39.39397206])
    """

    name: str
    field: str
    about: str  # what the law gives, and what the groups are
    expression: str  # of columns and own numbers
    ranges: dict[str, Range]  # of the columns
    own: tuple[OwnRange, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.ranges)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of the numbers that each group has for itself."""
        return tuple(number.name for number in self.own)

    @property
    def groupings(self) -> tuple[str, ...]:
        """The names of the groupings; most laws have one."""
        return tuple(dict.fromkeys(number.grouping for number in self.own))

    def draw_rows(self, random: np.random.Generator, n_rows: int) -> NDArray[np.float64]:
        """Return rows of the columns [N, D]."""
        places = random.uniform(size=(n_rows, len(self.ranges)))
        return np.column_stack([each.at(places[:, k]) for k, each in enumerate(self.ranges.values())])

    def truth_at(self, table: NDArray[np.float64], own: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the exact values [N] at the rows of a table [N, D], by the own numbers of each row [N]."""
        words = Vocabulary((*self.variables, *self.own_names))
        full = np.column_stack([table, *(own[name] for name in self.own_names)])
        return exact_values(parse_expression(self.expression, words), full)


GROUPED_LAWS = (
    # ---- physics ----
    GroupedLaw(
        name="damped_oscillation",
        field="physics",
        about="deflection of a pendulum in several liquids, let go at different phases",
        expression="1.5*exp(-g*t)*cos(4*t + p)",
        ranges={"t": uniform(0.0, 6.0)},
        own=(OwnRange("g", uniform(0.15, 0.8), "liquid"), OwnRange("p", uniform(0.0, 3.0), "liquid")),
    ),
    GroupedLaw(
        name="ring_down",
        field="physics",
        about="vibration of several bars of different lengths after a blow",
        expression="2*exp(-0.3*t)*cos(w*t)",
        ranges={"t": uniform(0.0, 5.0)},
        own=(OwnRange("w", uniform(2.0, 6.0), "bar"),),
    ),
    GroupedLaw(
        name="van_der_waals",
        field="physics",
        about="pressure of several gases in bar, by temperature in kelvins and volume of a mole in litres",
        expression="0.0831*T/(v - b) - a/v**2",
        ranges={"T": uniform(280.0, 600.0), "v": uniform(0.15, 1.0)},
        own=(OwnRange("a", uniform(1.0, 6.0), "gas"), OwnRange("b", uniform(0.03, 0.07), "gas")),
    ),
    GroupedLaw(
        name="spectral_line",
        field="physics",
        about="profile of a spectral line at several pressures, which widen it and leave its area",
        expression="0.8*w/((x - 5.2)**2 + w**2)",
        ranges={"x": uniform(3.0, 8.0)},
        own=(OwnRange("w", uniform(0.3, 1.2), "pressure"),),
    ),
    # ---- chemistry ----
    GroupedLaw(
        name="electrode",
        field="chemistry",
        about="potential of several electrodes in millivolts, by the concentration (Nernst)",
        expression="e - 25.7*log(c)",
        ranges={"c": log_uniform(0.001, 1.0)},
        own=(OwnRange("e", uniform(150.0, 320.0), "electrode"),),
    ),
    GroupedLaw(
        name="arrhenius",
        field="chemistry",
        about="rates of several reactions at temperature T in kelvins, by their rate at 320 K and activation energy",
        expression="r*exp(e*(1/320 - 1/T))",
        ranges={"T": uniform(290.0, 350.0)},
        own=(OwnRange("r", uniform(0.5, 2.0), "reaction"), OwnRange("e", uniform(3000.0, 8000.0), "reaction")),
    ),
    GroupedLaw(
        name="freundlich",
        field="chemistry",
        about="amount of a dye on several kinds of charcoal, by its concentration",
        expression="1.9*c**n",
        ranges={"c": log_uniform(0.1, 20.0)},
        own=(OwnRange("n", uniform(0.3, 0.9), "charcoal"),),
    ),
    # ---- biology ----
    GroupedLaw(
        name="inhibition",
        field="biology",
        about="rate of an enzyme with substrate s, by the concentration i of several inhibitors that compete with it",
        expression="2.4*s/(0.6*(1 + i/k) + s)",
        ranges={"s": uniform(0.05, 4.0), "i": uniform(0.0, 5.0)},
        own=(OwnRange("k", uniform(0.3, 4.0), "inhibitor"),),
    ),
    GroupedLaw(
        name="logistic_growth",
        field="biology",
        about="yeast in several vessels of different capacity, begun with the same amount",
        expression="k/(1 + (k/2 - 1)*exp(-0.9*t))",
        ranges={"t": uniform(0.0, 10.0)},
        own=(OwnRange("k", uniform(20.0, 120.0), "vessel"),),
    ),
    GroupedLaw(
        name="allometry",
        field="biology",
        about="metabolic rate of animals of several orders, by their mass (Kleiber)",
        expression="a*m**0.75",
        ranges={"m": log_uniform(0.5, 50.0)},
        own=(OwnRange("a", uniform(1.0, 6.0), "order"),),
    ),
    # ---- engineering ----
    GroupedLaw(
        name="pipe_loss",
        field="engineering",
        about="loss of pressure at speed v in pipes of several materials, by length and diameter, with that of the inlet",
        expression="v**2*(f*l/d + 1.5)/2",
        ranges={"v": uniform(0.5, 4.0), "l": uniform(1.0, 10.0), "d": uniform(0.05, 0.3)},
        own=(OwnRange("f", uniform(0.01, 0.05), "material"),),
    ),
    GroupedLaw(
        name="cooling",
        field="engineering",
        about="temperature of several cups after t minutes in a room, by that at the start",
        expression="21 + (h - 21)*exp(-k*t)",
        ranges={"h": uniform(50.0, 95.0), "t": uniform(0.0, 40.0)},
        own=(OwnRange("k", uniform(0.02, 0.15), "cup"),),
    ),
    GroupedLaw(
        name="motor",
        field="engineering",
        about="torque of several motors, by current and speed",
        expression="k*i - 0.03*w - 0.4",
        ranges={"i": uniform(1.0, 10.0), "w": uniform(0.0, 100.0)},
        own=(OwnRange("k", uniform(0.3, 1.2), "motor"),),
    ),
    # ---- earth science ----
    GroupedLaw(
        name="tide",
        field="earth science",
        about="tide by the moon in several harbours, in metres, after t hours",
        expression="a*cos(0.506*t - p)",
        ranges={"t": uniform(0.0, 50.0)},
        own=(OwnRange("a", uniform(0.5, 3.0), "harbour"), OwnRange("p", uniform(0.0, 5.0), "harbour")),
    ),
    GroupedLaw(
        name="echo",
        field="earth science",
        about="time until the echo of several layers of rock arrives at a distance x from the source",
        expression="sqrt(z**2 + 0.16*x**2)",
        ranges={"x": uniform(0.0, 5.0)},
        own=(OwnRange("z", uniform(0.4, 2.0), "layer"),),
    ),
)
PAIRED_LAWS = (
    GroupedLaw(
        name="attenuation",
        field="physics",
        about="count rate of several sources behind sheets of several materials",
        expression="s*exp(-m*d)",
        ranges={"d": uniform(0.0, 5.0)},
        own=(OwnRange("s", uniform(2.0, 10.0), "source"), OwnRange("m", uniform(0.1, 0.9), "material")),
    ),
    GroupedLaw(
        name="gas_sensor",
        field="chemistry",
        about="signal of several sensors, by the concentration of several gases",
        expression="g*c**0.8 + o",
        ranges={"c": uniform(0.2, 6.0)},
        own=(OwnRange("g", uniform(0.5, 3.0), "gas"), OwnRange("o", uniform(-1.0, 1.0), "sensor")),
    ),
    GroupedLaw(
        name="harvest",
        field="biology",
        about="harvest of several varieties in several fields, by the nitrogen n",
        expression="y + 3.1*n/(h + n)",
        ranges={"n": uniform(0.1, 6.0)},
        own=(OwnRange("y", uniform(1.0, 4.0), "field"), OwnRange("h", uniform(0.4, 3.0), "variety")),
    ),
)
SIZED_LAWS = ("electrode", "allometry", "cooling", "freundlich", "tide")  # those that are measured in many groups


def load_grouped_law(name: str) -> GroupedLaw:
    """Return the law with this name, of one grouping or two.

    Args:
        name: such as "cooling"; all are in `GROUPED_LAWS` and `PAIRED_LAWS`.

    Examples:
        >>> load_grouped_law("colling")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: There is no law 'colling'. Did you mean 'cooling'?
    """
    laws = {law.name: law for law in (*GROUPED_LAWS, *PAIRED_LAWS)}
    if name not in laws:
        raise DataError(explain_unknown("law", name, list(laws)))
    return laws[name]
