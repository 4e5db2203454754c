"""Variations of a structure: one more number, column or function at one place, or a number in place of a function.

A search among a few rows often ends beside the law: `C*h*exp(C*t) + C` for `C + (h - C)*exp(C*t)`, or `C*x**2 + C` without the root
around it. Such a formula is one step from the law, and a step is quickly fitted to a few groups.
"""

from collections.abc import Iterator, Sequence

from spl.formulas.program import Program, Vocabulary, join_programs
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk

FUNCTIONS = (tk.EXP, tk.LOG, tk.SQRT, tk.SQUARE, tk.SIN, tk.COS, tk.TANH)  # that are put around a part


def vary_one_part(program: Program, functions: Sequence[int] = FUNCTIONS) -> Iterator[Program]:
    """Yield the formula with each of its parts in turn shifted, scaled, or joined with a column, a number or a function.

    New numbers have values that change nothing, where there are such values.

    Args:
        program: the formula, with a constant for each number.
        functions: opcodes of the functions of one argument that the grammar has.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> line = parse_expression("C*x", Vocabulary(("x",))).with_constants([2.0])
        >>> [to_text(each) for each in vary_one_part(line, [tk.SQRT])][:6]
        ['2*x + 0', '1/(2*x)', '2*x + 0*x', '2*x*x', '2*x/x', '2*x + 0/x']
    """
    parents = program.parents()
    for position, token in enumerate(program.tokens):
        part = program.part(position)
        is_number = token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL)
        varied = list(_join_columns(part) if is_number else _vary(part, functions))
        if not is_number and not _is_scaled(program, parents, position):
            varied.append(join_programs(tk.MUL, _constant(part.vocabulary, 1.0), part))
        for other in varied:
            if len(program) - len(part) + len(other) <= tk.MAX_PROGRAM_LENGTH:
                yield program.with_part(position, other)


def _vary(part: Program, functions: Sequence[int]) -> Iterator[Program]:
    """Yield other parts in place of one that is not a number."""
    words = part.vocabulary
    yield join_programs(tk.ADD, part, _constant(words, 0.0))
    yield join_programs(tk.DIV, _constant(words, 1.0), part)
    yield from _join_columns(part)
    for opcode in functions:
        yield Program((opcode, *part.tokens), words, part.constants)
    argument = _without_functions(part)
    if len(argument) < len(part):
        yield join_programs(tk.ADD, argument, _constant(words, 1.0))


def _without_functions(part: Program) -> Program:
    """Return what is inside all functions around a part."""
    at = 0
    while part.tokens[at] >> tk.KIND_SHIFT == tk.OPERATOR and part.vocabulary.arity_of(part.tokens[at]) == 1:
        at += 1
    return part.part(at)


def _join_columns(part: Program) -> Iterator[Program]:
    """Yield a part with a term or a factor more, of each column, its inverse and its square."""
    words = part.vocabulary
    for name in words.variables:
        column = Program((words.variable_token(name),), words)
        term = join_programs(tk.MUL, _constant(words, 0.0), column)
        yield join_programs(tk.ADD, part, term)
        yield join_programs(tk.MUL, part, column)
        yield join_programs(tk.DIV, part, column)
        yield join_programs(tk.ADD, part, join_programs(tk.DIV, _constant(words, 0.0), column))
        square = Program((tk.SQUARE, *column.tokens), words)
        yield join_programs(tk.MUL, part, square)
        yield join_programs(tk.DIV, part, square)


def _constant(words: Vocabulary, value: float) -> Program:
    return Program((CONSTANT_TOKEN,), words, (value,))


def _is_scaled(program: Program, parents: list[int], position: int) -> bool:
    """Return whether a part is a factor beside a number already, or the whole formula of a product."""
    if program.tokens[position] in (tk.MUL, tk.DIV):
        return True
    if not position or program.tokens[parents[position]] not in (tk.MUL, tk.DIV):
        return False
    sides = program.arguments_of(parents[position])
    return any(program.tokens[side] >> tk.KIND_SHIFT == tk.CONSTANT for side in sides)
