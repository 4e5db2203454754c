"""Formulas with one number, term or function less: a search may find a law with one too many, but never the law itself."""

from collections.abc import Iterator

from spl.formulas.minus_signs import put_minus_before
from spl.formulas.program import Program, join_programs
from spl.kernels.programs import tokens as tk


def drop_one_term(program: Program) -> Iterator[Program]:
    """Yield the program without each of its terms in turn. A term is one side of a sum or difference.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> words = Vocabulary(variables=("x", "y"))
        >>> [to_text(shorter) for shorter in drop_one_term(parse_expression("sin(x) - y", words))]
        ['-y', 'sin(x)']
    """
    for position, token in enumerate(program.tokens):
        if token not in (tk.ADD, tk.SUB):
            continue
        for side in program.arguments_of(position):
            yield _leave_out(program, position, side)


def drop_one_number(program: Program) -> Iterator[Program]:
    """Yield the program with each of its constants in turn set to 0 and to 1, where that removes the constant.

    A factor of 0 removes its term from a sum; a factor of 1 or -1 is not written. Every grammar that has the program has these too.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C*x + C", Vocabulary(variables=("x",))).with_constants([-2.0, 3.0])
        >>> [to_text(shorter) for shorter in drop_one_number(program)]
        ['3', '-x + 3', '-2*x']
    """
    parents = program.parents()
    for position, token in enumerate(program.tokens):
        if token >> tk.KIND_SHIFT != tk.CONSTANT:
            continue
        vanished = _find_vanished(program, parents, position)
        if vanished is not None:
            yield _leave_out(program, parents[vanished], vanished)
        if position and _is_factor_or_divisor(program, parents[position], position):
            yield _leave_out_factor(program, parents[position], position)


def drop_zeros(program: Program) -> Program | None:
    """Return the program without the terms that constants of 0 remove from sums; None if such a constant removes none.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C*x + C", Vocabulary(variables=("x",)))
        >>> to_text(drop_zeros(program.with_constants([-2.0, 0.0])))
        '-2*x'
        >>> drop_zeros(parse_expression("C*x", Vocabulary(variables=("x",))).with_constants([0.0])) is None
        True
    """
    while 0.0 in program.constants:
        place = program.constants.index(0.0)
        constants = [position for position, token in enumerate(program.tokens) if token >> tk.KIND_SHIFT == tk.CONSTANT]
        parents = program.parents()
        vanished = _find_vanished(program, parents, constants[place])
        if vanished is None:
            return None
        program = _leave_out(program, parents[vanished], vanished)
    return program


def _find_vanished(program: Program, parents: list[int], position: int) -> int | None:
    """Return where the side of a sum begins that vanishes with the constant at a position, or None."""
    at = position
    while at:
        parent = parents[at]
        token = program.tokens[parent]
        if token in (tk.ADD, tk.SUB):
            return at
        is_factor = token in (tk.MUL, tk.NEG) or (token == tk.DIV and at == parent + 1)
        if not is_factor:
            return None
        at = parent
    return None


def _leave_out(program: Program, total: int, side: int) -> Program:
    """Return the program with a sum or difference replaced by the side that does not begin at `side`."""
    left, right = program.arguments_of(total)
    is_negative = side == left and program.tokens[total] == tk.SUB
    kept = program.part(right if side == left else left)
    return program.with_part(total, put_minus_before(kept) if is_negative else kept)


def _is_factor_or_divisor(program: Program, parent: int, position: int) -> bool:
    """Return whether the constant at a position multiplies or divides the other argument of its parent."""
    token = program.tokens[parent]
    return token == tk.MUL or (token == tk.DIV and position != parent + 1)


def _leave_out_factor(program: Program, product: int, position: int) -> Program:
    """Return the program with a product or quotient replaced by its other side, with the sign of the constant at a position."""
    left, right = program.arguments_of(product)
    is_negative = program.constants[program.count_constants(position)] < 0
    kept = program.part(right if position == left else left)
    return program.with_part(product, put_minus_before(kept) if is_negative else kept)


def drop_one_function(program: Program) -> Iterator[Program]:
    """Yield the program with each of its functions in turn replaced by its argument, and each quotient by a product.

    A function that is nearly a straight line on the data can be replaced by its argument.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> words = Vocabulary(variables=("x", "y"))
        >>> [to_text(plainer) for plainer in drop_one_function(parse_expression("sin(x)/(y + 2)", words))]
        ['sin(x)*(y + 2)', 'x/(y + 2)']
    """
    for position, token in enumerate(program.tokens):
        before, after = program.tokens[:position], program.tokens[position + 1 :]
        if token == tk.DIV:
            yield Program((*before, tk.MUL, *after), program.vocabulary, program.constants)
        elif token != tk.NEG and program.vocabulary.arity_of(token) == 1:
            yield Program((*before, *after), program.vocabulary, program.constants)


def replace_one_function_by_powers(program: Program) -> Iterator[Program]:
    """Yield the program with each of its functions in turn replaced by its argument, and by the square and cube of that.

    Over a short range, a function looks like a power: 1000 - 1000*cos(0.01*x) is x**2/20. Numbers that are added to the argument or
    multiply it are left out of squares and cubes; the formula has others for that. Formulas with more numbers than before are
    skipped. A fraction of a number and a sum with a number counts as a function.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C - C*cos(C*x)", Vocabulary(variables=("x",))).with_constants([900.0, 900.0, 0.01])
        >>> [to_text(straight) for straight in replace_one_function_by_powers(program)]
        ['900 - 900*(0.01*x)', '900 - 900*(x*x)', '900 - 900*(x*x*x)']
    """
    for position in range(len(program)):
        argument = _argument_of_function(program, position)
        if argument is None:
            continue
        yield _put_power(program, position, argument, 1)
        while (inner := _without_number(program, argument)) is not None:
            argument = inner
        for power in (2, 3):
            straight = _put_power(program, position, argument, power)
            if straight.n_constants <= program.n_constants and len(straight) <= tk.MAX_PROGRAM_LENGTH:
                yield straight


def _argument_of_function(program: Program, position: int) -> int | None:
    """Return where the argument of a function or the denominator of a fraction begins; None if there is neither."""
    token = program.tokens[position]
    if token == tk.DIV:
        numerator, denominator = program.arguments_of(position)
        has_number = program.tokens[numerator] >> tk.KIND_SHIFT == tk.CONSTANT
        return denominator if has_number and _without_number(program, denominator) is not None else None
    is_operator = token >> tk.KIND_SHIFT == tk.OPERATOR and token != tk.NEG
    return position + 1 if is_operator and program.vocabulary.arity_of(token) == 1 else None


def _without_number(program: Program, position: int) -> int | None:
    """Return where the other side of a sum with, product with or quotient by a constant begins, or None."""
    if program.tokens[position] not in (tk.ADD, tk.SUB, tk.MUL, tk.DIV):
        return None
    left, right = program.arguments_of(position)
    if program.tokens[right] >> tk.KIND_SHIFT == tk.CONSTANT:
        return left
    has_number = program.tokens[left] >> tk.KIND_SHIFT == tk.CONSTANT
    return right if has_number and program.tokens[position] != tk.DIV else None


def _put_power(program: Program, position: int, argument: int, power: int) -> Program:
    """Return the program with a function, or the denominator of a fraction, replaced by a power of one of its parts."""
    piece = program.part(argument)
    straight = piece
    for _ in range(power - 1):
        straight = join_programs(tk.MUL, straight, piece)
    if program.tokens[position] == tk.DIV:
        straight = join_programs(tk.MUL, program.part(position + 1), straight)  # the numerator becomes a factor
    return program.with_part(position, straight)
