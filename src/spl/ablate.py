"""Formulas with one term or function less: the search may find a law with one too many, and never the law itself."""

from collections.abc import Iterator

from spl.kernels import tokens as tk
from spl.program import Program


def drop_one_term(program: Program) -> Iterator[Program]:
    """Yield the program without each of its terms in turn, a term being one side of a sum or difference.

    Examples:
        >>> from spl.expression import parse_expression, to_text
        >>> from spl.program import Vocabulary
        >>> words = Vocabulary(variables=("x", "y"))
        >>> [to_text(shorter) for shorter in drop_one_term(parse_expression("sin(x) - y", words))]
        ['-y', 'sin(x)']
    """
    for position, token in enumerate(program.tokens):
        if token not in (tk.ADD, tk.SUB):
            continue
        left, right = program.arguments_of(position)
        yield _keep_only(program, position, right, (tk.NEG,) if token == tk.SUB else ())
        yield _keep_only(program, position, left, ())


def drop_one_function(program: Program) -> Iterator[Program]:
    """Yield the program with the argument of each of its functions in turn in place of the function, and products for quotients.

    A function that is nearly a straight line on the data stands in for what it is taken of.

    Examples:
        >>> from spl.expression import parse_expression, to_text
        >>> from spl.program import Vocabulary
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


def _keep_only(program: Program, position: int, kept: int, sign: tuple[int, ...]) -> Program:
    """Return the program with the sum at a position replaced by one of its sides."""
    kept_end, end = program.end_of(kept), program.end_of(position)
    tokens = (*program.tokens[:position], *sign, *program.tokens[kept:kept_end], *program.tokens[end:])
    n_before, n_kept, n_kept_end, n_end = (program.count_constants(at) for at in (position, kept, kept_end, end))
    constants = (
        *program.constants[:n_before],
        *program.constants[n_kept:n_kept_end],
        *program.constants[n_end:],
    )
    return Program(tokens, program.vocabulary, constants)
