"""A table of text for Markdown and the terminal."""

from dataclasses import dataclass
from typing import Literal

from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """Headings and rows of text; the first column has names, the others numbers. A last row may hold totals.

    Examples:
        >>> table = TextTable(headings=("problem", "seconds"), rows=(("Nguyen-1", "0.2"),))
        >>> print(table.to_markdown())
        | problem | seconds |
        |---|---:|
        | Nguyen-1 | 0.2 |
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] | None = None

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        rows = [self.headings, *self.rows]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "|---|" + (len(self.headings) - 1) * "---:|")
        if self.total is not None:
            lines.append(f"| {' | '.join(f'**{cell}**' if cell else '' for cell in self.total)} |")
        return "\n".join(lines)

    def to_rich(self) -> Table:
        """Return the table for a terminal; headings break at spaces, which keeps columns narrow."""
        table = Table(
            box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="bold",
            show_footer=self.total is not None,
        )  # fmt: skip
        for index, heading in enumerate(self.headings):
            footer = Text(self.total[index] if self.total else "", style="bold")
            side: Literal["left", "right"] = "left" if index == 0 else "right"
            table.add_column(
                Text(heading.replace(" ", "\n"), justify=side), footer, justify=side, no_wrap=True, vertical="bottom"
            )
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table
