import sys

import numpy as np
import pytest

from spl.bench.pyoperon import NO_PYOPERON, PyoperonConfig, fit_pyoperon, require_pyoperon
from spl.errors import SplError

CONFIG = PyoperonConfig(operators=("+", "*", "sin"), timeout=1.9)


def test_parameters_are_pyoperons_names_of_our_settings():
    parameters = CONFIG.to_parameters()
    assert parameters["allowed_symbols"] == "add,mul,sin,constant,variable"
    assert (parameters["max_time"], parameters["n_threads"]) == (1, 1)


def test_without_constants_only_variables_are_leaves():
    config = PyoperonConfig(operators=("+",), timeout=5.0, has_constants=False)
    assert config.to_parameters()["allowed_symbols"] == "add,variable"


def test_without_pyoperon_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyoperon", None)
    with pytest.raises(SplError) as caught:
        require_pyoperon()
    assert str(caught.value) == NO_PYOPERON


@pytest.mark.search
@pytest.mark.slow
def test_a_run_ends_in_time_with_a_formula_of_our_names(rng):
    pytest.importorskip("pyoperon", reason="pyoperon is not installed")
    table = rng.uniform(1, 3, (50, 2))
    found = fit_pyoperon(table, 2 * table[:, 0] * table[:, 1], names=("p", "q"), config=CONFIG, seed=0)
    assert "p" in found.formula
    assert "q" in found.formula
    assert np.isfinite(found.predict(table)).all()
    assert CONFIG.to_dict()["pyoperon"]
