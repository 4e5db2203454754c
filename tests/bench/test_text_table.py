import io

from rich.console import Console

from spl.bench.text_table import TextTable

TABLE = TextTable(headings=("problem", "paper SPL"), rows=(("a", "100"), ("b [1]", "")), total=("average", "100"))


def test_markdown_has_a_row_each_and_a_bold_total():
    assert TABLE.to_markdown().splitlines() == [
        "| problem | paper SPL |",
        "|---|---:|",
        "| a | 100 |",
        "| b [1] |  |",
        "| **average** | **100** |",
    ]


def test_a_terminal_shows_the_same_cells_under_broken_headings():
    console = Console(file=io.StringIO(), width=40)
    console.print(TABLE.to_rich())
    lines = [line.split() for line in console.file.getvalue().splitlines()]
    assert lines == [["paper"], ["problem", "SPL"], ["a", "100"], ["b", "[1]"], ["average", "100"]]
