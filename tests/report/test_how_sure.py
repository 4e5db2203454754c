"""What is known about the certainty of a formula as a part of a report, and the words where nothing is known."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.report.examples import make_run, make_system_run

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import fit
from spl.regression.front import Front
from spl.regression.held_out import HeldOutVerdict
from spl.report.how_sure import MAX_SLICES, how_sure_of, system_number_rows
from spl.runs.fit_rows import OWN_FUNCTIONS
from spl.units.system_units import read_system_units


def noisy_run(formulas=("C", "C*x"), names=("x", "u"), rivals=(), n_rows=60, slope=2.1, **changes):
    """Return a run whose target scatters around a multiple of x, with fitted formulas."""
    random = np.random.default_rng(0)
    columns = random.uniform(1, 3, (len(names), n_rows))
    data = Dataset.from_arrays(columns.T, slope * columns[0] + 0.1 * random.standard_normal(n_rows), names=names)
    fitted = [fit(parse_expression(text, Vocabulary(names)), data) for text in (*formulas, *rivals)]
    front = Front(tuple(fitted[: len(formulas)]))
    run = make_run(target="y", names=names, formulas=names[:1], rules=f"f -> {' | '.join(names)}")
    found = replace(run.searches[0].discovery, front=front, rivals=tuple(fitted) if rivals else (), **changes)
    return replace(run, data=data, searches=(replace(run.searches[0], front=front, discovery=found),))


def test_a_formula_of_a_table_has_numbers_slices_rivals_and_checks():
    part = how_sure_of(noisy_run(rivals=("C*x + C",)), 1)
    assert re.fullmatch(r"y = 2\.[01]\d*\*x", part.equation)
    assert len(part.numbers) == 1
    assert part.numbers[0].lower < 2.1 < part.numbers[0].upper
    assert [chart.column for chart in part.slices] == ["x"]
    assert part.slices[0].is_whole
    assert [check.name for check in part.checks][-2:] == ["dependence on x", "dependence on u"]
    assert [rival.place.split()[1:5] for rival in part.rivals] == [["sd", "at", "x", "="]]
    assert len(part.words) == 3


def test_bands_lie_around_the_formula_and_that_of_new_measurements_is_wider():
    [chart] = how_sure_of(noisy_run(), 1).slices
    for band in (chart.law, chart.new):
        assert (band[:, 0] < chart.values).all()
        assert (chart.values < band[:, 1]).all()
    assert (np.diff(chart.law) < np.diff(chart.new)).all()


def test_charts_are_few_however_many_columns_a_formula_has():
    names = tuple(f"x{k}" for k in range(MAX_SLICES + 2))
    part = how_sure_of(noisy_run((" + ".join(names),), names), 0)
    assert len(part.slices) == MAX_SLICES
    assert part.n_more_slices == 2


def test_rows_that_are_drawn_are_few_and_outliers_are_marked():
    [chart] = how_sure_of(noisy_run(n_rows=3000, outliers=(3,)), 1).slices
    assert chart.point_x.size == chart.point_y.size == chart.is_outlier.size <= 500
    [unmarked] = how_sure_of(noisy_run(), 1).slices
    assert unmarked.is_outlier is None


def test_the_simplest_form_of_a_fitted_number_has_its_value():
    [number] = how_sure_of(noisy_run(slope=2.003), 1).numbers
    assert (number.simple, number.simple_value) == ("2", 2.0)


def test_held_out_rows_have_a_sentence():
    verdict = HeldOutVerdict(20, (0.9, 0.1), 1.2, 1, 0.1, 0.001)
    assert how_sure_of(noisy_run(held_out=verdict), 1).words[-1].startswith("On 20 rows that the search never saw")


def test_a_constant_has_no_slices():
    assert how_sure_of(noisy_run(), 0).slices == ()


def test_a_formula_that_has_no_value_on_some_rows_has_a_part():
    run = noisy_run()
    [search] = run.searches
    program = parse_expression("log(x - 2)", Vocabulary(("x", "u")))
    front = Front((replace(search.front[0], program=program),))
    undefined = replace(search, front=front, discovery=replace(search.discovery, front=front))
    part = how_sure_of(replace(run, searches=(undefined,)), 0)
    assert part.words[2] == "Its residuals are not checked: there are rows that the formula cannot have produced."
    assert np.isnan(part.slices[0].values).any()


def test_functions_of_the_user_are_missing_and_said_to_be():
    run = replace(noisy_run(), settings={"noise": {"name": "absolute", "values": [1.0, 1.0, 1.0, 1.0]}})
    part = how_sure_of(run, 1)
    assert part.words == (OWN_FUNCTIONS,)
    assert (part.numbers, part.slices, part.checks) == ((), (), ())


def test_numbers_of_a_system_have_the_intervals_of_their_standard_errors():
    run = make_system_run(formulas=("v", "-4.1 * x"))
    [number] = system_number_rows(run.system)
    assert number.term == "dv/dt: [-4.1]*x"
    assert (number.lower, number.upper) == pytest.approx((-4.1 - 0.0196, -4.1 + 0.0196), abs=1e-5)
    units = read_system_units({"x": "m", "v": "m/s"}, "s", states=["x", "v"], are_numbers_free=True)
    assert [row.unit for row in system_number_rows(run.system, units)] == ["1/s**2"]


def test_errors_of_an_old_run_are_unknown():
    run = make_system_run()
    old = replace(
        run.system, standard_errors=tuple(np.full_like(errors, np.nan) for errors in run.system.standard_errors)
    )
    [number] = system_number_rows(old)
    assert (number.interval, number.lower) == ("", number.value)


def test_the_parts_of_a_form_are_told():
    run = noisy_run(formulas=("C", "C*x + C*u"))
    with_form = replace(run, settings={**run.settings, "form": "a(x) + b(u)"})
    words = how_sure_of(with_form, 1).words
    assert words[0].startswith("a(x) is 2.")
    assert words[0].endswith("*x.")
    assert words[1].startswith("b(u) is ")
    assert how_sure_of(run, 1).words == words[2:]
