"""The units of the numbers in a formula, in the words of the user: those that the columns and the target are given in."""

from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.units.dimension import Dimension
from spl.units.inference import infer_dimension
from spl.units.table_units import TableUnits
from spl.units.unit import symbols_of

PURE = "1"  # the unit of a pure number


def units_of_numbers(program: Program, units: TableUnits) -> list[str]:
    """Return the unit of each number of a formula, in the order of `number_positions`; "" where the formula leaves it open.

    Args:
        program: a formula of the columns.
        units: theirs. If numbers may have no units, each is a pure number.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"x": "cm", "t": "s"}, "km", names=["x", "t"], are_numbers_free=True)
        >>> units_of_numbers(parse_expression("3*x + 2*exp(-5*t)", Vocabulary(units.names)), units)
        ['km/cm', 'km', '1/s']
    """
    positions = number_positions(program)
    if not units.are_numbers_free:
        return [PURE] * len(positions)
    parents = program.parents()
    for expands_si in (False, True):
        columns = [symbols_of(unit, expands_si=expands_si) for unit in units.columns]
        target = symbols_of(units.target, expands_si=expands_si)
        inference = infer_dimension(program, columns, target, are_numbers_free=True)
        if inference.dimension is not None:
            found = dict(inference.numbers)
            return [_write(program, at, parents[at], found[at]) for at in positions]
    return [""] * len(positions)


def _write(program: Program, position: int, parent: int, unit: Dimension | None) -> str:
    if unit is not None:
        return str(unit)
    is_exponent = parent >= 0 and program.tokens[parent] == tk.POW and program.arguments_of(parent)[1] == position
    return PURE if is_exponent else ""
