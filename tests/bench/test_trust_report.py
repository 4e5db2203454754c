"""The report on `spl bench trust`."""

from dataclasses import replace

from tests.bench.fakes import make_record

from spl.bench.trust_chance import chance_trials
from spl.bench.trust_coverage import coverage_trials
from spl.bench.trust_report import chance_table, coverage_table, trust_sections

LAWLESS, LAWFUL = chance_trials(5.0, [0])[0], chance_trials(5.0, [0])[-1]
COVERED = coverage_trials([0])[0]
SHARES = {"constants": 0.951, "law": 0.94, "new": 0.96, "profile": 0.95}


def record_of(trial, recovered=True, **details):
    made = make_record(trial)
    return replace(made, outcome=replace(made.outcome, recovered=recovered, details=details))


def test_what_was_called_unexplained_is_counted_for_both_kinds_of_tables():
    records = [
        record_of(LAWLESS, constant_is_best=True, is_explained=False),
        record_of(LAWFUL, recovered=False, constant_is_best=False, is_explained=False),
    ]
    assert chance_table(records).rows == (("no law", "1", "1", "1", "0"), ("a law", "1", "1", "0", "1"))


def test_coverage_is_in_percent():
    [row] = coverage_table([record_of(COVERED, coverage=SHARES)]).rows
    assert row[1:] == ("1%", "20", "95.1", "94.0", "96.0", "95.0")


def test_each_part_has_its_section_with_its_failures():
    sections = trust_sections([record_of(LAWLESS, recovered=False), record_of(COVERED, coverage=SHARES)])
    assert [section.title for section in sections] == [
        "Trust: targets that no column explains",
        "Trust: coverage of 95 % intervals",
    ]
    assert [len(section.failures) for section in sections] == [1, 0]
