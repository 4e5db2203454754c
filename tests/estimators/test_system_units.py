"""`SPLDynamics` with units: what it finds keeps to them, and all that it offers knows named constants."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spl import SPLDynamics
from spl.dynamics.discover import SystemDiscovery
from spl.errors import DataError, RunFileError, SettingError, UnitError
from spl.runs.dynamics import resume_system
from spl.runs.reader import read_run
from spl.settings import Limits

pytestmark = pytest.mark.search

FEW = {"operators": ("+", "-", "*", "/", "sin"), "max_evaluations": 100, "timeout": None, "random_state": 0}
T = np.linspace(0, 8, 240)
KNOWN = {"g": "9.80665 m/s**2", "l": "0.5 m"}
PENDULUM = {"units": {"theta": "rad"}, "time_unit": "s", "known": KNOWN, "order": 2, **FEW}


def follow(slopes, start, t=T):
    return solve_ivp(slopes, (t[0], t[-1]), start, t_eval=t, rtol=1e-10, atol=1e-10).y.T


def swing(start=2.0):
    return follow(lambda _, y: [y[1], -9.80665 / 0.5 * np.sin(y[0])], [start, 0.0])[:, :1]


def fit_pendulum(x=None, t=T, **changes):
    return SPLDynamics(**{**PENDULUM, **changes}).fit(swing() if x is None else x, t, feature_names=["theta"])


def check_units(found: SystemDiscovery) -> None:
    for state, (search, program) in enumerate(zip(found.searches, found.system.programs, strict=True)):
        assert found.units.allow(state, program)
        assert len(search.front) > 1
        assert all(found.units.allow(state, each.program) for each in search.front)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory):
    return fit_pendulum(run_file=tmp_path_factory.mktemp("runs") / "pendulum.spl")


def test_a_pendulum_of_known_length_needs_no_fitted_number(pendulum, capsys):
    assert pendulum.equations() == ["-(g*sin(theta)/l)"]
    check_units(pendulum.discovery_)
    assert len(pendulum.constants_) == 0
    pendulum.print()
    assert "Units: theta in rad; time in s; g = 9.80665 m/s**2, l = 0.5 m." in capsys.readouterr().out


def test_named_constants_are_no_inputs_for_people(pendulum):
    assert list(pendulum.feature_names_in_) == ["theta"]
    assert pendulum.predict([[1.0, 0.0]])[0, 0] == pytest.approx(-9.80665 / 0.5 * np.sin(1.0))
    np.testing.assert_allclose(pendulum.simulate([2.0, 0.0], T)[:, :1], swing(), atol=1e-4)
    assert pendulum.simulate([2.0, 0.0], T[:20], n_draws=3).draws.shape == (3, 20, 2)
    assert pendulum.score(swing(1.0), T) > 0.999
    assert list(pendulum.suggest(1).columns) == ["theta", "dtheta", "difference", "told_apart"]
    assert "9.80665" in pendulum.export("python")
    with pytest.raises(DataError, match="0 inputs, without named constants"):
        pendulum.predict([[1.0, 0.0]], [[1.0]])
    with pytest.raises(SettingError, match="no use for 'g'"):
        pendulum.suggest(1, bounds={"g": (1.0, 2.0)})


def test_rivals_have_the_right_unit_and_differ_by_more_than_named_constants():
    model = fit_pendulum(swing(0.05), max_evaluations=40)
    assert len(model.rivals()) > 0
    assert all(model.units_.allow(0, rival.program) for rival in model.identifiability_.rivals)
    assert model.identifiability_.reasons
    assert not any("never changes" in reason for reason in model.identifiability_.reasons)


def test_a_run_file_keeps_units(pendulum):
    again = SPLDynamics.from_run(pendulum.run_file)
    assert again.units_ == pendulum.units_
    assert again.export("python") == pendulum.export("python")
    assert again.fit(swing(), T, feature_names=["theta"]).equations() == pendulum.equations()
    for changes, message in [
        ({"units": {"theta": "deg"}}, "`units` was"),
        ({"time_unit": "ms"}, "`time_unit` was"),
        ({"known": {**KNOWN, "l": "0.6 m"}}, "`known` was"),
        ({"constants": "any"}, "`constants` was"),
    ]:
        with pytest.raises(RunFileError, match=message):
            fit_pendulum(run_file=pendulum.run_file, **changes)


def test_a_run_that_is_continued_keeps_to_the_units(tmp_path, rng):
    path = tmp_path / "noisy.spl"
    x = swing()
    fit_pendulum(x + 0.02 * rng.normal(size=x.shape), run_file=path, max_evaluations=30)
    found = resume_system(read_run(path), limits=Limits(timeout=None, max_evaluations=100))
    check_units(found)


def test_prey_and_predator_have_numbers_with_units():
    t = np.linspace(0, 24, 240)
    states = follow(lambda _, y: [1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]], [10.0, 5.0], t)
    model = SPLDynamics(units={"prey": "1/km**2", "hunters": "1/km**2"}, time_unit="day", constants="any", **FEW).fit(
        states, t, feature_names=["prey", "hunters"]
    )
    check_units(model.discovery_)
    assert model.equations() == ["prey*(1.1 - 0.4*hunters)", "hunters*(0.1*prey - 0.4)"]
    assert list(model.constants_["unit"]) == ["1/d", "km**2/d", "km**2/d", "1/d"]
    with pytest.raises(UnitError, match=r"The equation of 'prey': No formula can have the unit .*, \(1/km\*\*2\)/day"):
        SPLDynamics(units={"prey": "1/km**2", "hunters": "1/km**2"}, time_unit="day", **FEW).fit(
            states, t, feature_names=["prey", "hunters"]
        )


def test_inputs_have_units_too(rng):
    force = np.sin(1.3 * T)
    speed = follow(lambda t, v: -0.5 * v + 0.7 * np.sin(1.3 * t), [2.0])
    model = SPLDynamics(units="header", time_unit="s", known={"tau": "2 s"}, **FEW)
    model.fit(speed, T, u=force, feature_names=["v (m/s)", "a [m/s**2]"])
    check_units(model.discovery_)
    known = model.simulate([2.0], T, u=lambda t: np.sin(1.3 * t))
    np.testing.assert_allclose(known, speed, atol=1e-3)
    np.testing.assert_allclose(model.simulate([2.0], T, u=force), speed, atol=1e-2)
    assert list(model.feature_names_in_) == ["v (m/s)", "a [m/s**2]"]


def test_a_map_gives_what_has_the_unit_of_its_state():
    z = [0.3]
    for _ in range(60):
        z.append(3.7 * z[-1] * (1 - z[-1] / 2.0))
    model = SPLDynamics(units={"z": "kg"}, known={"M": "2 kg"}, discrete=True, **FEW)
    model.fit(np.array(z), 1, feature_names=["z"])
    check_units(model.discovery_)
    assert model.r2_["z"] > 1 - 1e-9


@pytest.mark.parametrize(
    "changes", [{"derivative": "weak"}, {"grammar": "f -> f + f | C*f | g/l*a\na -> sin(theta) | theta"}]
)
def test_other_ways_to_search_keep_to_the_units(changes):
    check_units(fit_pendulum(**changes).discovery_)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"units": {}}, UnitError, "'theta' has no unit"),
        ({"units": {"theta": "radd"}}, UnitError, "There is no unit 'radd'"),
        ({"time_unit": None}, UnitError, "The time has no unit"),
        ({"units": None}, SettingError, "`time_unit` needs the units"),
        ({"units": None, "time_unit": None, "known": None, "constants": "any"}, SettingError, 'constants="any"` needs'),
        ({"known": None, "order": 1}, UnitError, "The equation of 'theta'.*nothing has the dimension time"),
        ({"implicit": "auto"}, SettingError, "cannot be combined with rates on both sides"),
        ({"units": ["rad"]}, SettingError, "`units` must be a dictionary"),
        ({"constants": np.ones(2)}, SettingError, "`constants` must be True or False"),
    ],
)
def test_mistakes_are_explained(changes, error, message):
    with pytest.raises(error, match=message):
        fit_pendulum(**changes)


def test_own_numbers_and_units_together_are_refused():
    with pytest.raises(SettingError, match="cannot be combined with own numbers"):
        SPLDynamics(**PENDULUM).fit([swing(), swing(1.0)], [T, T], feature_names=["theta"], own="auto")


def test_without_units_there_are_no_units():
    few = FEW | {"operators": ("+", "*"), "max_evaluations": 40}
    model = SPLDynamics(order=2, **few).fit(swing(0.1)[:100], T[:100])
    assert model.units_ is None
    assert "unit" not in model.constants_
