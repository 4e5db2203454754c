"""The figures of `docs/how-to/trust.md` and `measure-next.md`: intervals of numbers, a band, losses on other rows, rivals."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from spl import SPLRegressor
from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.prediction_errors import predict_limits
from spl.regression.profile_intervals import find_profile_interval
from spl.regression.uncertainty import LEVEL, NumberPlace, place_numbers

N_SHOWN_RIVALS = 6
TRUTH = {"greatest rate": 5.3, "dose at half of it": 1.4}


def draw_trust(figure: Figure) -> None:
    """Draw the intervals of both numbers of a saturating rate from few rows, and what they mean for predictions."""
    figure.set_size_inches(9, 3.4)
    rng = np.random.default_rng(1)
    dose = rng.uniform(0.1, 3.0, 14)
    greatest, half = TRUTH.values()
    rate = greatest * dose / (half + dose) + 0.25 * rng.standard_normal(dose.size)
    data = Dataset.from_arrays(dose[:, np.newaxis], rate, names=["dose"])
    law = parse_expression("C*dose/(C + dose)", Vocabulary(("dose",))).with_constants(np.array([greatest, half]))
    program = fit(law, data, effort=POLISH_EFFORT).program
    numbers, band = figure.subplots(1, 2, width_ratios=(2, 3))

    for row, (name, place) in enumerate(zip(TRUTH, place_numbers(program, data), strict=True)):
        assert isinstance(place, NumberPlace)
        ends = {
            "curvature": place.curvature.interval(place.place, LEVEL),
            "profile": find_profile_interval(place, data, LEVEL),
        }
        for shift, (method, (low, high)) in zip((0.12, -0.12), ends.items(), strict=True):
            colour = FOUND_COLOUR if method == "profile" else GREY
            numbers.plot([low, high], [row + shift] * 2, lw=3, color=colour, label=method if row == 0 else None)
            numbers.plot(place.printed.value, row + shift, "o", color=colour)
        label = "truth" if row == 0 else None
        numbers.plot([TRUTH[name]] * 2, [row - 0.25, row + 0.25], color="black", lw=1.2, label=label)
    numbers.set(
        yticks=range(len(TRUTH)), yticklabels=list(TRUTH), xlabel="95 % interval", ylim=(-0.5, 1.9), xlim=(0, 9)
    )
    numbers.legend(loc="upper right")

    grid = np.linspace(0.0, 6.0, 200)[np.newaxis]
    for is_new, alpha, label in ((True, 0.15, "new measurements"), (False, 0.35, "the law")):
        low, high = predict_limits(program, data, grid, is_new=is_new).T
        band.fill_between(grid[0], low, high, color=FOUND_COLOUR, alpha=alpha, lw=0, label=label)
    band.plot(grid[0], evaluate(program, grid), color=FOUND_COLOUR)
    band.plot(grid[0], evaluate(law, grid), "--", color="black", lw=1.2, label="truth")
    band.plot(dose, rate, ".", color=MEASURED_COLOUR, label="measured")
    band.axvline(dose.max(), color=GREY, lw=1, ls=":")
    band.annotate("the data ends", (dose.max() + 0.08, 0.3), color=GREY)
    band.set(xlabel="dose", ylabel="rate", xlim=(0, 6), ylim=(0, 6))
    band.legend(loc="upper left")


def draw_validation(figure: Figure) -> None:
    """Draw the losses of a front: on the rows of the fit, by cross-validation, and on rows that the search never saw."""
    figure.set_size_inches(6.5, 3.4)
    rng = np.random.default_rng(3)
    dose = rng.uniform(0.2, 8.0, (230, 1))
    greatest, half = TRUTH.values()
    rate = greatest * dose[:, 0] / (half + dose[:, 0]) + 0.3 * rng.standard_normal(230)
    model = SPLRegressor(operators=("+", "*", "/"), timeout=None, max_evaluations=1_500, random_state=0)
    model.fit(dose[:30], rate[:30], validation=(dose[30:], rate[30:]))
    axes = figure.subplots()
    table = model.equations_
    names = {"loss": "rows of the fit", "cv_loss": "cross-validation", "validation_loss": "validation rows"}
    colours = (GREY, MEASURED_COLOUR, FOUND_COLOUR)
    for (column, name), colour in zip(names.items(), colours, strict=True):
        axes.plot(table["cost"], table[column], "o-", color=colour, label=name)
    axes.axvline(table["cost"][model.best_index_], color=GREY, lw=1, ls=":")
    axes.annotate("chosen", (table["cost"][model.best_index_] + 0.3, 1.0), color=GREY)
    axes.set(xlabel="cost of the formula", ylabel="loss", ylim=(0, 1.3))
    axes.legend(loc=(0.36, 0.66))


def draw_next(figure: Figure) -> None:
    """Draw a formula and its rivals within and beyond the data, and the points where measurements would decide."""
    figure.set_size_inches(9, 3.4)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": rng.uniform(0.3, 4.0, 12)})
    rate = 5.3 * table["dose"] / (1.4 + table["dose"]) + 0.1 * rng.standard_normal(12)
    model = SPLRegressor(operators=("+", "*", "/", "sqrt", "log"), max_evaluations=5000, random_state=0)
    model.fit(table, rate)
    points = model.suggest(4, bounds={"dose": (0.3, 12.0)})

    axes = figure.subplots()
    grid = np.linspace(0.3, 12.5, 300)
    for row, text in enumerate(model.rivals()["equation"].head(N_SHOWN_RIVALS)):
        values = evaluate(parse_expression(text, Vocabulary(("dose",))), grid[np.newaxis])
        axes.plot(grid, values, color=GREY, lw=1, label="rivals" if row == 0 else None)
    axes.plot(grid, model.predict(pd.DataFrame({"dose": grid})), color=FOUND_COLOUR, label="chosen")
    axes.plot(grid, 5.3 * grid / (1.4 + grid), "--", color="black", lw=1.2, label="truth")
    axes.plot(table["dose"], rate, ".", color=MEASURED_COLOUR, label="measured")
    for row, dose in enumerate(points["dose"]):
        axes.axvline(dose, color=MEASURED_COLOUR, lw=1, ls=":", label="measure next" if row == 0 else None)
        axes.annotate(str(row + 1), (dose + 0.05, 0.15), color=MEASURED_COLOUR)
    axes.set(xlabel="dose", ylabel="rate", xlim=(0, 12.5), ylim=(0, 8))
    axes.legend(loc="upper left")
