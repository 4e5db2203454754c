"""What the searches for a system begin with."""

import pytest
from tests.dynamics.coupled_rates import STATES, make_coupled_data, make_open_request

from spl.dynamics.preparation import prepare
from spl.dynamics.rows import Plan
from spl.formulas.grammar import Grammar


@pytest.fixture(scope="module")
def request_with_rates():
    return make_open_request(make_coupled_data())


def test_each_state_has_its_own_sums(request_with_rates):
    request = request_with_rates
    prepared = prepare(request.data, request.plan, request.grammars, 0)
    assert [bool(sums.candidates) for sums in prepared.sums] == [True, True]
    assert prepared.sums[0].candidates != prepared.sums[1].candidates


def test_columns_of_rates_that_an_equation_may_not_have_are_empty(request_with_rates):
    request = request_with_rates
    prepared = prepare(request.data, request.plan, request.grammars, 0, max_seconds=-1.0)
    assert prepared.rows.unused_rates == (frozenset({"x'"}), frozenset({"y'"}))


def test_without_time_there_are_no_sums(request_with_rates):
    grammars = [Grammar.from_operators(["+", "*"], STATES)] * 2
    prepared = prepare(request_with_rates.data, Plan(), grammars, 0, max_seconds=-1.0)
    assert [sums.candidates for sums in prepared.sums] == [(), ()]
