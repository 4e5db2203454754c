"""Charts of fits, code, and curves of a run."""

import dataclasses

import numpy as np
import pytest
from tests.report.examples import make_run, make_search, make_system_run

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.web import run_fits
from spl.web.run_fits import NO_DERIVATIVES, describe_curves, describe_fit, find_candidate, write_code


@pytest.fixture
def stored(monkeypatch):
    """Take the rows of a system from a run without a file."""

    def use(run):
        run.facts["fingerprint"] = "test"
        monkeypatch.setattr(run_fits, "read_run", lambda path: run)
        run_fits._rows_of_system.cache_clear()
        return run

    yield use
    run_fits._rows_of_system.cache_clear()


def best_cost(run, law=0):
    return run.searches[law].front[-1].cost


def test_a_formula_is_found_by_its_cost():
    run = make_run()
    assert find_candidate(run, 0, best_cost(run)) is run.searches[0].front[-1]
    with pytest.raises(SettingError, match="There is no formula of cost 99 in the front"):
        find_candidate(run, 0, 99)
    with pytest.raises(SettingError, match=r"The run has 1 equation\(s\); there is no equation 1"):
        find_candidate(run, 1, 0)


def test_a_formula_of_several_columns_is_drawn_against_the_measurements():
    run = make_run(n_rows=10_000)
    fit = describe_fit(run, 0, best_cost(run))
    assert "Predicted against measured" in fit["fit"]
    assert fit["words"].startswith("R² = 1.000000. The chart shows ")
    assert fit["words"].endswith(" of 10,000 rows.")


def test_a_formula_of_one_column_is_a_curve_through_the_data(stored):
    run = stored(make_system_run(names=("x",), formulas=("-2*x",), is_discrete=True))
    fit = describe_fit(run, 0, best_cost(run))
    assert "against x: measured, and the formula as a line" in fit["fit"]


def test_the_weak_form_has_no_rows_to_compare_with(stored):
    run = stored(make_system_run())
    run.settings["plan"]["method"] = "weak"
    fit = describe_fit(run, 0, best_cost(run))
    assert (fit["fit"], fit["words"]) == ("", NO_DERIVATIVES)


def test_code_names_the_left_hand_side():
    run = make_run(target="force")
    code = write_code(run, 0, best_cost(run), "python")
    assert "def predict(" in code
    assert "force" in code


def test_a_system_has_curves_over_time_and_a_portrait(stored):
    titles = [curve["title"] for curve in describe_curves(stored(make_system_run()))]
    assert titles == ["x over time", "v over time", "v against x"]


def test_a_table_has_no_curves():
    assert describe_curves(make_run()) == []


def with_outliers(run):
    [search] = run.searches
    found = dataclasses.replace(search.discovery, outliers=(3, 5))
    return dataclasses.replace(run, searches=(dataclasses.replace(search, discovery=found),))


@pytest.mark.parametrize("names", [("x",), ("x", "z")], ids=["curve", "predictions"])
def test_outliers_are_marked_in_the_charts(names):
    data = Dataset.from_arrays(np.random.default_rng(0).uniform(1, 3, (50, len(names))), np.arange(50.0), names=names)
    search = make_search("y", ("x",), data, Grammar.from_text("f -> f + f | x"))
    run = with_outliers(dataclasses.replace(make_run(), data=data, searches=(search,)))
    fit = describe_fit(run, 0, best_cost(run))
    assert 'class="outlier crosses"' in fit["fit"]
    assert 'class="outlier crosses"' in fit["residuals"]
    assert "without the outliers" in fit["words"]
    assert fit["words"].endswith(" Crosses mark outliers.")
