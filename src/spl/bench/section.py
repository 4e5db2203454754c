"""A section of a report: a table with its notes, failures and figure, as Markdown and on a terminal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from spl.bench.text_table import TextTable
from spl.display.results import print_lines

MAX_FAILURES = 10  # shown on a terminal; a document lists all


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table with its notes, failures and figure."""

    title: str
    notes: tuple[str, ...]
    table: TextTable
    failures: tuple[str, ...] = ()
    figure: str = ""  # name of its figure, without the suffix
    draw: Callable[[Path], None] | None = None


def write_section(section: Section, directory: Path | None) -> str:
    """Return a section as Markdown; its figure goes into the directory, if given."""
    lines = [f"## {section.title}", "", *section.notes, "", section.table.to_markdown(), ""]
    if section.failures:
        lines += ["Not recovered:", "", *(f"- {failure}" for failure in section.failures), ""]
    if directory is not None and section.draw is not None:
        section.draw(directory / section.figure)
        lines += [f"![{section.title}]({section.figure}.png)", ""]
    return "\n".join(lines)


def print_section(console: Console, section: Section) -> None:
    """Print a section: title, table, failures, notes."""
    print_lines(console, ["", section.title, ""], style="bold")
    console.print(section.table.to_rich())
    failures = list(section.failures[:MAX_FAILURES])
    if len(section.failures) > MAX_FAILURES:
        failures.append(f"... and {len(section.failures) - MAX_FAILURES} more; the report lists all")
    if failures:
        print_lines(console, ["", "Not recovered:", *(f"  {failure}" for failure in failures)])
    console.print("", *section.notes, sep="\n", style="dim", markup=False, highlight=False)
    print_lines(console, [""])
