"""How sure a formula is, as HTML: a section of the report, and of a run in the studio. All user text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from spl.display.units import axis_label
from spl.report.charts import Band, Series, draw_series, with_outliers
from spl.report.contents import CheckRow, HowSurePart, NumberRow, RivalRow, SliceChart
from spl.report.interval_chart import draw_intervals

MAX_BARS = 40  # numbers in a chart
BAND_KEYS = (
    '<p class="soft"><span class="key found"></span>formula &ensp; <span class="key law"></span>95 % band of the law &ensp; '
    '<span class="key new"></span>of new measurements &ensp; <span class="key measured"></span>rows</p>'
)


def write_how_sure(part: HowSurePart) -> str:
    """Return everything below the heading of the section."""
    parts = [
        f'<p class="soft">About <code>{escape(part.equation)}</code></p>',
        f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in part.words)}</ul>",
        _write_numbers(part.numbers),
        _write_shapes(part.shapes),
        _write_slices(part),
        _write_rivals(part.rivals, part.n_more_rivals),
        _write_checks(part.checks),
    ]
    return "".join(parts)


# ---- numbers -------------------------------------------------------------------------------------


def _write_numbers(numbers: Sequence[NumberRow]) -> str:
    if not numbers:
        return ""
    heads, looks = ["number", "95 % interval", "simplest form", "in"], ["", "", "", "formula"]
    rows = [[number.text, number.interval or "–", number.simple or "–", number.term] for number in numbers]
    if any(number.unit for number in numbers):
        heads, looks = [heads[0], "unit", *heads[1:]], ["", *looks]
        rows = [[row[0], number.unit or "–", *row[1:]] for row, number in zip(rows, numbers, strict=True)]
    table = _write_table(heads, rows, looks=looks, name="Numbers")
    return f'<h3>Its numbers</h3><div class="pair">{write_intervals(numbers)}{table}</div>'


def _write_shapes(shapes: Sequence[tuple[str, str, str]]) -> str:
    if not shapes:
        return ""
    table = _write_table(("statement", "status", "margin"), shapes, looks=("formula", "", ""), name="Statements")
    return (
        "<h3>What is known of the law</h3>"
        "<p>Proved: everywhere in the box, by interval arithmetic or algebra. Checked: at many points. Margin: how far the formula "
        f"stays from breaking the statement, where that is least.</p>{table}"
    )


def write_intervals(numbers: Sequence[NumberRow]) -> str:
    """Return the chart of the intervals of numbers, with what it shows in words."""
    shown = numbers[:MAX_BARS]
    which = f" The first {len(shown)} of {len(numbers)} numbers." if len(shown) < len(numbers) else ""
    has_simple = any(number.simple_value is not None for number in shown)
    diamonds = " Diamonds: the simplest form that the data allows." if has_simple else ""
    words = f"Dots: the numbers. Bars: their 95 % intervals, in percent of the number.{diamonds}{which}"
    label = "Intervals of the numbers: " + "; ".join(
        f"{number.term}: {number.interval or number.text}" for number in shown
    )
    return f"<figure>{draw_intervals(shown, label=label)}<figcaption>{escape(words)}</figcaption></figure>"


# ---- slices --------------------------------------------------------------------------------------


def _write_slices(part: HowSurePart) -> str:
    if not part.slices:
        return ""
    is_whole = part.slices[0].is_whole
    heading = "Its curve" if is_whole else "Along each column"
    figures = "".join(_write_slice(chart, part.target, part.target_unit) for chart in part.slices)
    more = f" {part.n_more_slices} more columns are not shown." if part.n_more_slices else ""
    how = (
        ""
        if is_whole
        else f"<p>The other columns are at their medians; each row is its residual off the curve.{more}</p>"
    )
    return f'<h3>{heading}</h3>{how}{BAND_KEYS}<div class="pair">{figures}</div>'


def _write_slice(chart: SliceChart, target: str, unit: str) -> str:
    dots, *crosses = with_outliers(chart.point_x, chart.point_y, chart.is_outlier)
    drawn = draw_series(
        [dots, Series(chart.x, chart.values, "found", is_line=True), *crosses],
        label=f"{target} along {chart.column}, with 95 % bands of the law and of new measurements.",
        x_label=axis_label(chart.column, chart.unit),
        y_label=axis_label(target, unit, "" if chart.is_whole else "others at their medians"),
        margin=0.08,
        bands=[Band(chart.x, ends[:, 0], ends[:, 1], look) for ends, look in ((chart.new, "new"), (chart.law, "law"))],
    )
    crossed = " Crosses mark outliers." if crosses else ""
    return f"<figure>{drawn}<figcaption>{escape(target)} along {escape(chart.column)}.{crossed}</figcaption></figure>"


# ---- rivals and residuals ------------------------------------------------------------------------


def _write_rivals(rivals: Sequence[RivalRow], n_more: int) -> str:
    if not rivals:
        return ""
    rows = [
        (f"{each.nats:.1f}", f"{100 * each.weight:.0f} %", f"{each.loss:.3g}", each.place, each.text) for each in rivals
    ]
    table = _write_table(
        ("nats", "weight", "loss", "differs most", "formula"),
        rows,
        looks=("number", "number", "number", "place", "formula"),
        name="Other formulas",
    )
    more = f" {n_more} more are not shown." if n_more else ""
    return (
        "<h3>Other formulas that the data cannot rule out</h3>"
        "<p>Nats: by how much longer the description of formula, numbers and errors is; the data favours the formula above by "
        "exp(nats) to 1. Differs most: where a measurement would tell the two apart, in standard deviations of the noise (sd)."
        f"{more}</p>{table}"
    )


def _write_checks(checks: Sequence[CheckRow]) -> str:
    if not checks:
        return ""
    rows = [(check.name, "doubtful" if check.is_doubtful else "fine", check.chance, check.words) for check in checks]
    table = _write_table(
        ("check", "verdict", "chance", "what it says"),
        rows,
        looks=("", "", "number", "words"),
        name="Checks of the residuals",
        row_looks=["doubtful" if check.is_doubtful else "" for check in checks],
    )
    return (
        "<h3>Checks of the residuals</h3>"
        "<p>If the formula is the law, measured minus predicted is noise and nothing else. "
        "Chance: that noise alone looks as doubtful.</p>"
        f"{table}"
    )


def _write_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    looks: Sequence[str],
    name: str,
    row_looks: Sequence[str] = (),
) -> str:
    """Return a table in a box that scrolls if it is too wide; `looks` are CSS classes of columns."""
    classes = [f' class="{look}"' if look else "" for look in looks]
    head = "".join(f'<th scope="col"{each}>{escape(text)}</th>' for text, each in zip(heads, classes, strict=True))
    body = ""
    for k, row in enumerate(rows):
        cells = "".join(f"<td{each}>{escape(text)}</td>" for text, each in zip(row, classes, strict=True))
        look = row_looks[k] if row_looks else ""
        body += f"<tr{f' class={look}' if look else ''}>{cells}</tr>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">{table}</div>'
