"""Charts as plain SVG: the clickable front, scatter charts and lines. The page defines the colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from spl.report.axis_scales import Scale, tick_labels

Numbers = NDArray[np.float64]
Marked = NDArray[np.bool_]  # for each point, whether it is marked

WIDTH, HEIGHT = 440, 290
LEFT_MARGIN, RIGHT_MARGIN = 62, 12  # the left one grows with the numbers in it
TOP_MARGIN, BOTTOM_MARGIN = 12, 44
AXIS_TITLE_WIDTH = 20  # of the left margin, for the title of the axis
TICK_GAP = 7  # between a number and its axis
DIGIT_WIDTH, MINUS_WIDTH = 7.7, 10.2  # their widths in a wide font
LONGEST_LABEL = 44  # characters of the label of an axis
_POINT_RADIUS, _HIT_RADIUS = 4.5, 13  # visible radius, and radius that a finger can hit
_CROSS = 4  # half the width of the cross on an outlier


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A formula of the front as a point of the chart."""

    cost: int
    loss: float
    label: str  # for screen readers
    panel: str  # the id of the section that shows it


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Values y over x, as points or as a line; NaN is left out."""

    x: Numbers
    y: Numbers
    look: str  # a CSS class of the page: "measured", "found" or "outlier"
    is_line: bool = False
    is_cross: bool = False  # whether points are crosses, not dots


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The area between two curves over x; infinite ends leave the chart, NaN is left out."""

    x: Numbers
    low: Numbers
    high: Numbers
    look: str  # a CSS class of the page: "law" or "new"


def draw_front(points: Sequence[FrontPoint], chosen: int, *, floor: float, loss_label: str) -> str:
    """Return the chart of the front; every formula is a radio button, and the chosen one is checked."""
    losses = [max(point.loss, floor) for point in points]
    up = Scale.over(losses, HEIGHT - BOTTOM_MARGIN, TOP_MARGIN, is_log=True, margin=0.08)
    across = Scale.over([point.cost for point in points], _left_margin(up), WIDTH - RIGHT_MARGIN)
    places = [(across.place(point.cost), up.place(loss)) for point, loss in zip(points, losses, strict=True)]
    steps = "".join(
        f"{'M' if not k else 'H'}{x:.1f}{f' {y:.1f}' if not k else f'V{y:.1f}'}" for k, (x, y) in enumerate(places)
    )
    buttons = "".join(
        f'<g role="radio" tabindex="{0 if k == chosen else -1}" aria-checked="{"true" if k == chosen else "false"}" '
        f'aria-label="{escape(point.label)}" data-panel="{point.panel}" transform="translate({x:.1f} {y:.1f})">'
        f'<circle class="hit" r="{_HIT_RADIUS}"/><circle class="ring" r="9"/><circle class="dot" r="{_POINT_RADIUS}"/></g>'
        for k, (point, (x, y)) in enumerate(zip(points, places, strict=True))
    )
    inner = f'{_axes(across, up, "cost", loss_label)}<path class="steps" d="{steps}"/>{buttons}'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="chart front">{inner}</svg>'


def draw_fit(
    measured: Numbers, predicted: Numbers, *, label: str, x_label: str, y_label: str, is_outlier: Marked | None = None
) -> str:
    """Return predicted against measured values, with the line on which they are equal; the axes span the measured values."""
    up = Scale.over(measured, HEIGHT - BOTTOM_MARGIN, TOP_MARGIN)
    across = Scale(up.low, up.high, _left_margin(up), WIDTH - RIGHT_MARGIN)
    line = f'<path class="guide" d="M{across.begin:g} {HEIGHT - BOTTOM_MARGIN}L{WIDTH - RIGHT_MARGIN} {TOP_MARGIN}"/>'
    return _chart(across, up, with_outliers(measured, predicted, is_outlier), label, x_label, y_label, behind=line)


def draw_residuals(
    predicted: Numbers, residuals: Numbers, *, label: str, x_label: str, y_label: str, is_outlier: Marked | None = None
) -> str:
    """Return residuals against predicted values, with a line at zero."""
    up = Scale.over([0.0, *residuals], HEIGHT - BOTTOM_MARGIN, TOP_MARGIN)
    across = Scale.over(predicted, _left_margin(up), WIDTH - RIGHT_MARGIN)
    line = f'<path class="guide" d="M{across.begin:g} {up.place(0.0):.1f}H{WIDTH - RIGHT_MARGIN}"/>'
    return _chart(across, up, with_outliers(predicted, residuals, is_outlier), label, x_label, y_label, behind=line)


def with_outliers(x: Numbers, y: Numbers, is_outlier: Marked | None) -> list[Series]:
    """Return points as a series of dots, and crosses over those that are outliers."""
    dots = Series(x, y, "measured")
    if is_outlier is None or not is_outlier.any():
        return [dots]
    return [dots, Series(x[is_outlier], y[is_outlier], "outlier", is_cross=True)]


def draw_series(
    series: Sequence[Series],
    *,
    label: str,
    x_label: str,
    y_label: str,
    is_log: bool = False,
    margin: float = 0.05,
    is_tight: bool = False,
    bands: Sequence[Band] = (),
) -> str:
    """Return points and lines in one chart, in front of bands; the axes span the first series, or all of them if `is_log`.

    With `is_tight`, the margins at the left and right are narrow, as for time.
    """
    shown = series if is_log else series[:1]
    values = np.concatenate([one.y for one in shown])
    up = Scale.over(values, HEIGHT - BOTTOM_MARGIN, TOP_MARGIN, margin=margin, is_log=is_log)
    across = Scale.over(
        np.concatenate([one.x for one in shown]),
        _left_margin(up),
        WIDTH - RIGHT_MARGIN,
        margin=0.01 if is_tight else margin,
    )
    behind = "".join(f'<path class="band {band.look}" d="{_outline(band, across, up)}"/>' for band in bands)
    return _chart(across, up, series, label, x_label, y_label, behind=behind)


def _chart(
    across: Scale, up: Scale, series: Sequence[Series], label: str, x_label: str, y_label: str, *, behind: str = ""
) -> str:
    marks = "".join(
        f'<path class="{one.look} {"line" if one.is_line else "crosses" if one.is_cross else "dots"}" d="{_path(one, across, up)}"/>'
        for one in series
    )
    # A nested svg clips what leaves the axes, without an id that would have to be unique
    left, width, height = across.begin, WIDTH - across.begin - RIGHT_MARGIN, HEIGHT - TOP_MARGIN - BOTTOM_MARGIN + 4
    inside = (
        f'<svg aria-hidden="true" x="{left:g}" y="{TOP_MARGIN - 4}" width="{width:g}" height="{height}" '
        f'viewBox="{left:g} {TOP_MARGIN - 4} {width:g} {height}">{behind}{marks}</svg>'
    )
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" class="chart"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{_axes(across, up, x_label, y_label)}{inside}</svg>'


def _path(series: Series, across: Scale, up: Scale) -> str:
    """Return the path of a series: a dot is a line of length 0 with round ends, a cross two lines; a gap starts a new line."""
    x = across.places(series.x)
    with np.errstate(all="ignore"):
        y = up.places(series.y) if not up.is_log else np.array([up.place(v) if v > 0 else np.nan for v in series.y])
    y = np.where(np.isfinite(y), _clip(y), np.nan)
    parts: list[str] = []
    is_open = False
    for a, b in zip(x, y, strict=True):
        if not np.isfinite(b):
            is_open = False
            continue
        if series.is_cross:
            parts.append(
                f"M{a - _CROSS:.1f} {b - _CROSS:.1f}l{2 * _CROSS} {2 * _CROSS}m0 {-2 * _CROSS}l{-2 * _CROSS} {2 * _CROSS}"
            )
            continue
        place = f"{a:.1f} {b:.1f}"
        parts.append(f"{'L' if is_open else 'M'}{place}" if series.is_line else f"M{place}h0")
        is_open = True
    return "".join(parts)


def _outline(band: Band, across: Scale, up: Scale) -> str:
    """Return the outline of a band: one closed path for each stretch without gaps."""
    x = across.places(band.x)
    with np.errstate(all="ignore"):
        low, high = (_clip(up.places(ends)) for ends in (band.low, band.high))
    has_value = ~(np.isnan(low) | np.isnan(high))
    parts = []
    for stretch in np.split(np.arange(x.size), np.flatnonzero(np.diff(has_value)) + 1):
        if stretch.size > 1 and has_value[stretch[0]]:
            around = [
                *zip(x[stretch], high[stretch], strict=True),
                *zip(x[stretch][::-1], low[stretch][::-1], strict=True),
            ]
            parts.append("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in around) + "Z")
    return "".join(parts)


def _clip(places: Numbers) -> Numbers:
    """Return positions clipped far outside of the chart: they cannot be seen there, and some browsers fail on huge ones."""
    return np.asarray(np.clip(places, -HEIGHT, 2 * HEIGHT))


def _axes(across: Scale, up: Scale, x_label: str, y_label: str) -> str:
    bottom, left = HEIGHT - BOTTOM_MARGIN, across.begin
    parts = [f'<path class="axis" d="M{left:g} {TOP_MARGIN - 4}V{bottom}H{WIDTH - RIGHT_MARGIN}"/>']
    ticks = across.ticks()
    for tick, text in zip(ticks, tick_labels(ticks), strict=True):
        x = across.place(tick)
        middle = min(x, WIDTH - 0.5 * _width(text))  # the last number is not cut off
        parts.append(
            f'<path class="axis" d="M{x:.1f} {bottom}v4"/>'
            f'<text x="{middle:.1f}" y="{bottom + 17}" text-anchor="middle">{text}</text>'
        )
    ticks = up.ticks()
    for tick, text in zip(ticks, tick_labels(ticks), strict=True):
        y = up.place(tick)
        parts.append(f'<path class="grid" d="M{left:g} {y:.1f}H{WIDTH - RIGHT_MARGIN}"/>')
        parts.append(f'<text x="{left - TICK_GAP:g}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    middle = (left + WIDTH - RIGHT_MARGIN) / 2
    parts.append(f'<text class="name" x="{middle:g}" y="{HEIGHT - 6}" text-anchor="middle">{_name(x_label)}</text>')
    parts.append(
        f'<text class="name" transform="translate(14 {(TOP_MARGIN + bottom) / 2}) rotate(-90)" '
        f'text-anchor="middle">{_name(y_label)}</text>'
    )
    return f'<g aria-hidden="true">{"".join(parts)}</g>'


def _left_margin(up: Scale) -> float:
    """Return the room that the title of the vertical axis and its numbers need."""
    return max(LEFT_MARGIN, AXIS_TITLE_WIDTH + max(map(_width, tick_labels(up.ticks())), default=0.0) + TICK_GAP)


def _width(number: str) -> float:
    """Return the approximate width of a number."""
    return sum(MINUS_WIDTH if character == "−" else DIGIT_WIDTH for character in number)


def _name(text: str) -> str:
    return escape(text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…")
