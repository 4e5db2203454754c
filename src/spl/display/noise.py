"""The noise of a result in words: which model, how large, why; which rows are outliers, and how much of the target is explained."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spl.data.dataset import Dataset
from spl.errors import count_noun

if TYPE_CHECKING:
    from spl.regression.noise_choice import NoiseChoice  # it imports the kernels, which are slow

MAX_LISTED = 20  # outliers
LOSS_WORDS = {
    True: "root mean square error",
    False: "error of even noise as likely",
}  # what a loss is, if least squares and if not
_DIGITS = 2  # of the size of the noise: it is an estimate


def noise_line(noise: "NoiseChoice", data: Dataset) -> str:
    """Return the noise model with its size and the reason for it; nothing if there is nothing to say about the noise.

    Examples:
        >>> from spl.regression.noise_choice import NoiseChoice
        >>> data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0])
        >>> noise_line(NoiseChoice("relative", {"relative error": 0.051}, reason="as asked for"), data)
        'Noise: relative, 5.1 % of the value (as asked for).'
    """
    name, size, reason = describe_noise(noise, data)
    if not name:
        return ""
    return f"Noise: {name}{f', {size}' if size else ''}{f' ({reason})' if reason else ''}."


def describe_noise(noise: "NoiseChoice", data: Dataset) -> tuple[str, str, str]:
    """Return the name of the noise model, how large the noise is, and why the model was chosen; empty if there is no noise."""
    is_plain = noise.name == "normal" and not noise.numbers and data.sigma is None
    return ("", "", "") if is_plain else (noise.name, noise_size(noise, has_bars=data.sigma is not None), noise.reason)


def is_least_squares(noise: "NoiseChoice", data: Dataset) -> bool:
    """Return whether the losses of formulas are root mean square errors: noise is normal, and nothing is known of its size."""
    return noise.name == "normal" and data.sigma is None and data.sigma_columns is None


def noise_size(noise: "NoiseChoice", *, has_bars: bool) -> str:
    """Return how large the noise is; with error bars, compared to them.

    Examples:
        >>> from spl.regression.noise_choice import NoiseChoice
        >>> noise_size(NoiseChoice("student", {"degrees of freedom": 1.0, "scale": 0.0213}), has_bars=False)
        '0.021 besides the outliers'
        >>> noise_size(NoiseChoice("normal"), has_bars=True)
        'as large as the error bars say'
    """
    numbers = {name: f"{value:.{_DIGITS}g}" for name, value in noise.numbers.items()}
    parts = []
    if "relative error" in numbers:
        parts.append(f"{100 * noise.numbers['relative error']:.{_DIGITS}g} % of the value")
    if "even error" in numbers:
        parts.append(f"{numbers['even error']} everywhere")
    besides = " besides the outliers" if noise.name == "student" else ""
    if "standard deviation" in numbers:
        parts.append(f"standard deviation {numbers['standard deviation']}{besides}")
    if "typical error" in numbers:
        parts.append(f"typical error {numbers['typical error']}")
    if "scale" in numbers and not has_bars:
        parts.append(f"{numbers['scale']}{besides}")
    if has_bars:
        parts.append(_say_bars(noise))
    return " and ".join(parts)


def _say_bars(noise: "NoiseChoice") -> str:
    factor = noise.numbers.get("factor of the error bars", noise.numbers.get("scale", 1.0))
    besides = " besides the outliers" if noise.name == "student" else ""
    if f"{factor:.{_DIGITS}g}" == "1":
        return f"as large as the error bars say{besides}"
    return f"{factor:.{_DIGITS}g} times the error bars{besides}"


# ---- outliers ------------------------------------------------------------------------------------


def outliers_line(outliers: Sequence[int], data: Dataset) -> str:
    """Return how many outliers there are and where the first of them are; nothing if there are none.

    Examples:
        >>> outliers_line([1], Dataset.from_arrays([[1.0], [2.0]], [3.0, 60.0]))
        'Outliers: 1 of 2 rows: row 1.'
    """
    if not outliers:
        return ""
    return f"Outliers: {len(outliers):,} of {count_noun(data.n_rows, 'row')}: {list_places(outliers, data)}."


def list_places(rows: Sequence[int], data: Dataset) -> str:
    """Return the places of rows, the first twenty of them: lines of a file, or rows counted from 0.

    Examples:
        >>> list_places([0, 2], Dataset.from_arrays([[1.0], [2.0], [3.0]], [3.0, 6.0, 9.0]))
        'rows 0, 2'
    """
    word = "row" if data.places is None else data.places.word
    numbers = find_places(rows[:MAX_LISTED], data)
    rest = f" and {len(rows) - MAX_LISTED:,} more" if len(rows) > MAX_LISTED else ""
    return f"{word if len(rows) == 1 else f'{word}s'} {', '.join(map(str, numbers))}{rest}"


def find_places(rows: Sequence[int], data: Dataset) -> list[int]:
    """Return where rows were in what the user gave."""
    return list(rows) if data.places is None else [int(data.places.numbers[row]) for row in rows]


# ---- quality -------------------------------------------------------------------------------------


def quality_words(r2: float | None, r2_without_outliers: float | None = None, *, symbol: str = "R2 ") -> str:
    """Return R2 in words. If there are outliers, R2 of the other rows comes first: theirs are what it would mostly be about.

    Examples:
        >>> quality_words(0.41, 0.9987)
        'R2 0.998700 without the outliers, 0.410000 with them'
    """
    if r2_without_outliers is not None:
        rest = "" if r2 is None else f", {r2:.6f} with them"
        return f"{symbol}{r2_without_outliers:.6f} without the outliers{rest}"
    return "" if r2 is None else f"{symbol}{r2:.6f}"


def plain_noise(noise: "NoiseChoice") -> dict[str, object]:
    """Return a noise model as values for JSON; what JSON cannot represent is None."""
    return {
        "name": noise.name,
        "numbers": _finite_or_none(noise.numbers),
        "others": _finite_or_none(noise.others),
        "reason": noise.reason,
    }


def _finite_or_none(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {name: number if math.isfinite(number) else None for name, number in numbers.items()}
