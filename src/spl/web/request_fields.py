"""The fields of what a page sends as JSON, each checked for its type."""

from collections.abc import Mapping
from typing import Any

from spl.dynamics.rows import AUTO_RATES
from spl.errors import SettingError
from spl.formulas.system import rate_names, velocity_names
from spl.settings import check_count


class RequestFields:
    """The fields of a JSON object, each checked for its type.

    Examples:
        >>> RequestFields({"columns": ["x"], "order": 2}).columns()
        ('x', 'dx')
        >>> RequestFields({"order": "two"}).whole("order", 1)
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `order` must be a whole number; got 'two'.
    """

    def __init__(self, given: object) -> None:
        if not isinstance(given, Mapping):
            raise SettingError("A request must be a JSON object.")
        self._given: Mapping[str, Any] = given

    def columns(self) -> tuple[str, ...]:
        """Return the columns that formulas may use; for order 2, states have velocities, and rates may be among them."""
        names, order = self.texts("columns"), self.whole("order", 1)
        velocities = velocity_names(names) if order == 2 else ()
        rates = rate_names(names, order) if self.truth_or_auto("implicit") else ()
        return (*names, *velocities, *self.texts("inputs"), *rates)

    def fields_or_none(self, name: str) -> "RequestFields | None":
        """Return an object of fields; None if there is none."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise SettingError(f"`{name}` must be an object; got {value!r}.")
        return None if value is None else RequestFields(value)

    def text(self, name: str) -> str:
        """Return a text that must not be empty."""
        value = self.text_or_none(name)
        if not value:
            raise SettingError(f"Nothing is chosen for `{name}`. Choose a value.")
        return value

    def text_or_none(self, name: str) -> str | None:
        """Return a text; None if there is none."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, str):
            raise SettingError(f"`{name}` must be text; got {value!r}.")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; empty if there is none."""
        values = self._given.get(name) or []
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise SettingError(f"`{name}` must be a list of texts; got {values!r}.")
        return tuple(values)

    def texts_by_name(self, name: str) -> dict[str, str]:
        """Return texts by name; empty if there are none."""
        values = self._given.get(name) or {}
        if not isinstance(values, Mapping) or not all(isinstance(value, str) for value in values.values()):
            raise SettingError(f"`{name}` must be an object of texts; got {values!r}.")
        return dict(values)

    def number(self, name: str, default: float) -> float:
        """Return a number."""
        value = self._given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingError(f"`{name}` must be a number; got {value!r}.")
        return float(value)

    def whole(self, name: str, default: int) -> int:
        """Return a whole number of 0 or more."""
        value = self._given.get(name, default)
        check_count(name, value, at_least=0)
        return int(value)

    def truth_or_auto(self, name: str) -> bool | str:
        """Return true, false or "auto"; false if there is none."""
        value = self._given.get(name, False)
        if isinstance(value, bool):
            return value
        if value != AUTO_RATES:
            raise SettingError(f'`{name}` must be true, false or "{AUTO_RATES}"; got {value!r}.')
        return AUTO_RATES

    def truth(self, name: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self._given.get(name, default)
        if not isinstance(value, bool):
            raise SettingError(f"`{name}` must be true or false; got {value!r}.")
        return value
