"""`spl suggest`: points from a run file."""

import io

import numpy as np
import pandas as pd
import pytest
from tests.cli.command_line import run


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    x = np.random.default_rng(0).uniform(0.5, 3.0, 14)
    y = 5 * x / (1 + x) + 0.2 * np.random.default_rng(1).standard_normal(14)
    pd.DataFrame({"x": x, "y": y}).to_csv(folder / "table.csv", index=False)
    path = folder / "run.spl"
    arguments = ("--operators", "+,*,/,sqrt", "--max-evaluations", 2_000, "--run", path, "--rivals")
    result = run("fit", folder / "table.csv", "--target", "y", *arguments)
    assert "within 6 nats" in result.output
    return path


def test_points_are_printed_as_csv(stored):
    points = pd.read_csv(io.StringIO(run("suggest", stored, "-n", 3).stdout))
    assert list(points.columns) == ["x"]
    assert len(points) == 3


def test_points_are_written_to_a_file(stored, tmp_path):
    path = tmp_path / "next.csv"
    result = run("suggest", stored, "--bounds", "x=4:8", "-o", path)
    assert result.stdout == f"Wrote 5 points to {path}\n"
    assert pd.read_csv(path)["x"].between(4, 8).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bounds", "x=4"), "is not COLUMN=LOW:HIGH"),
        (("--bounds", "x=4:8,x=1:2"), "names the column 'x' twice"),
        (("--bounds", "z=4:8"), "There is no column 'z'"),
        (("--bounds", "x=8:4"), "the lower one first"),
        (("-n", "0"), "`n` must be 1 or more"),
        (("-o", "no/such/folder/next.csv"), "The points cannot be written"),
    ],
)
def test_mistakes_are_named(stored, options, message):
    result = run("suggest", stored, *options)
    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")


def test_a_file_that_is_not_there_is_an_error():
    result = run("suggest", "missing.spl")
    assert result.exit_code == 2
    assert "There is no run file 'missing.spl'." in result.stderr


def test_show_lists_the_rivals(stored):
    assert "within 6 nats" in run("show", stored).stdout
