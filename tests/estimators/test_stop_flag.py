import pickle
import threading
import warnings

import numpy as np
import pytest

from spl import SearchConfig, SPLDynamics, SPLRegressor
from spl.errors import DoubtfulResult, SearchInterrupted
from spl.estimators.stop_flag import request_stop_of, stop_flag

pytestmark = pytest.mark.search


class Model:
    """Something that is fitted."""


def test_a_flag_can_be_set_from_outside_while_it_lives():
    model = Model()
    with stop_flag(model) as flag:
        assert not flag.is_set()
        request_stop_of(model)
        assert flag.is_set()
    assert vars(model) == {}


def test_stopping_what_does_not_run_does_nothing():
    model = Model()
    request_stop_of(model)
    with stop_flag(model) as flag:
        assert not flag.is_set()


def make_regression():
    x = np.random.default_rng(0).uniform(1, 3, (60, 2))
    return SPLRegressor(timeout=120, random_state=0), (x, np.sin(7 * x[:, 0] * x[:, 1]) + np.sin(40 * x[:, 0]))


def make_dynamics():
    t = np.linspace(0, 20, 300)
    x = np.column_stack([np.sin(t) + 0.3 * np.sin(3.3 * t), np.cos(1.7 * t)])
    return SPLDynamics(timeout=120, random_state=0, search=SearchConfig(n_trees=1)), (x, t)


@pytest.mark.parametrize("make", [make_regression, make_dynamics])
def test_a_fit_in_one_thread_is_ended_from_another_with_the_best_so_far(make):
    model, arguments = make()
    timer = threading.Timer(2.0, model.stop)
    errors = []

    def fit():
        try:
            with warnings.catch_warnings():
                for expected in (SearchInterrupted, DoubtfulResult):
                    warnings.simplefilter("ignore", expected)
                model.fit(*arguments)
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=fit)
    worker.start()
    timer.start()
    worker.join(60)  # a search that is not ended takes 120 s
    assert not worker.is_alive()
    assert not errors
    assert len(model.equations_)
    pickle.loads(pickle.dumps(model))
