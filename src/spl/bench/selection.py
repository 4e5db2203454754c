"""Lists of seeds, problems, levels of noise and sampling rates as text on the command line, and seeds in reports."""

import math
import re
from collections.abc import Iterable, Sequence

from spl.datasets.nguyen import Problem
from spl.errors import SettingError

MAX_NUMBERS = 100_000
_PREFIX = "Nguyen-"
_NUMBER_RANGE = re.compile(r"(\d+)-(\d+)")


def parse_seeds(text: str) -> list[int]:
    """Return the seeds that a text such as `0-99` or `0,3,7-9` names, each once.

    Examples:
        >>> parse_seeds("0,3,7-9")
        [0, 3, 7, 8, 9]
        >>> parse_seeds("some")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: 'some' is not a list of seeds. Write for example 0-99, or 0,3,7-9.
    """
    return _parse_numbers(text, "seeds")


def parse_formulas(text: str) -> list[int]:
    """Return the numbers of the random formulas that a text such as `0-199` names, each once.

    Examples:
        >>> parse_formulas("0-2,17")
        [0, 1, 2, 17]
    """
    return _parse_numbers(text, "formulas")


def parse_rates(text: str) -> list[int]:
    """Return the numbers of samples per turn that a text such as `40,20` names, each once.

    Examples:
        >>> parse_rates("40,20,5-7")
        [40, 20, 5, 6, 7]
    """
    return _parse_numbers(text, "numbers of samples")


def parse_noise(text: str) -> list[float]:
    """Return the levels of noise that a text such as `0,0.01` names, each once.

    Examples:
        >>> parse_noise("0,0.01")
        [0.0, 0.01]
        >>> parse_noise("1%")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: '1%' is not a level of noise. Write for example 0,0.01 for none and 1 percent.
    """
    levels: dict[float, None] = {}
    for word in _words(text):
        try:
            level = float(word)
        except ValueError:
            level = math.nan
        if not 0 <= level < math.inf:
            raise SettingError(f"'{word}' is not a level of noise. Write for example 0,0.01 for none and 1 percent.")
        levels[level] = None
    if not levels:
        raise SettingError("No level of noise is named. Write for example 0,0.01 for none and 1 percent.")
    return list(levels)


def parse_problems(text: str, known: Sequence[Problem]) -> list[Problem]:
    """Return the problems that a text such as `1-12,5c,6-code` names, each once, in the order of the known ones.

    Examples:
        >>> from spl.datasets import nguyen_problems
        >>> [problem.name for problem in parse_problems("9c,1-2,Nguyen-6-code", nguyen_problems())]
        ['Nguyen-1', 'Nguyen-2', 'Nguyen-6-code', 'Nguyen-9c']
    """
    names = [problem.name.removeprefix(_PREFIX) for problem in known]
    wanted: set[str] = set()
    for word in _words(text):
        short = word[len(_PREFIX) :] if word.lower().startswith(_PREFIX.lower()) else word
        found = [str(number) for number in _parse_range(short)] or [short]
        unknown = [name for name in found if name not in names]
        if unknown:
            raise SettingError(
                f"There is no problem '{unknown[0]}'. Choose from: {', '.join(names)}; 1-4 means 1,2,3,4."
            )
        wanted |= set(found)
    if not wanted:
        raise SettingError(f"No problem is named. Choose from: {', '.join(names)}.")
    return [problem for problem, name in zip(known, names, strict=True) if name in wanted]


def spell_numbers(numbers: Iterable[int]) -> str:
    """Return whole numbers as `parse_seeds` reads them.

    Examples:
        >>> spell_numbers([3, 0, 1, 2, 7])
        '0-3,7'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _parse_numbers(text: str, what: str) -> list[int]:
    found: dict[int, None] = {}
    for word in _words(text):
        numbers = [int(word)] if word.isdecimal() else _parse_range(word)
        if not numbers:
            raise SettingError(f"'{word}' is not a list of {what}. Write for example 0-99, or 0,3,7-9.")
        if len(numbers) > MAX_NUMBERS:
            raise SettingError(f"'{word}' names {len(numbers):,} {what}; name at most {MAX_NUMBERS:,}.")
        found |= dict.fromkeys(numbers)
    if not found:
        raise SettingError(f"No {what} are named. Write for example 0-99, or 0,3,7-9.")
    return list(found)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def _parse_range(word: str) -> range:
    """Return the numbers of a range such as `3-7`; empty if the word is not a range or runs backwards."""
    match = _NUMBER_RANGE.fullmatch(word)
    return range(int(match[1]), int(match[2]) + 1) if match else range(0)
