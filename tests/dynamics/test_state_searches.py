"""The searches of a system."""

from dataclasses import replace

import numpy as np
import pytest

import spl.dynamics.state_searches
from spl.data.trajectories import Trajectories
from spl.dynamics.discover import discover_system
from spl.dynamics.request import SystemRequest
from spl.dynamics.state_searches import EXACT_SUMS_SHARE
from spl.formulas.grammar import Grammar
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.search

T = np.linspace(0, 12, 600)
NAMES = ("x", "y")
RICH = "f -> f + f | f - f | f * f | f / f | C * f | sin(f) | x | y"


def make_request(noise, limits, **settings):
    states = np.column_stack([np.sin(2 * T), np.cos(2 * T)])
    data = Trajectories.from_arrays(states + np.random.default_rng(0).normal(0, noise, (600, 2)), T, names=NAMES)
    return SystemRequest(data=data, grammars=[Grammar.from_text(RICH).bind(NAMES)] * 2, limits=limits, **settings)


@pytest.mark.parametrize(("noise", "share"), [(0.0, EXACT_SUMS_SHARE), (0.03, 1.0)])
def test_a_search_is_short_if_a_sum_is_already_as_accurate_as_the_derivatives(monkeypatch, noise, share):
    seen, search_for_real = [], spl.dynamics.state_searches.discover

    def search(request, **options):
        seen.append((request.limits.max_evaluations, request.keeps_rivals))
        return search_for_real(replace(request, limits=Limits(timeout=None, max_evaluations=200)), **options)

    monkeypatch.setattr(spl.dynamics.state_searches, "discover", search)
    limits = Limits(timeout=None, max_evaluations=4000)
    discover_system(make_request(noise, limits, config=SearchConfig(patience=None)))
    assert seen == [(share * 2000, False)] * 2
