"""The figures of the reports, as PNG and SVG. Colours are told apart by everyone (Okabe and Ito), marks also without colour."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spl.bench.ablation import MODELS, ablation_problems, paper_rate
from spl.bench.summaries import Summary
from spl.datasets.nguyen import Problem
from spl.errors import SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS, PAPER, OTHER = "#0072B2", "#D55E00", "#009E73"
DOTS_PER_INCH = 150


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as `path.png` and `path.svg`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("png", "svg"):
            figure.savefig(f"{path}.{suffix}", dpi=DOTS_PER_INCH)
    except OSError as error:
        raise SettingError(f"The figure '{path}' cannot be written: {error.strerror or error}.") from None


def draw_times(found: Mapping[Problem, Summary], path: Path) -> None:
    """Draw the seconds of each problem, ours from median to worst, beside the averages of the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.6 + 0.32 * len(found)), layout="constrained")
    axes = figure.subplots()
    places = range(len(found))
    medians = [summary.median_seconds for summary in found.values()]
    worst = [summary.worst_seconds for summary in found.values()]
    axes.hlines(places, medians, worst, color=OURS, lw=2)
    axes.plot(medians, places, "o", color=OURS, label="ours: median, line to the worst")
    for field, mark, colour, label in (
        ("paper_seconds", "D", PAPER, "paper's SPL: average"),
        ("paper_nggp_seconds", "s", OTHER, "paper's NGGP: average"),
    ):
        known = [(getattr(problem, field), place) for place, problem in enumerate(found) if getattr(problem, field)]
        if known:
            axes.plot(*zip(*known, strict=True), mark, color=colour, mfc="none", label=label)
    axes.set_xscale("log")
    axes.set_yticks(places, [problem.name for problem in found])
    axes.invert_yaxis()
    axes.set_xlabel("seconds; each on its own machine")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    save_figure(figure, path)


def draw_ablation(cells: Mapping[tuple[str, str], Summary], path: Path) -> None:
    """Draw two maps of recovery rates, problems by models: ours and the paper's."""
    from matplotlib.figure import Figure

    problems = [problem.name for problem in ablation_problems() if any(name == problem.name for name, _ in cells)]
    ours = [
        [cells[name, model.name].rate if (name, model.name) in cells else float("nan") for model in MODELS]
        for name in problems
    ]
    theirs = [[paper_rate(model, name) for model in MODELS] for name in problems]
    figure = Figure(figsize=(8, 1.4 + 0.4 * len(problems)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_rates(left, ours, "ours")
    _draw_rates(right, theirs, "paper")
    left.set_yticks(range(len(problems)), problems)
    save_figure(figure, path)


def _draw_rates(axes: "Axes", rates: list[list[float]], title: str) -> None:
    axes.imshow(rates, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_title(f"{title}: recovered, %")
    axes.set_xticks(range(len(MODELS)), [model.name for model in MODELS])
    for row, values in enumerate(rates):
        for column, rate in enumerate(values):
            if rate == rate:
                axes.text(
                    column, row, f"{100 * rate:.0f}", ha="center", va="center", color="black" if rate > 0.5 else "white"
                )
