"""What a run for a system is asked for."""

import dataclasses

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan
from spl.formulas.grammar import Grammar
from spl.settings import Limits, SearchConfig


@pytest.fixture
def request_for_decay():
    t = np.linspace(0, 1, 20)
    data = Trajectories.from_arrays(np.exp(-t), t, names=["x"])
    return SystemRequest(data=data, grammars=[Grammar.from_text("f -> C*x")])


def test_what_is_not_asked_for_is_the_default_of_its_subject(request_for_decay):
    asked = request_for_decay
    assert (asked.plan, asked.config, asked.limits) == (Plan(), SearchConfig(), Limits())
    assert (asked.n_jobs, asked.seed) == (1, 0)


def test_a_request_cannot_be_changed(request_for_decay):
    with pytest.raises(dataclasses.FrozenInstanceError):
        request_for_decay.seed = 1
    assert dataclasses.replace(request_for_decay, seed=1).seed == 1
