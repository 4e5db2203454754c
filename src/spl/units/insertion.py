"""Numbers with units, put into a formula where its units ask for them."""

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.units.table_units import TableUnits


def insert_numbers(program: Program, units: TableUnits) -> Program | None:
    """Return a formula with a fitted number, 1 at first, before each part whose unit does not fit; None if it gets too long.

    So `x + t` becomes `x + 1*t`, where the number has the unit of a speed.

    Args:
        program: a formula of the columns.
        units: theirs, with numbers that may have units.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"x": "m", "t": "s"}, "m", names=["x", "t"], are_numbers_free=True)
        >>> insert_numbers(parse_expression("x + sin(t)", Vocabulary(units.names)), units)
        Program('x + 1*sin(1*t)')
    """
    for _ in range(tk.MAX_CONSTANTS):
        inference = units.infer(program)
        if inference.dimension is not None:
            return program if len(program) <= tk.MAX_PROGRAM_LENGTH else None
        program = _multiply_part(program, inference.place)
    return None


def _multiply_part(program: Program, place: int) -> Program:
    part = program.part(place)
    scaled = Program((tk.MUL, CONSTANT_TOKEN, *part.tokens), part.vocabulary, (1.0, *part.constants))
    return program.with_part(place, scaled)
