"""pysindy, which fits sparse combinations of a library of terms: its settings, its run, its answer as text that we can read.

It runs in two ways, following its documentation: with derivatives by smoothed differences, and with the weak form. In both, the
library has all monomials up to a degree, and terms with small coefficients are removed one after another (STLSQ).
"""

import importlib.metadata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import RECORDED_DIGITS
from spl.datasets.simulation import SystemData
from spl.errors import SplError

if TYPE_CHECKING:
    from pysindy import SINDy

NO_PYSINDY = 'pysindy is not installed. To compare with it: pip install "symbolic-physics-learner[bench]"'


@dataclass(frozen=True, slots=True, kw_only=True)
class SindyConfig:
    """The settings of pysindy; all others are its defaults."""

    is_weak: bool = False
    degree: int = 3  # of the monomials, including the constant
    threshold: float = (
        0.05  # terms with smaller coefficients are removed; pysindy's default, 0.1, does worse on these systems
    )
    n_domains: int = 500  # of the weak form; pysindy's default is 100
    n_samples: int = 100  # per domain; pysindy's default, a tenth of all, does worse on these systems

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, and the version of pysindy."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        return settings | {"pysindy": importlib.metadata.version("pysindy")}


def require_pysindy() -> None:
    """Raise a clear error if pysindy is not installed."""
    try:
        import pysindy  # noqa: F401
    except ImportError:
        raise SplError(NO_PYSINDY) from None


def fit_sindy(data: SystemData, config: SindyConfig, seed: int) -> list[str]:
    """Return the right-hand sides that pysindy finds in the measured states and inputs, one per state.

    The seed places the domains of the weak form; without the weak form, nothing is random.
    """
    require_pysindy()
    with (
        _seeded(seed),
        np.errstate(all="ignore"),
        warnings.catch_warnings(action="ignore"),
    ):  # pysindy's warnings about axes
        model = _make_model(data.t, config)
        model.fit(
            data.states,
            t=data.t,
            u=data.u if data.input_names else None,
            feature_names=[*data.names, *data.input_names],
        )
    terms = model.get_feature_names()
    return [write_equation(row, terms) for row in model.coefficients()]


def _make_model(t: NDArray[np.float64], config: SindyConfig) -> "SINDy":
    import pysindy

    library: Any = pysindy.PolynomialLibrary(degree=config.degree)
    if config.is_weak:
        library = pysindy.WeakPDELibrary(function_library=library, spatiotemporal_grid=t, K=config.n_domains)
    return pysindy.SINDy(
        optimizer=pysindy.STLSQ(threshold=config.threshold),
        feature_library=library,
        differentiation_method=pysindy.SmoothedFiniteDifference(),
    )


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed numpy's global generator, which pysindy uses, and restore it afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def write_equation(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """Return a sum of pysindy's terms in our notation, without terms whose coefficient is 0.

    Examples:
        >>> write_equation([0.0, -0.5, 2.0], ["1", "x", "x^2 y"])
        '-0.5*x + 2*x**2*y'
        >>> write_equation([0.0], ["x"])
        '0'
    """
    kept = [
        f"{value:.{RECORDED_DIGITS}g}" + ("" if term == "1" else f"*{_write_term(term)}")
        for value, term in zip(coefficients, terms, strict=True)
        if value != 0
    ]
    return " + ".join(kept).replace("+ -", "- ") or "0"


def _write_term(term: str) -> str:
    return "*".join(word.replace("^", "**") for word in term.split())
