"""Numbers as constants and back: a formula gets constants for all its numbers, for another fit, and then simple numbers again."""

from collections.abc import Collection, Sequence

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk

_SUMS = (tk.ADD, tk.SUB, tk.NEG)
_PRODUCTS = (tk.MUL, tk.DIV)


def numbers_to_constants(program: Program, *, kept: Collection[float] = (), has_factors: bool = True) -> Program:
    """Return the program with a constant for each number, and as a factor of each term that has none.

    Numbers in `kept` stay. With `has_factors=False`, terms get no new factors.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> fitted = numbers_to_constants(parse_expression("x*y - 3*z", Vocabulary(("x", "y", "z"))))
        >>> to_text(fitted), fitted.constants
        ('1*(x*y) - 3*z', (1.0, 3.0))
    """
    bare = set(_bare_terms(program, 0)) if has_factors else set()
    tokens: list[int] = []
    constants: list[float] = []

    def add_constant(value: float) -> None:
        tokens.append(CONSTANT_TOKEN)
        constants.append(value)

    def write(position: int) -> None:
        token = program.tokens[position]
        number = _number_at(program, position, kept)
        if position in bare:
            tokens.append(tk.MUL)
            add_constant(1.0)
        if number is not None:
            add_constant(number)
            return
        parts = program.arguments_of(position)
        factor = _number_at(program, parts[1], kept) if token in _PRODUCTS else None
        if factor:  # numbers come first, and in the numerator
            tokens.append(tk.MUL)
            add_constant(factor if token == tk.MUL else 1.0 / factor)
            write(parts[0])
            return
        tokens.append(token)
        for part in parts:
            write(part)

    write(0)
    if len(constants) > tk.MAX_CONSTANTS or len(tokens) > tk.MAX_PROGRAM_LENGTH:
        return program
    return Program(tuple(tokens), program.vocabulary, tuple(constants))


def literals_to_constants(program: Program, kept: Collection[float] = ()) -> Program:
    """Return the formula with a constant for each literal that is not in `kept`, token by token.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> literals_to_constants(parse_expression("2*x - 3", Vocabulary(("x",))), kept=(3.0,)).constants
        (2.0,)
    """
    tokens, constants = list(program.tokens), []
    for position in range(len(tokens)):
        number = _number_at(program, position, kept)
        if number is not None:
            tokens[position] = CONSTANT_TOKEN
            constants.append(number)
    return Program(tuple(tokens), program.vocabulary, tuple(constants))


def _number_at(program: Program, position: int, kept: Collection[float]) -> float | None:
    """Return the number at a position if it is to become a constant, or None."""
    token = program.tokens[position]
    kind = token >> tk.KIND_SHIFT
    if kind == tk.CONSTANT:
        return program.constants[program.count_constants(position)]
    if kind == tk.LITERAL:
        value = program.vocabulary.literals[token & tk.PAYLOAD_MASK]
        return None if value in kept else value
    return None


def constants_to_numbers(program: Program, numbers: Sequence[float | None], *, keeps_ones: bool = False) -> Program:
    """Return the program with numbers for some of its constants; None keeps a constant.

    A factor of 1 is left out, unless with `keeps_ones`: it may have a unit.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> fitted = numbers_to_constants(parse_expression("x - 2.9*y", Vocabulary(("x", "y"))))
        >>> to_text(constants_to_numbers(fitted, [1.0, 3.0]))
        'x - 3*y'
    """
    vocabulary = program.vocabulary
    tokens: list[int] = []
    constants: list[float] = []
    place = 0
    for token in program.tokens:
        if token >> tk.KIND_SHIFT != tk.CONSTANT:
            tokens.append(token)
            continue
        number, value = numbers[place], program.constants[place]
        place += 1
        if number is None:
            tokens.append(token)
            constants.append(value)
        elif number == 1.0 and tokens and tokens[-1] == tk.MUL and not keeps_ones:
            tokens.pop()
        else:
            vocabulary = vocabulary.with_literal(number)
            tokens.append(vocabulary.literal_token(number))
    return Program(tuple(tokens), vocabulary, tuple(constants))


def _bare_terms(program: Program, position: int) -> list[int]:
    """Return the positions of the terms of a sum that have no number as a factor."""
    if program.tokens[position] in _SUMS:
        return [term for part in program.arguments_of(position) for term in _bare_terms(program, part)]
    return [] if _has_factor(program, position) else [position]


def _has_factor(program: Program, position: int) -> bool:
    token = program.tokens[position]
    if token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL):
        return True
    if token in _SUMS:  # a factor in all terms is a factor of the sum
        return all(_has_factor(program, part) for part in program.arguments_of(position))
    return token in _PRODUCTS and any(_has_factor(program, part) for part in program.arguments_of(position))
