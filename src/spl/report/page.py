"""A report as one self-contained HTML file: no network, no external scripts.

The page is complete without its script, which only shows one formula at a time. All user text is escaped, and the content
security policy allows no other script.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from spl.display.noise import quality_words
from spl.display.units import axis_label
from spl.errors import count_noun
from spl.report.charts import FrontPoint, Series, draw_fit, draw_front, draw_residuals, draw_series
from spl.report.contents import (
    CODE_NAMES,
    ColumnSummary,
    Curve,
    Equation,
    Fit,
    LearningCurve,
    Report,
    SearchPart,
    SystemPart,
)
from spl.report.groups_section import write_groups
from spl.report.how_sure_section import write_how_sure, write_intervals

Numbers = NDArray[np.float64]

KEYS = '<p><span class="key measured"></span>measured &ensp; <span class="key found"></span>simulated</p>'
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
LONGEST_HEADING = 160  # characters


def write_page(report: Report) -> str:
    """Return the page as text."""
    style, script = (files("spl.report").joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{POLICY}; script-src 'sha256-{digest}'"
    body = "\n".join(
        [
            _write_header(report),
            "<main>",
            *([_write_system(report.system)] if report.system else []),
            *(
                _write_search(search, number, is_alone=len(report.searches) == 1)
                for number, search in enumerate(report.searches)
            ),
            *([_section("how-sure", "How sure", write_how_sure(report.how_sure))] if report.how_sure else []),
            *([_section("groups", "The groups", write_groups(report.groups))] if report.groups else []),
            *([_section("noise", "The noise", _write_pairs(report.noise, "The noise"))] if report.noise else []),
            _write_data(report),
            _write_grammar(report.grammar),
            _write_run(report),
            "</main>",
            "<footer><p>Written by spl, the Symbolic Physics Learner. This file is self-contained.</p></footer>",
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="spl">
<title>{escape(_cut(report.title))}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
<noscript><style>
[hidden]:not(button) {{ display: revert !important; }}
button, .hint {{ display: none !important; }}
</style></noscript>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""


def _write_header(report: Report) -> str:
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        f'<header><h1>{escape(_cut(report.heading))}</h1><p class="soft">{escape(report.summary)}</p>{notes}</header>'
    )


# ---- the front and its formulas ------------------------------------------------------------------


def _write_search(search: SearchPart, number: int, *, is_alone: bool) -> str:
    heading = (
        "Equations, from simple to accurate" if is_alone else f"Equations for {search.name}, from simple to accurate"
    )
    panels = [f"equation-{number}-{index}" for index in range(len(search.equations))]
    points = [
        FrontPoint(equation.cost, equation.loss, _describe(search, equation), panel)
        for equation, panel in zip(search.equations, panels, strict=True)
    ]
    chart = draw_front(points, search.chosen, floor=search.floor, loss_label=f"loss ({search.loss_words})")
    shown = "\n".join(_write_equation(search, index, panel) for index, panel in enumerate(panels))
    learning = _write_learning(search.learning) if search.learning else ""
    return f"""<section data-search aria-labelledby="search-{number}">
<h2 id="search-{number}">{escape(heading)}</h2>
<p class="hint soft">Click a point to choose an equation, or use the arrow keys.
<a href="#table-{number}">Show all as a table</a></p>
<div class="pair">
<figure><div role="radiogroup" aria-label="{escape(f"Front of {search.name}: cost against loss")}">{chart}</div>
<figcaption>The best formula of each cost. The ring marks the one shown below.</figcaption></figure>
{learning}
</div>
<p role="status" class="unseen"></p>
{shown}
<h3 id="table-{number}">All equations</h3>
{_write_table(search, panels)}
</section>"""


def _describe(search: SearchPart, equation: Equation) -> str:
    return f"cost {equation.cost}, loss {equation.loss:.3g}: {search.name} = {equation.text}"


def _write_table(search: SearchPart, panels: Sequence[str]) -> str:
    rows = "".join(
        f'<tr data-panel="{panel}"{" class=is-shown" if index == search.chosen else ""}>'
        f'<td class="number"><button type="button" aria-pressed="{"true" if index == search.chosen else "false"}" '
        f'aria-label="Show {escape(_describe(search, equation))}">{equation.cost}</button>'
        f'<span class="only-print">{equation.cost}</span></td>'
        f'<td class="number">{equation.loss:.3g}</td><td class="number">{equation.score:.2f}</td>'
        f'<td class="formula">{"<b>chosen:</b> " if index == search.chosen else ""}<span>{escape(equation.text)}</span></td></tr>'
        for index, (equation, panel) in enumerate(zip(search.equations, panels, strict=True))
    )
    head = '<th class="number" scope="col">cost</th><th class="number" scope="col">loss</th>'
    head += '<th class="number" scope="col">score</th><th scope="col">equation</th>'
    table = f'<table class="front"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return _scrolling(table, f"All equations for {search.name}")


def _write_equation(search: SearchPart, index: int, panel: str) -> str:
    equation = search.equations[index]
    hidden = "" if index == search.chosen else " hidden"
    state = "chosen" if index == search.chosen else f"{index + 1} of {len(search.equations)}"
    fit = _write_fit(equation.fit, search.name, search.unit) if equation.fit else ""
    return f"""<section id="{panel}"{hidden}>
<h3>Cost {equation.cost}, loss {equation.loss:.4g} <span class="soft">({state})</span></h3>
<div class="equation wide" tabindex="0" role="group" aria-label="Equation">{equation.mathml}</div>
{fit}
{_write_code(equation.code, panel)}
</section>"""


def _write_fit(fit: Fit, name: str, unit: str) -> str:
    quality = fit.undefined or _end(quality_words(fit.r2, fit.r2_without_outliers, symbol="R² = "))
    shown = fit.measured.size
    drawn = (
        f" The chart shows {shown:,} of {fit.n_rows:,} rows, including the extremes and the largest residuals."
        if shown < fit.n_rows
        else ""
    )
    fit_chart = draw_fit(
        fit.measured,
        fit.predicted,
        label=f"Predicted against measured {name}. {quality} {shown} points.",
        x_label=axis_label(name, unit, "measured"),
        y_label=axis_label(name, unit, "predicted"),
        is_outlier=fit.is_outlier,
    )
    residuals = fit.measured - fit.predicted
    spread = np.nanmax(np.abs(residuals)) if np.isfinite(residuals).any() else np.nan
    residual_chart = draw_residuals(
        fit.predicted,
        residuals,
        label=f"Residuals of {name} against its predicted values. The largest is {spread:.3g}.",
        x_label=axis_label(name, unit, "predicted"),
        y_label=axis_label("measured − predicted", unit),
        is_outlier=fit.is_outlier,
    )
    crosses = "" if fit.is_outlier is None else " Crosses mark outliers."
    return f"""<div class="pair">
<figure>{fit_chart}<figcaption>Predicted against measured. {escape(quality)}{drawn}{crosses}</figcaption></figure>
<figure>{residual_chart}<figcaption>Residuals: measured minus predicted.</figcaption></figure>
</div>"""


def _end(words: str) -> str:
    return f"{words}." if words else ""


def _write_code(code: Mapping[str, str], panel: str) -> str:
    parts = []
    for language, text in code.items():
        name, block = escape(CODE_NAMES.get(language, language)), f"{panel}-{escape(language)}"
        button = f'<button type="button" hidden data-copies="{block}" aria-label="Copy {name}">Copy</button>'
        parts.append(f'<div class="code"><h4>{name}</h4>{button}</div>')
        parts.append(f'<pre tabindex="0" id="{block}" aria-label="{name}">{escape(text)}</pre>')
    return "".join(parts)


def _write_learning(learning: LearningCurve) -> str:
    best = Series(*_as_steps(learning.seconds, learning.losses), "found", is_line=True)
    chart = draw_series(
        [best],
        label=f"The best loss fell from {learning.losses[0]:.3g} to {learning.losses[-1]:.3g}.",
        x_label="seconds",
        y_label="best loss",
        is_log=True,
    )
    return f"<figure>{chart}<figcaption>The best loss over time.</figcaption></figure>"


def _as_steps(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


# ---- systems -------------------------------------------------------------------------------------


def _write_system(system: SystemPart) -> str:
    equations = "".join(
        f'<div class="equation wide" tabindex="0" role="group" aria-label="{escape(text)}">{mathml}</div>'
        f'<p class="soft">{escape(quality)}</p>'
        for text, mathml, quality in system.equations
    )
    solved = "".join(
        f'<div class="equation wide" tabindex="0" role="group" aria-label="{escape(text)}">{mathml}</div>'
        for text, mathml in system.solved
    )
    parts = [
        _section("system", "The system", f"{equations}<h3>Solved for the rates</h3>{solved}" if solved else equations)
    ]
    if system.identifiability or system.numbers:
        parts.append(_section("identifiability", "Do the trajectories determine it?", _write_identifiability(system)))
    if system.trajectories:
        note = f"<p>{escape(system.followed)}</p>"
        parts.append(_section("over-time", "Trajectories", note + KEYS + _write_curves(system.trajectories)))
    if system.portraits:
        parts.append(_section("portraits", "Phase portraits", KEYS + _write_curves(system.portraits, "found thin")))
    if system.code:
        parts.append(_section("code", "The system as code", _write_code(system.code, "system")))
    return "\n".join(parts)


def _write_identifiability(system: SystemPart) -> str:
    """Return whether other equations fit as well, the intervals of the numbers, and the rivals."""
    words = f"<p>{escape(' '.join(system.identifiability))}</p>" if system.identifiability else ""
    intervals = write_intervals(system.numbers) if system.numbers else ""
    if not system.rivals:
        return words + intervals
    rows = "".join(
        f'<div class="equation wide" tabindex="0" role="group" aria-label="{escape(text)}">{mathml}</div>'
        for text, mathml in system.rivals
    )
    return f"{words}{intervals}<p>Each of these fits as well in place of one equation:</p>{rows}"


def _write_curves(curves: Iterable[Curve], look: str = "found") -> str:
    figures = "".join(
        f"<figure>{_draw_curve(curve, look)}<figcaption>{escape(curve.title)}</figcaption></figure>" for curve in curves
    )
    return f'<div class="pair">{figures}</div>'


def _draw_curve(curve: Curve, look: str) -> str:
    return draw_series(
        [Series(*curve.measured, "measured"), Series(*curve.simulated, look, is_line=True)],
        label=f"{curve.title}: {curve.y_label} against {curve.x_label}, measured and simulated.",
        x_label=curve.x_label,
        y_label=curve.y_label,
        margin=0.12,
        is_tight=curve.is_over_time,
    )


# ---- data, rules, run ----------------------------------------------------------------------------


def _write_data(report: Report) -> str:
    has_units = any(column.unit for column in report.columns)
    texts, numbers = ("column", "role", *(["unit"] if has_units else [])), ("lowest", "median", "highest")
    head = "".join(f'<th scope="col">{name}</th>' for name in texts)
    head += "".join(f'<th scope="col" class="number">{name}</th>' for name in numbers)
    rows = "".join(_write_column(column, has_units=has_units) for column in report.columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return _section(
        "data", "The data", f"<p>{count_noun(report.n_rows, 'row')}.</p>{_scrolling(table, 'Columns of the data')}"
    )


def _write_column(column: ColumnSummary, *, has_units: bool) -> str:
    texts = "".join(f"<td>{escape(text)}</td>" for text in (column.role, *([column.unit] if has_units else [])))
    numbers = "".join(f'<td class="number">{value:.5g}</td>' for value in (column.low, column.median, column.high))
    return f'<tr><th scope="row" class="value">{escape(column.name)}</th>{texts}{numbers}</tr>'


def _write_grammar(grammar: Iterable[tuple[str, str]]) -> str:
    rules = "".join(
        (f"<h3>{escape(heading)}</h3>" if heading else "")
        + f'<pre tabindex="0" aria-label="Rules">{escape(text)}</pre>'
        for heading, text in grammar
    )
    note = "<p>The search considered only formulas that these rules can build. C is a constant to be fitted.</p>"
    return _section("rules", "The rules", note + rules)


def _write_run(report: Report) -> str:
    tables = "".join(
        f"<div><h3>{name}</h3>{_write_pairs(pairs, name)}</div>"
        for name, pairs in (("Settings", report.settings), ("Versions", report.versions))
    )
    return _section("run", "Reproduce this run", f'<div class="pair">{tables}</div>')


def _write_pairs(pairs: Iterable[tuple[str, str]], name: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(key)}</th><td class="value">{escape(value)}</td></tr>' for key, value in pairs
    )
    return _scrolling(f"<table><tbody>{rows}</tbody></table>", name)


# ---- parts of all sections -----------------------------------------------------------------------


def _section(name: str, heading: str, inner: str) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(heading)}</h2>{inner}</section>'


def _scrolling(inner: str, name: str) -> str:
    """Return content that may be wider than the page in a box that scrolls, also by keyboard."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">{inner}</div>'


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_HEADING else text[: LONGEST_HEADING - 1] + "…"
