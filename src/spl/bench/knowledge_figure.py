"""The figure of `spl bench knowledge`: evaluations to the solution with and without units."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spl.bench.figures import OTHER_COLOUR, OUR_COLOUR, PAPER_COLOUR, save_figure
from spl.bench.knowledge import read_knowledge_setting
from spl.bench.knowledge_units import WITH, WITHOUT
from spl.bench.records import Record
from spl.bench.summaries import group

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = ((OUR_COLOUR, "o"), (OTHER_COLOUR, "s"), (PAPER_COLOUR, "^"))  # of the levels of noise
_MARGIN = 3.0  # factor from the largest effort to the edge on which laws lie that were not recovered
_HALF = 0.5


def draw_effort(records: Sequence[Record], path: Path) -> None:
    """Draw the efforts of all tables, and write the figure as `path.png` and `path.svg`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4, 5.0), layout="constrained")
    plot_effort(figure, records)
    save_figure(figure, path)


def plot_effort(figure: "Figure", records: Sequence[Record]) -> None:
    """Draw evaluations to the solution with units over those without, one mark per table; below the diagonal, units helped."""
    axes = figure.subplots()
    by_table = group(records, _table_of)
    efforts = {
        table: tuple(_effort(members, variant) for variant in (WITHOUT, WITH)) for table, members in by_table.items()
    }
    known = [effort for pair in efforts.values() for effort in pair if effort is not None] or [1]
    edge = _MARGIN * max(known)
    levels = sorted({noise for noise, _, _ in efforts})
    for number, noise in enumerate(levels):
        colour, marker = _LOOKS[number % len(_LOOKS)]
        places = [
            [edge if effort is None else max(effort, 1) for effort in pair]
            for table, pair in efforts.items()
            if table[0] == noise and any(effort is not None for effort in pair)
        ]
        if places:
            label = f"noise {100 * noise:g} %"
            axes.plot(*zip(*places, strict=True), marker, color=colour, mfc="none", label=label)
    _draw_frame(axes, max(min(known), 1) / _MARGIN, edge)


def _draw_frame(axes: "Axes", low: float, edge: float) -> None:
    axes.axline((1, 1), (10, 10), color="grey", lw=1, label="equal")
    axes.axline((1, _HALF), (10, 10 * _HALF), color="grey", lw=1, ls=":", label="half")
    for line in (axes.axhline, axes.axvline):
        line(edge, color="grey", lw=0.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, 1.6 * edge)
    axes.set_ylim(low, 1.6 * edge)
    axes.set_xlabel("evaluations to the law without units (edge: not recovered)")
    axes.set_ylabel("with units")
    axes.legend(loc="upper left", frameon=False)


def _table_of(record: Record) -> tuple[float, str, int]:
    return float(read_knowledge_setting(record.trial.setting)["noise"]), record.trial.problem, record.trial.seed


def _effort(records: Sequence[Record], variant: str) -> int | None:
    """Return the evaluations to the solution with or without units; None if the law was not recovered, or not searched so."""
    efforts = [
        record.outcome.details.get("solution_evaluations")
        for record in records
        if read_knowledge_setting(record.trial.setting)["units"] == variant
    ]
    return efforts[-1] if efforts else None
