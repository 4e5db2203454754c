"""How figures look and how they are saved: colours, fonts, labels and sizes.

Figures are made without pyplot, so drawing has no side effects; notebooks show them anyway.
"""

import functools
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of Okabe and Ito, which the colour-blind can tell apart
MEASURED_COLOUR, FOUND_COLOUR, NUMBER_COLOUR, GREY = "#56B4E9", "#D55E00", "#CC79A7", "#6B6B6B"
OUTLIER_COLOUR = "#000000"
MAX_POINTS = 4000  # measurements drawn
LONGEST_TITLE = 60  # characters
PLOT_ENDINGS = (".png", ".pdf", ".svg")
DOTS_PER_INCH = 150
_RC_SETTINGS = {
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "legend.fontsize": "medium",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "text.usetex": False,  # column names are not TeX
}
# Text stays text in PDF and SVG: it can be searched, copied and edited, and journals accept it
_FONTS = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


# ---- figures -------------------------------------------------------------------------------------


def make_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches; raise a clear error if matplotlib is missing."""
    with style():
        return _figure_class()(figsize=(width, height), layout="constrained")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the project's style inside the block; the font and its size remain the user's."""
    _load_figure()
    from matplotlib import rc_context

    with rc_context(_RC_SETTINGS | _FONTS):
        yield


def _load_figure() -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingError(
            'A plot needs matplotlib. Install it with: pip install "symbolic-physics-learner[plot]"'
        ) from None
    return Figure


@functools.cache
def _figure_class() -> "type[Figure]":
    """Return a class of figures that save text as text, and that notebooks show without pyplot."""
    from matplotlib import rc_context

    class PaperFigure(_load_figure()):  # type: ignore[misc]
        """A figure in the project's style."""

        def savefig(self, *arguments: Any, **options: Any) -> None:
            """Save the figure as usual; text stays text in PDF and SVG."""
            with rc_context(_FONTS):
                super().savefig(*arguments, **options)

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=DOTS_PER_INCH)
            return picture.getvalue()

    return PaperFigure


# ---- labels --------------------------------------------------------------------------------------


def label(name: str) -> str:
    r"""Return a label that shows exactly this name: nothing in it is read as mathematics.

    Examples:
        >>> label("price [$/m^2]")
        'price [\\$/m^2]'
    """
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable.replace("$", r"\$")


def typeset(latex: str, plain: str, inches: float, size: float = 11.0) -> str:
    r"""Return an equation as a label: typeset if matplotlib can and it fits the width, else as plain text, cut to fit.

    Fractions are set in full size, because nested ones would be too small to read.

    Examples:
        >>> typeset(r"y = \frac{1}{x}", "y = 1/x", inches=5)
        '$y = \\dfrac{1}{x}$'
        >>> typeset(r"y = \unknown{x}", "y = 1/x", inches=5)
        'y = 1/x'
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    points_per_inch = 72.0
    text = f"${latex}$".replace(r"\frac", r"\dfrac")
    try:
        width = MathTextParser("path").parse(text, dpi=points_per_inch, prop=FontProperties(size=size))[0]
    except (ValueError, RuntimeError):  # a name with characters that it does not know
        width = np.inf
    if width <= inches * points_per_inch:
        return text
    return label(shorten(plain, int(inches * points_per_inch / (0.62 * size))))


# ---- points --------------------------------------------------------------------------------------


def thin(n_points: int) -> slice:
    """Return the points to draw: all, or about `MAX_POINTS` evenly spaced ones."""
    return slice(None, None, max(1, n_points // MAX_POINTS))


def limits(values: NDArray[np.float64], margin: float) -> tuple[float, float]:
    """Return the limits of an axis that shows all finite values, with a margin as a share of their range."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    room = margin * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


# ---- files ---------------------------------------------------------------------------------------


def check_plot(path: str) -> None:
    """Raise a clear error now if a plot could not be drawn and saved at the end."""
    check_plot_file(path)
    _load_figure()


def check_plot_file(path: str) -> None:
    """Raise a clear error now if a plot could not be saved at the end."""
    file = Path(path)
    if file.suffix.lower() not in PLOT_ENDINGS:
        raise SettingError(f"The plot must end in {', '.join(PLOT_ENDINGS)}; got '{path}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the plot '{path}' does not exist. Create it first, or choose another.")
    if file.is_dir():
        raise SettingError(f"The plot '{path}' is a directory. Name a file.")


def save_figure(figure: "Figure", path: str) -> None:
    """Write a figure to a file."""
    try:
        figure.savefig(path, dpi=DOTS_PER_INCH)
    except OSError as error:
        raise SettingError(f"The plot '{path}' cannot be written: {error.strerror or error}.") from None
