"""Every error a user can cause, and the warnings they may see.

Any other exception is a bug in spl. A message says what is wrong, with the value, and what to do about it.
"""

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

SHOWN_TEXT = 40  # characters of a name or a piece of text that a message shows
SHOWN_PATH = 300  # characters of the path of a file
SHOWN_NAMES = 20  # names that a message lists
COMPARED_LENGTH, COMPARED_NAMES = 100, 2_000  # bounds on the names compared with a misspelt one, which is slow


class SplError(ValueError):
    """A mistake in what the user gave: the message names the value and the remedy.

    Examples:
        >>> raise SplError("`timeout` must be more than 0; got -1.")
        Traceback (most recent call last):
        ...
        spl.errors.SplError: `timeout` must be more than 0; got -1.
    """


class GrammarError(SplError):
    """A grammar that cannot be read or could never derive a formula.

    `line` and `column` say where, counted from 1; None if the mistake has no single place.
    """

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ExpressionError(SplError):
    """A formula that cannot be read."""


class KnowledgeError(SplError):
    """A statement about the law that cannot be read, or that no formula could keep.

    `column` says where in its text, counted from 1; None if the mistake has no single place.
    """

    def __init__(self, message: str, *, column: int | None = None) -> None:
        super().__init__(message)
        self.column = column


class OperatorError(SplError):
    """An operator that does not exist, or a function that cannot become one."""


class UnitError(SplError):
    """A unit that cannot be read, or units with which no formula is possible."""


class LossError(SplError):
    """A function that cannot be used as a loss."""


class DataError(SplError):
    """A table that cannot be searched."""


class SettingError(SplError):
    """A setting outside its range."""


class FormulaNotFound(SplError):
    """A search that ended before any formula fitted the data."""


class UndefinedError(SplError):
    """A formula that is undefined on rows where a value is needed; the message names the undefined part."""


class RunFileError(SplError):
    """A run file that cannot be read, written or continued."""


class WorkerError(SplError):
    """Worker processes that were lost, or that cannot run the task."""


class SearchInterrupted(UserWarning):
    """The search was stopped by hand; the result is the best so far."""


class RunFileWarning(UserWarning):
    """A run file that can no longer be written; the search continues without it."""


class SimulationEnded(UserWarning):
    """A simulation that ended early; later values are NaN."""


class UndefinedValues(UserWarning):
    """Rows on which a formula is undefined; their values are NaN."""


class Extrapolation(UserWarning):
    """Predictions outside of the data; the warning says which columns leave it, and how far."""


class DataRepaired(UserWarning):
    """Data that could not be used as given; the warning says what was changed or left out."""


class KernelsNotKept(UserWarning):
    """Compiled kernels that could not be kept on disk, or were damaged or deleted there: they are compiled again."""


class DoubtfulResult(UserWarning):
    """An answer that may be wrong; the warning says why."""


def shorten(text: str, length: int = SHOWN_TEXT) -> str:
    """Return a text for a message, cut to `length` characters.

    Examples:
        >>> shorten("x" * 100)
        'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    """
    return text if len(text) <= length else text[: length - 3] + "..."


def list_names(names: Sequence[str]) -> str:
    """Return names for a message, the first of them if there are many.

    Examples:
        >>> list_names(["a", "b"]), list_names(["a"] * 50)[-9:]
        ('a, b', 'a, a, ...')
    """
    return ", ".join(map(shorten, names[:SHOWN_NAMES])) + (", ..." if len(names) > SHOWN_NAMES else "")


def show_value(value: object) -> str:
    """Return a value for a message; Python refuses to print whole numbers of thousands of digits.

    Examples:
        >>> show_value("bad"), show_value(10**5000)
        ("'bad'", 'a whole number of thousands of digits')
    """
    try:
        return shorten(repr(value))
    except ValueError:
        return "a whole number of thousands of digits"


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return a question that suggests the nearest known name; empty if none is near.

    Examples:
        >>> suggest_name("sine", ["sin", "cos"])
        " Did you mean 'sin'?"
        >>> suggest_name("zeta", ["sin", "cos"])
        ''
    """
    short = (other for other in known if len(other) <= COMPARED_LENGTH)
    near = difflib.get_close_matches(name[:COMPARED_LENGTH], list(islice(short, COMPARED_NAMES)), n=1)
    return f" Did you mean '{shorten(near[0])}'?" if near else ""


def explain_unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return a message about a name that is none of the known ones: the nearest of them, or all if none is near.

    Examples:
        >>> explain_unknown("law", "hil", ["hill", "darcy"])
        "There is no law 'hil'. Did you mean 'hill'?"
        >>> explain_unknown("law", "ohm", ["hill", "darcy"])
        "There is no law 'ohm'. Choose from: hill, darcy."
    """
    remedy = suggest_name(name, known) or f" Choose from: {', '.join(known)}."
    return f"There is no {what} '{shorten(name)}'.{remedy}"


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    Examples:
        >>> count_noun(1, "row"), count_noun(1200, "row")
        ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
