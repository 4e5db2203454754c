"""The section of a report about groups: a table of own numbers, and a small picture for each group."""

from collections.abc import Sequence
from html import escape

import numpy as np

from spl.report.axis_scales import Scale, tick_labels
from spl.report.groups import GroupPicture, GroupsPart

WIDTH, HEIGHT = 200, 130  # of a picture
OWN_WORDS = "The law is the same for all groups. These numbers in it are not: each group has its own."
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 6, 20
_FAR = 10_000  # positions beyond are clipped: some browsers fail on huge ones


def write_groups(part: GroupsPart) -> str:
    """Return the inside of the section as HTML."""
    tables = "".join(_write_table(part, number) for number in range(len(part.tables)))
    pictures = "".join(
        f"<figure>{drawing}<figcaption>{escape(picture.label)}</figcaption></figure>"
        for picture, drawing in zip(part.pictures, draw_pictures(part), strict=True)
    )
    return f'<p>{OWN_WORDS}</p>{tables}<p>{escape(picture_words(part))}</p><div class="small">{pictures}</div>'


def picture_words(part: GroupsPart) -> str:
    """Return what the pictures show, and of how many groups."""
    what = f"{part.y_label} over {part.x_label}" if part.shows_law else f"{part.y_label}, over what is predicted"
    line = "The line is the law." if part.shows_law else "On the line, both agree."
    shown = len(part.pictures)
    some = "" if shown == part.n_groups else f" The first {shown} of {part.n_groups:,} groups are shown."
    return f"For each group of '{part.grouping}': {what}. {line} All pictures have the same axes.{some}"


def draw_pictures(part: GroupsPart) -> list[str]:
    """Return the picture of each group as SVG; all have the same axes."""
    across, up = _scales(part)
    return [_draw(picture, part, across, up) for picture in part.pictures]


def _write_table(part: GroupsPart, number: int) -> str:
    table = part.tables[number]
    head = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name in table.names)
    rows = "".join(
        f'<tr><th scope="row" class="value">{escape(row[0])}</th>'
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    name = f"Numbers of each group of {table.grouping}"
    return (
        f'<div class="wide tall" tabindex="0" role="group" aria-label="{escape(name)}"><table><thead><tr>'
        f'<th scope="col">{escape(table.grouping)}</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _scales(part: GroupsPart) -> tuple[Scale, Scale]:
    """Return the axes that all pictures share."""
    x, y = (np.concatenate([picture.points[axis] for picture in part.pictures]) for axis in (0, 1))
    return Scale.over(x, _LEFT, WIDTH - _RIGHT), Scale.over(y, HEIGHT - _BOTTOM, _TOP)


def _draw(picture: GroupPicture, part: GroupsPart, across: Scale, up: Scale) -> str:
    label = f"{picture.label}: {part.y_label} over {part.x_label}, {picture.points[0].size} rows."
    bottom = HEIGHT - _BOTTOM
    line, dots = _line(picture, across, up), _dots(picture, across, up)
    marks = f'<path class="found line" d="{line}"/><path class="measured dots" d="{dots}"/>'
    inside = (
        f'<svg aria-hidden="true" x="{_LEFT}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT}" height="{bottom - _TOP}" '
        f'viewBox="{_LEFT} {_TOP} {WIDTH - _LEFT - _RIGHT} {bottom - _TOP}">{marks}</svg>'
    )
    axes = f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{WIDTH - _RIGHT}"/>{_ends(across, up)}'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" class="chart" role="img" aria-label="{escape(label)}">{axes}{inside}</svg>'


def _ends(across: Scale, up: Scale) -> str:
    """Return the first and the last round number of both axes."""
    parts = []
    for ticks, is_up in ((across.ticks(), False), (up.ticks(), True)):
        labels = tick_labels(ticks)
        for tick, text in _outer(ticks, labels):
            if is_up:
                parts.append(f'<text x="{_LEFT - 5}" y="{up.place(tick) + 4:.1f}" text-anchor="end">{text}</text>')
            else:
                parts.append(f'<text x="{across.place(tick):.1f}" y="{HEIGHT - 5}" text-anchor="middle">{text}</text>')
    return f'<g aria-hidden="true">{"".join(parts)}</g>'


def _outer(ticks: Sequence[float], labels: Sequence[str]) -> list[tuple[float, str]]:
    pairs = list(zip(ticks, labels, strict=True))
    return [pairs[0], pairs[-1]] if len(pairs) > 1 else pairs


def _line(picture: GroupPicture, across: Scale, up: Scale) -> str:
    """Return the path of a line; a gap where it has no value starts a new one."""
    parts, is_open = [], False
    for x, y in zip(*_places(picture.line, across, up), strict=True):
        if np.isfinite(y):
            parts.append(f"{'L' if is_open else 'M'}{x:.1f} {y:.1f}")
        is_open = bool(np.isfinite(y))
    return "".join(parts)


def _dots(picture: GroupPicture, across: Scale, up: Scale) -> str:
    places = zip(*_places(picture.points, across, up), strict=True)
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places if np.isfinite(x) and np.isfinite(y))


def _places(values: tuple[np.ndarray, np.ndarray], across: Scale, up: Scale) -> tuple[np.ndarray, np.ndarray]:
    x, y = across.places(values[0]), up.places(values[1])
    return np.clip(x, -_FAR, _FAR), np.clip(y, -_FAR, _FAR)
