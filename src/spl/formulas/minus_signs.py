"""Minus signs: put before a part of a formula, and moved for grammars that have no unary minus."""

from collections.abc import Iterator

from spl.formulas.operators import EVEN_FUNCTIONS, ODD_FUNCTIONS
from spl.formulas.program import Program, join_programs
from spl.formulas.text import CONSTANT_TOKEN, exponent_of
from spl.kernels.programs import tokens as tk


def put_minus_before(program: Program) -> Program:
    """Return the program with a minus sign before it."""
    return Program((tk.NEG, *program.tokens), program.vocabulary, program.constants)


def move_minus(program: Program) -> Iterator[Program]:
    """Yield the program with its first minus sign elsewhere: in a sum above it, inside its argument, or as a factor of -1.

    The factor is a constant to be fitted; a formula that already has the most constants allowed gets none.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> words = Vocabulary(variables=("x", "y"))
        >>> [to_text(moved) for moved in move_minus(parse_expression("x + y*(-sin(x - y))", words))]
        ['x - y*sin(x - y)', 'x + y*sin(y - x)', 'x + y*(-1*sin(x - y))']
    """
    if tk.NEG not in program.tokens:
        return
    position = program.tokens.index(tk.NEG)
    part = program.part(position + 1)
    negated_above = _negate_above(program.with_part(position, part), position)
    if negated_above is not None:
        yield negated_above
    negated = _negate_inside(part)
    if negated is not None:
        yield program.with_part(position, negated)
    if program.n_constants < tk.MAX_CONSTANTS and len(program) < tk.MAX_PROGRAM_LENGTH:
        scaled = Program((tk.MUL, CONSTANT_TOKEN, *part.tokens), part.vocabulary, (-1.0, *part.constants))
        yield program.with_part(position, scaled)


def _negate_above(program: Program, position: int) -> Program | None:
    """Return the program with the part at a position negated, by a sum or an even function above it; None if there is neither."""
    parents = program.parents()
    while position:
        parent = parents[position]
        token = program.tokens[parent]
        if _is_even(token):
            return program
        if token in (tk.ADD, tk.SUB):
            left, right = (program.part(argument) for argument in program.arguments_of(parent))
            if position != parent + 1:
                return program.with_part(parent, join_programs(tk.SUB if token == tk.ADD else tk.ADD, left, right))
            if token == tk.ADD:
                return program.with_part(parent, join_programs(tk.SUB, right, left))
            program = program.with_part(parent, join_programs(tk.ADD, left, right))
        elif token not in (tk.MUL, tk.DIV) and not _is_odd(token):
            return None
        position = parent
    return None


def _negate_inside(program: Program) -> Program | None:
    """Return a program with negated values and no unary minus, or None."""
    token = program.tokens[0]
    if token == CONSTANT_TOKEN:
        return Program(program.tokens, program.vocabulary, (-program.constants[0],))
    arguments = program.arguments_of(0)
    parts = [program.part(argument) for argument in arguments]
    if token == tk.SUB:
        return join_programs(tk.SUB, parts[1], parts[0])
    if token == tk.ADD:
        for k in range(2):
            negated = _negate_inside(parts[k])
            if negated is not None:
                return join_programs(tk.SUB, negated, parts[1 - k])
    if token in (tk.MUL, tk.DIV) or _is_odd(token):
        for argument, part in zip(arguments, parts, strict=True):
            negated = _negate_inside(part)
            if negated is not None:
                return program.with_part(argument, negated)
    return None


def _is_odd(token: int) -> bool:
    exponent = exponent_of(token)
    return token in ODD_FUNCTIONS or (exponent is not None and exponent % 2 == 1)


def _is_even(token: int) -> bool:
    exponent = exponent_of(token)
    return token in EVEN_FUNCTIONS or (exponent is not None and exponent % 2 == 0)
