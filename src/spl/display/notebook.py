"""A fitted model in a notebook: the typeset equation, and the front as a table. All user text is escaped."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from spl.notation.mathml import to_mathml
from spl.regression.front import Front

if TYPE_CHECKING:
    from spl.display.results import FrontRow

MAX_NOTEBOOK_ROWS = 30  # of a front, around the chosen formula
_CHOSEN_STYLE = "font-weight:bold; background:rgba(213,94,0,.15)"
_NUMBER_STYLE = "text-align:right; font-variant-numeric:tabular-nums"
_FORMULA_STYLE = "text-align:left; font-family:monospace; overflow-wrap:anywhere; white-space:normal"


class FittedRepr:
    """Shows a fitted model in notebooks, and leaves an unfitted one to scikit-learn.

    Subclasses provide `_fitted_html` and `_fitted_latex`.
    """

    def _repr_html_inner(self) -> str:
        html: str = self._fitted_html() if self.__sklearn_is_fitted__() else super()._repr_html_inner()  # type: ignore[attr-defined,misc]
        return html

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle and self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            bundle["text/html"] = self._fitted_html()  # type: ignore[attr-defined]
        return bundle

    def _repr_latex_(self) -> str | None:
        return self._fitted_latex() if self.__sklearn_is_fitted__() else None  # type: ignore[attr-defined]


def model_html(summary: str, equations: Iterable[str], tables: Iterable[str]) -> str:
    """Return a model as HTML: a summary, its equations as MathML, its fronts as tables."""
    shown = "".join(
        f'<div style="overflow-x:auto; font-size:1.15em; margin:.6em 0">{equation}</div>' for equation in equations
    )
    return f'<div class="spl-model"><div>{escape(summary)}</div>{shown}{"".join(tables)}</div>'


def front_html(rows: "Sequence[FrontRow]", *, title: str = "", is_open: bool = True) -> str:
    """Return a front as an HTML table with the chosen row marked; with a title, it can be collapsed.

    Examples:
        >>> from spl.display.results import FrontRow
        >>> table = front_html([FrontRow(1, 0.5, 0.0, "'<b>'", True)])
        >>> "&lt;b&gt;" in table, "<b>" in table
        (True, False)
    """
    chosen = next((index for index, row in enumerate(rows) if row.is_chosen), 0)
    first = max(0, min(chosen - MAX_NOTEBOOK_ROWS // 2, len(rows) - MAX_NOTEBOOK_ROWS))
    body = "".join(_row_html(row) for row in rows[first : first + MAX_NOTEBOOK_ROWS])
    left_out = len(rows) - len(rows[first : first + MAX_NOTEBOOK_ROWS])
    note = f"<div>{left_out} more rows are in <code>equations_</code>.</div>" if left_out else ""
    head = "".join(f'<th scope="col" style="{_NUMBER_STYLE}">{name}</th>' for name in ("cost", "loss", "score"))
    head = f'<tr><th></th>{head}<th scope="col" style="text-align:left">equation</th></tr>'
    table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{note}"
    if not title:
        return table
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{table}</details>"


def progress_html(text: str, front: Front, choose: Callable[[Front], int]) -> str:
    """Return the state of a search as HTML: a line of text, the best equation, the front."""
    from spl.display.results import front_rows

    if not len(front):
        return f"<div>{escape(text)}</div>"
    chosen = choose(front)
    table = front_html(front_rows(front, chosen, 0.0))
    return model_html(text, [to_mathml(front[chosen].program)], [table])


def _row_html(row: "FrontRow") -> str:
    mark = "chosen" if row.is_chosen else ""
    cells = "".join(
        f'<td style="{_NUMBER_STYLE}">{value}</td>' for value in (row.cost, f"{row.loss:.3g}", f"{row.score:.2f}")
    )
    style = f' style="{_CHOSEN_STYLE}"' if row.is_chosen else ""
    return f'<tr{style}><td>{mark}</td>{cells}<td style="{_FORMULA_STYLE}">{escape(row.equation)}</td></tr>'
