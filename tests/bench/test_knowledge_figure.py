"""The figure of `spl bench knowledge`."""

import pytest
from tests.bench.knowledge_fakes import units_record

RECORDS = [
    units_record("nernst", "with", 0.0, 200),
    units_record("nernst", "without", 0.0, 1_000),
    units_record("nernst", "with", 0.1, 500),
    units_record("nernst", "without", 0.1, None),
    units_record("geotherm", "with", 0.1, None),
    units_record("geotherm", "without", 0.1, None),
]


def test_laws_that_were_not_recovered_lie_on_the_edge_and_those_never_recovered_are_left_out():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from spl.bench.knowledge_figure import plot_effort

    figure = Figure()
    plot_effort(figure, RECORDS)
    marks = {
        line.get_label(): line.get_xydata().tolist() for line in figure.axes[0].lines if "noise" in line.get_label()
    }
    assert marks == {"noise 0 %": [[1_000, 200]], "noise 10 %": [[3_000, 500]]}


def test_the_figure_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    from spl.bench.knowledge_figure import draw_effort

    draw_effort(RECORDS, tmp_path / "effort")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["effort.png", "effort.svg"]
