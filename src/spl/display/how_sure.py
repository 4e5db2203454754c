"""How sure a formula is, in plain words and as JSON: for terminals, the report and the studio."""

import math
from collections.abc import Sequence
from typing import Any

from spl.display.numbers import interval_text
from spl.display.results import SHOWN_DIGITS
from spl.errors import count_noun
from spl.formulas.printed_numbers import EXACT_KIND
from spl.formulas.text import quote_name
from spl.regression.held_out import HeldOutVerdict
from spl.regression.how_sure import HowSure
from spl.regression.residual_checks import ResidualCheck
from spl.regression.rivals import NOT_KEPT, WITHIN_NATS, Rival
from spl.regression.uncertainty import KnownNumber

DOUBTFUL_HEADING = "Doubtful residuals:"
CHECK_NAMES = {"normality": "normality", "order": "trend along the rows", "spread": "spread", "column": "dependence on"}
TINY_ERROR = 1e-6  # of a number: a smaller error is not worth a word
CHANCE_DIGITS = 2
SMALLEST_CHANCE = 1e-4  # smaller ones are not told apart: the checks are approximations


# ---- in words ------------------------------------------------------------------------------------


def how_sure_words(sure: HowSure) -> list[str]:
    """Return sentences about the numbers, the rivals, the residuals, and the rows that were held out."""
    held_out = [] if sure.held_out is None else [_held_out_words(sure.held_out, sure.loss_on_held_out)]
    return [_numbers_words(sure.numbers), _rivals_words(sure.rivals, sure.weight), _checks_words(sure), *held_out]


def _numbers_words(numbers: Sequence[KnownNumber]) -> str:
    estimated = [number for number in numbers if number.kind != EXACT_KIND]
    if not estimated:
        return "No number of the formula was estimated from the data."
    lost = [number for number in estimated if math.isinf(number.standard_error)]
    if lost:
        terms = "; ".join(number.term for number in lost)
        return f"The data does not determine {len(lost)} of its {count_noun(len(estimated), 'number')}: {terms}."
    worst = max(estimated, key=_relative_error)
    if _relative_error(worst) < TINY_ERROR:
        return f"The data determines all its numbers to better than {TINY_ERROR:g} of their values."
    which = "Its number" if len(estimated) == 1 else "Its least certain number"
    return (
        f"{which} is {worst.value:.{SHOWN_DIGITS}g} in {worst.term}, with a 95 % interval from {interval_text(worst)}."
    )


def _relative_error(number: KnownNumber) -> float:
    error = number.standard_error
    if not error > 0:  # exact, or unknown
        return 0.0
    return error / abs(number.value) if number.value else math.inf


def _rivals_words(rivals: Sequence[Rival] | None, weight: float) -> str:
    if rivals is None:
        return NOT_KEPT
    if not rivals:
        return f"No other formula that was met describes the data nearly as well (within {WITHIN_NATS:g} nats)."
    verb = "describes" if len(rivals) == 1 else "describe"
    n_favoured = sum(rival.nats < 0 for rival in rivals)
    favoured = (
        f" The data favours {n_favoured} of them, but the choice is more careful with fitted numbers."
        if n_favoured
        else ""
    )
    return (
        f"{count_noun(len(rivals), 'other formula')} {verb} the data nearly as well (within {WITHIN_NATS:g} nats). "
        f"Of the weight of all of them, this formula has {100 * weight:.0f} %.{favoured}"
    )


def _checks_words(sure: HowSure) -> str:
    if not sure.checks:
        return f"Its residuals are not checked: {sure.unchecked}."
    n, doubtful = len(sure.checks), sure.doubtful
    if not doubtful:
        return f"Its residuals look like noise in all {n} checks."
    names = ", ".join(map(check_name, doubtful))
    return f"{len(doubtful)} of {n} checks of its residuals {'is' if len(doubtful) == 1 else 'are'} doubtful: {names}."


def _held_out_words(verdict: HeldOutVerdict, loss: float | None) -> str:
    words = f"its loss is {loss:.3g}" if loss is not None and math.isfinite(loss) else "it has no value on some of them"
    better = "better" if verdict.is_explained else "no better"
    return (
        f"On {count_noun(verdict.n_rows, 'row')} that the search never saw, {words}; that of a constant is "
        f"{verdict.constant_loss:.3g}. The front predicts these rows {better} than a constant and chance do "
        f"(chance {chance_text(verdict.chance)})."
    )


# ---- checks of the residuals ---------------------------------------------------------------------


def check_name(check: ResidualCheck) -> str:
    """Return the name of a check for people.

    Examples:
        >>> check_name(ResidualCheck("column", "dose", 0.5, False, "..."))
        'dependence on dose'
    """
    return f"{CHECK_NAMES[check.name]} {quote_name(check.column) if check.column else ''}".rstrip()


def chance_text(chance: float) -> str:
    """Return the chance of a check for people.

    Examples:
        >>> chance_text(0.0321), chance_text(1e-20)
        ('0.032', 'below 0.0001')
    """
    return f"below {SMALLEST_CHANCE:g}" if chance < SMALLEST_CHANCE else f"{chance:.{CHANCE_DIGITS}g}"


def doubtful_lines(checks: Sequence[ResidualCheck]) -> list[str]:
    """Return a heading and a line for each doubtful check; none if all are fine.

    Examples:
        >>> doubtful_lines([ResidualCheck("order", "", 1e-5, True, "Something drifted.")])
        ['Doubtful residuals:', '  trend along the rows (chance below 0.0001): Something drifted.']
    """
    lines = [
        f"  {check_name(check)} (chance {chance_text(check.chance)}): {check.words}"
        for check in checks
        if check.is_doubtful
    ]
    return [DOUBTFUL_HEADING, *lines] if lines else []


def describe_checks(checks: Sequence[ResidualCheck]) -> list[dict[str, Any]]:
    """Return checks of the residuals as `--json` prints them."""
    return [
        {
            "check": check.name,
            "column": check.column or None,
            "chance": check.chance,
            "doubtful": check.is_doubtful,
            "words": check.words,
        }
        for check in checks
    ]
