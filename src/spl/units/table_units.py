"""The units of a table: of its columns, its target and the named constants that formulas may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spl.errors import UnitError, explain_unknown, shorten
from spl.formulas.program import Program
from spl.formulas.text import make_token
from spl.kernels.programs import tokens as tk
from spl.units.dimension import Dimension
from spl.units.inference import Inference, infer_dimension
from spl.units.unit import Quantity, Unit, read_quantity, read_unit, symbols_of

ANY = "any"  # the value of `constants` that lets fitted numbers have units


@dataclass(frozen=True, slots=True)
class TableUnits:
    """The units of the columns of a table, of its target, and of named constants.

    Args:
        names: the columns of the table, the named constants last.
        columns: the unit of each of them.
        target: the unit of the target.
        known: the named constants, in the order of the last names.
        are_numbers_free: whether numbers in formulas may have units.

    Examples:
        >>> units = read_table_units({"m": "kg", "h": "m"}, "J", {"g": "9.80665 m/s**2"}, names=["m", "h"])
        >>> units.names, str(units.target)
        (('m', 'h', 'g'), 'J')
    """

    names: tuple[str, ...]
    columns: tuple[Unit, ...]
    target: Unit
    known: tuple[Quantity, ...] = ()
    are_numbers_free: bool = False

    @property
    def measured_names(self) -> tuple[str, ...]:
        """The names of the columns without those of named constants."""
        return self.names[: len(self.names) - len(self.known)]

    @property
    def unit_texts(self) -> dict[str, str]:
        """The unit of each column as it was written; without named constants."""
        return {name: unit.text for name, unit in zip(self.measured_names, self.columns, strict=False)}

    @property
    def known_names(self) -> tuple[str, ...]:
        """The names of the named constants."""
        return self.names[len(self.names) - len(self.known) :]

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimension of each column."""
        return tuple(unit.dimension for unit in self.columns)

    def take(self, columns: Sequence[int]) -> "TableUnits":
        """Return the units of some of the columns; named constants become ordinary columns."""
        return TableUnits(
            tuple(self.names[column] for column in columns),
            tuple(self.columns[column] for column in columns),
            self.target,
            (),
            self.are_numbers_free,
        )

    def fill_known(self, program: Program) -> Program:
        """Return a formula with the values of named constants in their places; they are none of its variables.

        Variables that the table does not have, such as numbers of groups, stay.

        Examples:
            >>> from spl.formulas.program import Vocabulary
            >>> from spl.formulas.text import parse_expression
            >>> units = read_table_units({"h": "m"}, "m**2/s**2", {"g": "9.81 m/s**2"}, names=["h"])
            >>> units.fill_known(parse_expression("g*h", Vocabulary(units.names)))
            Program('9.81*h')
        """
        first, words = len(self.measured_names), program.vocabulary
        tokens = []
        for token in program.tokens:
            place = (token & tk.PAYLOAD_MASK) - first
            if token >> tk.KIND_SHIFT == tk.VARIABLE and 0 <= place < len(self.known):
                words = words.with_literal(self.known[place].value)
                token = words.literal_token(self.known[place].value)
            tokens.append(token)
        others = (*words.variables[:first], *words.variables[len(self.names) :])
        moved = {make_token(tk.VARIABLE, old): name for old, name in enumerate(words.variables)}
        filled = replace(words, variables=others)
        renumbered = tuple(filled.variable_token(moved[token]) if token in moved else token for token in tokens)
        return Program(renumbered, filled, program.constants)

    def infer(self, program: Program) -> Inference:
        """Return what the units say about a formula of the columns.

        Pure numbers hold the factors between units of one dimension. If numbers may have units, cm and m are different units: a number
        converts one into the other.
        """
        if not self.are_numbers_free:
            return infer_dimension(program, self.dimensions, self.target.dimension)
        columns = [symbols_of(unit, expands_si=True) for unit in self.columns]
        return infer_dimension(program, columns, symbols_of(self.target, expands_si=True), are_numbers_free=True)

    def allow(self, program: Program) -> bool:
        """Return whether a formula of the columns has the unit of the target."""
        return self.infer(program).dimension is not None


def read_table_units(
    columns: Mapping[str, object],
    target: object,
    known: Mapping[str, object] | None = None,
    *,
    names: Sequence[str],
    target_name: str = "y",
    are_numbers_free: bool = False,
) -> TableUnits:
    """Return the units of a table; raise `UnitError` if one is missing, unknown or of a column that does not exist.

    Args:
        columns: the unit of each column, as text.
        target: the unit of the target.
        known: named constants: numbers with units, or names of scipy.constants.
        names: the columns of the table.
        target_name: the name of the target, for messages.
        are_numbers_free: whether numbers in formulas may have whatever units they need.

    Examples:
        >>> read_table_units({"m": "kg"}, "J", names=["m", "v"])
        Traceback (most recent call last):
        ...
        spl.errors.UnitError: Column 'v' has no unit. Name it among the units; that of a pure number is '1'.
    """
    known = known or {}
    for name in columns:
        if name not in names:
            raise UnitError(
                f"There is a unit for a column that the table does not have. {explain_unknown('column', str(name), list(names))}"
            )
    for name in known:
        _check_name(name, names, target_name)
    missing = next((name for name in names if name not in columns), None)
    if missing is not None:
        raise UnitError(
            f"Column '{shorten(missing)}' has no unit. Name it among the units; that of a pure number is '1'."
        )
    if target is None:
        raise UnitError(
            "The target has no unit. Give it one (`target_unit`, --target-unit); that of a pure number is '1'."
        )
    quantities = tuple(read_quantity(text, f"Constant '{name}'") for name, text in known.items())
    units = [read_unit(columns[name], f"Column '{name}'") for name in names]
    return TableUnits(
        (*names, *known),
        (*units, *(quantity.unit for quantity in quantities)),
        read_unit(target, f"Target '{target_name}'"),
        quantities,
        are_numbers_free,
    )


def _check_name(name: object, columns: Sequence[str], target: str) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name in ("C", "K"):
        raise UnitError(
            f"The name of a named constant must be a plain word other than 'C' and 'K'; got {shorten(repr(name))}."
        )
    if name in columns or name == target:
        raise UnitError(f"The named constant '{name}' has the name of a column. Rename one of the two.")
