"""Formulas with one term less or more: the search may find a law with a term too many, or miss one, and never the law itself."""

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


def add_term(program: Program, term: tuple[int, ...]) -> Program | None:
    """Return the program plus a constant times a term; None if that is too long.

    Examples:
        >>> from spl.expression import parse_expression, to_text
        >>> from spl.program import Vocabulary
        >>> words = Vocabulary(variables=("x", "y"))
        >>> to_text(add_term(parse_expression("x", words), parse_expression("x*y", words).tokens))
        'x + 0*(x*y)'
    """
    tokens = (tk.ADD, *program.tokens, tk.MUL, tk.CONSTANT << tk.KIND_SHIFT, *term)
    if len(tokens) > tk.MAX_LENGTH or program.n_constants == tk.MAX_CONSTANTS:
        return None
    return Program(tokens, program.vocabulary, (*program.constants, 0.0))


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
