import dataclasses
import math

import numpy as np
import pytest

from spl.cli.main import main
from spl.errors import SettingError
from spl.estimators.dynamics import SPLDynamics
from spl.estimators.regressor import SPLRegressor
from spl.settings import TIMEOUT, Limits, SearchConfig, check_count, check_number
from spl.web.request import AllowedFormulas, Law, SearchRequest

COUNTS = ["max_rules", "n_episodes", "n_transplants", "module_size", "n_simulations", "n_trees"]


def test_the_default_settings_are_valid():
    assert SearchConfig().max_rules >= 1


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -3, 1.5, "7", None, True, math.nan])
def test_a_count_that_is_no_positive_whole_number_is_refused_by_its_name(name, value):
    with pytest.raises(SettingError, match=f"`{name}` must be"):
        SearchConfig(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_modules", -1), ("max_rows", 15), ("max_schedules", 0), ("max_rules", 1001),
        ("eta", 0.0), ("eta", 1.01), ("eta", math.nan), ("eta", "high"),
        ("explore", -0.1), ("explore", math.inf), ("epsilon", -0.1), ("epsilon", 1.1), ("epsilon", True),
        ("backup", "median"), ("backup", None), ("patience", 0.5), ("patience", math.inf), ("patience", "long"),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused_with_its_name_and_value(name, value):
    with pytest.raises(SettingError) as refused:
        SearchConfig(**{name: value})
    assert f"`{name}` must be" in str(refused.value)
    assert str(value) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_modules", 0), ("max_rows", 16), ("max_schedules", 1), ("max_schedules", None), ("max_rules", 1000),
        ("eta", 1), ("explore", 0), ("patience", 1), ("patience", None), ("epsilon", 0.0), ("epsilon", 1), ("backup", "mean"),
        ("n_episodes", np.int64(5)), ("eta", np.float32(0.5)),
    ],
)  # fmt: skip
def test_a_setting_at_the_edge_of_its_range_is_accepted(name, value):
    assert getattr(SearchConfig(**{name: value}), name) == value


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SearchConfig().eta = 0.5


def test_settings_are_given_by_name_only():
    with pytest.raises(TypeError):
        SearchConfig(20)


def test_the_settings_by_name_make_the_same_settings_again():
    config = SearchConfig(max_rules=7, backup="mean", max_schedules=3)
    assert SearchConfig(**config.to_dict()) == config


@pytest.mark.parametrize(("name", "value"), [("timeout", 0), ("timeout", -1), ("timeout", math.inf), ("timeout", "1"),
                                             ("max_evaluations", 0), ("max_evaluations", 2.5)])  # fmt: skip
def test_a_limit_out_of_range_is_refused_by_its_name(name, value):
    with pytest.raises(SettingError, match=f"`{name}` must be"):
        Limits(**{name: value})


def test_no_limit_is_a_limit():
    assert Limits(timeout=None, max_evaluations=None).timeout is None


def test_a_count_says_what_it_is_and_what_it_must_be():
    with pytest.raises(SettingError, match=r"^`n` must be 2 or more; got 1\.$"):
        check_count("n", 1, at_least=2)


def test_a_number_says_what_it_is_and_what_it_must_be():
    with pytest.raises(SettingError, match=r"^`share` must be 1 or less; got 2\.$"):
        check_number("share", 2, at_most=1.0)


def test_the_time_limit_has_one_default_in_every_door():
    defaults = {
        "Limits": Limits().timeout,
        "SPLRegressor": SPLRegressor().timeout,
        "SPLDynamics": SPLDynamics().timeout,
        "studio": SearchRequest(
            data="d.csv", sought=Law(target="y", features=("x",)), allowed=AllowedFormulas(operators=("+",))
        ).timeout,
    }
    for command in ("fit", "dynamics"):
        [option] = [option for option in main.commands[command].params if option.name == "timeout"]
        defaults[command] = option.default
    assert set(defaults.values()) == {TIMEOUT}, defaults
