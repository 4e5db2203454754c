"""Whether the trajectories determine the equations of a system, as lines and JSON."""

from typing import Any

from spl.display.numbers import finite_or_none
from spl.display.results import SHOWN_DIGITS
from spl.display.systems import left_sides
from spl.dynamics.identifiability import Identifiability, SystemRival
from spl.formulas.text import to_text

RIVALS_HEADING = "Equations that fit as well, each in place of one of these:"
N_SHOWN_RIVALS = 6


def identifiability_lines(judged: Identifiability) -> list[str]:
    """Return in words whether the equations are determined, and the rivals, one per line."""
    if not judged.rivals:
        return list(judged.reasons)
    rows = [(rival_text(rival), _nats_text(rival)) for rival in judged.rivals[:N_SHOWN_RIVALS]]
    width = max(len(text) for text, _ in rows)
    return [*judged.reasons, RIVALS_HEADING, *(f"  {text:<{width}}  {nats}" for text, nats in rows)]


def rival_text(rival: SystemRival) -> str:
    """Return the equation by which a rival differs."""
    place = rival.system.states.index(rival.state)
    return f"{left_sides(rival.system)[place]} = {to_text(rival.program, SHOWN_DIGITS)}"


def _nats_text(rival: SystemRival) -> str:
    longer = "shorter" if rival.nats < 0 else "longer"
    return f"(description {abs(rival.nats):.1f} nats {longer})"


def describe_identifiability(judged: Identifiability | None) -> dict[str, Any] | None:
    """Return whether the equations are determined as `--json` prints it; None if nothing is known."""
    if judged is None:
        return None
    return {
        "unique": judged.is_unique,
        "complete": judged.is_complete,
        "reasons": list(judged.reasons),
        "rivals": [
            {
                "state": rival.state,
                "equation": to_text(rival.program),
                "misfit": finite_or_none(rival.misfit),
                "nats": finite_or_none(rival.nats),
                "difference": finite_or_none(rival.difference),
            }
            for rival in judged.rivals
        ],
    }
