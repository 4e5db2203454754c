"""A run as plain values for a page."""

import dataclasses
import json

import pytest
from tests.report.examples import HOSTILE, make_run, make_system_run

from spl.regression.noise_choice import NoiseChoice
from spl.units.system_units import read_system_units
from spl.units.table_units import read_table_units
from spl.web.run_view import choose_row, describe_run


def test_a_run_of_a_table_is_plain_json_with_its_question_and_front():
    view = describe_run(make_run())
    assert json.loads(json.dumps(view, allow_nan=False)) is not None
    assert view["question"] == f"<b>y</b> from x, {HOSTILE}: 200 rows"
    assert view["reason"] == "the time limit was reached"
    assert view["system"] is None
    [law] = view["laws"]
    assert law["front"][-1]["r2"] == pytest.approx(1.0)
    assert law["chosen"] == len(law["front"]) - 1


def test_markup_in_names_is_escaped_in_formulas():
    [law] = describe_run(make_run())["laws"]
    for point in law["front"]:
        assert HOSTILE not in point["mathml"] + point["inline"]


def test_a_run_of_a_system_has_its_equations_and_no_r2_of_single_formulas():
    view = describe_run(make_system_run())
    assert [equation["text"] for equation in view["system"]] == ["dx/dt = v", "dv/dt = -4*x"]
    assert "-4" in view["system"][1]["numbers"]
    assert {point["r2"] for law in view["laws"] for point in law["front"]} == {None}
    assert view["question"] == "equations of x, v: 400 samples"


def test_a_system_recommends_its_own_equations_and_before_that_the_knee():
    run = make_system_run()
    assert [choose_row(run, law) for law in (0, 1)] == [1, 1]
    early = dataclasses.replace(run, system=None)
    assert choose_row(early, 0) == early.searches[0].front.choose("knee", n_rows=1, floor=0.0)


def test_rules_are_shown_once_if_they_are_the_same_and_with_names_otherwise():
    run = make_system_run()
    assert "#" not in describe_run(run)["rules"]
    other = dataclasses.replace(run.searches[1], grammar=make_run().searches[0].grammar)
    rules = describe_run(dataclasses.replace(run, searches=(run.searches[0], other)))["rules"]
    assert rules.startswith("# x\n")
    assert "\n\n# v\n" in rules


def test_units_are_told_in_a_line():
    run = make_run()
    assert describe_run(run)["units"] == ""
    units = read_table_units(dict.fromkeys(run.data.names, "m"), "J", names=run.data.names)
    line = describe_run(dataclasses.replace(run, units=units))["units"]
    assert line.startswith("Units: ")
    assert "in J; x in m" in line
    system = read_system_units({"x": "m", "v": "m/s"}, "s", states=["x", "v"])
    assert (
        describe_run(dataclasses.replace(make_system_run(), system_units=system))["units"]
        == "Units: x in m, v in m/s; time in s."
    )


def test_a_run_without_a_formula_has_an_empty_front():
    run = make_run()
    empty = dataclasses.replace(run.searches[0], front=type(run.searches[0].front)(()), discovery=None, history=())
    [law] = describe_run(dataclasses.replace(run, searches=(empty,)))["laws"]
    assert (law["front"], law["front_chart"], law["learning_chart"]) == ([], "", "")


# ---- noise ---------------------------------------------------------------------------------------


def with_noise(run, noise, outliers=()):
    [search] = run.searches
    found = dataclasses.replace(search.discovery, noise=noise, outliers=outliers)
    return dataclasses.replace(run, searches=(dataclasses.replace(search, discovery=found),))


def test_the_noise_and_the_outliers_are_told():
    view = describe_run(with_noise(make_run(), NoiseChoice("student", {"scale": 0.5}), (3,)))
    assert view["noise"] == ["Noise: student, 0.5 besides the outliers.", "Outliers: 1 of 200 rows: row 3."]
    assert view["laws"][0]["has_outliers"]


def test_without_noise_nothing_is_told():
    for run in (make_run(), make_system_run()):
        assert describe_run(run)["noise"] == []


@pytest.mark.parametrize("n_rows", [200, 25_000])
def test_the_share_explained_comes_from_the_values_if_the_loss_is_no_root_mean_square(n_rows):
    plain = make_run(n_rows=n_rows)
    [search] = plain.searches
    changed = tuple(dataclasses.replace(candidate, loss=9.0) for candidate in search.front)
    other = dataclasses.replace(plain, searches=(dataclasses.replace(search, front=type(search.front)(changed[:1])),))
    shares = [
        describe_run(run)["laws"][0]["front"][0]["r2"] for run in (plain, with_noise(other, NoiseChoice("relative")))
    ]
    assert shares[1] == pytest.approx(shares[0], abs=0.1)  # of many rows, only some are looked at
