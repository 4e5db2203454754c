"""Losses of the user as values for JSON, and back.

A file holds only the name of such a loss and a few of its values; whoever reads the file provides the function again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spl.checked_values import as_fields, as_finite, as_list, as_text, checked_as_stored
from spl.errors import RunFileError
from spl.noise.own_loss import Loss

_STORED_Y, _STORED_F = np.array([1.7, 1.7, 8.9, 0.31]), np.array([0.31, 8.9, 1.7, 97.0])  # where values are stored


def encode_loss(loss: Loss) -> dict[str, Any]:
    """Return the name of a loss, and values by which it is recognised.

    Examples:
        >>> encode_loss(Loss("absolute", lambda y, f: abs(f - y)))["name"]
        'absolute'
    """
    return {"name": loss.name, "values": loss.values(_STORED_Y, _STORED_F).tolist()}


def decode_loss(encoded: object, given: Loss | None = None) -> Loss:
    """Return the given loss if it is the stored one. Without one, return a stand-in, which prints but has no values."""
    fields = as_fields(encoded)
    name, values = as_text(fields["name"]), [as_finite(value) for value in as_list(fields["values"])]
    if given is None:
        with checked_as_stored():
            return _StandIn(name, _has_no_value)
    if given.name != name:
        raise RunFileError(f"The run uses the loss '{name}'; got '{given.name}'. Give the same one.")
    if len(values) != _STORED_Y.size or not np.allclose(encode_loss(given)["values"], values):
        raise RunFileError(
            f"Loss '{name}' gives other values than when the run began. Give the same function, with the same numbers in it."
        )
    return given


def check_no_stand_in(loss: Loss) -> None:
    """Raise a clear error if the function of a stored loss was not given."""
    if isinstance(loss, _StandIn):
        raise RunFileError(
            f"The run uses '{loss.name}', a loss of your own, whose function is not in the file. Give it again, from Python: "
            f"SPLRegressor.from_run(path, loss=Loss({loss.name!r}, ...))."
        )


@dataclass(frozen=True, slots=True, repr=False)
class _StandIn(Loss):
    """A loss whose function was not given."""

    def _prepare(self) -> None:
        """Accept it: it is never called."""


def _has_no_value(y: float, f: float) -> float:
    raise NotImplementedError
