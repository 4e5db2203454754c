"""Other forms of a sympy expression with the same values: numbers taken out, quotients joined and cancelled, sums factored.

The work for each form is bounded. Whether a form is shorter shows only when it is spelled; `simplify` does that.
"""

from collections.abc import Iterator
from typing import Any

from spl.notation.to_sympy import is_plain_number, sympy_number

MAX_EXPANDED = 64  # terms after multiplying out
MAX_QUOTIENT_VARIABLES = 4  # of a quotient of polynomials that is cancelled or factored; fitted numbers count
MAX_QUOTIENT_DEGREE = 8  # of it, in all variables together ...
MAX_DEGREE_OF_ONE = 24  # ... or in the only one
MAX_QUOTIENT_TERMS = 24  # of its numerator or denominator, multiplied out
COMBINED_ULPS = 8  # by which combining numbers may move one off a simple fraction


def rewrite(expression: Any, thoroughly: bool) -> Iterator[Any]:
    """Yield the expression and what each bounded rewriting makes of it; some may be equal."""
    import sympy

    yield expression
    yield _take_out_numbers(expression)
    yield clean_numbers(_move_numbers_out(expression))
    if not thoroughly or not expression.has(sympy.Add):
        return
    yield sympy.factor_terms(expression)
    yield _complete_squares(expression)
    yield from _rewrite_quotient(expression)
    if count_expanded(expression) > MAX_EXPANDED:
        return
    expanded = clean_numbers(sympy.expand(expression, log=False, power_base=False, power_exp=False))
    yield from _rewrite_squares(expanded)
    yield _complete_squares(expanded)
    if expanded != expression:
        yield expanded
        yield _take_out_numbers(expanded)
        yield sympy.factor_terms(expanded)


def name_floats(expression: Any) -> tuple[Any, dict[Any, Any]]:
    """Return the expression with a positive symbol for each size of float in it, and the values of the symbols."""
    import sympy

    floats = sorted({abs(number) for number in expression.atoms(sympy.Float)})
    names = {number: sympy.Dummy(f"c{at}", positive=True) for at, number in enumerate(floats)}
    symbolic = expression.xreplace(names | {-number: -name for number, name in names.items()})
    return symbolic, {name: number for number, name in names.items()}


def clean_numbers(expression: Any) -> Any:
    """Return the expression with simple numbers where combining floats gave numbers like 1.0 or 0.30000000000000004."""
    import sympy

    nice = {number: sympy_number(float(number), ulps=COMBINED_ULPS) for number in expression.atoms(sympy.Float)}
    meant = {number: other for number, other in nice.items() if not other.is_Float and not _is_decimal(other)}
    return expression.xreplace(meant) if meant else expression


def _is_decimal(number: Any) -> bool:
    """Return whether a fraction may just be a rounded decimal, such as 7/10."""
    return number.is_Rational and not number.is_Integer and 1000 % number.q == 0


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
    quotients = [clean_numbers(coefficient / common) for coefficient, _ in parts]
    is_shared = sizes.count(common) > 1 or all(quotient.is_Integer for quotient in quotients)
    if common == 1 or not is_shared:
        return _rebuild(expression, arguments)
    terms = [quotient * rest for quotient, (_, rest) in zip(quotients, parts, strict=True)]
    return sympy.Mul(common, sympy.Add(*terms), evaluate=False)


def _rebuild(expression: Any, arguments: list[Any]) -> Any:
    return expression if list(expression.args) == arguments else expression.func(*arguments)


def count_expanded(expression: Any) -> int:
    """Return how many terms multiplying out could give, at most; all sums inside functions count too."""
    import sympy

    if not expression.args:
        return 1
    counts = [count_expanded(argument) for argument in expression.args]
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


def _complete_squares(expression: Any) -> Any:
    """Return the expression with (a - b)**2 for a**2 - 2*a*b + b**2, also among other terms of a sum, and inside functions."""
    if not expression.args or is_plain_number(expression):
        return expression
    arguments = [_complete_squares(argument) for argument in expression.args]
    rebuilt = _rebuild(expression, arguments)
    return _complete_squares_of_sum(rebuilt) if rebuilt.is_Add else rebuilt


def _complete_squares_of_sum(total: Any) -> Any:
    """Return a sum with as many of its terms as possible joined in threes to squares."""
    import sympy

    terms = sorted(total.args, key=lambda term: abs(term.as_coeff_Mul()[0]) != 1)  # (b - 2*a)**2, not 4*(a - b/2)**2
    squares = []
    for first in list(terms):
        root = _root_of_square(first)
        if root is None or first not in terms:
            continue
        for mixed in terms:
            ratio = clean_numbers(mixed / (2 * first))
            last = clean_numbers(first * ratio**2)
            if mixed is not first and last in terms and last not in (first, mixed):
                squares.append(first.as_coeff_Mul()[0] * sympy.expand(root * (1 + ratio)) ** 2)
                terms = [term for term in terms if term not in (first, mixed, last)]
                break
    return sympy.Add(*terms, *squares) if squares else total


def _root_of_square(term: Any) -> Any:
    """Return x for a number times x**2, of any product of even powers; None for other terms."""
    import sympy

    _, rest = term.as_coeff_Mul()
    powers = [factor.as_base_exp() for factor in sympy.Mul.make_args(rest)]
    if not rest.free_symbols or any(not (power.is_Integer and power % 2 == 0) for _, power in powers):
        return None
    return sympy.Mul(*(base ** (power / 2) for base, power in powers))


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
    if len(symbols) > MAX_QUOTIENT_VARIABLES or not expression.is_rational_function(*symbols):
        return
    symbolic, values = name_floats(expression)
    if len(symbolic.free_symbols) > MAX_QUOTIENT_VARIABLES:
        return
    for rewritten in _rewrite_symbolic_quotient(symbolic):
        yield _take_out_numbers(clean_numbers(rewritten.xreplace(values)))


def _rewrite_symbolic_quotient(expression: Any) -> Iterator[Any]:
    import sympy

    if not expression.is_rational_function(*expression.free_symbols):  # there was a fitted number in an exponent
        return
    if _has_divisor(expression):
        together = _join_quotients(expression)
        if together is not None:
            yield sympy.factor(together)
            yield together
            yield sympy.cancel(together)
    elif count_expanded(expression) >= 3 and is_small((expression,)):  # two terms have only a common factor
        yield sympy.factor(expression)


def _has_divisor(expression: Any) -> bool:
    import sympy

    return any(power.exp.is_negative and power.base.is_Add for power in expression.atoms(sympy.Pow))


def _join_quotients(expression: Any) -> Any:
    """Return a quotient of polynomials over one bar, or None if it has no divisor or is too large."""
    import sympy

    if not _has_divisor(expression) or not is_small((expression,)):
        return None
    together = sympy.together(expression)
    return together if is_small(sympy.fraction(together)) else None


def is_small(polynomials: tuple[Any, ...]) -> bool:
    """Return whether polynomials (or one quotient of them) can be factored quickly."""
    n_symbols = len(set().union(*(polynomial.free_symbols for polynomial in polynomials)))
    if n_symbols > MAX_QUOTIENT_VARIABLES:
        return False
    max_degree = MAX_DEGREE_OF_ONE if n_symbols == 1 else MAX_QUOTIENT_DEGREE
    return max(map(_degree, polynomials)) <= max_degree and (
        len(polynomials) == 1 or max(map(count_expanded, polynomials)) <= MAX_QUOTIENT_TERMS
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
