"""Numbers as people write them: whole numbers, simple fractions, and simple multiples of pi."""

import math
from typing import NamedTuple

MAX_DENOMINATOR = 12  # 1/12 is easier to read than 0.0833333; nobody recognises 7/13
MAX_SHORT_NUMERATOR = 12  # 12/5 is written as a fraction, 49/5 as 9.8 ...
MAX_LONG_NUMERATOR = 1000  # ... and 100/3 as a fraction again, because its decimals do not end
MAX_DIVISOR = 100  # x/7 is written for x*(1/7) up to here
MAX_EXACT = 2**53  # whole numbers up to here are exact in floating point


class NiceNumber(NamedTuple):
    """A number as people write it: a fraction, or a fraction of pi."""

    numerator: int
    denominator: int
    of_pi: bool


def write_nice_number(value: float, digits: int) -> str:
    """Return a number as people write it: a whole number, a fraction, a multiple of pi, or a decimal.

    Examples:
        >>> [write_nice_number(value, 6) for value in (2.0, -2 / 3, 3 * math.pi / 4, 0.48)]
        ['2', '-2/3', '3*pi/4', '0.48']
    """
    nice = find_nice_number(value)
    if nice is None or (nice.denominator == 1 and not nice.of_pi):
        return f"{value:.{digits}g}"
    above = abs(nice.numerator)
    text = f"{above}" if not nice.of_pi else "pi" if above == 1 else f"{above}*pi"
    return f"{'-' if value < 0 else ''}{text}{'' if nice.denominator == 1 else f'/{nice.denominator}'}"


def find_nice_number(value: float, *, ulps: int = 0) -> NiceNumber | None:
    """Return a float as a whole number, simple fraction or simple multiple of pi, or None if it is neither.

    Args:
        value: any float.
        ulps: how many units in the last place it may be off; 0 for exactly the float of the fraction.

    Examples:
        >>> find_nice_number(0.75)
        NiceNumber(numerator=3, denominator=4, of_pi=False)
        >>> find_nice_number(0.48) is None
        True
    """
    if not math.isfinite(value) or abs(value) > MAX_EXACT:
        return None
    slack = ulps * math.ulp(value)
    if abs(round(value) - value) <= slack:
        return NiceNumber(round(value), 1, of_pi=False)
    for of_pi, unit in ((False, 1.0), (True, math.pi)):
        for denominator in range(1, MAX_DENOMINATOR + 1):
            numerator = round(value / unit * denominator)
            if not 0 < abs(numerator) <= MAX_LONG_NUMERATOR:
                continue
            spellings = (
                numerator * unit / denominator,
                numerator * (unit / denominator),
                numerator / denominator * unit,
            )
            if min(abs(spelling - value) for spelling in spellings) > slack:
                continue
            ends = not of_pi and 10**3 % denominator == 0
            if not ends or abs(numerator) <= MAX_SHORT_NUMERATOR:
                return NiceNumber(numerator, denominator, of_pi)
    return None
