"""Checks rules while the user types: what they describe, or what is wrong and where."""

from collections.abc import Sequence
from typing import Any

from spl.errors import GrammarError, SplError
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar


def check_rules(text: str, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what a grammar describes, or the message and the place of its first mistake.

    Examples:
        >>> check_rules("f -> f + f | x", ["x"])["is_right"]
        True
        >>> wrong = check_rules("f -> f + f | sine(x)", ["x"])
        >>> wrong["message"], wrong["line"], wrong["column"]
        ("There is no operator 'sine'. Did you mean 'sin'?", 1, 14)
    """
    if not text.strip():
        return {"is_right": False, "message": "Write at least one rule.", "line": None, "column": None}
    try:
        grammar = Grammar.from_text(text, variables=columns)
        return {"is_right": True, "explanation": (grammar if columns is None else grammar.bind(columns)).explain()}
    except SplError as error:
        line, column = (error.line, error.column) if isinstance(error, GrammarError) else (None, None)
        return {"is_right": False, "message": _without_place(str(error), line), "line": line, "column": column}


def check_form(text: str, columns: Sequence[str]) -> dict[str, Any]:
    """Return what the holes of a form are, or the message and the place of its first mistake; no form is right, too.

    Examples:
        >>> check_form("a(T) + C*x", ["T", "x"])
        {'is_right': True, 'explanation': 'Unknown parts: a(T). Numbers: 1.'}
        >>> check_form("a(TT)", ["T", "x"])["message"]
        "Hole 'a' uses a column 'TT' that does not exist. Did you mean 'T'?"
    """
    if not text.strip():
        return {"is_right": True, "explanation": ""}
    try:
        form = Form.from_text(text, columns)
    except GrammarError as error:
        message = _without_place(str(error), error.line)
        return {"is_right": False, "message": message, "line": error.line, "column": error.column}
    holes = ", ".join(hole.text for hole in form.holes) or "none, so only numbers are fitted"
    return {"is_right": True, "explanation": f"Unknown parts: {holes}. Numbers: {form.template.n_constants}."}


def _without_place(message: str, line: int | None) -> str:
    """Return the message without its line and column and without the quoted line, which the page shows itself."""
    return message if line is None else message.partition(": ")[2].partition("\n")[0]
