"""Units and named constants as people list them in a line of text: `m=kg, v=m/s` and `g=9.80665 m/s**2`."""

import csv
from collections.abc import Iterable

from spl.errors import UnitError, shorten, show_value

HEADER = "header"  # what stands for the units in the names of the columns


def split_units(text: str) -> dict[str, str] | str:
    """Return units by column, as texts that are not read yet; or "header", if the text says so.

    Entries are separated by commas; one with a comma in it must be quoted.

    Examples:
        >>> split_units("m=kg, v=m/s, ratio="), split_units("header")
        ({'m': 'kg', 'v': 'm/s', 'ratio': ''}, 'header')
        >>> split_units("m kg")
        Traceback (most recent call last):
        ...
        spl.errors.UnitError: 'm kg' is not COLUMN=UNIT. Write for example: m=kg, v=m/s
    """
    if text.strip() == HEADER:
        return HEADER
    try:
        entries = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise UnitError(f"{show_value(text)} cannot be read as a list of units: {error}.") from None
    units: dict[str, str] = {}
    for entry in entries or [""]:
        name, equals, unit = (part.strip() for part in entry.rpartition("="))
        if not (name and equals):
            raise UnitError(f"'{shorten(entry)}' is not COLUMN=UNIT. Write for example: m=kg, v=m/s")
        if name in units:
            raise UnitError(f"The unit of '{shorten(name)}' is given twice. Give it once.")
        units[name] = unit
    return units


def split_known(texts: Iterable[str]) -> dict[str, str]:
    """Return named constants by name, as texts that are not read yet.

    Examples:
        >>> split_known(["g=9.80665 m/s**2", "c = speed_of_light"])
        {'g': '9.80665 m/s**2', 'c': 'speed_of_light'}
    """
    known: dict[str, str] = {}
    for text in texts:
        name, equals, quantity = (part.strip() for part in text.partition("="))
        if not (name and equals and quantity):
            raise UnitError(f"'{shorten(text)}' is not NAME=QUANTITY. Write for example: g=9.80665 m/s**2")
        if name in known:
            raise UnitError(f"The constant '{shorten(name)}' is given twice. Give it once.")
        known[name] = quantity
    return known
