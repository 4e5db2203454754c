"""The report on `spl bench knowledge`."""

from tests.bench.knowledge_fakes import depth_record, units_record

from spl.bench.knowledge_report import depth_table, effort_table, knowledge_sections, solved_pairs, units_table
from spl.bench.report import write_report

RECORDS = [
    units_record("nernst", "with", 0.0, 200),
    units_record("nernst", "without", 0.0, 1_000),
    units_record("vis_viva", "with", 0.0, 300),
    units_record("vis_viva", "without", 0.0, 3_000),
    units_record("geotherm", "with", 0.0, 400),
    units_record("geotherm", "without", 0.0, None, formula="z", stopped="timeout"),
    units_record("nernst", "with", 0.1, None, formula="E0", details={"on_front": True}),
    units_record("nernst", "without", 0.1, 50),
]


def test_laws_are_counted_and_efforts_are_compared_where_both_recover():
    assert units_table(RECORDS).rows == (
        ("0", "3 of 3", "2 of 3", "250", "2,000", "15", "0.25", "2", "15"),
        ("0.1", "0 of 1", "1 of 1", "", "", "", "", "", ""),
    )
    assert units_table(RECORDS).total[:3] == ("all", "3 of 4", "3 of 4")


def test_each_law_has_its_efforts():
    assert effort_table(RECORDS).rows == (
        ("nernst", "5", "200; 1,000", "–; 50"),
        ("vis_viva", "3", "300; 3,000", "; "),
        ("geotherm", "5", "400; –", "; "),
    )


def test_pairs_are_of_one_table_each():
    pairs = solved_pairs([*RECORDS, units_record("vis_viva", "with", 0.1, 10)])
    assert [(one.trial.problem, one.outcome.details["solution_evaluations"]) for one, _ in pairs] == [
        ("nernst", 200),
        ("vis_viva", 300),
    ]


def test_failures_say_what_was_found_and_whether_the_law_was_on_the_front():
    failures = knowledge_sections(RECORDS)[1].failures
    assert failures == (
        "geotherm, seed 0, noise 0, without units: `T0 + q*z/k - A*z**2/(2*k)` is the truth; found `z` (stopped: timeout)",
        "nernst, seed 0, noise 0.1, with units: `E0 + R*T/(z*F)*log(ox/red)` is the truth; found `E0` "
        "(stopped: exact; the law is on its front)",
    )


def test_one_variant_alone_has_a_table_too():
    table = units_table([record for record in RECORDS if record.trial.setting.endswith("=with")])
    assert table.rows[0] == ("0", "3 of 3", "", "", "", "", "", "", "")


def test_the_document_has_the_experiment():
    text = write_report(RECORDS, None)
    assert "## Laws with units: recovered with and without units" in text
    assert "## Laws with units: each law" in text


def test_banks_are_compared_by_cost_by_what_units_allow_and_by_whether_they_hold_the_law():
    records = [
        depth_record("vis_viva", "with", cost=10, share=1.0, holds_law=True),
        depth_record("vis_viva", "without", cost=11, share=0.05, holds_law=False),
        depth_record("nernst", "with", cost=12, share=1.0, holds_law=True),
        depth_record("nernst", "without", cost=11, share=0.15, holds_law=True),
    ]
    table = depth_table(records)
    assert table.rows == (
        ("vis_viva", "3", "100,000", "10", "100", "1 of 1", "100,000", "11", "5", "0 of 1"),
        ("nernst", "5", "100,000", "12", "100", "1 of 1", "100,000", "11", "15", "1 of 1"),
    )
    assert table.total == ("all", "", "100,000", "11", "100", "2 of 2", "100,000", "11", "10", "1 of 2")
    assert "## Laws with units: what the bank holds" in write_report(records, None)
