"""The figure of a formula shows its place in the front, its fit and its shape."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.plots.formulas import MAX_BARS, MAX_SLICES, FrontPlace, plot_formula
from spl.regression.candidate import Candidate
from spl.regression.fit_rows import FitRows
from spl.regression.front import Front
from spl.units.table_units import read_table_units

pytest.importorskip("matplotlib")

NAMES = ("x", "flow_rate [$]")


def place_of(texts, losses, chosen=-1, names=NAMES, floor=0.0):
    programs = [parse_expression(text, Vocabulary(names)) for text in texts]
    front = Front(tuple(Candidate(program, loss) for program, loss in zip(programs, losses, strict=True)))
    return FrontPlace(front, chosen % len(front), floor)


def make_data(rng, formula=lambda x, u: x * u, names=NAMES):
    columns = rng.uniform(1, 2, (len(names), 200))
    return Dataset.from_arrays(columns.T, formula(*columns[:2]), names=names)


PRODUCT = "x * 'flow_rate [$]'"


def titles(figure):
    return [axes.get_title(loc="left").split("   ")[0] for axes in figure.axes]


def test_several_variables_have_a_slice_each(rng):
    figure = plot_formula(place_of(["x", PRODUCT], [0.5, 1e-9]), make_data(rng), target="y")
    slice_title = "slice, others at their median"
    assert titles(figure) == ["front", "fit", "residuals", slice_title, slice_title]
    assert [axes.get_xlabel() for axes in figure.axes[3:]] == ["x", r"flow_rate [\$]"]


def test_a_slice_is_the_formula_with_the_others_at_their_median(rng):
    data = make_data(rng)
    axes = plot_formula(place_of([PRODUCT], [0.1]), data).axes[3]
    line = axes.get_lines()[1]
    np.testing.assert_allclose(line.get_ydata(), line.get_xdata() * np.median(data.columns[1]))


def test_each_row_lies_off_its_slice_by_its_residual(rng):
    data = make_data(rng, lambda x, u: x * u + 0.01 * np.sin(9 * u))
    axes = plot_formula(place_of([PRODUCT], [0.1]), data).axes[3]
    points = axes.get_lines()[0]
    on_the_line = data.columns[0] * np.median(data.columns[1])
    np.testing.assert_allclose(points.get_xdata(), data.columns[0])
    np.testing.assert_allclose(points.get_ydata() - on_the_line, 0.01 * np.sin(9 * data.columns[1]), atol=1e-12)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["formula + residual", "formula"]


def test_a_formula_of_one_variable_has_its_curve_and_all_rows(rng):
    figure = plot_formula(place_of(["x**2"], [0.0]), make_data(rng, lambda x, u: x**2))
    assert titles(figure)[3:] == ["curve"]
    assert figure.axes[3].get_lines()[0].get_xdata().size == 200


def test_the_formula_that_is_meant_has_a_ring_in_the_front(rng):
    figure = plot_formula(place_of(["x", PRODUCT], [0.5, 1e-20], chosen=0, floor=1e-13), make_data(rng))
    ring = next(line for line in figure.axes[0].get_lines() if line.get_label() == "this formula")
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (1, 0.5)
    assert min(figure.axes[0].get_lines()[1].get_ydata()) == 1e-13


def test_a_loss_of_zero_can_be_drawn(rng):
    figure = plot_formula(place_of([PRODUCT], [0.0]), make_data(rng))
    assert figure.axes[0].get_yscale() == "linear"
    figure.canvas.draw()


def test_residuals_are_what_the_formula_leaves_over(rng):
    data = make_data(rng)
    points = plot_formula(place_of(["x"], [0.5]), data).axes[2].get_lines()[1]
    np.testing.assert_allclose(points.get_ydata(), data.target - data.columns[0])


def test_rows_outside_the_domain_are_counted(rng):
    figure = plot_formula(place_of(["log(x - 1.5)"], [0.5]), make_data(rng))
    assert "undefined in" in figure.axes[1].get_title(loc="left")
    figure.canvas.draw()


def test_without_data_there_is_the_front_alone():
    assert titles(plot_formula(place_of([PRODUCT], [0.5]), None)) == ["front"]


def test_a_formula_without_variables_can_be_drawn(rng):
    assert len(plot_formula(place_of(["2.5"], [0.5]), make_data(rng)).axes) == 4


def test_slices_are_few_however_many_variables_there_are(rng):
    names = tuple(f"x{k}" for k in range(MAX_SLICES + 3))
    place = place_of([" + ".join(names)], [0.5], names=names)
    assert len(plot_formula(place, make_data(rng, names=names)).axes) == 3 + MAX_SLICES


def test_the_equation_is_the_title(rng):
    figure = plot_formula(place_of([PRODUCT], [0.5]), make_data(rng), target="heat")
    assert figure.get_suptitle().startswith(r"$\mathrm{heat} = x")
    figure.canvas.draw()


# ---- noise ---------------------------------------------------------------------------------------


def test_axes_have_the_units_of_the_columns_and_the_target(rng):
    names = ("x", "u (m/s)")
    units = read_table_units({"x": "kg", "u (m/s)": "m/s"}, "N*s", names=names)
    axes = plot_formula(place_of(["x*'u (m/s)'"], [0.5], names=names), make_data(rng, names=names), units=units).axes
    assert [each.get_xlabel() for each in axes[1:]] == ["y, measured (N*s)", "y, predicted (N*s)", "x (kg)", "u (m/s)"]
    assert [each.get_ylabel() for each in axes[2:4]] == ["measured - predicted (N*s)", "y (N*s)"]


def legend(axes):
    return [] if axes.get_legend() is None else [text.get_text() for text in axes.get_legend().get_texts()]


def test_outliers_are_crosses_with_an_entry_in_the_legend(rng):
    data = make_data(rng)
    is_outlier = np.arange(200) < 3
    figure = plot_formula(place_of([PRODUCT], [0.1]), data, is_outlier=is_outlier)
    for axes in figure.axes[1:]:
        [crosses] = [line for line in axes.get_lines() if line.get_marker() == "x"]
        assert crosses.get_xdata().size == 3
        assert "outlier" in legend(axes)


def test_outliers_are_left_out_of_the_share_explained(rng):
    data = make_data(rng, lambda x, u: np.where(np.arange(200) < 3, 99.0, x * u))
    title = plot_formula(place_of([PRODUCT], [0.1]), data, is_outlier=np.arange(200) < 3).axes[1].get_title(loc="left")
    assert title.endswith("$R^2$ = 1.000000 without outliers")


def test_error_bars_are_drawn_where_they_are_known_but_not_too_many(rng):
    columns = rng.uniform(1, 2, (2, 1000))
    data = Dataset.from_arrays(columns.T, columns[0] * columns[1], names=NAMES, sigma=0.1)
    figure = plot_formula(place_of([PRODUCT], [0.1]), data)
    n_bars = [sum(len(bars.get_segments()) for bars in axes.collections) for axes in figure.axes]
    assert n_bars == [0, 0, MAX_BARS, MAX_BARS, MAX_BARS]


def test_without_outliers_and_error_bars_neither_is_drawn(rng):
    figure = plot_formula(place_of([PRODUCT], [0.1]), make_data(rng))
    assert not any(axes.collections for axes in figure.axes)
    assert not any("outlier" in legend(axes) for axes in figure.axes)


# ---- bands ---------------------------------------------------------------------------------------

BANDS = ["95 %, new values", "95 %, the law"]


def noisy(rng, n_rows=60):
    x = np.linspace(1, 3, n_rows)
    return Dataset.from_arrays(x[:, np.newaxis], 2 * x + 0.1 * rng.standard_normal(n_rows), names=["x"])


def bands_of(axes):
    return {band.get_label(): band.get_paths()[0].vertices for band in axes.collections if band.get_label() in BANDS}


def test_a_curve_has_bands_of_the_law_and_of_new_values(rng):
    data = noisy(rng)
    axes = plot_formula(place_of(["2.0*x"], [0.1], names=("x",)), data, fit=FitRows(data)).axes[3]
    bands = bands_of(axes)
    assert list(bands) == BANDS
    assert legend(axes)[-2:] == BANDS
    width = {name: np.ptp(of_band[np.isclose(of_band[:, 0], of_band[0, 0]), 1]) for name, of_band in bands.items()}
    assert 0 < width["95 %, the law"] < width["95 %, new values"] < 1


def test_without_the_rows_of_the_fit_there_are_no_bands(rng):
    assert bands_of(plot_formula(place_of(["2.0*x"], [0.1], names=("x",)), noisy(rng)).axes[3]) == {}


def test_a_number_that_the_data_does_not_determine_has_bands_without_end(rng):
    data = noisy(rng)
    place = place_of(["2.0*x*1.5**1.2"], [0.1], names=("x",))
    figure = plot_formula(place, data, fit=FitRows(data))
    figure.canvas.draw()
    assert np.isfinite(bands_of(figure.axes[3])["95 %, the law"]).all()


def test_a_formula_that_has_no_value_on_some_rows_can_be_drawn_with_bands(rng):
    data = noisy(rng)
    figure = plot_formula(place_of(["log(x - 1.5)"], [0.1], names=("x",)), data, fit=FitRows(data))
    figure.canvas.draw()
    assert figure.axes
