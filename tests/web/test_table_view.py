"""A table as the studio shows it."""

import pytest

from spl.errors import DataError
from spl.web.table_view import describe_table, read_named


def view(tmp_path, text, name="d.csv"):
    (tmp_path / name).write_text(text)
    return describe_table(read_named(tmp_path / name), name)


def test_columns_have_kind_range_and_gaps(tmp_path):
    seen = view(tmp_path, "a,name,b\n1,p,\n3,,2\n")
    assert seen["n_rows"] == 2
    assert seen["columns"] == [
        {"name": "a", "is_number": True, "n_missing": 0, "min": 1.0, "max": 3.0},
        {"name": "name", "is_number": False, "n_missing": 1, "problem": None},
        {"name": "b", "is_number": True, "n_missing": 1, "min": 2.0, "max": 2.0},
    ]
    assert seen["first_rows"] == [[1.0, "p", None], [3.0, None, 2.0]]


def test_a_unit_in_the_name_of_a_column_is_offered(tmp_path):
    columns = view(tmp_path, "speed (m/s),shape (round),ratio [-],n\n1,2,3,4\n2,3,4,5\n")["columns"]
    assert [column.get("unit") for column in columns] == ["m/s", None, None, None]


@pytest.mark.parametrize(
    ("header", "time"), [("t,x", "t"), ("x,t", None), ("Time [s],x", "Time [s]"), ("time,t", "time"), ("a,b", None)]
)
def test_a_column_that_is_called_time_and_only_grows_is_the_time(tmp_path, header, time):
    assert view(tmp_path, f"{header}\n0,5\n1,4\n2,4.5\n")["time"] == time


def test_a_bad_cell_is_shown_with_its_line_until_it_is_declared_missing(tmp_path):
    text = "a,b,y\n1,-,2\n2,3,3\nbad,4,4\n4,5,5\n"
    seen = view(tmp_path, text)
    assert "(line 4: 'bad')" in seen["columns"][0]["problem"]
    assert seen["notes"] == ["Column 'b': 1 cell is read as missing (line 2: '-')."]
    again = describe_table(read_named(tmp_path / "d.csv", ["bad"]), "d.csv")
    assert again["columns"][0] == {"name": "a", "is_number": True, "n_missing": 1, "min": 1.0, "max": 4.0}


def test_a_column_without_numbers_has_no_range(tmp_path):
    assert view(tmp_path, "a,b\n1,\n2,\n")["columns"][1]["min"] is None


def test_messages_name_the_file_and_not_where_it_waits(tmp_path):
    (tmp_path / "d.csv").write_text("")
    with pytest.raises(DataError, match=r"^'d\.csv' is empty\.$"):
        read_named(tmp_path / "d.csv")


def test_more_columns_than_a_page_can_offer_are_refused(tmp_path):
    names = ",".join(f"c{k}" for k in range(501))
    with pytest.raises(DataError, match="501 columns"):
        view(tmp_path, f"{names}\n{','.join(['1'] * 501)}\n")
