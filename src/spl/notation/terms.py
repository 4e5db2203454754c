"""The terms of an expanded formula and their coefficients."""

from typing import Any

from spl.errors import ExpressionError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.from_sympy import from_sympy
from spl.notation.to_sympy import to_sympy

MAX_EXPANDED_TERMS = 12  # formulas with more terms are not expanded


def linear_terms(program: Program) -> dict[str, float]:
    """Return the coefficient of each term; the key of the constant term is "1".

    Examples:
        >>> words = Vocabulary(("x", "y"))
        >>> linear_terms(parse_expression("2*x*(y - 3)", words))
        {'x*y': 2.0, 'x': -6.0}
        >>> linear_terms(parse_expression("x/(x + 0.3)", words))
        Traceback (most recent call last):
        ...
        spl.errors.ExpressionError: `x/(x + 0.3)` has numbers inside its terms, so it has no coefficients of terms.
    """
    terms = _coefficients_of(program)
    if any(atom.is_Float for term in terms for atom in term.atoms()):
        raise ExpressionError(
            f"`{to_text(program, 6)}` has numbers inside its terms, so it has no coefficients of terms."
        )
    return {str(term): float(value) for term, value in sorted(terms.items(), key=lambda item: _order(item[0]))}


def has_terms_of(program: Program, truth: str) -> bool:
    """Return whether a formula, when expanded, has exactly the terms of another, regardless of their coefficients.

    Examples:
        >>> found = parse_expression("9.9*y - 10.1*x", Vocabulary(("x", "y")))
        >>> has_terms_of(found, "10*(y - x)"), has_terms_of(found, "10*y")
        (True, False)
    """
    true_program = parse_expression(truth, Vocabulary(program.vocabulary.variables))
    return set(_coefficients_of(program)) == set(_coefficients_of(true_program))


def multiply_out(program: Program) -> Program:
    """Return the program as a sum of terms, or the program itself if the sum would be too long.

    Examples:
        >>> words = Vocabulary(("x", "y"))
        >>> to_text(multiply_out(parse_expression("2*x*(y - 3)", words)))
        '2*x*y - 6*x'
    """
    expression = to_sympy(program).expand()
    if not expression.is_Add or len(expression.args) > MAX_EXPANDED_TERMS:
        return program
    longer = from_sympy(expression, program.vocabulary, fitted=True)
    return longer if len(longer) <= tk.MAX_PROGRAM_LENGTH and longer.n_constants <= tk.MAX_CONSTANTS else program


def add_term(program: Program, term: tuple[int, ...]) -> Program:
    """Return the program plus a constant times a term; the empty term is 1.

    Examples:
        >>> words = Vocabulary(variables=("x", "y"))
        >>> to_text(add_term(parse_expression("x", words), parse_expression("x*y", words).tokens))
        'x + 0*(x*y)'
    """
    constant = tk.CONSTANT << tk.KIND_SHIFT
    tokens = (tk.ADD, *program.tokens, *((tk.MUL, constant, *term) if term else (constant,)))
    return Program(tokens, program.vocabulary, (*program.constants, 0.0))


def _coefficients_of(program: Program) -> dict[Any, Any]:
    return dict(
        to_sympy(program).expand().evalf(maxn=17).as_coefficients_dict()
    )  # pi counts as a number, not as part of a term


def _order(term: Any) -> tuple[bool, int, str]:
    """Return a sort key: terms with many variables first, numbers last."""
    return term.is_number, -len(term.free_symbols), str(term)
