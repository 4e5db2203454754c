"""Numbers as people write them: with thousands separators, and a decimal point or comma."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

POINT, COMMA = ".", ","
_GROUPS = {POINT: ",", COMMA: "."}  # thousands separator for each decimal mark
_ANYWHERE = r"'’\u00a0\u202f\u2009 "  # thousands separators for either decimal mark
_LONGEST_NUMBER = 60  # characters
SAMPLED_CELLS = 1000  # texts of a column that are looked at to find out how its numbers are written


def parse_number(text: str, mark: str = POINT) -> float | None:
    """Return a text as a number, `mark` being the decimal mark; None if it is not a number.

    Examples:
        >>> parse_number("1,234.5"), parse_number("1.234,5", ","), parse_number("1 234")
        (1234.5, 1234.5, 1234.0)
        >>> parse_number("1,23"), parse_number("1,23", ",")
        (None, 1.23)
    """
    text = text.strip().replace("−", "-")
    if len(text) > _LONGEST_NUMBER or not _pattern(mark).fullmatch(text):
        return None
    digits = re.sub(rf"[{re.escape(_GROUPS[mark])}{_ANYWHERE}]", "", text).replace(mark, ".")
    return float(digits)


@cache
def _pattern(mark: str) -> "re.Pattern[str]":
    group = rf"[{re.escape(_GROUPS[mark])}{_ANYWHERE}]"
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?P<group>{group})\d{{3}}(?:(?P=group)\d{{3}})*)"
    decimals = rf"{re.escape(mark)}\d"
    return re.compile(rf"[+-]?(?:{whole}(?:{decimals}*)?|{decimals}+)(?:[eE][+-]?\d{{1,4}})?")


def find_decimal_mark(texts: Iterable[str]) -> str | None:
    """Return the decimal mark with which more of the texts are numbers; None if both fit equally but give different numbers.

    Examples:
        >>> find_decimal_mark(["1,5", "1,234"]), find_decimal_mark(["1,234.5"])
        (',', '.')
        >>> find_decimal_mark(["1,234"]), find_decimal_mark(["1 234", "5"])
        (None, '.')
    """
    seen = list(islice(texts, SAMPLED_CELLS))
    read = {mark: [parse_number(text, mark) for text in seen] for mark in (POINT, COMMA)}
    n_read = {mark: sum(number is not None for number in numbers) for mark, numbers in read.items()}
    if n_read[POINT] != n_read[COMMA]:
        return max(n_read, key=n_read.__getitem__)
    return POINT if read[POINT] == read[COMMA] else None


def needs_point(texts: Iterable[str]) -> bool:
    """Return whether one of the first texts is a number only with a decimal point.

    Examples:
        >>> needs_point(["1,234", "2.5"]), needs_point(["1,234", "1.234", "word"])
        (True, False)
    """
    seen = islice(texts, SAMPLED_CELLS)
    return any(parse_number(text, POINT) is not None and parse_number(text, COMMA) is None for text in seen)
