"""Rivals of a formula as lines and JSON."""

from collections.abc import Sequence
from typing import Any

from spl.display.numbers import finite_or_none
from spl.display.results import SHOWN_DIGITS
from spl.errors import count_noun
from spl.formulas.program import Program
from spl.formulas.text import quote_name, to_text
from spl.regression.rivals import NOT_KEPT, WITHIN_NATS, Rival
from spl.regression.same_structure import columns_of

MAX_SHOWN = 10  # rivals on a terminal; --json has all
PLACE_DIGITS = 3  # of the point where two formulas differ most


def rival_lines(rivals: Sequence[Rival] | None, names: Sequence[str], within: float = WITHIN_NATS) -> list[str]:
    """Return a heading and one line per rival: difference in nats, weight, where it differs most and by how much, formula.

    None means that none were kept.

    Examples:
        >>> rival_lines([], ["x"])
        ['No other formula that was met comes within 6 nats.']
    """
    if rivals is None:
        return [NOT_KEPT]
    if not rivals:
        return [f"No other formula that was met comes within {within:g} nats."]
    places = [place_text(rival, names) for rival in rivals[:MAX_SHOWN]]
    width = max(len("differs most"), *map(len, places))
    lines = [
        f"{count_noun(len(rivals), 'other formula')} within {within:g} nats, which the data cannot rule out:",
        f"  {'nats':>5}  {'weight':>6}  {'loss':>9}  {'differs most':<{width}}  equation",
    ]
    for rival, place in zip(rivals[:MAX_SHOWN], places, strict=True):
        formula = to_text(rival.candidate.program, SHOWN_DIGITS)
        lines.append(
            f"  {rival.nats:>5.1f}  {rival.weight:>6.3f}  {rival.candidate.loss:>9.3g}  {place:<{width}}  {formula}"
        )
    if len(rivals) > MAX_SHOWN:
        lines.append(f"  ... and {len(rivals) - MAX_SHOWN} more; --json has all.")
    return lines


def describe_rivals(rivals: Sequence[Rival] | None, names: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return rivals as `--json` prints them; None if none were kept. An infinite difference is null.

    Places have the columns that are named; others, such as named constants, come after them.
    """
    if rivals is None:
        return None
    return [
        {
            "nats": rival.nats,
            "weight": rival.weight,
            "equation": to_text(rival.candidate.program),
            "loss": rival.candidate.loss,
            "place": dict(zip(names, rival.place[: len(names)], strict=True)),
            "difference": finite_or_none(rival.difference),
        }
        for rival in rivals
    ]


def place_text(rival: Rival, names: Sequence[str], best: Program | None = None) -> str:
    """Return by how much a rival differs most, and where; given the formula it rivals, in the columns that one of the two uses."""
    used = set(range(len(names))) if best is None else columns_of(best) | columns_of(rival.candidate.program)
    shown = [k for k in sorted(used) if k < len(names)]  # named constants come after the columns
    point = ", ".join(f"{quote_name(names[k])} = {rival.place[k]:.{PLACE_DIGITS}g}" for k in shown)
    return f"{rival.difference:.2g} sd {f'at {point}' if point else 'everywhere'}"
