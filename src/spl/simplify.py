"""Shorter spellings of a found formula: same values, lower cost.

sympy evaluates what it evaluates by itself, on real symbols; a few bounded rewritings are tried on top. A spelling is
kept only if it is shorter, or as short and easier to read, and if the caller agrees that the values are the same.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from spl.errors import ExpressionError
from spl.from_sympy import from_sympy
from spl.kernels import tokens as tk
from spl.program import Program
from spl.to_sympy import is_plain_number, nice_number, to_sympy

MAX_TOKENS = 60  # longer formulas are only evaluated, not rewritten
MAX_EXPANDED = 64  # terms that multiplying out may give, at most
MAX_VARIABLES = 4  # of a quotient of polynomials that is cancelled or factored; fitted numbers count
MAX_DEGREE = 8  # of it, in all variables together ...
MAX_DEGREE_OF_ONE = 24  # ... or in the only one
MAX_TERMS = 24  # of its numerator or denominator, multiplied out
ULPS = 8  # how far rounding may have moved a number off a simple fraction while numbers were combined

SUMS_AND_QUOTIENTS = (tk.ADD, tk.SUB, tk.DIV)
Agree = Callable[[Program, Program], bool]


def get_ready() -> None:
    """Load sympy now: the first time in a process that takes longer than most simplifications."""
    import sympy  # noqa: F401


def simplify(program: Program, agree: Agree | None = None) -> Program:
    """Return the shortest spelling found, or the program itself.

    Numbers without variables are folded. What is made of literals is literal (`x * sqrt(x)` is `x**1.5`), what contains
    a fitted number is a constant with its value. But a fitted number that is exactly whole, a multiple of pi or a
    fraction such as 1/3 counts as literal; 0.5 may as well be rounded. The user's own operators are not looked into.

    Args:
        program: a formula with values for its constants.
        agree: told the program and a spelling, says whether their values are the same on the data; left out, all are.

    Examples:
        >>> from spl.expression import parse_expression, to_text
        >>> from spl.program import Vocabulary
        >>> to_text(simplify(parse_expression("x * 1 + y * y / y + exp(log(x))", Vocabulary(variables=("x", "y")))))
        '2*x + y'
    """

    def accept(spelling: Program) -> bool:
        return agree is None or agree(program, spelling)

    program = _fill_holes(program, accept)
    whole = _find_best(program, 0, accept)
    if whole.cost < program.cost:
        return whole
    return min(whole, _simplify_parts(program, accept), key=_effort)


def _fill_holes(program: Program, accept: Callable[[Program], bool]) -> Program:
    """Return the program without removable singularities, whatever it costs: (x**2 - 1)/(x - 1) is x + 1 also at x = 1."""
    import sympy

    expression = _to_expression(program) if len(program) <= MAX_TOKENS else None
    if expression is None:
        return program
    symbolic, values = _name_floats(expression)
    divisors = {power.base for power in symbolic.atoms(sympy.Pow) if power.exp.is_negative}
    if not divisors or not symbolic.is_rational_function(*symbolic.free_symbols):
        return program
    whole = _write_without_holes(symbolic, divisors)
    if whole is None:
        return program
    filled = from_sympy(_clean_numbers(whole.xreplace(values)), program.vocabulary, fitted=True)
    is_short = len(filled) <= max(len(program), tk.MAX_LENGTH) and filled.n_constants <= tk.MAX_CONSTANTS
    return filled if is_short and accept(filled) else program


def _write_without_holes(expression: Any, divisors: set[Any]) -> Any:
    """Return a quotient of polynomials cancelled, or None if that removes no zero of a divisor or is too much work."""
    import sympy

    if all(divisor.is_Symbol for divisor in divisors):
        if _count_expanded(expression) > MAX_EXPANDED:
            return None
        cancelled = sympy.expand(expression)
        remaining = {power.base for power in cancelled.atoms(sympy.Pow) if power.exp.is_negative}
        return cancelled if remaining < divisors else None
    together = sympy.together(expression) if _is_small((expression,)) else None
    if together is None or not _is_small(sympy.fraction(together)):
        return None
    cancelled = sympy.cancel(together)
    zeros = sympy.sqf_part(sympy.prod(sympy.fraction(sympy.together(divisor))[0] for divisor in divisors))
    shared = sympy.gcd(zeros, sympy.fraction(cancelled)[1])
    return cancelled if sympy.Poly(zeros).total_degree() > _polynomial_degree(shared) else None


def _polynomial_degree(expression: Any) -> int:
    import sympy

    return int(sympy.Poly(expression).total_degree()) if expression.free_symbols else 0


def _name_floats(expression: Any) -> tuple[Any, dict[Any, Any]]:
    """Return the expression with a positive symbol for each size of float in it, and what the symbols stand for."""
    import sympy

    floats = sorted({abs(number) for number in expression.atoms(sympy.Float)})
    names = {number: sympy.Dummy(f"c{at}", positive=True) for at, number in enumerate(floats)}
    symbolic = expression.xreplace(names | {-number: -name for number, name in names.items()})
    return symbolic, {name: number for number, name in names.items()}


def _simplify_parts(program: Program, accept: Callable[[Program], bool]) -> Program:
    """Return the program with its parts simplified one after the other, largest first."""
    at = 1
    while at < len(program):
        shorter = _find_best(program, at, accept)
        at = shorter.end_of(at) if shorter is not program else at + 1
        program = shorter
    return program


def _find_best(program: Program, start: int, accept: Callable[[Program], bool]) -> Program:
    """Return the program with the part that begins at `start` in its best spelling that is accepted."""
    part = _cut_out(program, start)
    if len(part) == 1:
        return program
    thoroughly = len(part) <= MAX_TOKENS and _is_top_of_sum_or_quotient(program, start)
    spellings = sorted((_effort(spelling), at, spelling) for at, spelling in enumerate(_spell(part, thoroughly)))
    for effort, _, spelling in spellings:
        if effort >= _effort(part):
            break
        candidate = _put_in(program, start, spelling)
        if accept(candidate):
            return candidate
    return program


def _is_top_of_sum_or_quotient(program: Program, position: int) -> bool:
    """Tell whether rewriting can gain at a position; the first argument of a sum was rewritten with the whole sum."""
    if position == 0:
        return True
    return program.tokens[position] in SUMS_AND_QUOTIENTS and program.tokens[position - 1] not in SUMS_AND_QUOTIENTS


class Effort(NamedTuple):
    """What a formula asks of its reader, the heaviest first; less is better."""

    cost: int
    n_constants: int
    depth: int  # of the tree: 2*x + 3*y, not 2*(x + 1.5*y)
    n_variables: int  # each time one stands there
    n_operators: int  # different ones
    minus_places: int  # a minus is easier to read outside: -sin(x), not sin(-x)


def _effort(program: Program) -> Effort:
    kinds = [token >> tk.KIND_SHIFT for token in program.tokens]
    operators = {token for token, kind in zip(program.tokens, kinds, strict=True) if kind in (tk.OPERATOR, tk.POWER)}
    minus_places = sum(at for at, token in enumerate(program.tokens) if token == tk.NEG)
    return Effort(
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


# ---- parts of a program ----------------------------------------------------------------------------


def _cut_out(program: Program, start: int) -> Program:
    """Return the subtree that begins at a position as a program of its own."""
    end = program.end_of(start)
    first, last = program.count_constants(start), program.count_constants(end)
    return Program(program.tokens[start:end], program.vocabulary, program.constants[first:last])


def _put_in(program: Program, start: int, part: Program) -> Program:
    """Return the program with another subtree at a position; the part's vocabulary must extend the program's."""
    end = program.end_of(start)
    first, last = program.count_constants(start), program.count_constants(end)
    tokens = (*program.tokens[:start], *part.tokens, *program.tokens[end:])
    constants = (*program.constants[:first], *part.constants, *program.constants[last:])
    return Program(tokens, part.vocabulary, constants)


# ---- spellings -------------------------------------------------------------------------------------


def _spell(program: Program, thoroughly: bool) -> Iterator[Program]:
    """Yield other spellings of a program, in no order, some of them longer."""
    expression = _to_expression(program)
    if expression is None:
        return
    seen = set()
    for rewritten in _rewrite(expression, thoroughly):
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
        expression = _clean_numbers(to_sympy(program, real=True, exact=False, opaque=True))
    except ExpressionError:  # numbers beyond floating point
        return None
    return None if expression.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I) else expression


def _clean_numbers(expression: Any) -> Any:
    """Return the expression with simple numbers where combining floats gave 1.0 or 0.30000000000000004."""
    import sympy

    nice = {number: nice_number(float(number), ulps=ULPS) for number in expression.atoms(sympy.Float)}
    meant = {number: other for number, other in nice.items() if not other.is_Float and not _is_decimal(other)}
    return expression.xreplace(meant) if meant else expression


def _is_decimal(number: Any) -> bool:
    """Tell whether a fraction may just be a decimal that somebody rounded, such as 7/10."""
    return number.is_Rational and not number.is_Integer and 1000 % number.q == 0


def _rewrite(expression: Any, thoroughly: bool) -> Iterator[Any]:
    """Yield the expression and what each bounded rewriting makes of it; each yield may equal an earlier one."""
    import sympy

    yield expression
    yield _take_out_numbers(expression)
    yield _clean_numbers(_move_numbers_out(expression))
    if not thoroughly or not expression.has(sympy.Add):
        return
    yield sympy.factor_terms(expression)
    yield from _rewrite_quotient(expression)
    if _count_expanded(expression) > MAX_EXPANDED:
        return
    expanded = _clean_numbers(sympy.expand(expression, log=False, power_base=False, power_exp=False))
    yield from _rewrite_squares(expanded)
    if expanded != expression:
        yield expanded
        yield _take_out_numbers(expanded)
        yield sympy.factor_terms(expanded)


def _move_numbers_out(expression: Any) -> Any:
    """Return the expression with one number less in each product of a number and a sum: 5*x/(y + 2) for 2.5*x/(0.5*y + 1)."""
    import sympy

    if not expression.args or is_plain_number(expression):
        return expression
    rebuilt = expression.func(*(_move_numbers_out(argument) for argument in expression.args))
    number, _ = rebuilt.as_coeff_Mul()
    if not number.is_Float:
        return rebuilt
    factors = []
    for factor in sympy.Mul.make_args(rebuilt):
        base, power = factor.as_base_exp()
        leading = _leading_number(base) if base.is_Add and power.is_Integer else None
        if leading is None:
            factors.append(factor)
        else:
            factors += [leading**power, sympy.Add(*(term / leading for term in base.args)) ** power]
    return sympy.Mul(*factors)


def _leading_number(total: Any) -> Any:
    """Return the first fitted number before a term of a sum, or None."""
    numbers = (term.as_coeff_Mul()[0] for term in total.args if term.free_symbols)
    return next((number for number in numbers if number.is_Float), None)


def _take_out_numbers(expression: Any) -> Any:
    """Return the expression with the commonest coefficient before each sum: 0.7*(x + y + 2) for 0.7*x + 0.7*y + 1.4."""
    import sympy

    if not expression.args or is_plain_number(expression):
        return expression
    arguments = [_take_out_numbers(argument) for argument in expression.args]
    if not expression.is_Add:
        return _rebuild(expression, arguments)
    parts = [argument.as_coeff_Mul() for argument in arguments]
    sizes = [abs(coefficient) for coefficient, _ in parts]
    common = max(sizes, key=lambda size: (sizes.count(size), -size))
    quotients = [_clean_numbers(coefficient / common) for coefficient, _ in parts]
    is_shared = sizes.count(common) > 1 or all(quotient.is_Integer for quotient in quotients)
    if common == 1 or not is_shared:
        return _rebuild(expression, arguments)
    terms = [quotient * rest for quotient, (_, rest) in zip(quotients, parts, strict=True)]
    return sympy.Mul(common, sympy.Add(*terms), evaluate=False)


def _rebuild(expression: Any, arguments: list[Any]) -> Any:
    return expression if list(expression.args) == arguments else expression.func(*arguments)


def _count_expanded(expression: Any) -> int:
    """Return how many terms multiplying out could give, at most; all sums inside functions count too."""
    import sympy

    if not expression.args:
        return 1
    counts = [_count_expanded(argument) for argument in expression.args]
    if expression.is_Add:
        return sum(counts)
    if expression.is_Mul:
        return _bounded_product(counts)
    if expression.is_Pow and expression.exp.is_Integer and expression.base.is_Add:
        return _bounded_product([counts[0]] * min(abs(int(expression.exp)), MAX_EXPANDED))
    return max(counts) if isinstance(expression, sympy.Pow | sympy.Function) else sum(counts)


def _bounded_product(counts: list[int]) -> int:
    product = 1
    for count in counts:
        product = min(product * count, MAX_EXPANDED + 1)
    return product


def _rewrite_squares(expression: Any) -> Iterator[Any]:
    """Yield the expression with squares of sines written in cosines, and the other way round."""
    import sympy

    squares = expression.atoms(sympy.Pow)
    for one, other in ((sympy.sin, sympy.cos), (sympy.cos, sympy.sin)):
        found = [power for power in squares if power.exp == 2 and isinstance(power.base, one)]
        if found:
            yield sympy.expand_mul(expression.xreplace({power: 1 - other(power.base.args[0]) ** 2 for power in found}))


def _rewrite_quotient(expression: Any) -> Iterator[Any]:
    """Yield a polynomial factored, and a quotient of polynomials over one bar and cancelled, if it is small enough."""
    symbols = expression.free_symbols
    if len(symbols) > MAX_VARIABLES or not expression.is_rational_function(*symbols):
        return
    symbolic, values = _name_floats(expression)
    if len(symbolic.free_symbols) > MAX_VARIABLES:
        return
    for rewritten in _rewrite_symbolic_quotient(symbolic):
        yield _take_out_numbers(_clean_numbers(rewritten.xreplace(values)))


def _rewrite_symbolic_quotient(expression: Any) -> Iterator[Any]:
    import sympy

    if not expression.is_rational_function(*expression.free_symbols):  # a fitted number stood in an exponent
        return
    if _has_divisor(expression):
        together = _join_quotients(expression)
        if together is not None:
            yield sympy.factor(together)
            yield together
            yield sympy.cancel(together)
    elif _count_expanded(expression) >= 3 and _is_small((expression,)):  # two terms have only a common factor
        yield sympy.factor(expression)


def _has_divisor(expression: Any) -> bool:
    import sympy

    return any(power.exp.is_negative and power.base.is_Add for power in expression.atoms(sympy.Pow))


def _join_quotients(expression: Any) -> Any:
    """Return a quotient of polynomials over one bar, or None if it has no divisor or is too large to be worked on."""
    import sympy

    if not _has_divisor(expression) or not _is_small((expression,)):
        return None
    together = sympy.together(expression)
    return together if _is_small(sympy.fraction(together)) else None


def _is_small(polynomials: tuple[Any, ...]) -> bool:
    """Tell whether polynomials (or one quotient of them) can be factored in little time."""
    n_symbols = len(set().union(*(polynomial.free_symbols for polynomial in polynomials)))
    if n_symbols > MAX_VARIABLES:
        return False
    max_degree = MAX_DEGREE_OF_ONE if n_symbols == 1 else MAX_DEGREE
    return max(map(_degree, polynomials)) <= max_degree and (
        len(polynomials) == 1 or max(map(_count_expanded, polynomials)) <= MAX_TERMS
    )


def _degree(expression: Any) -> int:
    """Return a bound on the total degree of a quotient of polynomials, counted without multiplying it out."""
    if expression.is_Symbol:
        return 1
    degrees = [_degree(argument) for argument in expression.args]
    if expression.is_Add:
        return max(degrees)
    if expression.is_Pow:
        return degrees[0] * min(abs(int(expression.exp)), MAX_DEGREE_OF_ONE + 1)
    return sum(degrees)
