"""The options of `spl fit` and `spl dynamics` about units: what they are, how they are read, and a hint if the table names units.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from spl.data.trajectories import Trajectories
    from spl.dynamics.rows import Plan
    from spl.units.system_units import SystemUnits
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


Command = Callable[..., Any]

_OPTIONS = (
    click.option(
        "--units",
        callback=split_units,
        metavar="A=UNIT,...",
        help='Units of the columns: "m=kg, v=m/s, ratio=1". header takes them from names such as "v (m/s)". Then only formulas with '
        "the right unit are possible.",
    ),
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


_TARGET_OPTION = click.option("--target-unit", metavar="UNIT", help="Unit of the target, with --units.")
_TIME_OPTION = click.option("--time-unit", metavar="UNIT", help="Unit of the times, with --units: s.")


def unit_options(command: Command) -> Command:
    """Add the options about units to a command that finds formulas of a table."""
    return _add(command, _TARGET_OPTION)


def system_unit_options(command: Command) -> Command:
    """Add the options about units to a command that finds equations of a system."""
    return _add(command, _TIME_OPTION)


def _add(command: Command, second: Callable[[Command], Command]) -> Command:
    for option in reversed((_OPTIONS[0], second, *_OPTIONS[1:])):
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

    _check_needed({"--target-unit": target_unit, "--known": known, "--constants any": constants == ANY}, units)
    return read_units(units, target_unit, known, constants, names, target)


def read_system_unit_options(
    units: dict[str, str] | str | None,
    time_unit: str | None,
    known: dict[str, str] | None,
    constants: str,
    data: "Trajectories",
    plan: "Plan",
) -> "SystemUnits | None":
    """Return the units of a system that the options name; None if they name none.

    Args:
        units: by state and input, or "header".
        time_unit: of the times.
        known: named constants.
        constants: "pure" or "any".
        data: the trajectories.
        plan: how they become rows.
    """
    from spl.estimators.system_units import read_given_units
    from spl.units.table_units import ANY

    _check_needed({"--time-unit": time_unit, "--known": known, "--constants any": constants == ANY}, units)
    return read_given_units(units, time_unit, known, constants, data, plan)


def _check_needed(given: Mapping[str, object], units: object) -> None:
    """Raise a clear error if there are options that need units, but no units."""
    for name, value in given.items():
        if value and units is None:
            raise click.UsageError(f"{name} needs the units of the columns. Name them with --units.")


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
