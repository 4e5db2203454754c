"""How sure a formula of a run is, as a page shows it."""

import pytest
from tests.report.examples import HOSTILE, make_run, make_system_run

from spl.errors import SettingError
from spl.web.run_sure import ONLY_TABLES, describe_how_sure, draw_system_numbers


def test_each_formula_of_a_table_can_be_asked_about():
    run = make_run(target="force")
    for candidate in run.searches[0].front:
        sure = describe_how_sure(run, candidate.cost)
        assert sure["cost"] == candidate.cost
        assert sure["markup"].startswith("<div><p")
        assert "force = " in sure["markup"]


def test_names_of_users_stay_text():
    run = make_run()
    markup = describe_how_sure(run, run.searches[0].front[-1].cost)["markup"]
    assert HOSTILE not in markup
    assert "&lt;script&gt;" in markup


def test_a_formula_that_is_not_there_and_a_system_are_refused():
    with pytest.raises(SettingError, match="There is no formula of cost 99"):
        describe_how_sure(make_run(), 99)
    with pytest.raises(SettingError, match=ONLY_TABLES):
        describe_how_sure(make_system_run(), 1)


def test_a_system_has_the_intervals_of_its_numbers():
    assert "dv/dt: [-4.1]*x" in draw_system_numbers(make_system_run(formulas=("v", "-4.1 * x")))
    assert draw_system_numbers(make_system_run(formulas=("v", "x"))) == ""
    assert draw_system_numbers(make_run()) == ""
