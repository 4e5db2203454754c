"""The figures of the reports, as PNG and SVG. The colours are safe for the colour-blind (Okabe and Ito); markers differ too."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spl.bench.ablation import ABLATION_MODELS, ablation_problems, paper_rate
from spl.bench.random import Condition, rate_of_accurate
from spl.bench.records import Record
from spl.bench.summaries import Summary, group, summarise
from spl.datasets.nguyen import Problem
from spl.errors import SettingError
from spl.plots.style import DOTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUR_COLOUR, PAPER_COLOUR, OTHER_COLOUR = "#0072B2", "#D55E00", "#009E73"


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as `path.png` and `path.svg`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "svg"):
            figure.savefig(f"{path}.{suffix}", dpi=DOTS_PER_INCH)
    except OSError as error:
        raise SettingError(f"The figure '{path}' cannot be written: {error.strerror or error}.") from None


def draw_times(found: Mapping[Problem, Summary], path: Path) -> None:
    """Draw the seconds of each problem: ours from median to worst, and the averages of the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.6 + 0.32 * len(found)), layout="constrained")
    axes = figure.subplots()
    rows = range(len(found))
    medians = [summary.median_seconds for summary in found.values()]
    worst = [summary.worst_seconds for summary in found.values()]
    axes.hlines(rows, medians, worst, color=OUR_COLOUR, lw=2)
    axes.plot(medians, rows, "o", color=OUR_COLOUR, label="ours: median, line to the worst")
    for field, mark, colour, label in (
        ("paper_seconds", "D", PAPER_COLOUR, "paper's SPL: average"),
        ("paper_nggp_seconds", "s", OTHER_COLOUR, "paper's NGGP: average"),
    ):
        known = [(getattr(problem, field), row) for row, problem in enumerate(found) if getattr(problem, field)]
        if known:
            axes.plot(*zip(*known, strict=True), mark, color=colour, mfc="none", label=label)
    axes.set_xscale("log")
    axes.set_yticks(rows, [problem.name for problem in found])
    axes.invert_yaxis()
    axes.set_xlabel("seconds; each on its own machine")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    save_figure(figure, path)


def draw_ablation(cells: Mapping[tuple[str, str], Summary], path: Path) -> None:
    """Draw two heat maps of recovery rates, problems by models: ours and the paper's."""
    from matplotlib.figure import Figure

    problems = [problem.name for problem in ablation_problems() if any(name == problem.name for name, _ in cells)]
    ours = [
        [cells[name, model.name].rate if (name, model.name) in cells else float("nan") for model in ABLATION_MODELS]
        for name in problems
    ]
    theirs = [[paper_rate(model, name) for model in ABLATION_MODELS] for name in problems]
    figure = Figure(figsize=(8, 1.4 + 0.4 * len(problems)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    models = [model.name for model in ABLATION_MODELS]
    _draw_rates(left, ours, "ours: recovered, %", models)
    _draw_rates(right, theirs, "paper: recovered, %", models)
    left.set_yticks(range(len(problems)), problems)
    save_figure(figure, path)


def draw_random(records: Sequence[Record], path: Path) -> None:
    """Draw two heat maps of random formulas, cost by noise: the share recovered, and the share that predicts well."""
    from matplotlib.figure import Figure

    costs = sorted({record.settings["cost"] for record in records})
    levels = sorted({Condition.of(record.trial.setting).noise for record in records})
    cells = group(records, lambda record: (record.settings["cost"], Condition.of(record.trial.setting).noise))

    def rates(rate_of: Callable[[Sequence[Record]], float]) -> list[list[float]]:
        return [
            [rate_of(cells[cell]) if (cell := (cost, noise)) in cells else float("nan") for noise in levels]
            for cost in costs
        ]

    figure = Figure(figsize=(8, 1.8 + 0.35 * len(costs)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    ticks = [f"{100 * noise:g} %" for noise in levels]
    _draw_rates(left, rates(lambda members: summarise(members).rate), "recovered, %", ticks)
    _draw_rates(right, rates(rate_of_accurate), "accurate (R² above 0.999), %", ticks)
    for axes in (left, right):
        axes.set_xlabel("noise")
    left.set_yticks(range(len(costs)), [str(cost) for cost in costs])
    left.set_ylabel("cost of the formula, in tokens")
    save_figure(figure, path)


def _draw_rates(axes: "Axes", rates: list[list[float]], title: str, ticks: Sequence[str]) -> None:
    axes.imshow(rates, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_title(title)
    axes.set_xticks(range(len(ticks)), ticks)
    for row, values in enumerate(rates):
        for column, rate in enumerate(values):
            if rate == rate:
                axes.text(
                    column, row, f"{100 * rate:.0f}", ha="center", va="center", color="black" if rate > 0.5 else "white"
                )
