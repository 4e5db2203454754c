"""How figures look and how they are written to files: the one place for colours, fonts, labels and sizes.

Figures are made without pyplot, so that drawing changes nothing for others; a notebook shows them all the same.
"""

import functools
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of Okabe and Ito: the colour-blind can tell them apart
MEASURED, FOUND, NUMBER, GREY = "#56B4E9", "#D55E00", "#CC79A7", "#6B6B6B"
MAX_POINTS = 4000  # of the measurements that are drawn
LONGEST_TITLE = 60  # characters
PLOT_ENDINGS = (".png", ".pdf", ".svg")
_DOTS_PER_INCH = 150
_LOOK = {
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "legend.fontsize": "medium",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "text.usetex": False,  # names of columns are no TeX
}
# Text stays text in PDF and SVG: it can be searched, copied and changed, and journals take it
_FONTS = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


# ---- figures -------------------------------------------------------------------------------------


def make_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of a size in inches; a clear error if matplotlib is missing."""
    with style():
        return _figure_class()(figsize=(width, height), layout="constrained")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the project's style while the block runs; font and its size are the user's."""
    _load_figure()
    from matplotlib import rc_context

    with rc_context(_LOOK | _FONTS):
        yield


def _load_figure() -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingError(
            'A plot needs matplotlib. Install it: pip install "symbolic-physics-learner[plot]"'
        ) from None
    return Figure


@functools.cache
def _figure_class() -> "type[Figure]":
    """Return a figure that is saved with its text as text, and that notebooks show without pyplot."""
    from matplotlib import rc_context

    class PaperFigure(_load_figure()):  # type: ignore[misc]
        """A figure in the project's style."""

        def savefig(self, *arguments: Any, **options: Any) -> None:
            """Write the figure to a file, as usual; text stays text in PDF and SVG."""
            with rc_context(_FONTS):
                super().savefig(*arguments, **options)

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=_DOTS_PER_INCH)
            return picture.getvalue()

    return PaperFigure


# ---- labels --------------------------------------------------------------------------------------


def label(name: str) -> str:
    r"""Return a name as a label that shows just that name: nothing in it is read as mathematics.

    Examples:
        >>> label("price [$/m^2]")
        'price [\\$/m^2]'
    """
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable.replace("$", r"\$")


def shorten(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return the text, or its beginning if it is long."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def typeset(latex: str, plain: str, inches: float, size: float = 11.0) -> str:
    r"""Return an equation as a label: typeset if matplotlib can and it fits into a width, else as plain text, cut.

    Fractions are set in full size, because those inside others would be too small to read.

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
    except (ValueError, RuntimeError):  # a name with signs that it does not know
        width = np.inf
    if width <= inches * points_per_inch:
        return text
    return label(shorten(plain, int(inches * points_per_inch / (0.62 * size))))


# ---- points --------------------------------------------------------------------------------------


def thin(n_points: int) -> slice:
    """Return which points are drawn: all, or at even distances at most about MAX_POINTS."""
    return slice(None, None, max(1, n_points // MAX_POINTS))


def limits(values: NDArray[np.float64], margin: float) -> tuple[float, float]:
    """Return the ends of an axis that shows all finite values, with a margin as a share of their range."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    room = margin * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


# ---- files ---------------------------------------------------------------------------------------


def check_plot(path: str) -> None:
    """Raise a clear error now if a plot could not be made and written at the end."""
    check_plot_file(path)
    _load_figure()


def check_plot_file(path: str) -> None:
    """Raise a clear error now if a plot could not be written at the end."""
    file = Path(path)
    if file.suffix.lower() not in PLOT_ENDINGS:
        raise SettingError(f"The plot must end in {', '.join(PLOT_ENDINGS)}; it is '{path}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the plot '{path}' does not exist. Make it first, or name another.")
    if file.is_dir():
        raise SettingError(f"The plot '{path}' is a directory. Name a file.")


def save_figure(figure: "Figure", path: str) -> None:
    """Write a figure to a file."""
    try:
        figure.savefig(path, dpi=_DOTS_PER_INCH)
    except OSError as error:
        raise SettingError(f"The plot '{path}' cannot be written: {error.strerror or error}.") from None
