"""Minus signs: put before a part of a formula, and moved to where a grammar without a minus sign of its own has room for them."""

from collections.abc import Iterator

from spl.formulas.operators import EVEN_FUNCTIONS, ODD_FUNCTIONS
from spl.formulas.program import Program, join
from spl.formulas.text import CONSTANT_TOKEN, exponent_of
from spl.kernels.programs import tokens as tk


def put_minus_before(program: Program) -> Program:
    """Return the program with a minus sign before it."""
    return Program((tk.NEG, *program.tokens), program.vocabulary, program.constants)


def move_minus(program: Program) -> Iterator[Program]:
    """Yield the program with its first minus sign elsewhere: in a sum above it, inside what it stands before, as a factor of -1.

    The factor is a number to be fitted; a formula that has as many as there may be gets none.

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
    lifted = _lift(program.with_part(position, part), position)
    if lifted is not None:
        yield lifted
    turned = _turn(part)
    if turned is not None:
        yield program.with_part(position, turned)
    if program.n_constants < tk.MAX_CONSTANTS and len(program) < tk.MAX_LENGTH:
        scaled = Program((tk.MUL, CONSTANT_TOKEN, *part.tokens), part.vocabulary, (-1.0, *part.constants))
        yield program.with_part(position, scaled)


def _lift(program: Program, position: int) -> Program | None:
    """Return the program as if a minus sign stood before the part at a position, moved into a sum or even function above it."""
    parents = program.parents()
    while position:
        parent = parents[position]
        token = program.tokens[parent]
        if _is_even(token):
            return program
        if token in (tk.ADD, tk.SUB):
            left, right = (program.part(argument) for argument in program.arguments_of(parent))
            if position != parent + 1:
                return program.with_part(parent, join(tk.SUB if token == tk.ADD else tk.ADD, left, right))
            if token == tk.ADD:
                return program.with_part(parent, join(tk.SUB, right, left))
            program = program.with_part(parent, join(tk.ADD, left, right))
        elif token not in (tk.MUL, tk.DIV) and not _is_odd(token):
            return None
        position = parent
    return None


def _turn(program: Program) -> Program | None:
    """Return a program whose values have the other sign, without a minus sign before anything; None if there is none."""
    token = program.tokens[0]
    if token == CONSTANT_TOKEN:
        return Program(program.tokens, program.vocabulary, (-program.constants[0],))
    arguments = program.arguments_of(0)
    parts = [program.part(argument) for argument in arguments]
    if token == tk.SUB:
        return join(tk.SUB, parts[1], parts[0])
    if token == tk.ADD:
        for k in range(2):
            turned = _turn(parts[k])
            if turned is not None:
                return join(tk.SUB, turned, parts[1 - k])
    if token in (tk.MUL, tk.DIV) or _is_odd(token):
        for argument, part in zip(arguments, parts, strict=True):
            turned = _turn(part)
            if turned is not None:
                return program.with_part(argument, turned)
    return None


def _is_odd(token: int) -> bool:
    exponent = exponent_of(token)
    return token in ODD_FUNCTIONS or (exponent is not None and exponent % 2 == 1)


def _is_even(token: int) -> bool:
    exponent = exponent_of(token)
    return token in EVEN_FUNCTIONS or (exponent is not None and exponent % 2 == 0)
