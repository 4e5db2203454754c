"""The dimension of a formula, worked out from its leaves: which dimension it has, or where it contradicts itself.

The dimensions of its numbers may be unknown. Then each part has a dimension that depends on these unknowns, and what must be equal
(the terms of a sum) or without dimension (the argument of a function) gives linear equations for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from spl.formulas.operators import BY_OPCODE
from spl.formulas.program import Program
from spl.formulas.text import exponent_of, to_text
from spl.kernels.programs import tokens as tk
from spl.units.dimension import NO_DIMENSION, Dimension, exact_fraction

EQUAL_ARGUMENTS = (tk.ADD, tk.SUB, tk.MIN, tk.MAX)
MESSAGE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Known:
    """A dimension times powers of the unknown dimensions of numbers."""

    dimension: Dimension
    unknowns: tuple[tuple[int, Fraction], ...] = ()  # position of a number, exponent other than 0

    def __mul__(self, other: "Known") -> "Known":
        powers = dict(self.unknowns)
        for number, power in other.unknowns:
            powers[number] = powers.get(number, Fraction(0)) + power
        return Known(
            self.dimension * other.dimension,
            tuple(sorted((number, power) for number, power in powers.items() if power)),
        )

    def __pow__(self, exponent: Fraction) -> "Known":
        unknowns = tuple((number, power * exponent) for number, power in self.unknowns) if exponent else ()
        return Known(self.dimension**exponent, unknowns)

    def __truediv__(self, other: "Known") -> "Known":
        return self * other ** Fraction(-1)


NOTHING = Known(NO_DIMENSION)


@dataclass(frozen=True, slots=True)
class Inference:
    """What follows for a formula."""

    dimension: Dimension | None  # None if it contradicts itself
    conflict: str = ""  # in words
    place: int = 0  # the position of the part whose dimension is wrong
    numbers: tuple[
        tuple[int, Dimension | None], ...
    ] = ()  # if they are free: their positions and dimensions; None where any would do


def infer_dimension(
    program: Program,
    variables: Sequence[Dimension],
    target: Dimension | None = None,
    *,
    are_numbers_free: bool = False,
) -> Inference:
    """Return the dimension of a formula, or why it has none.

    Numbers have no dimension, unless they are free to have any. Roots and whole powers take roots and powers of dimensions;
    other functions, operators of your own among them, need and give pure numbers.

    Args:
        program: the formula.
        variables: the dimension of each of its variables.
        target: the dimension that it must have; None for any.
        are_numbers_free: whether numbers may have whatever dimensions they need.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> length, time = Dimension.of({"length": 1}), Dimension.of({"time": 1})
        >>> def infer(text):
        ...     return infer_dimension(parse_expression(text, Vocabulary(("x", "t"))), (length, time))
        >>> str(infer("x/t**2").dimension), infer("x + t").conflict
        ('length/time**2', 'x has the dimension length, t has time: they cannot be added')
        >>> infer("sin(t)").conflict
        'sin needs a pure number, but t has the dimension time'
    """
    equations = _Equations()
    parts: list[tuple[Known, int]] = []  # of the arguments to come, with their positions
    free: list[int] = []
    for position in range(len(program) - 1, -1, -1):
        token = program.tokens[position]
        arguments = [parts.pop() for _ in range(program.vocabulary.arity_of(token))]
        if are_numbers_free and token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL):
            free.append(position)
            parts.append((Known(NO_DIMENSION, ((position, Fraction(1)),)), position))
            continue
        found = _apply(program, token, arguments, variables, equations)
        if isinstance(found, _Conflict):
            return Inference(None, found.words, found.place)
        parts.append((found, position))
    whole = parts.pop()[0]
    if target is not None and not equations.demand(whole / Known(target)):
        return Inference(None, f"it has the dimension {whole.dimension} instead of {target}")
    numbers = tuple((position, equations.solution(position)) for position in reversed(free))
    return Inference(equations.reduce(whole).dimension, numbers=numbers)


class _Conflict(NamedTuple):
    """What is wrong with the dimensions of a formula, and the position of the part that does not fit."""

    words: str
    place: int


def _apply(
    program: Program,
    token: int,
    arguments: list[tuple[Known, int]],
    variables: Sequence[Dimension],
    equations: "_Equations",
) -> "Known | _Conflict":
    """Return the dimension of an operator of its arguments, or what is wrong."""
    kind = token >> tk.KIND_SHIFT
    if kind == tk.VARIABLE:
        return Known(variables[token & tk.PAYLOAD_MASK])
    if not arguments:
        return NOTHING
    first, at = arguments[0]
    if token in EQUAL_ARGUMENTS:
        second, other = arguments[1]
        if equations.demand(first / second):
            return first
        return _Conflict(
            f"{_show(program, at)} has the dimension {equations.reduce(first).dimension}, {_show(program, other)} has "
            f"{equations.reduce(second).dimension}: they cannot be {'added' if token in (tk.ADD, tk.SUB) else 'compared'}",
            other,
        )
    if token == tk.MUL:
        return first * arguments[1][0]
    if token == tk.DIV:
        return first / arguments[1][0]
    exponent = _exponent(program, token, arguments)
    if exponent is not None:
        return first**exponent
    for dimension, place in arguments:
        if not equations.demand(dimension):
            name = "a power" if token == tk.POW else program.vocabulary.operator_of(token).name
            found = equations.reduce(dimension).dimension
            words = f"{name} needs a pure number, but {_show(program, place)} has the dimension {found}"
            return _Conflict(words, place)
    return NOTHING


def _exponent(program: Program, token: int, arguments: list[tuple[Known, int]]) -> Fraction | None:
    """Return d for operators that make a**d of the dimension a; 0 for the sign; None for all others."""
    if token >> tk.KIND_SHIFT == tk.POWER:
        return exact_fraction(exponent_of(token) or 0.0)
    if token == tk.SIGN:
        return Fraction(0)
    if token == tk.POW:
        return _value_at(program, arguments[1][1])
    degree = BY_OPCODE[token].traits.degree if token in BY_OPCODE else None
    return None if degree is None else exact_fraction(degree)


def _value_at(program: Program, position: int) -> Fraction | None:
    """Return the simple fraction that stands at a position; None if something else does."""
    token = program.tokens[position]
    kind = token >> tk.KIND_SHIFT
    if kind == tk.LITERAL:
        return exact_fraction(program.vocabulary.literals[token & tk.PAYLOAD_MASK])
    if kind == tk.CONSTANT:
        return exact_fraction(program.constants[program.count_constants(position)])
    if token == tk.NEG:
        inner = _value_at(program, position + 1)
        return None if inner is None else -inner
    return None


def _show(program: Program, position: int) -> str:
    return to_text(program.part(position), MESSAGE_DIGITS)


class _Equations:
    """Linear equations for the unknown dimensions of numbers, solved as they come."""

    def __init__(self) -> None:
        self._solved: dict[int, Known] = {}

    def demand(self, nothing: Known) -> bool:
        """Take in that something has no dimension; return whether that is possible."""
        reduced = self.reduce(nothing)
        if not reduced.unknowns:
            return reduced.dimension.is_none
        number, power = reduced.unknowns[-1]
        rest = Known(reduced.dimension, reduced.unknowns[:-1]) ** (-1 / power)
        self._solved = {each: _replace(known, number, rest) for each, known in self._solved.items()} | {number: rest}
        return True

    def reduce(self, known: Known) -> Known:
        """Return the same with what is already solved put in."""
        for number, _ in known.unknowns:
            if number in self._solved:
                known = _replace(known, number, self._solved[number])
        return known

    def solution(self, number: int) -> Dimension | None:
        """Return the dimension of a number; None if any would do."""
        found = self._solved.get(number)
        return None if found is None or found.unknowns else found.dimension


def _replace(known: Known, number: int, by: Known) -> Known:
    power = dict(known.unknowns).get(number)
    if power is None:
        return known
    rest = Known(known.dimension, tuple(pair for pair in known.unknowns if pair[0] != number))
    return rest * by**power
