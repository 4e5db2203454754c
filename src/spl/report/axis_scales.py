"""From values to positions in a chart: linear and logarithmic scales with round ticks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_TICKS = 5  # roughly, per axis
LARGEST_PLAIN = 100_000  # smaller whole numbers are written without an exponent
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_NARROWEST = 1e-9  # relative to the values: a smaller range shows only rounding


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values from `low` to `high` to positions from `begin` to `end`, in pixels.

    Examples:
        >>> scale = Scale(0.0, 10.0, begin=0.0, end=100.0)
        >>> scale.place(5.0), scale.ticks()
        (50.0, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
        >>> Scale(0.01, 100.0, 0.0, 1.0, is_log=True).ticks()
        [0.01, 0.1, 1.0, 10.0, 100.0]
    """

    low: float
    high: float
    begin: float
    end: float
    is_log: bool = False

    @classmethod
    def over(
        cls, values: Iterable[float], begin: float, end: float, *, margin: float = 0.05, is_log: bool = False
    ) -> "Scale":
        """Return a scale that shows all finite values; logarithmic only if all are above 0."""
        numbers = [float(value) for value in values if math.isfinite(value)] or [0.0, 1.0]
        is_log = is_log and min(numbers) > 0
        ends = (
            [math.log10(number) for number in (min(numbers), max(numbers))] if is_log else [min(numbers), max(numbers)]
        )
        size = max(abs(ends[0]), abs(ends[1]))
        if ends[1] - ends[0] <= _NARROWEST * size or ends[1] == ends[0]:
            room = 0.5 if is_log else 0.05 * size or 1.0
        else:
            room = margin * (ends[1] - ends[0])
        low, high = ends[0] - room, ends[1] + room
        return cls(10**low, 10**high, begin, end, is_log=True) if is_log else cls(low, high, begin, end)

    def place(self, value: float) -> float:
        """Return the position of a value."""
        low, high, value = (math.log10(v) if self.is_log else v for v in (self.low, self.high, value))
        return self.begin + (value - low) / (high - low) * (self.end - self.begin)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the positions of values on a linear scale."""
        share = (values - self.low) / (self.high - self.low)
        return np.asarray(self.begin + share * (self.end - self.begin))

    def ticks(self) -> list[float]:
        """Return round values on the scale, in order."""
        if not self.is_log:
            return _round_values(self.low, self.high)
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 2:  # few powers of ten: add round numbers between them
            between = [factor * 10.0**exponent for exponent in range(first - 1, last + 1) for factor in (1, 2, 5)]
            found = [tick for tick in between if self.low <= tick <= self.high]
            return found if len(found) > 1 else _round_values(self.low, self.high)
        every = max(1, -(-(last - first) // N_TICKS))
        return [10.0**exponent for exponent in range(first, last + 1, every)]


def _round_values(low: float, high: float) -> list[float]:
    rough = (high - low) / N_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _STEPS if factor * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12 - math.floor(math.log10(step))) for number in range(first, last + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Return ticks as text, with the fewest digits that show all of them exactly.

    Examples:
        >>> tick_labels([0.0, 0.5, 200.0]), tick_labels([1e-06, 0.001, 1.0])
        (['0', '0.5', '200'], ['1e−6', '0.001', '1'])
    """
    for digits in range(1, 16):
        labels = [_write_number(tick, digits) for tick in ticks]
        if all(
            math.isclose(float(text), tick, rel_tol=1e-9, abs_tol=1e-300)
            for text, tick in zip(labels, ticks, strict=True)
        ):
            break
    return [_shorten_exponent(label) for label in labels]


def _write_number(value: float, digits: int) -> str:
    is_plain = value == int(value) and abs(value) < LARGEST_PLAIN
    return f"{value:.0f}" if is_plain else f"{value:.{digits}g}"


def _shorten_exponent(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return (f"{mantissa}e{int(exponent)}" if exponent else mantissa).replace("-", "−")
