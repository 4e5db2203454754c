"""Text files: comments, names, units, lines and number formats."""

import numpy as np
import pytest

from spl.data.table_files import read_table
from spl.errors import DataError


def write(folder, name, content):
    path = folder / name
    path.write_text(content)
    return str(path)


def test_comment_lines_are_left_out_and_those_among_the_rows_are_noted(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "# made by hand\na,y\n# first\n1,2\n  # second\n3,4\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1, 3])
    assert table.notes == ("2 comments among the rows left out (the first: line 3).",)
    assert table.lines.tolist() == [4, 6]


def test_names_may_stand_in_the_comment_above_the_numbers(tmp_path):
    np.savetxt(tmp_path / "t.txt", [[1.0, 2.0], [3.0, 4.0]], header="made by numpy\na y")
    table = read_table(str(tmp_path / "t.txt"))
    np.testing.assert_array_equal(table.numbers["y"], [2, 4])
    assert table.notes == ("Column names are read from the comment in line 2.",)


def test_a_missing_value_of_a_spreadsheet_is_no_comment(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,y\n1,2\n#N/A,3\n#DIV/0!,4\n5,6\n"))
    assert table.numbers["y"].tolist() == [2, 3, 4, 6]


@pytest.mark.parametrize("units", ["s,m,", "[s],[m],", "s,-,name"])
def test_a_row_of_units_is_left_out_with_a_note(tmp_path, units):
    table = read_table(write(tmp_path, "t.csv", f"t,x,label\n{units}\n0,1,p\n1,2,q\n2,bad,r\n3,4,s\n"))
    np.testing.assert_array_equal(table.numbers["t"], [0, 1, 2, 3])
    assert table.notes[0].startswith(f"Line 2 is read as units, not as data: {units.split(',')[0]}")
    assert table.texts["label"].tolist() == ["p", "q", "r", "s"]
    assert "(line 5: 'bad')" in table.problems["x"]


@pytest.mark.parametrize("row", ["bad,1", "1,bad", "-,-", ",", "2024-01-01,1"])
def test_a_row_with_a_number_or_without_text_is_no_row_of_units(tmp_path, row):
    table = read_table(write(tmp_path, "t.csv", f"t,x\n{row}\n0,1\n1,2\n2,3\n"))
    assert not any("units" in note for note in table.notes)
    assert table.lines.tolist() == [2, 3, 4, 5]


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    text = '# comment\n"na\nme",a,y\ns,m,m\n\n"p\nq",1,2\n# comment\nr,bad,3\n"s",4,5\nt,6,7\n'
    table = read_table(write(tmp_path, "t.csv", text))
    assert table.lines.tolist() == [6, 9, 10, 11]
    assert "(line 9: 'bad')" in table.problems["a"]


def test_lines_of_plain_numbers_count_blank_ones(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "\na,y\n1,2\n\n3,4\n"))
    assert table.lines.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,y\n1,2\n3,"4\n', "has a quotation mark in line 3 that is never closed"),
        ('a,y\n1,2\n"3"4,5\n', "has text after a closing quotation mark in line 3"),
        ("# only\n# comments\n", "holds only comments"),
        ("a,y\n# 1,2\n", "has column names, but no rows"),
    ],
)
def test_a_text_that_cannot_be_taken_apart_names_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, "t.csv", text))


def test_european_numbers_between_semicolons_are_read(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a;y\n1.234,5;2\n0,25;1.000\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1234.5, 0.25])
    assert table.notes == ("Numbers with separators: line 2: '1.234,5' is read as 1234.5.",)


def test_quoted_thousands_are_read(tmp_path):
    table = read_table(write(tmp_path, "t.csv", 'a,y\n"1,234.5",2\n7,3\n'))
    np.testing.assert_array_equal(table.numbers["a"], [1234.5, 7])
