"""The result of a search on the console: the equation, the front as a table, a one-line summary. `progress` shows a search."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spl.display.noise import quality_words
from spl.formulas.operators import SPELLINGS, Operator
from spl.formulas.text import to_text
from spl.notation.typeset import MAX_HEIGHT, typeset
from spl.regression.discover import Discovery
from spl.regression.front import Front

SHOWN_DIGITS = 6  # significant digits of a constant on the screen
CHOSEN_MARK = "*"  # marks the chosen formula, with or without colours

STOPPED = {
    "exact": "the formula fits to rounding error",
    "settled": "no better formula was found for a long time",
    "timeout": "the time limit was reached",
    "evaluations": "the limit on evaluations was reached",
    "fitted": "the numbers of the given form were fitted",
    "exhausted": "every formula of the grammar was tried",
    "schedules": "all rounds of the search are done",
    "interrupted": "interrupted; this is the best so far",
}


# ---- the front -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrontRow:
    """One candidate as shown in a table."""

    cost: int
    loss: float
    score: float
    equation: str
    is_chosen: bool
    validation_loss: float | None = None  # on held-out rows, if there are any


def front_rows(front: Front, chosen: int, floor: float, *, digits: int | None = SHOWN_DIGITS) -> list[FrontRow]:
    """Return the candidates of a front as rows of a table, ordered by cost."""
    return [
        FrontRow(candidate.cost, candidate.loss, score, to_text(candidate.program, digits), index == chosen)
        for index, (candidate, score) in enumerate(zip(front, front.scores(floor), strict=True))
    ]


def found_rows(found: Discovery, chosen: int, *, digits: int | None = SHOWN_DIGITS) -> list[FrontRow]:
    """Return the front of what was found as rows of a table, with the losses on held-out rows, if there are any."""
    rows = front_rows(found.front, chosen, found.floor, digits=digits)
    if found.held_out is None:
        return rows
    return [replace(row, validation_loss=loss) for row, loss in zip(rows, found.held_out.losses, strict=True)]


def front_table(rows: Iterable[FrontRow], *, is_cut: bool = False) -> Table:
    """Return the front as a table for a terminal; long formulas are wrapped, or cut if `is_cut`."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold", expand=True)
    table.add_column("")
    rows = list(rows)
    is_validated = any(row.validation_loss is not None for row in rows)
    for heading in ("cost", "loss", *(["validation"] if is_validated else []), "score"):
        table.add_column(heading, justify="right")
    table.add_column("equation", ratio=1, overflow="ellipsis" if is_cut else "fold", no_wrap=is_cut)
    for row in rows:
        mark = CHOSEN_MARK if row.is_chosen else ""
        validated = [f"{row.validation_loss:.3g}"] if row.validation_loss is not None else []
        cells = [mark, str(row.cost), f"{row.loss:.3g}", *validated, f"{row.score:.2f}", row.equation]
        table.add_row(*map(Text, cells), style="bold green" if row.is_chosen else "")
    return table


def front_lines(rows: Iterable[FrontRow]) -> list[str]:
    """Return the front as plain lines under a heading, one per formula."""
    rows = list(rows)
    is_validated = any(row.validation_loss is not None for row in rows)
    heading = f"  {'cost':>4}  {'loss':>9}  {'validation  ' if is_validated else ''}{'score':>6}  equation"
    lines = []
    for row in rows:
        validated = "" if row.validation_loss is None else f"{row.validation_loss:>10.3g}  "
        lines.append(
            f"{CHOSEN_MARK if row.is_chosen else ' '} {row.cost:>4}  {row.loss:>9.3g}  {validated}{row.score:>6.2f}  {row.equation}"
        )
    return [heading, *lines]


def equation_line(target: str, front: Front, chosen: int, digits: int | None = SHOWN_DIGITS) -> str:
    """Return `target = formula`."""
    return f"{target} = {to_text(front[chosen].program, digits)}"


def typeset_lines(console: Console, target: str, front: Front, chosen: int, *, height: int = MAX_HEIGHT) -> list[str]:
    """Return the equation as lines: typeset where the console has the characters and the room, else as plain text."""
    if console.legacy_windows or not console.encoding.startswith("utf"):
        return [equation_line(target, front, chosen)]
    width = max(console.width - 1, 1)
    return typeset(front[chosen].program, left=target, digits=SHOWN_DIGITS, width=width, height=min(height, MAX_HEIGHT))


def print_equation(console: Console, target: str, front: Front, chosen: int) -> None:
    """Print the equation: on a terminal typeset, then as text to copy; elsewhere only as text."""
    text = equation_line(target, front, chosen)
    lines = typeset_lines(console, target, front, chosen) if console.is_terminal else [text]
    print_lines(console, lines, style="bold")
    if lines != [text]:
        print_lines(console, ["", text])


def summary_line(discovery: Discovery, r2: float | None, r2_without_outliers: float | None = None) -> str:
    """Return the quality of the chosen formula, and what the search took."""
    quality = quality_words(r2, r2_without_outliers) or "R2 undefined (the target is constant)"
    return (
        f"{quality}, {discovery.seconds:.1f} s, {discovery.n_evaluations:,} evaluations; "
        f"stopped: {STOPPED[discovery.stopped]}."
    )


def print_front(console: Console, rows: Sequence[FrontRow]) -> None:
    """Print the front: a table on a terminal, plain lines elsewhere."""
    if console.is_terminal:
        console.print(front_table(rows))
    else:
        print_lines(console, front_lines(rows))


def print_lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Print lines unchanged: without wrapping or markup."""
    for line in lines:
        console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


# ---- the operators -------------------------------------------------------------------------------


def operator_lines(operators: Iterable[Operator]) -> list[str]:
    """Return the table of operators as plain lines."""
    spellings: dict[str, list[str]] = {}
    for spelling, name in SPELLINGS.items():
        spellings.setdefault(name, []).append(spelling)
    lines = [f"{'name':<8}{'also':<9}{'arguments':>9}{'cost':>6}  domain"]
    for operator in operators:
        also = " ".join(spellings.get(operator.name, []))
        lines.append(f"{operator.name:<8}{also:<9}{operator.arity:>9}{operator.cost:>6}  {operator.traits.domain.text}")
    return lines
