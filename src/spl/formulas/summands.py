"""The summands of a formula: the parts whose sum it is, each with the constant that is its factor."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce

from spl.formulas.minus_signs import put_minus_before
from spl.formulas.program import Program, join_programs
from spl.kernels.programs import tokens as tk


@dataclass(frozen=True, slots=True)
class Summand:
    """A part of a sum."""

    part: Program  # with its sign
    factor: int  # which of the constants of the whole formula is its factor
    constants: tuple[int, ...]  # which of them it contains, the factor included


def split_sum(program: Program) -> list[Summand]:
    """Return the summands of a formula that have a constant as a factor; see `numbers_to_constants`, which gives each one.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C*x - C*y/(C + y)", Vocabulary(("x", "y"))).with_constants([2.0, 3.0, 4.0])
        >>> [(to_text(each.part), each.factor, each.constants) for each in split_sum(program)]
        [('2*x', 0, (0,)), ('-(3*y/(4 + y))', 1, (1, 2))]
    """
    found = []
    for position, is_negative in _positions(program, 0, is_negative=False):
        factor = _find_factor(program, position)
        if factor is not None:
            part = program.part(position)
            first = program.count_constants(position)
            inside = tuple(range(first, first + part.n_constants))
            found.append(
                Summand(put_minus_before(part) if is_negative else part, program.count_constants(factor), inside)
            )
    return found


def without_summands(program: Program, dropped: Collection[Summand]) -> Program | None:
    """Return the formula without some of its summands; None if nothing is left.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C*x - C*y + C", Vocabulary(("x", "y"))).with_constants([2.0, 3.0, 4.0])
        >>> to_text(without_summands(program, split_sum(program)[:1]))
        '-(3*y) + 4'
    """
    gone = {summand.factor for summand in dropped}
    parts = [
        put_minus_before(program.part(position)) if is_negative else program.part(position)
        for position, is_negative in _positions(program, 0, is_negative=False)
        if (factor := _find_factor(program, position)) is None or program.count_constants(factor) not in gone
    ]
    return reduce(lambda one, two: join_programs(tk.ADD, one, two), parts) if parts else None


def _positions(program: Program, position: int, *, is_negative: bool) -> Iterator[tuple[int, bool]]:
    """Yield where the summands below a position begin, and whether a minus sign is before them."""
    token = program.tokens[position]
    if token not in (tk.ADD, tk.SUB, tk.NEG):
        yield position, is_negative
        return
    sides = program.arguments_of(position)
    yield from _positions(program, sides[0], is_negative=is_negative ^ (token == tk.NEG))
    for side in sides[1:]:
        yield from _positions(program, side, is_negative=is_negative ^ (token == tk.SUB))


def _find_factor(program: Program, position: int) -> int | None:
    """Return the position of a constant that multiplies all that begins at a position; None if there is none."""
    token = program.tokens[position]
    if token >> tk.KIND_SHIFT == tk.CONSTANT:
        return position
    if token not in (tk.MUL, tk.DIV, tk.NEG):
        return None
    sides = program.arguments_of(position)
    for side in sides if token == tk.MUL else sides[:1]:
        factor = _find_factor(program, side)
        if factor is not None:
            return factor
    return None
