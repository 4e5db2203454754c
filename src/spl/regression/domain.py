"""Explains where a formula has no value: on how many rows, and which part of it leaves its domain there."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spl.errors import shorten
from spl.formulas.operators import BY_OPCODE, NOT_ZERO, Gap
from spl.formulas.program import Program
from spl.formulas.rates import explicit_system
from spl.formulas.system import System
from spl.formulas.text import exponent_of, quote_name, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]
Rows = NDArray[np.bool_]

MAX_CAUSES = 3  # to name
_PART_DIGITS = 4
_PART_LENGTH = 60  # characters to show of a part


def explain_undefined(program: Program, columns: Numbers, *, has_places: bool = True) -> str:
    """Return where a formula has no finite value on columns [D, N], and why, in words; nothing if it has one on all rows.

    Args:
        program: the formula.
        columns: the values of each variable.
        has_places: whether the first row of each cause is named, counted from 0.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> explain_undefined(parse_expression("2 + log(x)", Vocabulary(("x",))), np.array([[1.0, -1.0, 0.0]]))
        'log(x) has no value where x <= 0: 2 of 3 rows, the first is row 1 (counted from 0).'
    """
    with np.errstate(all="ignore"):
        rows = np.flatnonzero(~np.isfinite(evaluate(program, columns)))
        causes = list(_find_causes(program, np.ascontiguousarray(columns[:, rows])))
    if not causes:
        return ""
    causes.sort(key=lambda cause: -int(cause[1].sum()))
    told = [f"{words}: {_count(rows[where], columns.shape[1], has_places)}" for words, where in causes[:MAX_CAUSES]]
    more = f"; and {len(causes) - MAX_CAUSES} more causes" if len(causes) > MAX_CAUSES else ""
    return f"{'; '.join(told)}{more}."


def explain_undefined_system(system: System, columns: Numbers, *, has_places: bool = True) -> str:
    """Return the same for each equation of a system that has no value on some rows."""
    programs = explicit_system(system).programs
    words = [explain_undefined(program, columns, has_places=has_places) for program in programs]
    return " ".join(f"Equation of {quote_name(s)}: {why}" for s, why in zip(system.states, words, strict=True) if why)


def _count(rows: NDArray[np.intp], n_rows: int, has_places: bool) -> str:
    which = "" if not has_places else f", the first is row {rows[0]} (counted from 0)"
    return f"{rows.size:,} of {n_rows:,} row{'s' * (n_rows > 1)}{which}"


def _find_causes(program: Program, columns: Numbers) -> Iterator[tuple[str, Rows]]:
    """Yield, for rows on which a program has no value, each cause in words with its rows."""
    values = [evaluate(program.part(position), columns) for position in range(len(program))]
    blamed = np.zeros(columns.shape[1], np.intp)  # the innermost part of each row that has no value
    for position in range(len(program)):
        here = blamed == position
        for argument in reversed(program.arguments_of(position)):
            blamed[here & ~np.isfinite(values[argument])] = argument
    for position in np.unique(blamed):
        yield from _name_causes(program, int(position), values, blamed == position)


def _name_causes(program: Program, position: int, values: list[Numbers], rows: Rows) -> Iterator[tuple[str, Rows]]:
    part, places = program.part(position), program.arguments_of(position)
    name = _show(part)
    arguments = [values[place] for place in places]
    for gap in _gaps_of(part.tokens[0]):
        inside = rows & gap.holds(*arguments)
        if inside.any():
            yield f"{name} has no value where {gap.words.format(*(_show(program.part(k)) for k in places))}", inside
            rows = rows & ~inside
    too_large = rows & np.isinf(values[position])
    if too_large.any():
        yield (f"{name} is too large for a number" if places else f"{name} is infinite"), too_large
    unknown = rows & ~too_large
    if unknown.any():
        at = int(unknown.argmax())
        where = [f"{_show(program.part(k))} = {values[k][at]:.4g}" for k in places]
        yield (
            (f"{name} has no value, for example where {' and '.join(where)}" if where else f"{name} is missing"),
            unknown,
        )


def _gaps_of(token: int) -> tuple[Gap, ...]:
    exponent = exponent_of(token)
    if token >> tk.KIND_SHIFT == tk.POWER and exponent is not None and exponent < 0:
        return NOT_ZERO.gaps
    return BY_OPCODE[token].traits.domain.gaps if token in BY_OPCODE else ()


def _show(part: Program) -> str:
    return shorten(to_text(part, _PART_DIGITS), _PART_LENGTH)
