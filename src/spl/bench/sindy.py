"""pysindy, which fits sparse combinations of a library of terms: its settings, its run, its answer as text that we can read.

Two ways, as its documentation shows them: derivatives by smoothed differences, and the weak form. In both, the library is all
monomials up to a degree, and terms with small coefficients are left out one after the other (STLSQ).
"""

import importlib.metadata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.datasets.simulation import SystemData
from spl.errors import SplError

if TYPE_CHECKING:
    from pysindy import SINDy

MISSING = 'pysindy is not installed. To compare with it: pip install "symbolic-physics-learner[bench]"'
DIGITS = 8  # significant digits of a coefficient


@dataclass(frozen=True, slots=True, kw_only=True)
class SindyConfig:
    """The settings of pysindy; all others are its defaults."""

    is_weak: bool = False
    degree: int = 3  # of the monomials, the constant among them
    threshold: float = (
        0.05  # terms with smaller coefficients are left out; pysindy's default, 0.1, does worse on these systems
    )
    n_domains: int = 500  # of the weak form; pysindy's default is 100
    n_samples: int = 100  # that a domain is long; pysindy's default, a tenth of all, does worse on these systems

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, and the version of pysindy that they are for."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        return settings | {"pysindy": importlib.metadata.version("pysindy")}


def require_pysindy() -> None:
    """Raise a clear error if pysindy is not installed."""
    try:
        import pysindy  # noqa: F401
    except ImportError:
        raise SplError(MISSING) from None


def fit_sindy(data: SystemData, config: SindyConfig, seed: int) -> list[str]:
    """Return the right-hand sides that pysindy finds in the measured states and inputs, one a state.

    The seed places the domains of the weak form; without it, nothing is left to chance.
    """
    require_pysindy()
    with _chance_from(seed), np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # its own, about axes
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
def _chance_from(seed: int) -> Iterator[None]:
    """Set numpy's global generator, which pysindy draws from, and leave it as it was."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def write_equation(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """Return a sum of pysindy's terms as we write formulas; terms with a coefficient of 0 are left out.

    Examples:
        >>> write_equation([0.0, -0.5, 2.0], ["1", "x", "x^2 y"])
        '-0.5*x + 2*x**2*y'
        >>> write_equation([0.0], ["x"])
        '0'
    """
    kept = [
        f"{value:.{DIGITS}g}" + ("" if term == "1" else f"*{_write_term(term)}")
        for value, term in zip(coefficients, terms, strict=True)
        if value != 0
    ]
    return " + ".join(kept).replace("+ -", "- ") or "0"


def _write_term(term: str) -> str:
    return "*".join(word.replace("^", "**") for word in term.split())
