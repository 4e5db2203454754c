import time

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.regression.setup import open_first_view, set_up
from spl.settings import Limits, SearchConfig

CONFIG = SearchConfig(max_rows=20, n_trees=3, n_completions=0, n_episodes=10)
X = np.random.default_rng(0).uniform(1, 3, (60, 1))
DATA = Dataset.from_arrays(X, 2 * X[:, 0], names=["x"])


def make_setup(data=DATA, must_stop=lambda: False, **settings):
    request = RegressionRequest(
        data,
        Grammar.from_text("f -> f + f | C * f | x"),
        **{"config": CONFIG, "limits": Limits(timeout=None)} | settings,
    )
    return set_up(request, time.monotonic(), must_stop, None)


def test_there_are_as_many_trees_as_the_settings_say_and_none_has_grown():
    view = open_first_view(make_setup())
    assert len(view.trees) == 3
    assert (view.n_episodes, view.n_evaluations, view.is_exhausted) == (0, 0, False)


def test_every_tree_has_its_own_random_numbers_which_the_seed_decides():
    views = (open_first_view(make_setup(seed=seed)) for seed in (1, 1, 2))
    one, same, other = ([int(tree.state().random[0]) for tree in view.trees] for view in views)
    assert one == same
    assert len({*one, *other}) == 6


def test_rows_that_are_equal_are_merged():
    twice = Dataset.from_arrays(np.vstack([X, X]), np.concatenate([DATA.target, DATA.target]), names=["x"])
    setup = make_setup(twice)
    assert (twice.n_rows, setup.data.n_rows) == (120, 60)


@pytest.mark.parametrize(("most", "n_check"), [(30, 30), (100, 60)])
def test_many_rows_are_assessed_on_a_part_of_them(monkeypatch, most, n_check):
    monkeypatch.setattr("spl.regression.setup.CHECK_ROWS", most)
    setup = make_setup()
    assert setup.check.n_rows == n_check
    assert setup.data.n_rows == 60


def test_the_error_of_the_target_is_the_floor_if_it_is_larger_than_rounding():
    assert open_first_view(make_setup()).yardstick.floor == DATA.floor
    assert open_first_view(make_setup(target_error=0.25)).yardstick.floor == 0.25


def test_units_are_scaled_unless_the_loss_is_absolute():
    tiny = Dataset.from_arrays(X * 1e-12, DATA.target, names=["x"])
    assert not open_first_view(make_setup(tiny)).planting.scales.are_plain
    absolute = SearchConfig(**CONFIG.to_dict() | {"relative_loss": False})
    assert open_first_view(make_setup(tiny, config=absolute)).planting.scales.are_plain


def test_a_search_is_out_of_time_when_the_caller_says_stop():
    assert not make_setup().is_out_of_time()
    assert make_setup(must_stop=lambda: True).is_out_of_time()


def test_a_search_is_late_only_after_its_time_limit():
    assert not make_setup(limits=Limits(timeout=60.0)).is_late()
    late = make_setup(limits=Limits(timeout=1e-9))
    assert late.is_late()
    assert late.is_out_of_time()
