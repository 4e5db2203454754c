import pytest
from tests.bench.fakes import make_record

from spl.bench.knowledge_shapes import shapes_trials
from spl.bench.knowledge_shapes_report import LARGEST_ERROR, shapes_section, shapes_table
from spl.bench.records import Record

TRIALS = {(trial.setting[-3:].strip("="), trial.seed): trial for trial in shapes_trials(None, (0, 1))[:4]}


def record_of(know: str, seed: int, error: float | None) -> Record:
    is_good = error is not None and error < 0.1
    return make_record(TRIALS[know, seed], error=error, recovered=is_good, formula="x" if error else "", seconds=2.0)


RECORDS = [record_of("no", 0, 4.0), record_of("no", 1, 1.0), record_of("yes", 0, 0.01), record_of("yes", 1, None)]


def test_errors_are_geometric_means_and_nothing_found_counts_as_the_largest():
    table = shapes_table(RECORDS)
    [row] = table.rows
    mean_with = (0.01 * LARGEST_ERROR) ** 0.5
    assert row == ("discharge", "2", "2", f"{mean_with:.2g}", "0", "1", "2.0", "2.0")
    assert table.total[0] == "all"


@pytest.mark.parametrize("failure", ["discharge, part=shapes know=yes, seed 1: nothing found", "know=no, seed 0: `x`"])
def test_failures_stay_in_the_report(failure):
    assert any(failure in each for each in shapes_section(RECORDS).failures)
