"""What a fitted `SPLRegressor` knows about units: those of its columns, named constants, and the units of fitted numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import SettingError, show_value
from spl.formulas.program import Program
from spl.units.entries import HEADER
from spl.units.si import program_in_si, units_in_si
from spl.units.table_units import ANY, TableUnits, read_table_units
from spl.units.unit import split_header

SI = "SI"  # the units that formulas can be turned into


class FittedUnits:
    """The part of an estimator that holds units; without units, nothing changes.

    Examples:
        >>> from spl import SPLRegressor
        >>> X = np.random.default_rng(0).uniform(1, 5, size=(50, 2))
        >>> y = X[:, 0] * X[:, 1] ** 2 / 2
        >>> model = SPLRegressor(units={"x0": "kg", "x1": "m/s"}, target_unit="J", random_state=0).fit(X, y)
        >>> model.get_best()["equation"], str(model.units_.target)
        ('0.5*x0*x1**2', 'J')
    """

    units_: TableUnits | None = None  # of the columns, the named constants and the target

    def _with_known(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return columns [D, N] and below them the named constants."""
        if self.units_ is None or not self.units_.known:
            return columns
        return np.ascontiguousarray(np.vstack([columns, repeat_known(self.units_, columns.shape[1])]))

    def _without_known(self, names: Sequence[str]) -> list[str]:
        """Return names of columns without those of named constants."""
        known = () if self.units_ is None else self.units_.known_names
        return [name for name in names if name not in known]

    def _in_units(self, program: Program, units: str | None) -> Program:
        """Return a formula for columns in these units: "SI", or None for those of the fit."""
        if units is None:
            return program
        if units != SI:
            raise SettingError(f'`units` must be "SI", or None for the units of the fit; got {show_value(units)}.')
        if self.units_ is None:
            raise SettingError('`units="SI"` needs the units of the columns: name them when you make the model.')
        return program_in_si(program, self.units_)

    def _fill_known(self, program: Program, units: str | None = None) -> Program:
        """Return a formula in these units with the values of named constants, for code that does not know their names."""
        if self.units_ is None:
            return program
        return (self.units_ if units is None else units_in_si(self.units_)).fill_known(program)


def read_units(
    units: Any, target_unit: Any, known: Any, constants: Any, names: Sequence[str], target: str
) -> TableUnits | None:
    """Return the units that an estimator was given; None if there are none.

    Args:
        units: the unit of each column, or "header" for those in the names of the columns.
        target_unit: the unit of the target; it may also be among `units`.
        known: named constants, with units.
        constants: "any" lets fitted numbers have units.
        names: of the columns.
        target: the name of the target.
    """
    are_numbers_free = allows_any(constants)
    if units is None:
        check_no_units(are_numbers_free, target_unit=target_unit, known=known)
        return None
    if isinstance(units, str) and units == HEADER:
        units, header = read_headers(names), split_header(target)
        target_unit = header[1] if target_unit is None and header is not None else target_unit
    check_mappings(units=units, known={} if known is None else known)
    if target_unit is None and target not in names and target in units:
        target_unit = units[target]
        units = {name: unit for name, unit in units.items() if name != target}
    return read_table_units(
        units, target_unit, known, names=names, target_name=target, are_numbers_free=are_numbers_free
    )


def allows_any(constants: Any) -> bool:
    """Return whether the setting lets fitted numbers have units."""
    return isinstance(constants, str) and constants == ANY


def check_no_units(are_numbers_free: bool, **others: Any) -> None:
    """Raise a clear error if there is something that needs units, although none were given."""
    for name, value in others.items():
        if value is not None and not (isinstance(value, str | Mapping) and not value):
            raise SettingError(f"`{name}` needs the units of the columns: name them in `units`.")
    if are_numbers_free:
        raise SettingError('`constants="any"` needs the units of the columns: name them in `units`.')


def check_mappings(**given: Any) -> None:
    """Raise a clear error unless settings are dictionaries."""
    for name, value in given.items():
        if not isinstance(value, Mapping):
            raise SettingError(f"`{name}` must be a dictionary, such as {{'m': 'kg'}}; got {show_value(value)}.")


def read_headers(names: Sequence[str]) -> dict[str, str]:
    """Return the units in the names of columns; "" where there is none.

    Examples:
        >>> read_headers(["theta (rad)", "n"])
        {'theta (rad)': 'rad', 'n': ''}
    """
    headers = {name: split_header(name) for name in names}
    return {name: "" if header is None else header[1] for name, header in headers.items()}


def add_known(data: Dataset, units: TableUnits | None) -> Dataset:
    """Return a table with a further column for each named constant."""
    if units is None or not units.known:
        return data
    columns = np.vstack([data.columns, repeat_known(units, data.n_rows)])
    bars = data.sigma_columns
    if bars is not None:
        bars = np.vstack([bars, np.zeros((len(units.known), data.n_rows))])
    return replace(data, names=units.names, columns=np.ascontiguousarray(columns), sigma_columns=bars)


def repeat_known(units: TableUnits, n_rows: int) -> NDArray[np.float64]:
    """Return the named constants as columns [K, N]."""
    return np.repeat([[quantity.value] for quantity in units.known], n_rows, axis=1)


def parameters_of_units(units: TableUnits | None) -> dict[str, Any]:
    """Return the parameters of an estimator that say what these units do; nothing without units.

    Examples:
        >>> units = read_table_units({"h": "m"}, "m**2/s**2", {"g": "9.81 m/s**2"}, names=["h"])
        >>> parameters_of_units(units)["units"], parameters_of_units(None)
        ({'h': 'm'}, {})
    """
    if units is None:
        return {}
    return {
        "units": units.unit_texts,
        "target_unit": units.target.text,
        "known": dict(zip(units.known_names, units.known, strict=True)),
        "constants": ANY if units.are_numbers_free else True,
    }
