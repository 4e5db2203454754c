"""Sections of a report, as Markdown and on a terminal."""

import io

import pytest
from rich.console import Console

from spl.bench.section import MAX_FAILURES, Section, print_section, write_section
from spl.bench.text_table import TextTable

TABLE = TextTable(headings=("problem", "seconds"), rows=(("one", "0.2"),))


def make_section(n_failures=0, **parts):
    failures = tuple(f"failure {number}" for number in range(n_failures))
    return Section(title="A title", notes=("A [note].",), table=TABLE, failures=failures, **parts)


def printed(section):
    console = Console(file=io.StringIO(), width=80)
    print_section(console, section)
    return console.file.getvalue()


def test_a_document_has_title_notes_table_and_all_failures():
    text = write_section(make_section(MAX_FAILURES + 3), None)
    assert text.startswith("## A title\n\nA [note].\n\n| problem | seconds |\n")
    assert text.count("- failure ") == MAX_FAILURES + 3


def test_without_failures_nothing_is_said_about_them():
    assert "Not recovered" not in write_section(make_section(), None)
    assert "Not recovered" not in printed(make_section())


def test_a_figure_is_drawn_into_the_directory_and_linked(tmp_path):
    drawn = []
    section = make_section(figure="times", draw=drawn.append)
    assert "![A title](times.png)" in write_section(section, tmp_path)
    assert drawn == [tmp_path / "times"]


def test_without_a_directory_no_figure_is_drawn():
    section = make_section(figure="times", draw=lambda path: pytest.fail("drawn"))
    assert "times.png" not in write_section(section, None)


def test_a_terminal_shows_the_first_failures_and_how_many_more_there_are():
    text = printed(make_section(MAX_FAILURES + 3))
    assert text.count("  failure ") == MAX_FAILURES
    assert "... and 3 more; the report lists all" in text


def test_notes_are_printed_as_they_are():
    assert "A [note]." in printed(make_section())
