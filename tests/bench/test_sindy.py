import sys

import numpy as np
import pytest

from spl.bench.equations import compare_terms, read_equations
from spl.bench.sindy import NO_PYSINDY, SindyConfig, fit_sindy, require_pysindy, write_equation
from spl.datasets import make_driven_pendulum, make_van_der_pol
from spl.errors import SplError

pytestmark = pytest.mark.search


def test_without_pysindy_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysindy", None)
    with pytest.raises(SplError) as raised:
        require_pysindy()
    assert str(raised.value) == NO_PYSINDY
    assert 'pip install "symbolic-physics-learner[bench]"' in NO_PYSINDY


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([1.5, 0.0, 0.0], "1.5"),
        ([0.0, -2.0, 3.0], "-2*x*y**2 + 3*y"),
        ([1.0, 1e-9, -2.5], "1 + 1e-09*x*y**2 - 2.5*y"),
        ([0.0, 0.0, 0.0], "0"),
    ],
)
def test_equations_are_written_so_that_we_can_read_them(coefficients, text):
    assert write_equation(coefficients, ["1", "x y^2", "y"]) == text
    assert len(read_equations(text, ("x", "y"))) == 1


class TestPysindy:
    @pytest.fixture(autouse=True)
    def _installed(self):
        pytest.importorskip("pysindy", reason="pysindy is not installed")

    @pytest.mark.parametrize("is_weak", [False, True])
    def test_it_finds_a_polynomial_system_in_exact_data(self, is_weak):
        data = make_van_der_pol(noise=0.0)
        found = fit_sindy(data, SindyConfig(is_weak=is_weak), seed=0)
        truth = read_equations("; ".join(data.equations.values()), data.names)
        programs = read_equations("; ".join(found), data.names)
        verdicts = [compare_terms(program, true) for program, true in zip(programs, truth, strict=True)]
        assert all(verdict.is_right and verdict.error < 0.02 for verdict in verdicts)

    @pytest.mark.parametrize("is_weak", [False, True])
    def test_inputs_are_among_its_terms(self, is_weak):
        data = make_driven_pendulum(noise=0.0)
        assert "*u" in fit_sindy(data, SindyConfig(is_weak=is_weak), seed=0)[1]

    def test_the_seed_decides_and_the_global_generator_is_left_alone(self):
        data = make_van_der_pol(400, noise=0.02)
        config = SindyConfig(is_weak=True, n_domains=50)
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        first, again, other = (fit_sindy(data, config, seed) for seed in (1, 1, 2))
        assert first == again != other
        assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_settings_name_the_version(self):
        assert {"pysindy", "degree", "threshold", "is_weak"} <= SindyConfig().to_dict().keys()
