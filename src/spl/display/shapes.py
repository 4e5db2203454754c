"""What is known of a law, as text: which statements its formula keeps, proved or checked, and with what margin."""

import math
from collections.abc import Sequence
from typing import Any

from spl.formulas.text import quote_name
from spl.knowledge.knowledge import Verdict

SHAPES_HEADING = "Statements:"
MAX_PLACES = 4  # columns of a place


def shape_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for each statement, below a heading; nothing if there are none.

    Examples:
        >>> verdict = Verdict("f > 0", "proved", 0.0646746, (("t", 9.99999999),))
        >>> print("\\n".join(shape_lines([verdict])))
        Statements:
          f > 0  proved   margin 0.0647 at t = 10
    """
    if not verdicts:
        return []
    width = max(len(each.statement) for each in verdicts)
    return [
        SHAPES_HEADING,
        *(f"  {each.statement:<{width}}  {each.status:<7}  {describe_margin(each)}" for each in verdicts),
    ]


def describe_margin(verdict: Verdict) -> str:
    """Return the worst margin of a statement, and where it is, in words.

    Examples:
        >>> describe_margin(Verdict("f(x=0) = 0", "checked", 0.0, (("x", 0.0),)))
        'exact'
        >>> describe_margin(Verdict("even in x", "checked", -2e-16, (("x", 1.0),)))
        'off by at most 2e-16 at x = 1'
    """
    if verdict.margin == 0:
        return "exact"
    places = [f"{quote_name(name)} = {value:.3g}" for name, value in verdict.where[:MAX_PLACES]]
    at = f" at {', '.join(places)}{', ...' if len(verdict.where) > MAX_PLACES else ''}"
    if math.isnan(verdict.margin):
        return f"undefined{at}"
    if verdict.margin < 0:
        return f"off by at most {-verdict.margin:.3g}{at}"
    return f"margin {verdict.margin:.3g}{at}"


def describe_shapes(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return what is known of a law as `--json` prints it; margins that are not finite are null.

    Examples:
        >>> describe_shapes([Verdict("f > 0", "proved", 0.5, (("t", 1.0),))])
        [{'statement': 'f > 0', 'status': 'proved', 'margin': 0.5, 'where': {'t': 1.0}}]
    """
    return [
        {
            "statement": each.statement,
            "status": each.status,
            "margin": each.margin if math.isfinite(each.margin) else None,
            "where": dict(each.where),
        }
        for each in verdicts
    ]
