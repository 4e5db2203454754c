"""Forty laws from handbooks of engineering, chemistry, earth science and astronomy with their units, one row each.

They were chosen, with units and ranges, before any search with units existed. An expression holds in any coherent units: columns and
targets have the units that people measure them in, so numbers such as 1,000 appear where these do not fit together. The constants of
nature in a law have names and units; all its other numbers are dimensionless.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import exact_values
from spl.datasets.laws import Range, log_uniform, uniform
from spl.errors import SettingError, explain_unknown
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.units.unit import read_quantity

DIMENSIONLESS = "dimensionless"
NAMED_CONSTANTS = {  # CODATA 2018 and IERS 2010
    "g": "9.80665 m/s**2",
    "R": "8.314462618 J/(mol*K)",
    "F": "96485.33212 C/mol",
    "eps0": "8.8541878128e-12 F/m",
    "Omega": "7.292115e-5 1/s",  # rotation of the earth
    "G": "6.6743e-11 m**3/(kg*s**2)",
    "c": "299792458 m/s",
    "sigma": "5.670374419e-8 W/(m**2*K**4)",
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of a law: its unit, and its range in this unit."""

    unit: str  # as pint reads it
    range: Range


@dataclass(frozen=True, slots=True, kw_only=True)
class HandbookLaw:
    """A law with the units of its columns, its target and its named constants.

    Examples:
        >>> law = load_handbook_law("pump_power")
        >>> law.expression, law.variables, law.target, law.target_unit, law.constants
        ('rho*g*Q*H/eta', ('rho', 'Q', 'H', 'eta'), 'P', 'kW', ('g',))
        >>> law.truth_at(np.array([[1000.0, 100.0, 10.0, 0.5]]))  # kg/m**3, L/s, m, dimensionless
        array([19.6133])
    """

    name: str
    field: str  # one of HANDBOOK_FIELDS
    about: str  # what the law gives
    expression: str  # of columns, named constants and pi, in coherent units
    columns: dict[str, Quantity]
    target: str
    target_unit: str
    constants: tuple[str, ...] = ()  # names in NAMED_CONSTANTS

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column."""
        return {name: column.unit for name, column in self.columns.items()}

    @property
    def known(self) -> dict[str, str]:
        """The named constants of the law, each with value and unit."""
        return {name: NAMED_CONSTANTS[name] for name in self.constants}

    def draw_rows(self, random: np.random.Generator, n_rows: int) -> NDArray[np.float64]:
        """Return rows [N, D], each column in its unit."""
        places = random.uniform(size=(n_rows, len(self.columns)))
        return np.column_stack([each.range.at(places[:, k]) for k, each in enumerate(self.columns.values())])

    def truth_at(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exact values [N], in the unit of the target, at the rows of a table [N, D]."""
        factors = [base_factor(column.unit) for column in self.columns.values()]
        known = np.tile([*map(base_factor, self.known.values()), math.pi], (len(table), 1))
        words = Vocabulary((*self.variables, *self.constants, "pi"))
        values = exact_values(parse_expression(self.expression, words), np.hstack([table * factors, known]))
        return np.asarray(values / base_factor(self.target_unit))


@functools.cache
def base_factor(text: str) -> float:
    """Return a unit, or a number with a unit, as a number of SI base units.

    Examples:
        >>> base_factor("km"), base_factor("9.80665 m/s**2"), base_factor("dimensionless")
        (1000.0, 9.80665, 1.0)
    """
    if text == DIMENSIONLESS:
        return 1.0
    quantity = read_quantity(text)
    return quantity.value * quantity.unit.factor


HANDBOOK_FIELDS = ("engineering", "chemistry", "earth science", "astronomy")
HANDBOOK_LAWS = (
    # ---- engineering ----
    HandbookLaw(
        name="darcy_weisbach",
        field="engineering",
        about="loss of pressure along a pipe",
        expression="f*L/D*rho*v**2/2",
        columns={
            "f": Quantity(DIMENSIONLESS, uniform(0.01, 0.06)),
            "L": Quantity("m", uniform(5.0, 200.0)),
            "D": Quantity("mm", uniform(20.0, 300.0)),
            "rho": Quantity("kg/m**3", uniform(700.0, 1200.0)),
            "v": Quantity("m/s", uniform(0.3, 4.0)),
        },
        target="dp",
        target_unit="kPa",
    ),
    HandbookLaw(
        name="venturi_flow",
        field="engineering",
        about="flow through an orifice of diameter d in a pipe of diameter D, by the difference of pressures (ISO 5167)",
        expression="pi/4*k*d**2*sqrt(2*dp/(rho*(1 - d**4/D**4)))",
        columns={
            "k": Quantity(DIMENSIONLESS, uniform(0.6, 1.0)),
            "d": Quantity("mm", uniform(40.0, 90.0)),
            "D": Quantity("mm", uniform(100.0, 150.0)),
            "dp": Quantity("kPa", uniform(1.0, 60.0)),
            "rho": Quantity("kg/m**3", uniform(600.0, 1400.0)),
        },
        target="Q",
        target_unit="L/s",
    ),
    HandbookLaw(
        name="pump_power",
        field="engineering",
        about="power that a pump needs",
        expression="rho*g*Q*H/eta",
        columns={
            "rho": Quantity("kg/m**3", uniform(700.0, 1300.0)),
            "Q": Quantity("L/s", uniform(5.0, 200.0)),
            "H": Quantity("m", uniform(2.0, 80.0)),
            "eta": Quantity(DIMENSIONLESS, uniform(0.4, 0.9)),
        },
        target="P",
        target_unit="kW",
        constants=("g",),
    ),
    HandbookLaw(
        name="weir_flow",
        field="engineering",
        about="flow over a rectangular weir (Poleni)",
        expression="2/3*mu*b*sqrt(2*g)*h*sqrt(h)",
        columns={
            "mu": Quantity(DIMENSIONLESS, uniform(0.5, 0.8)),
            "b": Quantity("m", uniform(0.5, 6.0)),
            "h": Quantity("cm", uniform(3.0, 80.0)),
        },
        target="Q",
        target_unit="m**3/s",
        constants=("g",),
    ),
    HandbookLaw(
        name="beam_off_centre",
        field="engineering",
        about="deflection of a simply supported beam under a load at distances a and b from its ends",
        expression="P*a**2*b**2/(3*E*I*(a + b))",
        columns={
            "P": Quantity("kN", uniform(1.0, 40.0)),
            "a": Quantity("m", uniform(0.5, 3.0)),
            "b": Quantity("m", uniform(0.5, 3.0)),
            "E": Quantity("GPa", uniform(10.0, 210.0)),
            "I": Quantity("cm**4", uniform(1_000.0, 20_000.0)),
        },
        target="w",
        target_unit="mm",
    ),
    HandbookLaw(
        name="lame_cylinder",
        field="engineering",
        about="hoop stress at the inner wall of a thick cylinder under pressure (Lamé)",
        expression="p*(ro**2 + ri**2)/(ro**2 - ri**2)",
        columns={
            "p": Quantity("MPa", uniform(1.0, 100.0)),
            "ri": Quantity("mm", uniform(10.0, 60.0)),
            "ro": Quantity("mm", uniform(75.0, 150.0)),
        },
        target="s",
        target_unit="MPa",
    ),
    HandbookLaw(
        name="biaxial_bending",
        field="engineering",
        about="stress in a column under a normal force and two bending moments",
        expression="N/A + My*z/Iy + Mz*y/Iz",
        columns={
            "N": Quantity("kN", uniform(50.0, 800.0)),
            "A": Quantity("cm**2", uniform(30.0, 200.0)),
            "My": Quantity("kN*m", uniform(5.0, 80.0)),
            "z": Quantity("cm", uniform(5.0, 20.0)),
            "Iy": Quantity("cm**4", uniform(4_000.0, 20_000.0)),
            "Mz": Quantity("kN*m", uniform(2.0, 30.0)),
            "y": Quantity("cm", uniform(4.0, 15.0)),
            "Iz": Quantity("cm**4", uniform(1_500.0, 8_000.0)),
        },
        target="s",
        target_unit="MPa",
    ),
    HandbookLaw(
        name="gear_tooth_stress",
        field="engineering",
        about="bending stress of a gear tooth, by load, width, module and factors for overload, dynamics, size and so on (AGMA)",
        expression="W*ko*kv*ks*kh*kb/(b*m*yj)",
        columns={
            "W": Quantity("N", uniform(500.0, 10_000.0)),
            "ko": Quantity(DIMENSIONLESS, uniform(1.0, 2.2)),
            "kv": Quantity(DIMENSIONLESS, uniform(1.0, 1.8)),
            "ks": Quantity(DIMENSIONLESS, uniform(1.0, 1.5)),
            "kh": Quantity(DIMENSIONLESS, uniform(1.0, 2.0)),
            "kb": Quantity(DIMENSIONLESS, uniform(1.0, 1.6)),
            "b": Quantity("mm", uniform(10.0, 80.0)),
            "m": Quantity("mm", uniform(1.0, 8.0)),
            "yj": Quantity(DIMENSIONLESS, uniform(0.2, 0.6)),
        },
        target="s",
        target_unit="MPa",
    ),
    HandbookLaw(
        name="wall_heat_flux",
        field="engineering",
        about="heat that flows through a wall with a layer of air on both sides",
        expression="(Ti - To)/(1/hi + d/k + 1/ho)",
        columns={
            "Ti": Quantity("K", uniform(288.0, 310.0)),
            "To": Quantity("K", uniform(250.0, 285.0)),
            "hi": Quantity("W/(m**2*K)", uniform(4.0, 12.0)),
            "d": Quantity("mm", uniform(20.0, 400.0)),
            "k": Quantity("W/(m*K)", uniform(0.04, 1.5)),
            "ho": Quantity("W/(m**2*K)", uniform(8.0, 40.0)),
        },
        target="q",
        target_unit="W/m**2",
    ),
    HandbookLaw(
        name="pipe_heat_loss",
        field="engineering",
        about="heat that flows through the insulation of a pipe",
        expression="2*pi*k*L*(Ti - To)/log(ro/ri)",
        columns={
            "k": Quantity("W/(m*K)", uniform(0.03, 0.3)),
            "L": Quantity("m", uniform(1.0, 50.0)),
            "Ti": Quantity("K", uniform(330.0, 500.0)),
            "To": Quantity("K", uniform(260.0, 310.0)),
            "ro": Quantity("mm", uniform(60.0, 200.0)),
            "ri": Quantity("mm", uniform(10.0, 50.0)),
        },
        target="q",
        target_unit="kW",
    ),
    HandbookLaw(
        name="road_load",
        field="engineering",
        about="force that drives a car: acceleration, rolling resistance, drag",
        expression="m*a + cr*m*g + rho*cw*A*v**2/2",
        columns={
            "m": Quantity("kg", uniform(800.0, 2_500.0)),
            "a": Quantity("m/s**2", uniform(0.0, 2.0)),
            "cr": Quantity(DIMENSIONLESS, uniform(0.006, 0.04)),
            "rho": Quantity("kg/m**3", uniform(1.0, 1.35)),
            "cw": Quantity(DIMENSIONLESS, uniform(0.2, 0.8)),
            "A": Quantity("m**2", uniform(1.5, 5.0)),
            "v": Quantity("km/h", uniform(10.0, 160.0)),
        },
        target="F",
        target_unit="N",
        constants=("g",),
    ),
    HandbookLaw(
        name="water_hammer_speed",
        field="engineering",
        about="speed of pressure waves of a liquid with bulk modulus B in an elastic pipe with a wall of thickness e (Korteweg)",
        expression="sqrt(B/(rho*(1 + B*D/(E*e))))",
        columns={
            "B": Quantity("GPa", uniform(1.0, 2.5)),
            "rho": Quantity("kg/m**3", uniform(700.0, 1200.0)),
            "D": Quantity("mm", uniform(50.0, 1_000.0)),
            "E": Quantity("GPa", uniform(3.0, 210.0)),
            "e": Quantity("mm", uniform(3.0, 30.0)),
        },
        target="w",
        target_unit="m/s",
    ),
    # ---- chemistry ----
    HandbookLaw(
        name="van_der_waals",
        field="chemistry",
        about="pressure of a real gas",
        expression="R*T/(V - b) - a/V**2",
        columns={
            "T": Quantity("K", uniform(280.0, 600.0)),
            "V": Quantity("L/mol", uniform(0.2, 2.0)),
            "a": Quantity("Pa*m**6/mol**2", uniform(0.1, 1.0)),
            "b": Quantity("L/mol", uniform(0.03, 0.1)),
        },
        target="p",
        target_unit="bar",
        constants=("R",),
    ),
    HandbookLaw(
        name="nernst",
        field="chemistry",
        about="potential of an electrode, by the concentrations of the oxidised and the reduced form",
        expression="E0 + R*T/(z*F)*log(ox/red)",
        columns={
            "E0": Quantity("V", uniform(0.1, 0.4)),
            "T": Quantity("K", uniform(275.0, 370.0)),
            "z": Quantity(DIMENSIONLESS, uniform(1.0, 3.0)),
            "ox": Quantity("mol/L", log_uniform(0.001, 1.0)),
            "red": Quantity("mol/L", log_uniform(0.001, 1.0)),
        },
        target="E",
        target_unit="V",
        constants=("R", "F"),
    ),
    HandbookLaw(
        name="arrhenius_rate",
        field="chemistry",
        about="rate constant by activation energy and temperature",
        expression="A*exp(-Ea/(R*T))",
        columns={
            "A": Quantity("1/s", uniform(100_000.0, 1_000_000.0)),
            "Ea": Quantity("kJ/mol", uniform(15.0, 30.0)),
            "T": Quantity("K", uniform(290.0, 420.0)),
        },
        target="k",
        target_unit="1/s",
        constants=("R",),
    ),
    HandbookLaw(
        name="competitive_adsorption",
        field="chemistry",
        about="adsorbed amount of gas a on a surface for which gas b competes (Langmuir)",
        expression="qm*ka*pa/(1 + ka*pa + kb*pb)",
        columns={
            "qm": Quantity("mol/kg", uniform(1.0, 6.0)),
            "ka": Quantity("1/kPa", uniform(0.05, 1.0)),
            "pa": Quantity("kPa", uniform(0.5, 20.0)),
            "kb": Quantity("1/kPa", uniform(0.05, 1.0)),
            "pb": Quantity("kPa", uniform(0.5, 20.0)),
        },
        target="q",
        target_unit="mol/kg",
    ),
    HandbookLaw(
        name="competitive_inhibition",
        field="chemistry",
        about="rate of an enzyme with substrate s and a competitive inhibitor i",
        expression="vm*s/(km*(1 + i/ki) + s)",
        columns={
            "vm": Quantity("umol/(L*s)", uniform(1.0, 10.0)),
            "s": Quantity("umol/L", uniform(5.0, 500.0)),
            "km": Quantity("umol/L", uniform(20.0, 200.0)),
            "i": Quantity("umol/L", uniform(0.0, 100.0)),
            "ki": Quantity("umol/L", uniform(5.0, 60.0)),
        },
        target="v",
        target_unit="umol/(L*s)",
    ),
    HandbookLaw(
        name="clausius_clapeyron",
        field="chemistry",
        about="vapour pressure at temperature T, by that at T0",
        expression="p0*exp(h/R*(1/T0 - 1/T))",
        columns={
            "p0": Quantity("kPa", uniform(1.0, 100.0)),
            "h": Quantity("kJ/mol", uniform(25.0, 45.0)),
            "T0": Quantity("K", uniform(300.0, 370.0)),
            "T": Quantity("K", uniform(280.0, 400.0)),
        },
        target="p",
        target_unit="kPa",
        constants=("R",),
    ),
    HandbookLaw(
        name="debye_length",
        field="chemistry",
        about="range of electric fields in a solution of ionic strength I",
        expression="sqrt(er*eps0*R*T/(2*F**2*I))",
        columns={
            "er": Quantity(DIMENSIONLESS, uniform(20.0, 100.0)),
            "T": Quantity("K", uniform(275.0, 370.0)),
            "I": Quantity("mol/m**3", log_uniform(1.0, 100.0)),
        },
        target="d",
        target_unit="nm",
        constants=("eps0", "R", "F"),
    ),
    HandbookLaw(
        name="cottrell",
        field="chemistry",
        about="current at an electrode at time t after a step of its potential",
        expression="n*F*A*c*sqrt(D/(pi*t))",
        columns={
            "n": Quantity(DIMENSIONLESS, uniform(1.0, 3.0)),
            "A": Quantity("cm**2", uniform(0.05, 1.0)),
            "c": Quantity("mol/m**3", uniform(0.5, 10.0)),
            "D": Quantity("m**2/s", uniform(1e-10, 2e-9)),
            "t": Quantity("s", uniform(0.1, 10.0)),
        },
        target="i",
        target_unit="uA",
        constants=("F",),
    ),
    HandbookLaw(
        name="consecutive_reactions",
        field="chemistry",
        about="concentration of B at time t in the reactions A -> B -> C",
        expression="a0*k1/(k2 - k1)*(exp(-k1*t) - exp(-k2*t))",
        columns={
            "a0": Quantity("mol/L", uniform(0.5, 3.0)),
            "k1": Quantity("1/min", uniform(0.2, 0.8)),
            "k2": Quantity("1/min", uniform(1.0, 2.5)),
            "t": Quantity("min", uniform(0.2, 6.0)),
        },
        target="b",
        target_unit="mol/L",
    ),
    # ---- earth science ----
    HandbookLaw(
        name="dupuit_flow",
        field="earth science",
        about="flow of groundwater between two ditches, per width",
        expression="k*(h1**2 - h2**2)/(2*L)",
        columns={
            "k": Quantity("m/day", uniform(0.5, 50.0)),
            "h1": Quantity("m", uniform(8.0, 20.0)),
            "h2": Quantity("m", uniform(1.0, 7.0)),
            "L": Quantity("m", uniform(20.0, 200.0)),
        },
        target="q",
        target_unit="m**2/day",
    ),
    HandbookLaw(
        name="stokes_settling",
        field="earth science",
        about="speed at which a grain sinks in a liquid",
        expression="(rs - rf)*g*d**2/(18*mu)",
        columns={
            "rs": Quantity("kg/m**3", uniform(1_800.0, 3_200.0)),
            "rf": Quantity("kg/m**3", uniform(700.0, 1_300.0)),
            "d": Quantity("um", uniform(5.0, 60.0)),
            "mu": Quantity("mPa*s", uniform(0.5, 2.5)),
        },
        target="v",
        target_unit="mm/s",
        constants=("g",),
    ),
    HandbookLaw(
        name="geostrophic_wind",
        field="earth science",
        about="wind at latitude phi where the pressure changes by dp over a distance dx",
        expression="dp/(2*Omega*sin(phi)*rho*dx)",
        columns={
            "dp": Quantity("hPa", uniform(1.0, 12.0)),
            "phi": Quantity("rad", uniform(0.4, 1.4)),
            "rho": Quantity("kg/m**3", uniform(0.5, 1.3)),
            "dx": Quantity("km", uniform(150.0, 1_000.0)),
        },
        target="u",
        target_unit="m/s",
        constants=("Omega",),
    ),
    HandbookLaw(
        name="ripple_speed",
        field="earth science",
        about="speed of short waves of length w on deep water with surface tension s",
        expression="sqrt(g*w/(2*pi) + 2*pi*s/(rho*w))",
        columns={
            "w": Quantity("mm", uniform(4.0, 60.0)),
            "s": Quantity("mN/m", uniform(20.0, 75.0)),
            "rho": Quantity("kg/m**3", uniform(700.0, 1_200.0)),
        },
        target="v",
        target_unit="cm/s",
        constants=("g",),
    ),
    HandbookLaw(
        name="geotherm",
        field="earth science",
        about="temperature at depth z in a crust that produces heat",
        expression="T0 + q*z/k - A*z**2/(2*k)",
        columns={
            "T0": Quantity("K", uniform(270.0, 300.0)),
            "q": Quantity("mW/m**2", uniform(40.0, 100.0)),
            "z": Quantity("km", uniform(1.0, 30.0)),
            "k": Quantity("W/(m*K)", uniform(1.5, 4.0)),
            "A": Quantity("uW/m**3", uniform(0.2, 3.0)),
        },
        target="T",
        target_unit="K",
    ),
    HandbookLaw(
        name="well_drawdown",
        field="earth science",
        about="drawdown at distance r from a well at time t (Cooper and Jacob; 2.25 is rounded)",
        expression="Q/(4*pi*T)*log(2.25*T*t/(r**2*S))",
        columns={
            "Q": Quantity("L/s", uniform(5.0, 60.0)),
            "T": Quantity("m**2/day", uniform(50.0, 1_000.0)),
            "t": Quantity("day", uniform(0.5, 10.0)),
            "r": Quantity("m", uniform(5.0, 50.0)),
            "S": Quantity(DIMENSIONLESS, log_uniform(0.0001, 0.005)),
        },
        target="s",
        target_unit="m",
    ),
    HandbookLaw(
        name="p_wave_speed",
        field="earth science",
        about="speed of compressional waves in rock, by bulk and shear modulus",
        expression="sqrt((B + 4/3*S)/rho)",
        columns={
            "B": Quantity("GPa", uniform(10.0, 90.0)),
            "S": Quantity("GPa", uniform(5.0, 60.0)),
            "rho": Quantity("kg/m**3", uniform(1_800.0, 3_400.0)),
        },
        target="v",
        target_unit="km/s",
    ),
    HandbookLaw(
        name="reflection_time",
        field="earth science",
        about="travel time of a seismic reflection at offset x",
        expression="sqrt(t0**2 + x**2/v**2)",
        columns={
            "t0": Quantity("s", uniform(0.2, 2.0)),
            "x": Quantity("m", uniform(100.0, 4_000.0)),
            "v": Quantity("km/s", uniform(1.5, 5.0)),
        },
        target="t",
        target_unit="s",
    ),
    HandbookLaw(
        name="consolidation",
        field="earth science",
        about="settlement of a layer of clay under a load (Terzaghi)",
        expression="H*cc/(1 + e0)*log((s0 + ds)/s0)/log(10)",
        columns={
            "H": Quantity("m", uniform(1.0, 10.0)),
            "cc": Quantity(DIMENSIONLESS, uniform(0.1, 0.8)),
            "e0": Quantity(DIMENSIONLESS, uniform(0.5, 2.0)),
            "s0": Quantity("kPa", uniform(20.0, 200.0)),
            "ds": Quantity("kPa", uniform(10.0, 200.0)),
        },
        target="w",
        target_unit="cm",
    ),
    HandbookLaw(
        name="gaussian_plume",
        field="earth science",
        about="concentration of a pollutant on the ground, at distance y from the axis of the plume of a stack of height H",
        expression="Q/(pi*u*sy*sz)*exp(-y**2/(2*sy**2) - H**2/(2*sz**2))",
        columns={
            "Q": Quantity("g/s", uniform(1.0, 50.0)),
            "u": Quantity("m/s", uniform(1.0, 10.0)),
            "sy": Quantity("m", uniform(20.0, 150.0)),
            "sz": Quantity("m", uniform(15.0, 80.0)),
            "y": Quantity("m", uniform(0.0, 100.0)),
            "H": Quantity("m", uniform(10.0, 60.0)),
        },
        target="n",
        target_unit="mg/m**3",
    ),
    # ---- astronomy ----
    HandbookLaw(
        name="vis_viva",
        field="astronomy",
        about="speed in an orbit with semi-major axis a, at distance r",
        expression="sqrt(G*M*(2/r - 1/a))",
        columns={
            "M": Quantity("kg", uniform(5e29, 6e30)),
            "r": Quantity("au", uniform(0.3, 1.5)),
            "a": Quantity("au", uniform(0.9, 4.0)),
        },
        target="v",
        target_unit="km/s",
        constants=("G",),
    ),
    HandbookLaw(
        name="stellar_luminosity",
        field="astronomy",
        about="power that a star of radius r and temperature T radiates",
        expression="4*pi*r**2*sigma*T**4",
        columns={
            "r": Quantity("Gm", uniform(0.1, 3.0)),
            "T": Quantity("K", uniform(3_000.0, 12_000.0)),
        },
        target="L",
        target_unit="W",
        constants=("sigma",),
    ),
    HandbookLaw(
        name="equilibrium_temperature",
        field="astronomy",
        about="temperature of a planet with albedo A at distance d from a star of radius r and temperature Ts",
        expression="Ts*sqrt(r/(2*d))*sqrt(sqrt(1 - A))",
        columns={
            "Ts": Quantity("K", uniform(3_000.0, 7_000.0)),
            "r": Quantity("Gm", uniform(0.2, 1.5)),
            "d": Quantity("au", uniform(0.05, 2.0)),
            "A": Quantity(DIMENSIONLESS, uniform(0.0, 0.8)),
        },
        target="T",
        target_unit="K",
    ),
    HandbookLaw(
        name="hill_sphere",
        field="astronomy",
        about="radius within which a planet of mass m keeps its moons",
        expression="a*(1 - e)*(m/(3*M))**(1/3)",
        columns={
            "a": Quantity("au", uniform(0.3, 10.0)),
            "e": Quantity(DIMENSIONLESS, uniform(0.0, 0.6)),
            "m": Quantity("kg", log_uniform(1e24, 4e27)),
            "M": Quantity("kg", uniform(5e29, 5e30)),
        },
        target="r",
        target_unit="Gm",
    ),
    HandbookLaw(
        name="einstein_radius",
        field="astronomy",
        about="angle under which a galaxy of mass M at distance dl images a source at distance ds as a ring",
        expression="sqrt(4*G*M*(ds - dl)/(c**2*dl*ds))",
        columns={
            "M": Quantity("kg", uniform(1e41, 5e42)),
            "dl": Quantity("Mpc", uniform(200.0, 900.0)),
            "ds": Quantity("Mpc", uniform(1_000.0, 3_000.0)),
        },
        target="theta",
        target_unit="urad",
        constants=("G", "c"),
    ),
    HandbookLaw(
        name="radial_velocity",
        field="astronomy",
        about="amplitude of the radial velocity of a star of mass M with a light planet of mass m",
        expression="m*sin(i)*sqrt(G/(M*a*(1 - e**2)))",
        columns={
            "m": Quantity("kg", uniform(1e26, 2e28)),
            "i": Quantity("rad", uniform(0.2, 1.55)),
            "M": Quantity("kg", uniform(1e30, 4e30)),
            "a": Quantity("au", uniform(0.1, 3.0)),
            "e": Quantity(DIMENSIONLESS, uniform(0.0, 0.8)),
        },
        target="k",
        target_unit="m/s",
        constants=("G",),
    ),
    HandbookLaw(
        name="transit_duration",
        field="astronomy",
        about="duration of the transit of a planet of radius r and period P before a star of radius R, at impact parameter b",
        expression="P/(pi*a)*sqrt((R + r)**2 - (b*R)**2)",
        columns={
            "P": Quantity("day", uniform(1.0, 30.0)),
            "a": Quantity("Gm", uniform(5.0, 40.0)),
            "R": Quantity("Gm", uniform(0.4, 1.5)),
            "r": Quantity("Gm", uniform(0.02, 0.3)),
            "b": Quantity(DIMENSIONLESS, uniform(0.0, 0.9)),
        },
        target="t",
        target_unit="hour",
    ),
    HandbookLaw(
        name="tidal_acceleration",
        field="astronomy",
        about="difference of the attraction by a body of mass M at distance d, over a distance r",
        expression="2*G*M*r/d**3",
        columns={
            "M": Quantity("kg", uniform(1e22, 1e25)),
            "r": Quantity("Mm", uniform(0.5, 7.0)),
            "d": Quantity("Mm", uniform(100.0, 800.0)),
        },
        target="da",
        target_unit="um/s**2",
        constants=("G",),
    ),
    HandbookLaw(
        name="halo_mass",
        field="astronomy",
        about="mass within radius r of a halo of dark matter with density n and scale a (Navarro, Frenk and White)",
        expression="4*pi*n*a**3*(log(1 + r/a) - r/(r + a))",
        columns={
            "n": Quantity("kg/m**3", uniform(1e-22, 2e-21)),
            "a": Quantity("kpc", uniform(5.0, 40.0)),
            "r": Quantity("kpc", uniform(2.0, 300.0)),
        },
        target="M",
        target_unit="kg",
    ),
)
HANDBOOK_LAW_NAMES = tuple(law.name for law in HANDBOOK_LAWS)


def load_handbook_law(name: str) -> HandbookLaw:
    """Return the law with a name.

    Args:
        name: one of those in `HANDBOOK_LAWS`.

    Examples:
        >>> load_handbook_law("vis_viva").about
        'speed in an orbit with semi-major axis a, at distance r'
        >>> load_handbook_law("vis_vica")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: There is no law 'vis_vica'. Did you mean 'vis_viva'?
    """
    if name not in HANDBOOK_LAW_NAMES:
        raise SettingError(explain_unknown("law", name, HANDBOOK_LAW_NAMES))
    return HANDBOOK_LAWS[HANDBOOK_LAW_NAMES.index(name)]
