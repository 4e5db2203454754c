"""The dimension of a quantity: a product of powers of base dimensions, such as length/time**2."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

MAX_DENOMINATOR = 12  # of the exponents


@dataclass(frozen=True, slots=True)
class Dimension:
    """Base dimensions with their exponents, sorted by name; none of them is 0.

    Examples:
        >>> speed = Dimension.of({"length": 1, "time": -1})
        >>> str(speed * speed), str(speed ** Fraction(1, 2)), str(speed / speed)
        ('length**2/time**2', 'length**(1/2)/time**(1/2)', '1')
    """

    powers: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def of(cls, powers: Mapping[str, Fraction | int]) -> "Dimension":
        """Return the dimension with these exponents."""
        return cls(tuple(sorted((base, Fraction(power)) for base, power in powers.items() if power)))

    @property
    def is_none(self) -> bool:
        """Whether it is that of a pure number."""
        return not self.powers

    def power_of(self, base: str) -> Fraction:
        """Return the exponent of a base dimension."""
        return dict(self.powers).get(base, Fraction(0))

    def __mul__(self, other: "Dimension") -> "Dimension":
        powers = dict(self.powers)
        for base, power in other.powers:
            powers[base] = powers.get(base, Fraction(0)) + power
        return Dimension.of(powers)

    def __truediv__(self, other: "Dimension") -> "Dimension":
        return self * other ** Fraction(-1)

    def __pow__(self, exponent: Fraction) -> "Dimension":
        return Dimension.of({base: power * exponent for base, power in self.powers})

    def __str__(self) -> str:
        above = "*".join(_write(base, power) for base, power in self.powers if power > 0) or "1"
        below = [_write(base, -power) for base, power in self.powers if power < 0]
        if not below:
            return above
        return f"{above}/{below[0]}" if len(below) == 1 else f"{above}/({'*'.join(below)})"


NO_DIMENSION = Dimension()


def bases_of(dimensions: Iterable[Dimension]) -> tuple[str, ...]:
    """Return the base dimensions that occur, sorted."""
    return tuple(sorted({base for dimension in dimensions for base, _ in dimension.powers}))


def exact_fraction(value: float) -> Fraction | None:
    """Return the simple fraction that a number is, such as 1/3 for 0.333...; None if it is none.

    Examples:
        >>> exact_fraction(1 / 3), exact_fraction(-2.5), exact_fraction(0.123)
        (Fraction(1, 3), Fraction(-5, 2), None)
    """
    if not abs(value) < 1e6:
        return None
    nearest = Fraction(value).limit_denominator(MAX_DENOMINATOR)
    return nearest if abs(float(nearest) - value) <= 1e-12 * max(1.0, abs(value)) else None


def _write(base: str, power: Fraction) -> str:
    if power == 1:
        return base
    return f"{base}**{power}" if power.denominator == 1 else f"{base}**({power})"
