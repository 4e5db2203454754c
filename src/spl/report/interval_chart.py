"""A chart of intervals: each number in a line of its own, as a share of its size, so that all of them can be compared."""

import math
from collections.abc import Sequence
from html import escape

from spl.report.axis_scales import Scale, tick_labels
from spl.report.charts import BOTTOM_MARGIN, WIDTH
from spl.report.contents import NumberRow

SIDE = 14  # left and right of the axis
TOP, LINE_HEIGHT = 4, 40
TEXT_DROP, BAR_DROP = 14, 26  # of the text and the bar, below the top of a line
WIDEST = 1.0  # share of its size up to which an interval is shown to both sides
NARROWEST = 1e-6  # half the width of the axis, as a share
LONGEST_TERM = 30  # characters
_DIAMOND = 5  # half its width
_CAP = 5  # half the height of the end of a bar


def draw_intervals(numbers: Sequence[NumberRow], *, label: str) -> str:
    """Return the chart: dots are the numbers, bars their 95 % intervals, diamonds the simplest form that the data allows."""
    ends = [end for number in numbers for end in _shares(number) if math.isfinite(end)]
    reach = max([NARROWEST, *map(abs, ends)])
    across = Scale.over([-100 * reach, 100 * reach], SIDE, WIDTH - SIDE)
    bottom = TOP + LINE_HEIGHT * len(numbers)
    lines = "".join(_draw_line(number, TOP + k * LINE_HEIGHT, across) for k, number in enumerate(numbers))
    box = f'viewBox="0 0 {WIDTH} {bottom + BOTTOM_MARGIN}" class="chart"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{_draw_axis(across, bottom)}{lines}</svg>'


def _shares(number: NumberRow) -> tuple[float, float]:
    """Return the ends of an interval as shares of the size of its number, at most `WIDEST`."""
    size = abs(number.value)
    if not size:
        return -math.inf, math.inf
    low, high = ((end - number.value) / size for end in (number.lower, number.upper))
    return _bound(low), _bound(high)


def _bound(share: float) -> float:
    return math.copysign(min(abs(share), WIDEST), share) if math.isfinite(share) else share


def _draw_line(number: NumberRow, top: float, across: Scale) -> str:
    y = top + BAR_DROP
    term = number.term if len(number.term) <= LONGEST_TERM else number.term[: LONGEST_TERM - 1] + "…"
    texts = (
        f'<text class="name" x="{SIDE}" y="{top + TEXT_DROP}">{escape(term)}</text>'
        f'<text x="{WIDTH - SIDE}" y="{top + TEXT_DROP}" text-anchor="end">{escape(number.interval or number.text)}</text>'
    )
    low, high = (min(max(across.place(100 * share), across.begin), across.end) for share in _clip(_shares(number)))
    is_open = not all(map(math.isfinite, _shares(number)))
    caps = "" if is_open else f"M{low:.1f} {y - _CAP}v{2 * _CAP}M{high:.1f} {y - _CAP}v{2 * _CAP}"
    bar = (
        f'<path class="interval{" unknown" if is_open else ""}" d="M{low:.1f} {y}H{high:.1f}{caps}"/>'
        if high > low
        else ""
    )
    dot = f'<circle class="spot" cx="{across.place(0.0):.1f}" cy="{y}" r="4"/>'
    return f'<g aria-hidden="true">{texts}{bar}{dot}{_draw_diamond(number, y, across)}</g>'


def _clip(shares: tuple[float, float]) -> list[float]:
    """Return shares as they can be placed: an open interval goes beyond the axis."""
    return [share if math.isfinite(share) else math.copysign(1e6, share) for share in shares]


def _draw_diamond(number: NumberRow, y: float, across: Scale) -> str:
    if number.simple_value is None or not number.value:
        return ""
    share = 100 * (number.simple_value - number.value) / abs(number.value)
    if not across.low <= share <= across.high:
        return ""
    x, d = across.place(share), _DIAMOND
    return f'<path class="simple" d="M{x - d:.1f} {y}l{d} {-d}l{d} {d}l{-d} {d}z"/>'


def _draw_axis(across: Scale, bottom: float) -> str:
    parts = [f'<path class="axis" d="M{across.begin:g} {bottom}H{across.end:g}"/>']
    ticks = across.ticks()
    for tick, text in zip(ticks, tick_labels(ticks), strict=True):
        x = across.place(tick)
        parts.append(f'<path class="{"guide" if tick == 0 else "grid"}" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{text} %</text>')
    middle = (across.begin + across.end) / 2
    title = "95 % interval, relative to the number"
    parts.append(
        f'<text class="name" x="{middle:g}" y="{bottom + BOTTOM_MARGIN - 6}" text-anchor="middle">{title}</text>'
    )
    return f'<g aria-hidden="true">{"".join(parts)}</g>'
