"""A report shows the predictions of the formulas."""

import numpy as np
import pytest
from tests.report.examples import make_run, make_system_run

from spl.data.dataset import Dataset
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.explained_share import share_explained
from spl.report.gather import (
    MAX_CHART_SAMPLES,
    MAX_DRAWN,
    gather_columns,
    gather_portraits,
    gather_search,
    gather_trajectories,
)


def gather(run):
    [stored] = run.searches
    return gather_search(stored.front, 2, run.data, name="y", left="", floor=0.0, write_code=lambda program: {"c": "?"})


def test_few_rows_are_all_drawn_with_their_predictions():
    run = make_run()
    fit = gather(run).equations[1].fit
    np.testing.assert_array_equal(fit.measured, run.data.target)
    np.testing.assert_array_equal(fit.predicted, run.data.columns[0])
    assert fit.n_rows == 200


def test_many_rows_are_thinned_but_the_worst_and_the_extremes_stay():
    run = make_run(n_rows=10_000)
    fit = gather(run).equations[1].fit
    assert fit.measured.size <= MAX_DRAWN
    residuals = np.abs(run.data.target - run.data.columns[0])
    assert np.abs(fit.measured - fit.predicted).max() == residuals.max()
    assert fit.measured.max() == run.data.target.max()
    assert fit.measured.min() == run.data.target.min()


def test_the_share_explained_is_that_of_all_rows():
    run = make_run(n_rows=5000)
    predicted, target = run.data.columns[0], run.data.target
    expected = 1 - np.sum((target - predicted) ** 2) / np.sum((target - target.mean()) ** 2)
    assert gather(run).equations[1].fit.r2 == pytest.approx(expected)
    assert gather(run).equations[2].fit.r2 == pytest.approx(1.0)


def test_rows_where_a_formula_has_no_value_are_counted():
    run = make_run(formulas=("2.5", "abs(x)", "log(x - 2)"))
    fit = gather(run).equations[2].fit
    n_outside = np.sum(run.data.columns[0] <= 2)
    assert fit.undefined.startswith(f"log(x - 2) has no value where x - 2 <= 0: {n_outside} of {run.data.n_rows} rows,")
    assert fit.r2 is None
    assert np.isnan(fit.predicted).sum() == n_outside


def test_without_data_there_are_no_fits():
    run = make_run()
    [stored] = run.searches
    found = gather_search(stored.front, 0, None, name="y", left="", floor=0.0, write_code=lambda _: {})
    assert [equation.fit for equation in found.equations] == [None] * 3


def test_columns_are_summed_up():
    [column] = gather_columns({"x": np.array([1.0, 2.0, 9.0])}, {"x": "target"})
    assert (column.low, column.median, column.high, column.role) == (1, 2, 9, "target")


def curves_of(gatherer, **options):
    run = make_system_run(**options)
    rows = make_rows(run.data, Plan(order=run.system.system.order))
    return gatherer(run.system.system, run.data, rows.starts)


def test_trajectories_are_measured_and_simulated():
    first, second = curves_of(gather_trajectories)
    assert (first.y_label, second.y_label) == ("x", "v")
    np.testing.assert_allclose(first.simulated[1], first.measured[1], atol=1e-3)


def test_long_trajectories_are_thinned():
    curves = curves_of(gather_trajectories, n_samples=5000)
    assert [curve.y_label for curve in curves] == ["x", "v"]
    for curve in curves:
        assert MAX_CHART_SAMPLES / 4 < curve.measured[0].size <= MAX_CHART_SAMPLES
        assert MAX_CHART_SAMPLES / 4 < curve.simulated[0].size <= 2 * MAX_CHART_SAMPLES


def test_portraits_are_of_pairs_of_states():
    [portrait] = curves_of(gather_portraits)
    assert (portrait.x_label, portrait.y_label) == ("x", "v")


def test_the_portrait_of_order_two_has_the_velocity():
    [portrait] = curves_of(gather_portraits, names=("x",), formulas=("-4 * x",), order=2)
    assert (portrait.x_label, portrait.y_label) == ("x", "dx")


def test_a_formula_of_a_table_with_one_row_can_be_shown():
    data = Dataset.from_arrays([[1.0]], [2.0])
    program = parse_expression("x0", Vocabulary(("x0",)))
    from spl.regression.candidate import Candidate
    from spl.regression.front import Front

    found = gather_search(
        Front((Candidate(program, 1.0),)), 0, data, name="y", left="", floor=0.0, write_code=lambda _: {}
    )
    assert found.equations[0].fit.r2 is None


def test_outliers_are_marked_and_left_out_of_a_second_share():
    run = make_run(n_rows=5000)
    [stored] = run.searches
    words = {"name": "y", "left": "", "floor": 0.0, "write_code": lambda _: {}}
    fit = gather_search(stored.front, 2, run.data, outliers=(0, 1, 2), **words).equations[1].fit
    rest = run.data.take(np.arange(3, 5000))
    assert fit.r2_without_outliers == pytest.approx(share_explained(stored.front[1].program, rest))
    assert fit.is_outlier.size == fit.measured.size
    assert gather(run).equations[1].fit.is_outlier is None
