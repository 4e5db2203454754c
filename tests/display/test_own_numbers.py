"""Numbers that each group has for itself, as text and JSON."""

import json
import math

from spl.display.own_numbers import describe_own_numbers, group_tables, own_number_lines
from spl.formulas.own_numbers import OwnNumber

HEIGHT = OwnNumber("k1", "wood", ("oak", "ash"), (0.7, math.nan))
RATE = OwnNumber("k2", "cup", tuple(f"cup {k}" for k in range(30)), tuple(0.1 * k for k in range(30)))
WIDTH = OwnNumber("k3", "wood", ("oak", "ash"), (2.0, 3.0))


def test_there_is_one_table_for_each_grouping():
    tables = group_tables([HEIGHT, RATE, WIDTH])
    assert [(table.grouping, table.names) for table in tables] == [("wood", ("k1", "k3")), ("cup", ("k2",))]
    assert tables[0].rows == (("oak", "0.7", "2"), ("ash", "?", "3"))


def test_errors_are_those_of_their_group():
    [table] = group_tables([HEIGHT, WIDTH], {"k3": [0.1, 0.02]})
    assert table.rows[0] == ("oak", "0.7", "2.00 ± 0.10")
    assert table.rows[1][2] == "3.000 ± 0.020"


def test_lines_are_aligned_and_many_groups_are_cut():
    lines = own_number_lines([HEIGHT, RATE])
    assert lines[1:4] == ["  wood  k1", "  oak   0.7", "  ash   ?"]
    assert lines[-1] == "  ... and 18 more"
    assert own_number_lines([]) == []


def test_json_has_all_groups_and_null_where_nothing_is_known():
    described = json.loads(json.dumps(describe_own_numbers([HEIGHT, RATE], {"k1": [0.1, math.inf]}), allow_nan=False))
    assert described[0] == {
        "name": "k1",
        "grouping": "wood",
        "values": {"oak": 0.7, "ash": None},
        "standard_errors": {"oak": 0.1, "ash": None},
    }
    assert len(described[1]["values"]) == 30
