"""What `SPLDynamics` says about how sure it is."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spl import SPLDynamics
from spl.errors import SettingError, SimulationEnded, UndefinedError

pytestmark = pytest.mark.search

T = np.linspace(0, 20, 200)
CIRCLE = np.column_stack([np.sin(T), np.cos(T)])
GRAMMAR = "f -> f + f | C*t\nt -> t*t | x | y"


@pytest.fixture(scope="module")
def noisy():
    return CIRCLE + np.random.default_rng(0).normal(0, 0.01, CIRCLE.shape)


@pytest.fixture(scope="module")
def model(noisy):
    return SPLDynamics(grammar=GRAMMAR, timeout=6, random_state=0).fit(noisy, T, feature_names=["x", "y"])


@pytest.fixture(scope="module")
def growth():
    """A model with a number that is not simple."""
    t = np.linspace(0, 2, 80)
    x = np.exp(0.73 * t) + np.random.default_rng(0).normal(0, 0.02, t.size)
    return SPLDynamics(grammar="f -> C*x", timeout=3, random_state=0).fit(x[:, np.newaxis], t, feature_names=["x"])


def test_one_circle_is_flagged_with_rivals_and_what_would_help(model):
    judged = model.identifiability_
    assert not judged.is_unique
    assert "another initial condition" in str(judged)
    assert model.identifiability_ is judged  # computed once
    rivals = model.rivals()
    assert list(rivals.columns) == ["state", "equation", "misfit", "nats", "difference"]
    assert set(rivals["state"]) <= {"x", "y"}
    assert (rivals["misfit"] < 3).all()


def test_suggestions_are_initial_conditions_off_the_circle(model):
    found = model.suggest(3)
    assert list(found.columns) == ["x", "y", "difference", "told_apart"]
    assert len(found) == 3
    assert (np.abs(np.hypot(found["x"], found["y"]) - 1) > 0.1).all()
    assert model.suggest(3).equals(found)
    assert model.suggest(2, bounds={"x": (0.1, 0.2)})["x"].between(0.1, 0.2).all()


def test_without_rivals_other_numbers_are_told_apart(growth):
    found = growth.suggest(2)
    assert growth.rivals().empty or growth.identifiability_.rivals
    assert len(found) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "`n` must be"),
        ({"bounds": {"z": (0, 1)}}, r"`bounds` has no use for 'z'\. The columns are: x, y\."),
        ({"bounds": {"x": (1, 0)}}, "`bounds` must give the lowest and the highest x"),
        ({"bounds": {"x": 3}}, "`bounds` must give the lowest and the highest x"),
        ({"bounds": [(0, 1)]}, "`bounds` must be a dictionary"),
    ],
)
def test_suggestions_refuse_what_makes_no_sense(model, options, message):
    with pytest.raises(SettingError, match=message):
        model.suggest(**options)


def test_intervals_have_one_row_per_number(growth):
    found = growth.intervals(level=0.99)
    assert list(found.columns) == ["state", "value", "lower", "upper", "term"]
    assert found["value"].tolist() == growth.constants_["value"].tolist()
    assert found["lower"][0] < 0.73 < found["upper"][0]
    narrow = growth.intervals(level=0.5)
    assert (narrow["upper"] - narrow["lower"] < found["upper"] - found["lower"]).all()
    with pytest.raises(SettingError, match="`method` must be 'curvature'"):
        growth.intervals(method="profile")


def test_correlations_are_labelled(growth):
    correlations = growth.correlations()
    assert correlations.shape == (1, 1)
    assert correlations.index[0].startswith("x: [0.7")


def test_draws_make_a_band_that_repeats(growth):
    t = np.linspace(0, 3, 40)
    band = growth.simulate([1.0], t, n_draws=50)
    np.testing.assert_array_equal(band.draws, growth.simulate([1.0], t, n_draws=50).draws)
    other = growth.simulate([1.0], t, n_draws=50, random_state=1)
    assert np.abs(band.draws - other.draws).max() > 0
    np.testing.assert_allclose(band.states, growth.simulate([1.0], t))
    low, high = band.interval()
    assert low[-1, 0] < np.exp(0.73 * 3) < high[-1, 0]
    with pytest.raises(SettingError, match="`n_draws` must be"):
        growth.simulate([1.0], t, n_draws=1)


def test_draws_that_diverge_are_reported():
    t = np.linspace(0, 0.9, 60)
    x = 1 / (1 - t) + np.random.default_rng(0).normal(0, 0.2, t.size)
    model = SPLDynamics(grammar="f -> C*x*x", timeout=3, random_state=0).fit(x[:, np.newaxis], t, feature_names=["x"])
    with pytest.warns(SimulationEnded, match=r"of 50 draws end before t = 1\.05"):
        band = model.simulate([1.0], np.linspace(0, 1.05, 60), n_draws=50)
    assert band.n_ended > 0


def test_a_band_is_drawn(growth):
    pytest.importorskip("matplotlib")
    without, with_band = growth.plot(), growth.plot(n_draws=20)
    assert not without.axes[0].collections
    assert len(with_band.axes[0].collections) == 1


def test_a_run_file_gives_the_same_answers(noisy, tmp_path):
    path = tmp_path / "run.spl"
    model = SPLDynamics(grammar=GRAMMAR, timeout=6, random_state=0, run_file=path)
    model.fit(noisy, T, feature_names=["x", "y"])
    again = SPLDynamics.from_run(path)
    assert again.identifiability_.is_unique == model.identifiability_.is_unique
    assert set(again.rivals()["state"]) == set(model.rivals()["state"])
    assert len(again.intervals()) == len(model.intervals())


def test_a_copy_answers_too(growth):
    copy = pickle.loads(pickle.dumps(growth))
    assert copy.intervals().equals(growth.intervals())


def test_nothing_is_known_before_a_fit():
    for ask in ("intervals", "correlations", "rivals", "suggest"):
        with pytest.raises(NotFittedError):
            getattr(SPLDynamics(), ask)()
    with pytest.raises(NotFittedError):
        _ = SPLDynamics().identifiability_


def test_equations_that_cannot_be_followed_are_not_judged(model):
    lost = pickle.loads(pickle.dumps(model))
    fitted = lost._follow().fitted
    nowhere = replace(fitted, is_used=np.zeros_like(fitted.is_used))
    lost.discovery_, lost._followed = replace(lost.discovery_, refined=nowhere), None
    with pytest.raises(UndefinedError, match="could not be followed along the data"):
        _ = lost.identifiability_
