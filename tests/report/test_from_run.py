"""From the file of a run to its report."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.examples import make_run, make_system_run
from tests.run_examples import make_config, search_in_file

from spl import SPLDynamics
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import decode_grammar, decode_program, encode_grammar, encode_program
from spl.formulas.operators import Operator
from spl.regression.discover import Discovery
from spl.regression.front import Front
from spl.regression.noise_choice import NoiseChoice
from spl.report.from_run import report_of_run
from spl.report.page import write_page
from spl.runs.reader import read_run
from spl.settings import Limits
from spl.units.system_units import read_system_units
from spl.units.table_units import read_table_units

pytestmark = pytest.mark.search


def test_the_report_of_a_real_file_has_its_front(tmp_path):
    found = search_in_file(tmp_path / "run.spl", limits=Limits(max_evaluations=200), config=make_config(n_episodes=20))
    report = report_of_run(read_run(tmp_path / "run.spl"))
    [search] = report.searches
    assert [equation.cost for equation in search.equations] == [candidate.cost for candidate in found.front]
    assert search.name == "z"
    assert search.equations[0].fit.n_rows == 30
    assert dict(report.settings)["seed"] == "3"


def test_units_are_settings_in_words():
    run = make_run()
    settings = {**run.settings, "units": {"x": "m", "n": ""}, "known": {"g": [9.8, "m/s**2"]}, "target_unit": "J"}
    rows = dict(report_of_run(replace(run, settings=settings)).settings)
    assert (rows["units"], rows["known"], rows["target_unit"]) == ("x: m, n: 1", "g: 9.8 m/s**2", "J")


def test_the_report_of_the_file_of_a_system_has_its_equations_and_curves(tmp_path):
    t = np.linspace(0, 8, 300)
    model = SPLDynamics(operators=("+", "*"), timeout=3, random_state=0, run_file=tmp_path / "run.spl")
    model.fit(np.column_stack([np.sin(2 * t), np.cos(2 * t)]), t, feature_names=["a", "b"])
    report = report_of_run(read_run(tmp_path / "run.spl"))
    rights = [text.partition(" = ")[2] for text, _, _ in report.system.equations]
    assert rights == model.equations(precision=6)
    assert len(report.system.trajectories) == 2
    assert [search.chosen for search in report.searches] == model.best_index_


def test_the_formula_is_chosen_by_the_rule_of_the_run():
    assert report_of_run(make_run(facts={"selection": "accurate"})).searches[0].chosen == 2


def test_columns_have_their_units_and_named_constants_are_told_apart():
    run = make_run()
    *measured, constant = run.data.names
    units = read_table_units(dict.fromkeys(measured, "m"), "J", {"g": "9.8 m/s**2"}, names=measured)
    units = replace(units, names=(*measured, constant))
    columns = report_of_run(replace(run, units=units)).columns
    assert [column.unit for column in columns] == ["J", *["m"] * len(measured), "m/s**2"]
    assert [column.role for column in columns] == ["target", *["variable"] * len(measured), "named constant"]
    page = write_page(report_of_run(replace(run, units=units)))
    assert '<th scope="col">unit</th>' in page
    assert ">x (m)</text>" in page
    assert "measured (J)</text>" in page
    assert "others at their medians (J)</text>" in page
    assert '<th scope="col">unit</th>' not in write_page(report_of_run(run))


def test_columns_of_a_system_have_their_units():
    units = read_system_units({"x": "m", "v": "m/s"}, "s", states=["x", "v"])
    columns = report_of_run(replace(make_system_run(), system_units=units)).columns
    assert {column.name: column.unit for column in columns} == {"time": "s", "x": "m", "v": "m/s"}


def test_a_run_without_formulas_yet_says_so():
    run = make_run()
    [search] = run.searches
    for nothing in (replace(search, discovery=None), replace(search, front=Front(()))):
        with pytest.raises(RunFileError, match=r"has no formula for <b>y</b> yet\. Let it run a little longer\."):
            report_of_run(replace(run, searches=(nothing,)))


@pytest.mark.parametrize(
    ("status", "words"),
    [("running", "still going on"), ("died", "killed"), ("interrupted", "interrupted"), ("finished", None)],
)
def test_a_run_that_is_not_at_its_end_is_said_to_be(status, words):
    notes = report_of_run(make_run(status=status)).notes
    assert bool(notes) == (words is not None)
    assert words is None or words in notes[0]


def test_the_learning_curve_falls():
    learning = report_of_run(make_run()).searches[0].learning
    assert list(learning.seconds) == [0.5, 1.5, 2.5, 9.0]
    assert all(learning.losses[1:] <= learning.losses[:-1])


def test_a_loss_that_never_fell_has_no_learning_curve():
    assert report_of_run(make_run(formulas=("x",))).searches[0].learning is None


def test_operators_whose_functions_are_missing_leave_out_fits_and_code_but_nothing_else():
    own = Operator("wave", lambda a: a)
    grammar = decode_grammar(encode_grammar(Grammar.from_text("f -> wave(f) | x", [own]).bind(["x", "u"])))
    run = make_run(names=("x", "u"), formulas=("x",), rules="f -> x | u")
    [search] = run.searches
    plain = encode_program(search.front[0].program) | {
        "tokens": [grammar.rules[0].tokens[0], *search.front[0].program.tokens]
    }
    front = Front((replace(search.front[0], program=decode_program(plain, grammar.vocabulary)),))
    found: Discovery = replace(search.discovery, front=front)
    report = report_of_run(replace(run, searches=(replace(search, grammar=grammar, front=front, discovery=found),)))
    [equation] = report.searches[0].equations
    assert equation.text == "wave(x)"
    assert equation.fit is None
    assert set(equation.code) == {"latex"}
    assert "your own operators" in report.notes[0]


def test_a_system_has_the_chosen_formulas_and_its_numbers_with_errors():
    report = report_of_run(make_system_run())
    assert [search.name for search in report.searches] == ["dx/dt", "dv/dt"]
    assert [search.chosen for search in report.searches] == [1, 1]
    assert report.system.equations[1][0] == "dv/dt = -4*x"
    assert "R² of the derivative: 1.00000. Numbers: -4 (rounded, ± 0.01) in [-4]*x." in report.system.equations[1][2]
    assert "A note." in report.notes
    assert [column.role for column in report.columns] == ["time", "state", "state"]


@pytest.mark.parametrize(
    "options",
    [
        {"order": 2, "names": ("x",), "formulas": ("-4 * x",)},
        {"is_discrete": True, "formulas": ("x", "v")},
        {"method": "weak"},
        {"method": "<function f>"},
    ],
)
def test_every_kind_of_system_has_a_report(options):
    if options.get("method", "").startswith("<"):
        run = make_system_run()
        run.settings["plan"]["method"] = options["method"]
    else:
        run = make_system_run(**options)
    report = report_of_run(run)
    assert report.system.trajectories
    assert bool(report.system.portraits) != options.get("is_discrete", False)


def test_a_system_before_the_last_fit_has_its_fronts():
    report = report_of_run(replace(make_system_run(), system=None, status="running"))
    assert report.system is None
    assert len(report.searches) == 2


# ---- noise ---------------------------------------------------------------------------------------


def with_noise(noise, outliers=()):
    run = make_run()
    [search] = run.searches
    found = replace(search.discovery, noise=noise, outliers=outliers)
    return replace(run, searches=(replace(search, discovery=found),))


def test_the_noise_of_a_table_is_described():
    noise = NoiseChoice("student", {"scale": 0.5}, {"normal": 12.34}, "because")
    report = report_of_run(with_noise(noise, outliers=(3, 17)))
    assert dict(report.noise) == {
        "model": "student",
        "size": "0.5 besides the outliers",
        "why": "because",
        "nats to describe the data with other models": "normal +12.3",
        "outliers": "2: rows 3, 17",
    }
    assert report.searches[0].equations[0].fit.is_outlier.sum() == 2


def test_a_loss_is_called_what_it_is():
    assert report_of_run(make_run()).searches[0].loss_words == "root mean square error"
    assert "likely" in report_of_run(with_noise(NoiseChoice("relative"))).searches[0].loss_words


def test_nothing_is_said_about_noise_that_nobody_compared():
    assert report_of_run(make_run()).noise == ()
