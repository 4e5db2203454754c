"""Shorter spellings of a found formula: same values, lower cost.

sympy evaluates the formula with real symbols; then the rewritings of `rewrite` are tried. A spelling is kept only if it is shorter, or
as short and easier to read, and if the caller agrees that the values are the same.
"""

import sys
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any, NamedTuple

from spl.errors import ExpressionError
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.notation.from_sympy import from_sympy
from spl.notation.to_sympy import to_sympy
from spl.regression.rewrite import MAX_EXPANDED, clean_numbers, count_expanded, is_small, name_floats, rewrite

MAX_REWRITTEN_TOKENS = 60  # longer formulas are only evaluated, not rewritten

SUMS_AND_QUOTIENTS = (tk.ADD, tk.SUB, tk.DIV)
Agree = Callable[[Program, Program], bool]


def start_loading() -> None:
    """Load sympy in the background: the kernels of a search leave the interpreter free for that."""
    if "sympy" not in sys.modules:
        Thread(target=get_ready, name="load-sympy").start()


def get_ready() -> None:
    """Load sympy now: the first import in a process takes longer than most simplifications."""
    import sympy  # noqa: F401


def simplify(program: Program, agree: Agree | None = None) -> Program:
    """Return the shortest spelling found, or the program itself.

    Expressions of numbers are evaluated. Those of literals become literals (`x * sqrt(x)` is `x**1.5`), those with a fitted number
    become constants. But a fitted number that is exactly whole, a multiple of pi or a fraction such as 1/3 counts as a literal; 0.5
    does not, for it may just be rounded. The user's own operators stay as they are.

    Args:
        program: a formula with values for its constants.
        agree: returns whether a program and its new spelling have the same values on the data; by default, all do.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> to_text(simplify(parse_expression("x * 1 + y * y / y + exp(log(x))", Vocabulary(variables=("x", "y")))))
        '2*x + y'
    """

    def accept(spelling: Program) -> bool:
        return agree is None or agree(program, spelling)

    program = _fill_holes(program, accept)
    whole = _find_best(program, 0, accept)
    if whole.cost < program.cost:
        return whole
    return min(whole, _simplify_parts(program, accept), key=_reading_effort)


def _fill_holes(program: Program, accept: Callable[[Program], bool]) -> Program:
    """Return the program without removable singularities, whatever it costs: (x**2 - 1)/(x - 1) is x + 1 also at x = 1."""
    import sympy

    expression = _to_expression(program) if len(program) <= MAX_REWRITTEN_TOKENS else None
    if expression is None:
        return program
    symbolic, values = name_floats(expression)
    powers = symbolic.atoms(sympy.Pow)
    divisors = {power.base for power in powers if power.exp.is_negative and power.base.free_symbols}
    if not divisors or not symbolic.is_rational_function(*symbolic.free_symbols):
        return program
    whole = _write_without_holes(symbolic, divisors)
    if whole is None:
        return program
    filled = from_sympy(clean_numbers(whole.xreplace(values)), program.vocabulary, fitted=True)
    is_short = len(filled) <= max(len(program), tk.MAX_PROGRAM_LENGTH) and filled.n_constants <= tk.MAX_CONSTANTS
    return filled if is_short and accept(filled) else program


def _write_without_holes(expression: Any, divisors: set[Any]) -> Any:
    """Return a quotient of polynomials cancelled, or None if that removes no zero of a divisor or is too much work."""
    import sympy

    if all(divisor.is_Symbol for divisor in divisors):
        if count_expanded(expression) > MAX_EXPANDED:
            return None
        cancelled = sympy.expand(expression)
        remaining = {power.base for power in cancelled.atoms(sympy.Pow) if power.exp.is_negative}
        return cancelled if remaining < divisors else None
    together = sympy.together(expression) if is_small((expression,)) else None
    if together is None or not is_small(sympy.fraction(together)):
        return None
    cancelled = sympy.cancel(together)
    zeros = sympy.sqf_part(sympy.prod(sympy.fraction(sympy.together(divisor))[0] for divisor in divisors))
    shared = sympy.gcd(zeros, sympy.fraction(cancelled)[1])
    return cancelled if sympy.Poly(zeros).total_degree() > _polynomial_degree(shared) else None


def _polynomial_degree(expression: Any) -> int:
    import sympy

    return int(sympy.Poly(expression).total_degree()) if expression.free_symbols else 0


def _simplify_parts(program: Program, accept: Callable[[Program], bool]) -> Program:
    """Return the program with its parts simplified one by one, the largest first."""
    at = 1
    while at < len(program):
        shorter = _find_best(program, at, accept)
        at = shorter.end_of(at) if shorter is not program else at + 1
        program = shorter
    return program


def _find_best(program: Program, start: int, accept: Callable[[Program], bool]) -> Program:
    """Return the program with the part at `start` in its best accepted spelling."""
    part = program.part(start)
    if len(part) == 1:
        return program
    thoroughly = len(part) <= MAX_REWRITTEN_TOKENS and _is_top_of_sum_or_quotient(program, start)
    spellings = sorted(
        (_reading_effort(spelling), at, spelling) for at, spelling in enumerate(_spell(part, thoroughly))
    )
    for effort, _, spelling in spellings:
        if effort >= _reading_effort(part):
            break
        candidate = program.with_part(start, spelling)
        if accept(candidate):
            return candidate
    return program


def _is_top_of_sum_or_quotient(program: Program, position: int) -> bool:
    """Return whether rewriting may help at a position; the first argument of a sum was rewritten with the whole sum."""
    if position == 0:
        return True
    return program.tokens[position] in SUMS_AND_QUOTIENTS and program.tokens[position - 1] not in SUMS_AND_QUOTIENTS


class ReadingEffort(NamedTuple):
    """How hard a formula is to read, the most important first; less is better."""

    cost: int
    n_constants: int
    depth: int  # of the tree: 2*x + 3*y, not 2*(x + 1.5*y)
    n_variables: int  # every occurrence counts
    n_operators: int  # different ones
    minus_places: int  # a minus is easier to read outside: -sin(x), not sin(-x)


def _reading_effort(program: Program) -> ReadingEffort:
    kinds = [token >> tk.KIND_SHIFT for token in program.tokens]
    operators = {token for token, kind in zip(program.tokens, kinds, strict=True) if kind in (tk.OPERATOR, tk.POWER)}
    minus_places = sum(at for at, token in enumerate(program.tokens) if token == tk.NEG)
    return ReadingEffort(
        program.cost, program.n_constants, _depth(program), kinds.count(tk.VARIABLE), len(operators), minus_places
    )


def _depth(program: Program) -> int:
    """Return how many levels the tree has."""
    depths: list[int] = []
    for token in reversed(program.tokens):
        arity = program.vocabulary.arity_of(token)
        below = [depths.pop() for _ in range(arity)]
        depths.append(1 + max(below, default=0))
    return depths[0]


# ---- spellings -------------------------------------------------------------------------------------


def _spell(program: Program, thoroughly: bool) -> Iterator[Program]:
    """Yield other spellings of a program, in no order, some of them longer."""
    expression = _to_expression(program)
    if expression is None:
        return
    seen = set()
    for rewritten in rewrite(expression, thoroughly):
        if rewritten in seen:
            continue
        seen.add(rewritten)
        try:
            yield from_sympy(rewritten, program.vocabulary, fitted=True)
        except ExpressionError:  # a function that has no operator here
            continue


def _to_expression(program: Program) -> Any:
    """Return the program in sympy with real symbols, or None if it leaves the real numbers or floating point."""
    import sympy

    try:
        expression = clean_numbers(to_sympy(program, real=True, exact=False, opaque=True))
    except ExpressionError:  # numbers beyond floating point
        return None
    return None if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I) else expression
