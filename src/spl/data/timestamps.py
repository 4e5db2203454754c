"""Dates and times as seconds since an origin, from text, Python objects or numpy arrays.

An instant is a whole number of nanoseconds: since 1970 for dates, since midnight for times of day.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NANO = 1_000_000_000  # nanoseconds in a second
_EPOCH = dt.date(1970, 1, 1).toordinal()
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?(?:\s?(?P<half>[AaPp][Mm]))?"
_ZONE = r"\s?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)"
_DATE = (
    r"(?:(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<one>\d{1,2})(?P<sign>[-/.])(?P<two>\d{1,2})(?P=sign)(?P<late_year>\d{4}))"
)
_PATTERN = re.compile(rf"(?:{_DATE}(?:(?:T|\s+){_CLOCK}(?:{_ZONE})?)?)\Z")
_CLOCK_PATTERN = re.compile(rf"{_CLOCK}\Z")
_LONGEST_DATE = 40  # characters


class AmbiguousDate(ValueError):
    """Dates whose days may be months; `index` is the first of them."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


class _Instant(NamedTuple):
    kind: str  # only instants of one kind can be compared: "date", "date with time zone" or "time of day"
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Instants:
    """Cells as dates or times in nanoseconds; None where a cell is not of this kind."""

    nanoseconds: tuple[int | None, ...]
    kind: str

    @property
    def n_found(self) -> int:
        """Number of cells that are instants."""
        return sum(instant is not None for instant in self.nanoseconds)


def read_instants(cells: Sequence[object]) -> Instants:
    """Return cells as dates or times of the kind that most of them have.

    Dates look like 2024-01-31, 2024/01/31, 31.01.2024, 31/01/2024 or 01/31/2024, with or without a time and a time zone; times like
    12:30 or 12:30:00.5. If no date shows whether the day or the month comes first, `AmbiguousDate` is raised.

    Examples:
        >>> read_instants(["12:30", "12:31:00.5", "noon"])
        Instants(nanoseconds=(45000000000000, 45060500000000, None), kind='time of day')
    """
    matches = [_match(cell.strip()) if isinstance(cell, str) else None for cell in cells]
    is_day_first = _is_day_first(matches)
    found = [
        _of_match(match, is_day_first) if match else _of_object(cell)
        for cell, match in zip(cells, matches, strict=True)
    ]
    kinds = Counter(instant.kind for instant in found if instant)
    kind = kinds.most_common(1)[0][0] if kinds else ""
    return Instants(tuple(each.nanoseconds if each and each.kind == kind else None for each in found), kind)


def seconds_since(instants: Sequence[int | None], origin: int) -> NDArray[np.float64]:
    """Return seconds since an instant; NaN for None.

    Examples:
        >>> seconds_since([3 * NANO, None], NANO).tolist()
        [2.0, nan]
    """
    return np.array([np.nan if instant is None else (instant - origin) / NANO for instant in instants])


def first_instant(dates: NDArray[np.datetime64]) -> int | None:
    """Return the first date of an array that is not missing; None if all are.

    Examples:
        >>> first_instant(np.array(["NaT", "1970-01-02"], dtype="datetime64[s]")) == 86400 * NANO
        True
    """
    there = dates[~np.isnat(dates)]
    if not there.size:
        return None
    seconds = there[0].astype("datetime64[s]")
    return int(seconds.astype(np.int64)) * NANO + int((there[0] - seconds) / np.timedelta64(1, "ns"))


def seconds_of_dates(dates: NDArray[np.datetime64], origin: int) -> NDArray[np.float64]:
    """Return an array of dates as seconds since an instant; NaN where a date is missing.

    Examples:
        >>> seconds_of_dates(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"), 0).tolist()
        [86400.0, nan]
    """
    whole = dates.astype("datetime64[s]")  # differences in nanoseconds may overflow
    seconds, nanoseconds = divmod(origin, NANO)
    rest = (dates - whole) / np.timedelta64(1, "ns")
    since = (whole.astype(np.int64) - seconds).astype(np.float64) + (rest - nanoseconds) / NANO
    return np.where(np.isnat(dates), np.nan, since)


def show_instant(instant: int) -> str:
    """Return an instant as a readable date.

    Examples:
        >>> show_instant(86400 * NANO), show_instant(NANO // 2)
        ('1970-01-02', '1970-01-01 00:00:00.5')
    """
    seconds, rest = divmod(instant, NANO)
    text = str(np.datetime64(seconds, "s")).replace("T", " ").removesuffix(" 00:00:00" if not rest else "")
    return f"{text}.{rest:09d}".rstrip("0") if rest else text


def _match(text: str) -> "re.Match[str] | None":
    return (_PATTERN.match(text) or _CLOCK_PATTERN.match(text)) if len(text) <= _LONGEST_DATE else None


def _is_day_first(matches: Sequence["re.Match[str] | None"]) -> bool:
    """Return whether dates such as 01/02/2024 begin with the day."""
    pairs = [
        (int(groups["one"]), int(groups["two"]), index)
        for index, match in enumerate(matches)
        if match and (groups := match.groupdict()).get("sign") in ("/", "-")
    ]
    if any(one > 12 for one, _, _ in pairs):
        return True
    if any(two > 12 for _, two, _ in pairs):
        return False
    ambiguous = next((index for one, two, index in pairs if one != two), None)
    if ambiguous is not None:
        raise AmbiguousDate(ambiguous)
    return True


def _of_match(match: "re.Match[str]", is_day_first: bool) -> _Instant | None:
    groups = match.groupdict()
    clock = _clock_nanoseconds(groups)
    if clock is None:
        return None
    if "zone" not in groups:
        return _Instant("time of day", clock)
    year, month, day = groups["year"] or groups["late_year"], groups["month"], groups["day"]
    if groups["sign"]:
        is_month_first = not is_day_first and groups["sign"] != "."
        day, month = (groups["two"], groups["one"]) if is_month_first else (groups["one"], groups["two"])
    try:
        days = dt.date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        return None
    kind = "date with time zone" if groups["zone"] else "date"
    return _Instant(kind, days * 86400 * NANO + clock - _zone_nanoseconds(groups["zone"]))


def _clock_nanoseconds(groups: dict[str, Any]) -> int | None:
    """Return the time of day in nanoseconds; None if it does not exist."""
    hour, minute, second = (int(groups[name] or 0) for name in ("hour", "minute", "second"))
    if groups["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if groups["half"].lower() == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (3600 * hour + 60 * minute + second) * NANO + int((groups["fraction"] or "").ljust(9, "0"))


def _zone_nanoseconds(zone: str | None) -> int:
    if not zone or zone in ("Z", "UTC", "GMT"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (1 if zone[0] == "+" else -1) * (3600 * int(digits[:2]) + 60 * int(digits[2:])) * NANO


def _of_object(value: object) -> _Instant | None:
    """Return a Python or numpy object as an instant; None if it is not a date or a time."""
    if isinstance(value, np.datetime64):
        first = first_instant(np.array([value]))
        return None if first is None else _Instant("date", first)
    if isinstance(value, dt.time):
        return _Instant("time of day", _of_clock(value))
    if not isinstance(value, dt.date) or value != value:  # pandas' missing date is not equal to itself
        return None
    if not isinstance(value, dt.datetime):
        return _Instant("date", (value.toordinal() - _EPOCH) * 86400 * NANO)
    nanoseconds = (value.toordinal() - _EPOCH) * 86400 * NANO + _of_clock(value)
    nanoseconds += getattr(value, "nanosecond", 0)  # of pandas
    offset = value.utcoffset()
    if offset is None:
        return _Instant("date", nanoseconds)
    return _Instant("date with time zone", nanoseconds - round(offset.total_seconds()) * NANO)


def _of_clock(value: dt.time | dt.datetime) -> int:
    return (3600 * value.hour + 60 * value.minute + value.second) * NANO + value.microsecond * 1000
