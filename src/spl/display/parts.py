"""What the holes of a form became, in words and as plain values, for shells, reports and the studio."""

from dataclasses import replace

from spl.data.dataset import Dataset
from spl.display.results import SHOWN_DIGITS
from spl.formulas.forms import Form
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.regression.form_reading import FormReader

PARTS_HEADING = "Its parts:"
UNKNOWN_PART = "cannot be told from the other parts"


def find_part_texts(
    form: Form | None, program: Program, rows: Dataset, *, digits: int | None = SHOWN_DIGITS
) -> dict[str, str | None]:
    """Return the formula of each hole of a form, by the hole as the form writes it; None if it cannot be told from the others.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> rows = Dataset.from_arrays([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], [1.0, 2.0, 3.0], names=["p", "T"])
        >>> form = Form.from_text("a(T) + b(p)", rows.names)
        >>> find_part_texts(form, parse_expression("p**2 + 3*T", Vocabulary(rows.names)), rows)
        {'a(T)': '3*T', 'b(p)': 'p**2'}
    """
    if form is None or not form.holes:
        return {}
    parts = FormReader(form, replace(rows, noise=None)).parts(program)
    return {hole.text: None if parts is None else to_text(parts[hole.name], digits) for hole in form.holes}


def part_lines(texts: dict[str, str | None]) -> list[str]:
    """Return the parts as lines for people.

    Examples:
        >>> part_lines({"a(T)": "3*T", "b(p, T)": None})
        ['a(T)    = 3*T', 'b(p, T) cannot be told from the other parts']
    """
    width = max(map(len, texts), default=0)
    return [
        f"{hole:<{width}} {UNKNOWN_PART}" if text is None else f"{hole:<{width}} = {text}"
        for hole, text in texts.items()
    ]
