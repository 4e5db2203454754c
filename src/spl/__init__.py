"""Symbolic Physics Learner: give it a table or trajectories, it gives back the equation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spl.garbage_collection import without_garbage_collection

if TYPE_CHECKING:
    from spl.errors import SplError
    from spl.estimators.dynamics import SPLDynamics
    from spl.estimators.regressor import SPLRegressor
    from spl.formulas.grammar import Grammar
    from spl.formulas.operators import Operator
    from spl.noise.own_loss import Loss
    from spl.settings import SearchConfig

__version__ = "0.1.0"
__all__ = ["Grammar", "Loss", "Operator", "SPLDynamics", "SPLRegressor", "SearchConfig", "SplError", "__version__"]

_HOMES = {
    "Grammar": "spl.formulas.grammar",
    "Loss": "spl.noise.own_loss",
    "Operator": "spl.formulas.operators",
    "SPLDynamics": "spl.estimators.dynamics",
    "SPLRegressor": "spl.estimators.regressor",
    "SearchConfig": "spl.settings",
    "SplError": "spl.errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import spl` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spl' has no attribute {name!r}")
    with without_garbage_collection():
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
