"""Formulas in SI units: the same law for a table whose columns and target are in SI base units and their products."""

from dataclasses import replace

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.formulas.tidying.tidy import tidy
from spl.kernels.programs import tokens as tk
from spl.units.groups import Group, Groups
from spl.units.rewriting import to_columns
from spl.units.table_units import TableUnits
from spl.units.unit import Quantity, Unit, split_header, unit_of_dimension

SAFE_DIGITS = 15  # of a product that its rounding does not touch


def units_in_si(units: TableUnits) -> TableUnits:
    """Return the SI units of a table, and its named constants in them; names of columns name no other units.

    Examples:
        >>> from spl.units.table_units import read_table_units
        >>> units = units_in_si(read_table_units({"v": "km/h"}, "kJ", {"c": "300 km/s"}, names=["v"]))
        >>> units.unit_texts, str(units.target), str(units.known[0])
        ({'v': 'm/s'}, 'kg*m**2/s**2', '300000 m/s')
    """
    known = tuple(
        Quantity(float(f"{each.value * each.unit.factor:.{SAFE_DIGITS}g}"), _in_si(each.unit)) for each in units.known
    )
    names = tuple(name_in_si(name, unit) for name, unit in zip(units.names, units.columns, strict=True))
    return TableUnits(
        names if len({*names}) == len(names) else units.names,
        tuple(map(_in_si, units.columns)),
        _in_si(units.target),
        known,
        units.are_numbers_free,
    )


def name_in_si(name: str, unit: Unit) -> str:
    """Return the name of a column that is converted to SI units: with the new unit in it, if it had the old one.

    Examples:
        >>> from spl.units.unit import read_unit
        >>> name_in_si("height (cm)", read_unit("cm")), name_in_si("height", read_unit("cm"))
        ('height (m)', 'height')
    """
    header = split_header(name)
    return name if header is None or unit.factor == 1.0 else f"{header[0]} ({_in_si(unit)})"


def program_in_si(program: Program, units: TableUnits) -> Program:
    """Return a formula for columns in SI units, with its value in SI units; its numbers are merged.

    Its variables have the names that `units_in_si` gives them.

    Args:
        program: a formula of the columns, in the units of the user.
        units: these.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "v": "km/h", "h": "cm"}, "kg*s", names=["m", "v", "h"])
        >>> program_in_si(parse_expression("0.036*m*h/v", Vocabulary(units.names)), units)
        Program('m*h/v')
    """
    factors = [unit.factor for unit in units.columns]
    if all(factor == 1.0 for factor in (*factors, units.target.factor)):
        return program
    inverse = replace(
        units,
        columns=tuple(replace(unit, factor=1.0 / unit.factor) for unit in units.columns),
        target=replace(units.target, factor=1.0 / units.target.factor),
    )
    groups = Groups(inverse, (), (), (), tuple(Group(column, ()) for column in range(len(factors))))
    written = to_columns(program, groups, replace(program.vocabulary, literals=()))
    scaled = _scale_all(program, units) if written is None else written
    own = scaled.vocabulary.variables[len(units.names) :]
    words = replace(scaled.vocabulary, variables=(*units_in_si(units).names, *own))
    return tidy(replace(scaled, vocabulary=words))


def _in_si(unit: Unit) -> Unit:
    return Unit("" if unit.dimension.is_none else unit_of_dimension(unit.dimension), unit.dimension)


def _scale_all(program: Program, units: TableUnits) -> Program:
    """Return the formula with a number at each column and at the whole: for formulas that are too long for anything better."""
    tokens: list[int] = [tk.MUL, CONSTANT_TOKEN]
    constants, own = [units.target.factor], iter(program.constants)
    for token in program.tokens:
        if token >> tk.KIND_SHIFT == tk.VARIABLE and units.columns[token & tk.PAYLOAD_MASK].factor != 1.0:
            tokens += [tk.MUL, CONSTANT_TOKEN]
            constants.append(1.0 / units.columns[token & tk.PAYLOAD_MASK].factor)
        elif token >> tk.KIND_SHIFT == tk.CONSTANT:
            constants.append(next(own))
        tokens.append(token)
    return Program(tuple(tokens), program.vocabulary, tuple(constants))
