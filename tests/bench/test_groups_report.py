"""The report on `spl bench groups`."""

from dataclasses import replace

from tests.bench.fakes import make_record, make_trial

from spl.bench.groups_report import (
    coverage_table,
    groups_sections,
    labels_table,
    laws_table,
    sizes_table,
    systems_table,
)
from spl.bench.report import write_report


def record_of(problem, setting, *, recovered=True, seconds=2.0, **details):
    made = make_record(make_trial(problem, experiment="groups", setting=setting, timeout=30.0))
    outcome = replace(made.outcome, recovered=recovered, seconds=seconds, details=details)
    return replace(made, outcome=outcome, settings={"truth": "a*x"})


LAWS = [
    record_of("tide", "part=laws noise=0 data=groups", own={"k1": "harbour"}),
    record_of("tide", "part=laws noise=0.1 data=groups", recovered=False, own={"k1": "harbour"}),
    record_of("tide", "part=laws noise=0 data=one", recovered=False),
]
PAIRS = [record_of("harvest", "part=pairs noise=0 data=groups")]
SIZES = [
    record_of("tide", "part=sizes noise=0 groups=3", seconds=1.0, megabytes=300),
    record_of("tide", "part=sizes noise=0 groups=100", seconds=4.0, megabytes=400, recovered=False),
]
SYSTEMS = [
    record_of("sir", "part=systems noise=0", right_equations=True, right_sharing=True),
    record_of("sir", "part=systems noise=0.02", recovered=False, right_equations=True, right_sharing=False),
]
COVERED = [record_of("tide", "part=coverage noise=0.1 rows=5", coverage={"shared": 0.951, "own": 0.94})]
LABELS = [
    record_of("line-0", "part=random-labels groups=2", is_law=True),
    record_of("line-1", "part=random-labels groups=3", recovered=False, is_law=False, own={"k1": "group"}),
]


def test_laws_are_counted_with_all_groups_and_with_one():
    table = laws_table(LAWS)
    assert table.headings == ("law", "groups 0", "groups 0.1", "one group 0", "median s")
    assert table.rows == (("tide", "1 of 1", "0 of 1", "0 of 1", "2"),)
    assert table.total == ("all", "1 of 1", "0 of 1", "0 of 1", "2")


def test_sizes_have_seconds_and_memory():
    [row] = sizes_table(SIZES).rows
    assert row == ("tide", "0", "1 of 1", "1", "300", "0 of 1", "4", "400")


def test_equations_and_sharing_are_counted_apart():
    [row] = systems_table(SYSTEMS).rows
    assert row == ("sir", "1 of 1", "1 of 1", "1 of 1", "0 of 1", "1 of 1", "0 of 1", "2")


def test_coverage_is_in_percent():
    assert coverage_table(COVERED).rows == (("tide", "10%", "5", "95.1", "94.0"),)


def test_tables_without_own_numbers_are_counted_with_the_laws_found_in_them():
    table = labels_table(LABELS)
    assert table.rows == (("2", "1 of 1", "1 of 1", "2"), ("3", "0 of 1", "0 of 1", "2"))
    assert table.total == ("all", "1 of 2", "1 of 2", "2")


def test_each_part_has_its_section_and_failures_name_own_numbers():
    sections = groups_sections([*LABELS, *SIZES, *SYSTEMS, *COVERED, *LAWS, *PAIRS])
    assert [section.title.partition(":")[0] for section in sections] == [
        "Laws with own numbers",
        "Laws with two groupings",
        "Laws with own numbers",
        "Systems with own parameters",
        "Own numbers",
        "Groups that mean nothing",
    ]
    assert [len(section.failures) for section in sections] == [1, 0, 1, 1, 0, 1]
    assert sections[0].failures[0] == (
        "tide, seed 0, noise=0.1 data=groups: `a*x` is the truth; found `x` with own k1 (harbour) (stopped: exact)"
    )


def test_the_document_has_the_experiment():
    assert "## Laws with own numbers: many groups" in write_report(SIZES, None)
