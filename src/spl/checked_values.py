"""Values from a run file, checked as they are read: the file may be damaged or come from a stranger.

A value that is missing or of the wrong type raises `Damage`; any other exception is a bug in spl and is never blamed on the file.
`runs.sqlite_file` turns damage into a message for people.
"""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spl.errors import RunFileError, SplError, shorten

SHOWN_VALUE = 60  # characters of a value that a message shows


class Damage(Exception):
    """Content of a run file that spl never writes; the message says what."""


@contextmanager
def checked_as_stored() -> Iterator[None]:
    """Report stored values that a class refuses, such as a table of NaN, as damage."""
    try:
        yield
    except RunFileError:
        raise
    except SplError as error:
        raise Damage(str(error).removesuffix(".")) from None


def load_json(text: object) -> Any:
    """Return the value of a JSON text."""
    if not isinstance(text, str):
        raise Damage(f"{_show(text)} is not JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damage(f"{_show(text)} is not JSON ({shorten(str(error), SHOWN_VALUE)})") from None


def as_text(value: object) -> str:
    """Return the value if it is text."""
    if not isinstance(value, str):
        raise Damage(f"{_show(value)} is not text")
    return value


def as_bytes(value: object) -> bytes:
    """Return the value if it is bytes."""
    if not isinstance(value, bytes):
        raise Damage(f"{_show(value)} is not a block of bytes")
    return value


def as_whole(value: object, below: int | None = None) -> int:
    """Return the value if it is a whole number, 0 or more and below the bound."""
    if type(value) is not int or value < 0 or (below is not None and value >= below):
        raise Damage(f"{_show(value)} is not a whole number from 0{'' if below is None else f' to {below - 1}'}")
    return value


def as_number(value: object) -> float:
    """Return the value as a float if it is a number; NaN and infinity count as numbers."""
    if type(value) not in (int, float):
        raise Damage(f"{_show(value)} is not a number")
    try:
        return float(value)  # type: ignore[arg-type]  # an int or a float
    except OverflowError:
        raise Damage("a whole number is too large") from None


def as_finite(value: object) -> float:
    """Return the value as a float if it is a finite number."""
    number = as_number(value)
    if not math.isfinite(number):
        raise Damage(f"{number} is not finite")
    return number


def as_truth(value: object) -> bool:
    """Return the value if it is true or false."""
    if not isinstance(value, bool):
        raise Damage(f"{_show(value)} is neither true nor false")
    return value


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list."""
    if not isinstance(value, list):
        raise Damage(f"{_show(value)} is not a list")
    return value


def as_texts(value: object) -> tuple[str, ...]:
    """Return a list of texts."""
    return tuple(as_text(each) for each in as_list(value))


def as_fields(value: object) -> "StoredFields":
    """Return the value if it is an object with named values."""
    if not isinstance(value, dict):
        raise Damage(f"{_show(value)} is not a set of named values")
    return StoredFields(value)


class StoredFields(dict[str, Any]):
    """Named values; one that is missing is damage.

    Examples:
        >>> as_whole(StoredFields(seed=3)["seed"])
        3
        >>> StoredFields(seed=3)["limits"]
        Traceback (most recent call last):
        ...
        spl.checked_values.Damage: there is no `limits`
    """

    def __missing__(self, name: str) -> Any:
        raise Damage(f"there is no `{name}`")

    def check_names(self, known: tuple[str, ...]) -> "StoredFields":
        """Return the values if all of their names are known."""
        unknown = [name for name in self if name not in known]
        if unknown:
            raise Damage(f"`{shorten(unknown[0])}` is not known")
        return self


def _show(value: object) -> str:
    return "nothing" if value is None else shorten(repr(value), SHOWN_VALUE)
