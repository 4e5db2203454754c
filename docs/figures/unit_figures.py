"""The figure of a law with units: the same rows as measured, without dimensions, and beyond the data."""

import numpy as np
from matplotlib.figure import Figure

from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR

G = 980.665  # cm/s**2
WATER = (72.8, 1.0)  # tension in mN/m, density in g/cm3


def draw_units(figure: Figure) -> None:
    """Draw speeds of ripples on several liquids, in columns and in groups, and formulas found with and without units.

    Rows and formulas are those of the page on units.
    """
    figure.set_size_inches(9.5, 3.2)
    rng = np.random.default_rng(0)
    wavelength, tension, density = rng.uniform(0.3, 6, 40), rng.uniform(20, 75, 40), rng.uniform(0.7, 1.3, 40)
    speed = _law(wavelength, tension, density) * (1 + 0.03 * rng.standard_normal(40))
    columns, groups, beyond = figure.subplots(1, 3)
    columns.plot(wavelength, speed, ".", color=MEASURED_COLOUR)
    columns.set(xlabel="wavelength (cm)", ylabel="speed (cm/s)", title="as measured")
    ratio = tension / (density * G * wavelength**2)
    line = np.geomspace(ratio.min(), ratio.max(), 200)
    groups.plot(ratio, speed / np.sqrt(G * wavelength), ".", color=MEASURED_COLOUR)
    groups.plot(line, np.sqrt(0.1574 + 6.510 * line), color=FOUND_COLOUR, lw=2)
    groups.set(xscale="log", title="without dimensions")
    groups.set(xlabel="tension / (density*g*wavelength**2)", ylabel="speed / sqrt(g*wavelength)")
    long = np.linspace(0.3, 30, 300)
    beyond.plot(long, _law(long, *WATER), color=GREY, lw=4, alpha=0.5, label="law")
    beyond.plot(
        long,
        np.sqrt(15.737 * long * G / 100 + 6.510 * WATER[0] / (long * WATER[1])),
        color=FOUND_COLOUR,
        label="with units",
    )
    beyond.plot(
        long, 2.5588 * long + 0.0021057 * WATER[0] ** 2 / long + 14.645, "--", color=MEASURED_COLOUR, label="without"
    )
    beyond.axvspan(0.3, 6, color=GREY, alpha=0.15, lw=0)
    beyond.set(xlabel="wavelength (cm)", ylabel="speed on water (cm/s)", title="beyond the data (grey)", ylim=(0, None))
    beyond.legend()


def _law(wavelength: np.ndarray, tension: np.ndarray | float, density: np.ndarray | float) -> np.ndarray:
    """Return the speed of ripples, in cm/s."""
    return np.sqrt(G * wavelength / (2 * np.pi) + 2 * np.pi * tension / (wavelength * density))
