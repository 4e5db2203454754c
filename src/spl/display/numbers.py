"""The numbers of a formula with their standard errors, of tables and systems alike: as text, lines and JSON."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

from spl.display.results import SHOWN_DIGITS
from spl.formulas.printed_numbers import FITTED_KIND, ROUNDED_KIND
from spl.groups.numbers import KnownJointNumber
from spl.regression.uncertainty import KnownNumber
from spl.units.number_units import PURE

MAX_DECIMALS = 9
MAX_DIGITS = 12  # of the ends of an interval
NUMBERS_HEADING = "Numbers with standard errors, each in its term:"


class ShownNumber(Protocol):
    """A number of a formula as it is printed, and how well it is known."""

    @property
    def value(self) -> float:
        """The number with its sign in print."""

    @property
    def standard_error(self) -> float:
        """The error before rounding; NaN if there is none, inf if the data does not determine the number."""

    @property
    def kind(self) -> str:
        """Whether it is fitted, rounded or exact."""

    @property
    def term(self) -> str:
        """The term that it is part of, with the number in square brackets."""


def number_text(number: ShownNumber) -> str:
    """Return a number with its error, for people.

    Examples:
        >>> from spl.display.systems import SystemNumber
        >>> number_text(SystemNumber("x", 3.0, 0.04, "rounded", "[3]*x"))
        '3 (rounded, ± 0.04)'
    """
    if number.kind == FITTED_KIND:
        return with_error(number.value, number.standard_error)
    error = f", ± {number.standard_error:.2g}" if number.kind == ROUNDED_KIND else ""
    return f"{number.value:.{SHOWN_DIGITS}g} ({number.kind}{error})"


def number_lines(numbers: Sequence[ShownNumber], width: int = 0) -> list[str]:
    """Return one line per number with its error and its term; the terms are aligned, behind at least `width` characters."""
    texts = [text_with_unit(number) for number in numbers]
    right = max([width, *map(len, texts)])
    return [f"  {text:<{right}}  {number.term}" for text, number in zip(texts, numbers, strict=True)]


def unit_of(number: object) -> str:
    """Return the unit of a number for people; nothing for pure numbers, and for those without units.

    Examples:
        >>> unit_of(KnownNumber(5.4, 0.1, 5.2, 5.6, "fitted", "", "", "[5.4]*x", "m/s"))
        'm/s'
    """
    unit = getattr(number, "unit", "")
    return "" if unit == PURE else unit


def text_with_unit(number: ShownNumber) -> str:
    """Return a number with its error and its unit, if it has one, for people."""
    return f"{number_text(number)} {unit_of(number)}".rstrip()


def numbers_line(numbers: Sequence[ShownNumber]) -> str:
    """Return numbers with their errors, units and terms in one line."""
    return "; ".join(f"{text_with_unit(number)} in {number.term}" for number in numbers)


def interval_text(number: KnownNumber | KnownJointNumber) -> str:
    """Return the interval of a number for people, rounded to two digits of the error; empty if it has none.

    Examples:
        >>> interval_text(KnownNumber(5.38113, 0.09, 5.19087, 5.57139, "fitted", "", "", "[5.38113]*x"))
        '5.191 to 5.571'
    """
    error = number.standard_error
    if not error > 0:
        return ""
    if math.isinf(error):
        return "unknown"
    decimals = 1 - math.floor(math.log10(error))
    return f"{_write_end(number.lower, decimals)} to {_write_end(number.upper, decimals)}"


def _write_end(value: float, decimals: int) -> str:
    if 0 <= decimals <= MAX_DECIMALS:
        return f"{value:.{decimals}f}"
    n_digits = decimals + math.floor(math.log10(abs(value) or 1.0)) + 1
    return f"{value:.{min(max(n_digits, 1), MAX_DIGITS)}g}"


def with_error(value: float, error: float) -> str:
    """Return a number with its standard error, both rounded to two digits of the error.

    Examples:
        >>> with_error(9.99812, 0.0123), with_error(1234567.0, 890.0), with_error(2.5, float("nan"))
        ('9.998 ± 0.012', '1.23457e+06 ± 8.9e+02', '2.5')
    """
    if not error > 0:  # unknown, or exact
        return f"{value:.{SHOWN_DIGITS}g}"
    if math.isinf(error):
        return f"{value:.{SHOWN_DIGITS}g} (the data does not determine it)"
    decimals = 1 - math.floor(math.log10(error))
    if 0 <= decimals <= MAX_DECIMALS:
        return f"{value:.{decimals}f} ± {error:.{decimals}f}"
    n_digits = max(1, decimals + math.floor(math.log10(abs(value) or error)) + 1)
    return f"{value:.{n_digits}g} ± {error:.2g}"


def describe_numbers(numbers: Sequence[ShownNumber]) -> list[dict[str, Any]]:
    """Return the numbers of an equation as `--json` prints them; infinite numbers and NaN are null."""
    return [
        {
            "value": number.value,
            "standard_error": finite_or_none(number.standard_error),
            "kind": number.kind,
            "term": number.term,
        }
        for number in numbers
    ]


def describe_known_numbers(
    numbers: Sequence[KnownNumber | KnownJointNumber], *, has_units: bool = False
) -> list[dict[str, Any]]:
    """Return the numbers of the formula of a table as `--json` prints them, with the ends of their intervals, and units if they
    have any."""
    return [
        described
        | {
            "lower": finite_or_none(number.lower),
            "upper": finite_or_none(number.upper),
            "simple": number.simple,
            "note": number.note,
        }
        | ({"unit": number.unit} if isinstance(number, KnownNumber) and has_units else {})
        for described, number in zip(describe_numbers(numbers), numbers, strict=True)
    ]


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON can represent it."""
    return value if math.isfinite(value) else None
