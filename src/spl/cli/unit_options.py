"""The options of `spl fit` about units: what they are, how their texts are read, and a hint if the table names units.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from spl.units.table_units import TableUnits


def split_units(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, str] | str | None:
    """Return units by column from `A=UNIT,...`, or "header"; None if there are none."""
    from spl.errors import UnitError
    from spl.units.entries import split_units as split

    try:
        return None if value is None else split(value)
    except UnitError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def split_known(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str] | None:
    """Return named constants from entries `NAME=QUANTITY`; None if there are none."""
    from spl.errors import UnitError
    from spl.units.entries import split_known as split

    try:
        return split(values) or None
    except UnitError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def check_constants(constants: str, *, no_constants: bool) -> None:
    """Raise a clear error if fitted constants are to have units, but there are to be none."""
    if no_constants and constants == "any":
        raise click.UsageError("--no-constants cannot be combined with --constants any. Leave out one of them.")


_OPTIONS = (
    click.option(
        "--units",
        callback=split_units,
        metavar="A=UNIT,...",
        help='Units of the columns: "m=kg, v=m/s, ratio=1". header takes them from names such as "v (m/s)". Then only formulas with '
        "the unit of the target are possible.",
    ),
    click.option("--target-unit", metavar="UNIT", help="Unit of the target, with --units."),
    click.option(
        "--known",
        multiple=True,
        callback=split_known,
        metavar="NAME=QUANTITY",
        help='Named constant that formulas may contain, with --units: "g=9.80665 m/s**2", or c=speed_of_light by a name of '
        "scipy.constants. Repeat for more.",
    ),
    click.option(
        "--constants",
        type=click.Choice(["pure", "any"]),
        default="pure",
        show_default=True,
        help="With --units: fitted constants are pure numbers, or have any unit that they need.",
    ),
)


def unit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about units to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_unit_options(
    units: dict[str, str] | str | None,
    target_unit: str | None,
    known: dict[str, str] | None,
    constants: str,
    names: Sequence[str],
    target: str,
) -> "TableUnits | None":
    """Return the units that the options name; None if they name none.

    Args:
        units: by column, or "header".
        target_unit: of the target.
        known: named constants.
        constants: "pure" or "any".
        names: of the columns.
        target: the name of the target.
    """
    from spl.estimators.fitted_units import read_units
    from spl.units.table_units import ANY

    if units is None:
        given = {"--target-unit": target_unit, "--known": known, "--constants any": constants == ANY}
        for name, value in given.items():
            if value:
                raise click.UsageError(f"{name} needs the units of the columns. Name them with --units.")
        return None
    return read_units(units, target_unit, known, ANY if constants == ANY else True, names, target)


def hint_at_units(names: Sequence[str], target: str) -> list[str]:
    """Return a note if the names of columns have units in them, such as `v (m/s)`; nothing if they have none.

    Examples:
        >>> hint_at_units(["v (m/s)", "n (old)"], "E (J)")
        ["'v (m/s)' names a unit: --units header would use it, and allow only formulas with the unit of the target."]
        >>> hint_at_units(["v"], "E (J)")
        []
    """
    from spl.units.unit import has_unit_in_header

    found = next((name for name in names if has_unit_in_header(name)), None)
    if found is None:
        return []
    target_unit = "" if has_unit_in_header(target) else " --target-unit UNIT"
    return [
        f"'{found}' names a unit: --units header{target_unit} would use it, and allow only formulas with the unit of the target."
    ]
