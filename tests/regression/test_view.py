"""One view of the data, and its restart with other weights."""

import time

import numpy as np
import pytest
from tests.run_examples import make_outlier_request

from spl.noise.models import STUDENT
from spl.regression.discover import get_ready
from spl.regression.setup import open_first_view, open_view, plant, set_up
from spl.regression.trees import share_evaluations
from spl.regression.view import MAX_FORMER_RIVALS

pytestmark = pytest.mark.search


@pytest.fixture
def setup():
    request = make_outlier_request()
    get_ready(1)
    return set_up(request, time.monotonic(), lambda: False, None)


def test_the_first_view_is_that_of_plain_least_squares(setup):
    view = open_first_view(setup)
    assert (view.name, view.yardstick.noise, len(view.trees)) == ("normal", None, setup.request.config.n_trees)
    assert (view.n_episodes, len(view.front)) == (0, 0)


def test_another_view_has_its_model_and_weights(setup):
    weights = np.linspace(0.5, 1.5, setup.drawn.n_rows)
    first = open_first_view(setup).planting
    view = open_view(setup, STUDENT, weights, first.columns, first)
    assert (view.name, view.yardstick.data.noise) == ("student", STUDENT)
    np.testing.assert_array_equal(view.planting.weights, weights)


def test_a_restart_keeps_count_of_what_was_done(setup):
    first = open_first_view(setup).planting
    view = open_view(setup, STUDENT, np.ones(setup.drawn.n_rows), first.columns, first)
    view.planting.forest.grow(20, share_evaluations(None, len(view.trees)), lambda: False)
    done = view.all_episodes, view.all_evaluations
    weights = np.linspace(0.5, 1.5, setup.drawn.n_rows)
    rivals = tuple(view.rough_rivals(setup.request.grammar.vocabulary))
    planting = plant(setup, STUDENT, weights, first.columns, view.planting, 1)
    view.restart(planting, setup.request.grammar.vocabulary)
    assert done[0] > 0
    assert (view.n_restarts, view.n_episodes, view.n_evaluations) == (1, 0, 0)
    assert (view.all_episodes, view.all_evaluations) == done
    assert rivals
    assert view.rivals == rivals[:MAX_FORMER_RIVALS]
    np.testing.assert_array_equal(view.planting.weights, weights)


def test_a_view_knows_its_last_batch(setup):
    view = open_first_view(setup)
    assert not view.is_last_batch
    while not view.is_last_batch:
        view.position = view.position.next_batch()
    assert view.position.batch > 0
