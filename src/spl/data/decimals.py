"""Numbers as people write them: thousands in groups, and a point or a comma before the decimals."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

POINT, COMMA = ".", ","
_GROUPS = {POINT: ",", COMMA: "."}  # what stands between thousands
_ANYWHERE = r"'’\u00a0\u202f\u2009 "  # stands between thousands, whatever the decimal mark is
_LONGEST = 60  # letters of a number
_LOOKED_AT = 1000  # numbers from which the decimal mark is read


def parse_number(text: str, mark: str = POINT) -> float | None:
    """Return the number that a text is if `mark` stands before the decimals; None if it is none.

    Examples:
        >>> parse_number("1,234.5"), parse_number("1.234,5", ","), parse_number("1 234")
        (1234.5, 1234.5, 1234.0)
        >>> parse_number("1,23"), parse_number("1,23", ",")
        (None, 1.23)
    """
    text = text.strip().replace("−", "-")
    if len(text) > _LONGEST or not _pattern(mark).fullmatch(text):
        return None
    digits = re.sub(rf"[{re.escape(_GROUPS[mark])}{_ANYWHERE}]", "", text).replace(mark, ".")
    return float(digits)


@cache
def _pattern(mark: str) -> "re.Pattern[str]":
    group = rf"[{re.escape(_GROUPS[mark])}{_ANYWHERE}]"
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?P<group>{group})\d{{3}}(?:(?P=group)\d{{3}})*)"
    decimals = rf"{re.escape(mark)}\d"
    return re.compile(rf"[+-]?(?:{whole}(?:{decimals}*)?|{decimals}+)(?:[eE][+-]?\d{{1,4}})?")


def find_mark(texts: Iterable[str]) -> str | None:
    """Return the decimal mark with which more of these texts are numbers; None if it makes a difference, but both do as well.

    Examples:
        >>> find_mark(["1,5", "1,234"]), find_mark(["1,234.5"]), find_mark(["1,234"]), find_mark(["1 234", "5"])
        (',', '.', None, '.')
    """
    seen = list(islice(texts, _LOOKED_AT))
    read = {mark: [parse_number(text, mark) for text in seen] for mark in (POINT, COMMA)}
    n_read = {mark: sum(number is not None for number in numbers) for mark, numbers in read.items()}
    if n_read[POINT] != n_read[COMMA]:
        return max(n_read, key=n_read.__getitem__)
    return POINT if read[POINT] == read[COMMA] else None


def needs_point(texts: Iterable[str]) -> bool:
    """Return whether one of the first of these texts is a number only if a point stands before the decimals.

    Examples:
        >>> needs_point(["1,234", "2.5"]), needs_point(["1,234", "1.234", "word"])
        (True, False)
    """
    seen = islice(texts, _LOOKED_AT)
    return any(parse_number(text, POINT) is not None and parse_number(text, COMMA) is None for text in seen)
