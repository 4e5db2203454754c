"""The figure of laws whose parts are partly known."""

import numpy as np
from matplotlib.figure import Figure

from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR


def draw_known_parts(figure: Figure) -> None:
    """Draw a law of the form a(T)*exp(-b(p, T)) + C: the data with the law, and what each hole became."""
    figure.set_size_inches(9.5, 3.1)
    rng = np.random.default_rng(0)
    whole, first, second = figure.subplots(1, 3)
    p = np.linspace(0.5, 3.0, 100)
    for at, T in enumerate((1.0, 1.7, 2.6)):
        law = 2.5 * T**1.5 * np.exp(-1.7 * p / T) + 0.8
        whole.plot(p[::4], law[::4] + 0.1 * rng.standard_normal(25), ".", ms=5, color=MEASURED_COLOUR)
        whole.plot(p, law, color=f"C{at}", label=f"T = {T}")
        second.plot(p, 1.7 * p / T, color=f"C{at}")
    T = np.linspace(0.5, 3.0, 100)
    first.plot(T, 2.5 * T**1.5, color=FOUND_COLOUR, lw=2)
    whole.axhline(0.8, color=GREY, lw=1, ls="--")
    whole.annotate("C = 0.8", (0.5, 0.75), color=GREY, va="top")
    whole.set(xlabel="p", title="a(T)*exp(-b(p, T)) + C")
    first.set(xlabel="T", title="a(T) = 2.5*T**1.5")
    second.set(xlabel="p", title="b(p, T) = 1.7*p/T")
    whole.legend()
