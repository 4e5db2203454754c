"""Columns that people name: what is said if they do not exist, or hold text."""

import re

import pytest

from spl.data.column_checks import check_column, check_number_column
from spl.data.table_files import read_table
from spl.errors import DataError


def read(folder, content):
    path = folder / "t.csv"
    path.write_text(content)
    return read_table(str(path))


@pytest.fixture
def table(tmp_path):
    return read(tmp_path, "wood,load,date\noak,1.5,2024-01-01\nash,2.5,2024-01-02\n")


@pytest.mark.parametrize("name", ["wood", "load"])
def test_a_column_of_text_or_numbers_exists(table, name):
    assert check_column(table, name) is None


def test_an_unknown_column_is_named_with_the_one_that_was_meant(table):
    with pytest.raises(DataError, match=r"no column 'lod' in .*t.csv.* Did you mean 'load'\? .* wood, load, date\."):
        check_column(table, "lod")


def test_a_file_without_column_names_is_told_from_a_wrong_name(tmp_path):
    with pytest.raises(DataError, match=r"The first line of .* must hold the column names, not numbers"):
        check_column(read(tmp_path, "1,2\n3,4\n5,6\n"), "load")


def test_a_column_of_numbers_holds_numbers(table):
    assert check_number_column(table, "load", "feature") is None


def test_a_number_column_must_exist(table):
    with pytest.raises(DataError, match="There is no column 'weight'"):
        check_number_column(table, "weight", "feature")


@pytest.mark.parametrize(
    ("role", "remedy"),
    [
        ("feature", " Leave it out of --features, or give each of its groups numbers of its own: --groups wood."),
        ("state", " Leave it out of --states."),
        ("input", " Leave it out of --inputs."),
        ("target", ""),
        ("weights", ""),
    ],
)
def test_text_in_place_of_numbers_has_the_remedy_of_its_role(table, role, remedy):
    ending = re.escape(f"holds text, not only numbers.{remedy}") + "$"
    with pytest.raises(DataError, match="The column 'wood' of .*" + ending):
        check_number_column(table, "wood", role)


def test_a_column_of_numbers_with_some_text_names_the_text(tmp_path):
    rows = [f"{k},{k + 0.5}" for k in range(20)]
    rows[4] = "4,bad"
    with pytest.raises(DataError, match="'bad'"):
        check_number_column(read(tmp_path, "\n".join(["a,load", *rows])), "load", "feature")
