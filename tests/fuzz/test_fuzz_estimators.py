"""Arguments of strangers: estimators fit, or say in words what is wrong."""

import contextlib
import functools
import traceback
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.values import GOOD, anything, table, target

from spl import SPLDynamics, SPLRegressor
from spl.errors import SettingError, SplError
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.slow

TINY = SearchConfig(
    max_rules=6,
    n_episodes=10,
    n_transplants=1,
    max_schedules=1,
    n_simulations=2,
    n_completions=16,
    n_trees=1,
    max_rows=16,
)
GOOD_SETTINGS = {"timeout": 1, "max_evaluations": 20, "search": TINY, "operators": ("+", "*"), "random_state": 0}
SETTINGS = list(SPLRegressor().get_params())
DYNAMICS_SETTINGS = list(SPLDynamics().get_params())
TIMES = np.linspace(0, 1, 20)
STATES = np.column_stack([np.sin(2 * TIMES), np.cos(2 * TIMES)])


@functools.cache
def fit_table():
    return SPLRegressor(**GOOD_SETTINGS).fit(GOOD, GOOD[:, 0])


@functools.cache
def fit_system():
    return SPLDynamics(timeout=None, max_evaluations=1000, operators=("+", "*"), random_state=0).fit(STATES, TIMES)


@pytest.fixture(autouse=True, scope="module")
def _folder_of_its_own(tmp_path_factory):
    """Names of run files are hostile, too."""
    with contextlib.chdir(tmp_path_factory.mktemp("runs")):
        yield


def is_by_scikit_learn(error):
    """Return whether scikit-learn's own checks refused the data, as its estimators must."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, ValueError | TypeError) and any("sklearn" in frame.filename for frame in frames)


def try_all(*actions):
    """Run actions one after the other until one is refused in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter(
            "error", RuntimeWarning
        )  # numpy's own words about what overflows are for us, not for users
        for action in actions:
            try:
                action()
            except SplError as error:
                assert 10 < len(str(error)) < 5_000
                return
            except Exception as error:
                assert is_by_scikit_learn(error), "".join(traceback.format_exception(error))
                return


@cases(120)
@given(st.dictionaries(st.sampled_from(SETTINGS), anything, min_size=1, max_size=2))
def test_a_regressor_takes_its_settings_or_refuses_them_in_words(settings):
    with guarded("estimators"):
        model = SPLRegressor(**{**GOOD_SETTINGS, **settings})
        try_all(
            lambda: model.fit(GOOD, GOOD[:, 0]),
            lambda: model.predict(GOOD),
            model.get_best,
            model.sympy,
            model.latex_table,
        )


@cases(120)
@given(table, target, st.one_of(st.none(), st.none(), target, anything))
def test_a_regressor_takes_its_data_or_refuses_it_in_words(X, y, weights):
    with guarded("estimators"):
        model = SPLRegressor(**GOOD_SETTINGS)
        try_all(
            lambda: model.fit(X, y, weights),
            lambda: model.predict(X),
            lambda: model.score(X, y),
            model.latex,
            lambda: model.constants_,
            lambda: model.intervals(method="profile"),
            lambda: model.predict_interval(X, kind="new"),
        )


@cases(60)
@given(table, st.one_of(anything, st.integers(-5, 5)))
def test_a_fitted_regressor_answers_or_refuses_in_words(X, index):
    fitted = fit_table()
    with guarded("estimators"):
        for action in (
            lambda: fitted.predict(X, index),
            lambda: fitted.predict_interval(X, index),
            lambda: fitted.predict_interval(X, kind=index),
            lambda: fitted.predict(X, return_std=True),
            lambda: fitted.intervals(index, index),
            lambda: fitted.sympy(index),
            lambda: fitted.latex(index),
            lambda: SPLRegressor().set_params(selection=index).predict(X),
        ):
            try_all(action)


@cases(60)
@given(st.dictionaries(st.sampled_from(DYNAMICS_SETTINGS), anything, min_size=1, max_size=2))
def test_dynamics_take_their_settings_or_refuse_them_in_words(settings):
    with guarded("estimators"):
        model = SPLDynamics(**{**GOOD_SETTINGS, **settings})
        try_all(lambda: model.fit(STATES, TIMES), model.equations, model.sympy, lambda: model.predict(STATES))


@cases(100)
@given(st.one_of(table, st.lists(table, max_size=2)), st.one_of(st.just(TIMES), st.just(0.1), target, anything), st.one_of(st.none(), table), st.one_of(st.none(), table), st.one_of(st.none(), anything))  # fmt: skip
def test_dynamics_take_their_data_or_refuse_it_in_words(x, t, x_dot, u, names):
    with guarded("estimators"):
        model = SPLDynamics(**GOOD_SETTINGS)
        try_all(lambda: model.fit(x, t, x_dot, u, names), model.equations, lambda: model.score(x, t, x_dot, u))


@cases(60)
@given(st.one_of(table, anything), st.one_of(target, anything), st.one_of(st.none(), table, anything))
def test_a_fitted_system_answers_or_refuses_in_words(x, t, u):
    fitted = fit_system()
    with guarded("estimators"):
        for action in (
            lambda: fitted.predict(x, u),
            lambda: fitted.simulate(x, t, u),
            lambda: fitted.score(x, t, u=u),
            lambda: fitted.equations(t),
        ):
            try_all(action)


@cases(300)
@given(
    st.dictionaries(st.sampled_from(list(TINY.to_dict())), anything, max_size=3),
    st.dictionaries(st.sampled_from(["timeout", "max_evaluations"]), anything),
)
def test_settings_are_taken_or_refused_in_words(search, limits):
    with guarded("settings"):
        for settings, given_ in ((SearchConfig, search), (Limits, limits)):
            try:
                settings(**given_)
            except SettingError as error:
                assert len(str(error)) < 1_000
