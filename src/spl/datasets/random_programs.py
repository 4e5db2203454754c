"""Draws random programs of a given cost, and decides which of them are worth finding on given points.

A drawn program may not be in its simplest form: the caller simplifies it.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from spl.datasets.exact import values_of_parts
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, make_token
from spl.kernels.programs import tokens as tk

CONSTANT_DIGITS = 3  # significant digits of a constant

# How often each operator is drawn
_BINARY_WEIGHTS = {tk.ADD: 0.3, tk.SUB: 0.2, tk.MUL: 0.3, tk.DIV: 0.2}
_FUNCTION_WEIGHTS = {tk.SQRT: 0.2, tk.EXP: 0.2, tk.LOG: 0.15, tk.SIN: 0.25, tk.COS: 0.2}
_POWER_WEIGHTS = {tk.SQUARE: 0.8, tk.CUBE: 0.2}  # of a variable
_DRAWN_FUNCTION_SHARE = 0.25  # of the positions that can have a function
_INNER_FUNCTION_SHARE = 0.1  # of such positions inside another function
_FAMILIES = ({tk.SQRT}, {tk.EXP, tk.LOG}, {tk.SIN, tk.COS})
_MAX_NESTED = 2  # nested functions, never two of a family
_COST_PER_CONSTANT = 3  # one more constant is allowed for each 3 of cost above 5
_LEAF = make_token(tk.VARIABLE, 0)  # placeholder for any leaf until the leaves are drawn

_SUM_TOKENS, _PRODUCT_TOKENS = (tk.ADD, tk.SUB), (tk.MUL, tk.DIV)
# Two constants in one sum or product merge into one, and so do two of these: log(x) + log(y), exp(x)*exp(y)
_MERGED = {_SUM_TOKENS: (tk.LOG, CONSTANT_TOKEN), _PRODUCT_TOKENS: (tk.EXP, tk.SQRT, CONSTANT_TOKEN)}
_COMMUTING = ((tk.SQRT, tk.EXP), (tk.LOG, tk.SQRT))  # sqrt(exp(x)) is exp(x/2)

# Limits within which a program is worth finding on its points
_MAX_FUNCTION_ARGUMENT = {tk.EXP: 5.0, tk.SIN: 10.0, tk.COS: 10.0}
_MIN_ARGUMENT_SPAN = 0.5  # of any function, which is nearly linear over less
_MIN_DISTANCE = 0.02  # from 0, of a divisor or of the argument of a logarithm or root, as a share of its largest size
_MAX_RATIO = 1e6  # of the largest size of a value to the 5 % quantile
_MIN_SPREAD = 0.1  # standard deviation of the values over their root mean square
_MIN_INFLUENCE = 0.05  # root mean square change of the values when one variable is shuffled, over their spread
_MIN_TERM = 0.03  # root mean square of a term over that of its sum


# ---- drawing -------------------------------------------------------------------------------------


def draw_program(rng: np.random.Generator, *, cost: int, names: tuple[str, ...], has_constants: bool) -> Program | None:
    """Return a random program of this cost with all variables; None if the tree drawn has too few leaves for them."""
    tokens = _draw_tree(rng, cost, ())
    leaves = [position for position, token in enumerate(tokens) if token == _LEAF]
    n_constants = int(rng.integers(1, 2 + (cost - 5) // _COST_PER_CONSTANT)) if has_constants else 0
    if len(leaves) < len(names) + n_constants:
        return None
    rng.shuffle(leaves)
    for position in leaves[:n_constants]:
        tokens[position] = CONSTANT_TOKEN
    columns = [*range(len(names)), *rng.integers(len(names), size=len(leaves) - n_constants - len(names)).tolist()]
    for position, column in zip(leaves[n_constants:], columns, strict=True):
        tokens[position] = make_token(tk.VARIABLE, column)
    return Program(tuple(tokens), Vocabulary(names), tuple(_draw_constant(rng) for _ in range(n_constants)))


def _draw_tree(rng: np.random.Generator, cost: int, around: tuple[int, ...]) -> list[int]:
    """Return the tokens of a tree with placeholders as leaves; `around` are the functions that enclose it."""
    if cost == 1:
        return [_LEAF]
    functions = _functions_inside(around)
    share = _INNER_FUNCTION_SHARE if around else _DRAWN_FUNCTION_SHARE
    if functions and (rng.random() < share or (cost == 2 and rng.random() < 0.5)):
        function = _draw_one(rng, functions)
        return [function, *_draw_tree(rng, cost - 1, (*around, function))]
    if cost == 2:
        return [_draw_one(rng, _POWER_WEIGHTS), _LEAF]
    n_left = int(rng.integers(1, cost - 1))
    operator = _draw_one(rng, _BINARY_WEIGHTS)
    return [operator, *_draw_tree(rng, n_left, around), *_draw_tree(rng, cost - 1 - n_left, around)]


def _functions_inside(around: tuple[int, ...]) -> dict[int, float]:
    """Return the functions that may appear inside the functions `around`, with their weights."""
    if len(around) == _MAX_NESTED:
        return {}
    excluded = set().union(*(family for family in _FAMILIES if family & set(around)))
    return {function: weight for function, weight in _FUNCTION_WEIGHTS.items() if function not in excluded}


def _draw_one(rng: np.random.Generator, weights: Mapping[int, float]) -> int:
    bounds = np.cumsum(list(weights.values()))
    return list(weights)[int(np.searchsorted(bounds, rng.random() * bounds[-1], side="right"))]


def _draw_constant(rng: np.random.Generator) -> float:
    """Return a number of either sign with a size from 0.1 to 10, uniform in its logarithm."""
    size = 10 ** rng.uniform(-1, 1)
    return float(f"{size * rng.choice((-1, 1)):.{CONSTANT_DIGITS}g}")


# ---- choosing ------------------------------------------------------------------------------------


def can_be_shorter(program: Program) -> bool:
    """Return whether a program obviously has another form: a check faster than `simplify`, which misses some of these forms.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> [can_be_shorter(parse_expression(text, Vocabulary(("x",)))) for text in ("x - x", "exp(x)/exp(sin(x))", "C*x")]
        [True, True, False]
    """
    return any(_is_reducible(program, position) for position in range(len(program)))


def _is_reducible(program: Program, position: int) -> bool:
    token = program.tokens[position]
    arguments = program.arguments_of(position)
    parts = [program.tokens[start : program.end_of(start)] for start in arguments]
    if len(parts) == 1:
        return parts[0] == (CONSTANT_TOKEN,) or (token, parts[0][0]) in _COMMUTING
    for level, merged in _MERGED.items():
        members = [program.tokens[at] for at in _members(program, position, level)]
        if any(members.count(other) > 1 for other in merged):
            return True
    return len(parts) == 2 and parts[0] == parts[1]


def _members(program: Program, position: int, operators: tuple[int, ...]) -> Iterator[int]:
    """Yield the positions of the terms of a sum or the factors of a product, however it is nested."""
    if program.tokens[position] not in operators:
        yield position
        return
    for start in program.arguments_of(position):
        yield from _members(program, start, operators)


def shape_of(program: Program) -> str:
    """Return a text that is the same for programs that differ only in their numbers, the order of terms, or names.

    Other programs may share it too: it identifies a variable only by how often it appears.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> words = Vocabulary(("x", "y"))
        >>> shape_of(parse_expression("C + x*y", words)) == shape_of(parse_expression("x*y - C", words))
        True
        >>> shape_of(parse_expression("x - sin(y)", words)) == shape_of(parse_expression("y - sin(x)", words))
        True
    """
    return _write_shape(program, 0)


def _write_shape(program: Program, position: int) -> str:
    token = program.tokens[position]
    if token == CONSTANT_TOKEN:
        return "C"
    if token >> tk.KIND_SHIFT == tk.VARIABLE:
        return f"v{program.tokens.count(token)}"
    for level in _MERGED:
        if token in level:
            return f"{level[0]}({' '.join(sorted(_write_members(program, position, level)))})"
    return f"{token}({', '.join(_write_shape(program, start) for start in program.arguments_of(position))})"


def _write_members(program: Program, position: int, level: tuple[int, int], is_inverted: bool = False) -> Iterator[str]:
    """Yield the shapes of terms or factors, marked if they are subtracted or divided by; a constant may be either."""
    if program.tokens[position] not in level:
        shape = _write_shape(program, position)
        yield f"-{shape}" if is_inverted and shape != "C" else shape
        return
    left, right = program.arguments_of(position)
    yield from _write_members(program, left, level, is_inverted)
    yield from _write_members(program, right, level, is_inverted != (program.tokens[position] == level[1]))


def is_worth_finding(program: Program, table: NDArray[np.float64]) -> bool:
    """Return whether a program stays well inside its domain on a table [N, D], and needs every variable and every term there.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> points = np.linspace([-1.0, 1.0], [1.0, 2.0], 50)
        >>> words = Vocabulary(("x", "y"))
        >>> [is_worth_finding(parse_expression(text, words), points) for text in ("x*y", "y/x", "x + 0.001*y")]
        [True, False, False]
    """
    with np.errstate(all="ignore"):
        parts = values_of_parts(program, table)
        return (
            all(bool(np.all(np.isfinite(part))) for part in parts)
            and all(_is_moderate(program, position, parts) for position in range(len(program)))
            and _is_varied(parts[0])
            and all(_has_influence(program, table, column, parts[0]) for column in range(table.shape[1]))
        )


def _is_moderate(program: Program, position: int, parts: list[NDArray[np.float64]]) -> bool:
    """Return whether the arguments of one token are inside its domain by a margin, and each of them matters."""
    token = program.tokens[position]
    arguments = [parts[at] for at in program.arguments_of(position)]
    if token in (tk.ADD, tk.SUB):
        return min(map(_root_mean_square, arguments)) >= _MIN_TERM * _root_mean_square(parts[position])
    if token in (tk.DIV, tk.INV):
        return _keeps_from_zero(np.abs(arguments[-1])) and bool(np.all(arguments[-1] * arguments[-1][0] > 0))
    if token in _FUNCTION_WEIGHTS and np.ptp(arguments[0]) < _MIN_ARGUMENT_SPAN:
        return False
    if token in (tk.SQRT, tk.LOG):
        return _keeps_from_zero(arguments[0])
    return token not in _MAX_FUNCTION_ARGUMENT or float(np.max(np.abs(arguments[0]))) <= _MAX_FUNCTION_ARGUMENT[token]


def _keeps_from_zero(values: NDArray[np.float64]) -> bool:
    return bool(np.min(values) > _MIN_DISTANCE * np.max(np.abs(values)))


def _is_varied(values: NDArray[np.float64]) -> bool:
    """Return whether values are neither nearly constant nor spread over too many orders of magnitude."""
    sizes = np.abs(values)
    return bool(
        np.std(values) >= _MIN_SPREAD * _root_mean_square(values)
        and np.max(sizes) <= _MAX_RATIO * np.quantile(sizes, 0.05)
    )


def _has_influence(program: Program, table: NDArray[np.float64], column: int, values: NDArray[np.float64]) -> bool:
    """Return whether a variable matters: whether moving its values to other rows changes the result, relative to its spread."""

    moved = table.copy()
    moved[:, column] = np.roll(table[:, column], len(table) // 2)
    change = values_of_parts(program, moved)[0] - values
    return bool(_root_mean_square(change) >= _MIN_INFLUENCE * np.std(values))


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))
