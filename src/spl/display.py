"""What people see: progress while a search runs, tables and one-line summaries. Nothing here decides anything.

On a terminal the front is a table that changes in place; elsewhere each better formula is one line.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from spl.discover import Discovery, Progress
from spl.expression import to_text
from spl.front import Front
from spl.operators import SPELLINGS, Operator

if TYPE_CHECKING:
    from spl.discover_system import SystemProgress

DIGITS = 6  # significant digits of a constant on the screen
CHOSEN = "*"  # marks the chosen formula, with or without colours
REFRESHES_PER_SECOND = 8
_MAX_LINE = 200  # characters of a formula in a line of progress
_FRAME_LINES = 8  # of the live table that are not rows of the front

STOPPED = {
    "exact": "the formula fits to rounding error",
    "timeout": "the time limit was reached",
    "evaluations": "the limit of evaluations was reached",
    "exhausted": "every formula of the grammar was tried",
    "schedules": "all rounds of the search are done",
    "interrupted": "interrupted; this is the best so far",
}
DOMAINS = {  # where an operator has a finite value; everywhere, if it is not here
    "div": "b other than 0",
    "pow": "a above 0; below 0 only for whole b",
    "inv": "a other than 0",
    "sqrt": "a of 0 or more",
    "log": "a above 0",
    "asin": "a from -1 to 1",
    "acos": "a from -1 to 1",
}

Choose = Callable[[Front], int]


# ---- the front -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FrontRow:
    """One candidate as it is shown."""

    cost: int
    loss: float
    score: float
    equation: str
    is_chosen: bool


def front_rows(front: Front, chosen: int, floor: float, *, digits: int | None = DIGITS) -> list[FrontRow]:
    """Return the candidates of a front as they are shown, in the order of their costs."""
    return [
        FrontRow(candidate.cost, candidate.loss, score, to_text(candidate.program, digits), place == chosen)
        for place, (candidate, score) in enumerate(zip(front, front.scores(floor), strict=True))
    ]


def front_table(rows: Iterable[FrontRow], *, is_cut: bool = False) -> Table:
    """Return the front as a table for a terminal; long formulas are folded, or cut."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="bold", expand=True)
    table.add_column("")
    for heading in ("cost", "loss", "score"):
        table.add_column(heading, justify="right")
    table.add_column("equation", ratio=1, overflow="ellipsis" if is_cut else "fold", no_wrap=is_cut)
    for row in rows:
        mark = CHOSEN if row.is_chosen else ""
        cells = [mark, str(row.cost), f"{row.loss:.3g}", f"{row.score:.2f}", row.equation]
        table.add_row(*map(Text, cells), style="bold green" if row.is_chosen else "")
    return table


def front_lines(rows: Iterable[FrontRow]) -> list[str]:
    """Return the front as plain lines under a heading, each formula whole in its line."""
    heading = f"  {'cost':>4}  {'loss':>9}  {'score':>6}  equation"
    lines = [
        f"{CHOSEN if row.is_chosen else ' '} {row.cost:>4}  {row.loss:>9.3g}  {row.score:>6.2f}  {row.equation}"
        for row in rows
    ]
    return [heading, *lines]


def equation_line(target: str, front: Front, chosen: int, digits: int | None = DIGITS) -> str:
    """Return `target = formula`."""
    return f"{target} = {to_text(front[chosen].program, digits)}"


def summary_line(discovery: Discovery, r2: float | None) -> str:
    """Return how good the chosen formula is, and what it took."""
    quality = "R2 undefined (the target is constant)" if r2 is None else f"R2 {r2:.6f}"
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
    """Print lines as they are: neither wrapped nor marked up."""
    for line in lines:
        console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


# ---- progress ------------------------------------------------------------------------------------


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Shows what a search has found so far. This one shows nothing."""

    def __call__(self, progress: Progress) -> None:
        """Take note of the state of the search."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; the result is printed by others."""


class LineDisplay(ProgressDisplay):
    """One plain line for each formula that is better than the one before."""

    def __init__(self, console: Console, target: str, choose: Choose) -> None:
        self._console = console
        self._target = target
        self._choose = choose
        self._shown: tuple[int, ...] = ()

    def __call__(self, progress: Progress) -> None:
        """Print the best formula if it is another one."""
        if not len(progress.front):
            return
        chosen = self._choose(progress.front)
        candidate = progress.front[chosen]
        if candidate.program.tokens == self._shown:
            return
        self._shown = candidate.program.tokens
        equation = _cut(equation_line(self._target, progress.front, chosen))
        print_lines(self._console, [f"{progress.seconds:6.1f} s  loss {candidate.loss:<9.3g}  {equation}"])


class LiveDisplay(ProgressDisplay):
    """The front as a table that changes in place, with a clock, on a terminal; gone when it ends."""

    def __init__(self, console: Console, target: str, choose: Choose, *, title: str = "Searching") -> None:
        self._console = console
        self._target = target
        self._choose = choose
        self._began = time.monotonic()
        self._spinner = Spinner("dots")
        self._title = title
        self._progress: Progress | None = None
        self._live = Live(
            console=console,
            get_renderable=self._render,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the table away."""
        self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the state of the search from now on."""
        self._progress = progress
        self._live.refresh()

    def _render(self) -> RenderableType:
        seconds = time.monotonic() - self._began
        progress = self._progress
        if progress is None:
            self._spinner.update(text=f"{self._title} ... {seconds:.0f} s")
            return self._spinner
        counts = f"{seconds:.0f} s, {progress.n_evaluations:,} evaluations"
        self._spinner.update(text=f"{self._title} ... {counts}, Ctrl-C ends with the best so far")
        if not len(progress.front):
            return self._spinner
        chosen = self._choose(progress.front)
        rows = _nearest(front_rows(progress.front, chosen, 0.0), chosen, self._console.height - _FRAME_LINES)
        equation = Text(equation_line(self._target, progress.front, chosen), overflow="ellipsis", no_wrap=True)
        last = Text()  # an empty line, so that the ^C a terminal echoes does not wrap and leave a line behind
        return Group(self._spinner, Text(), front_table(rows, is_cut=True), Text(), equation, last)


class SystemDisplay(AbstractContextManager["SystemDisplay"]):
    """Shows the searches of a system one after the other: a live table each on a terminal, lines elsewhere."""

    def __init__(self, console: Console, left_sides: Mapping[str, str]) -> None:
        self._console = console
        self._left_sides = left_sides  # of each state, in the order of the searches
        self._state = ""
        self._seen: Progress | None = None
        self._display = ProgressDisplay()

    def __call__(self, seen: "SystemProgress") -> None:
        """Take note of the state of a search; that of another state ends the one before."""
        if seen.state != self._state:
            self._end_search()
            self._begin_search(seen.state)
        self._seen = seen.progress
        self._display(seen.progress)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; the result is printed by others."""
        self._end_search()

    def _begin_search(self, state: str) -> None:
        self._state = state
        target = self._left_sides[state]
        is_last = state == list(self._left_sides)[-1]
        title = f"Searching {target}" + (", then fitting" if is_last else "")
        if self._console.is_terminal:
            self._display = LiveDisplay(self._console, target, choose_knee, title=title).__enter__()
        else:
            self._display = LineDisplay(self._console, target, choose_knee)

    def _end_search(self) -> None:
        """Take a live table away, and leave the best formula as a line in its place."""
        self._display.__exit__(None, None, None)
        if self._console.is_terminal and self._seen is not None and len(self._seen.front):
            front = self._seen.front
            equation = equation_line(self._left_sides[self._state], front, choose_knee(front))
            print_lines(self._console, [_cut(f"{self._seen.seconds:6.1f} s  {equation}")])
        self._display, self._seen = ProgressDisplay(), None


def choose_knee(front: Front) -> int:
    """Return the formula after which the loss levels off: the searches of a system say nothing yet about what is chosen."""
    return front.choose("knee", n_rows=1, floor=0.0)


def _nearest(rows: list[FrontRow], chosen: int, n_rows: int) -> list[FrontRow]:
    """Return at most so many rows around the chosen one."""
    n_rows = max(n_rows, 1)
    first = max(0, min(chosen - n_rows // 2, len(rows) - n_rows))
    return rows[first : first + n_rows]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else text[: _MAX_LINE - 3] + "..."


# ---- the operators -------------------------------------------------------------------------------


def operator_lines(operators: Iterable[Operator]) -> list[str]:
    """Return the table of operators as plain lines."""
    signs: dict[str, list[str]] = {}
    for sign, name in SPELLINGS.items():
        signs.setdefault(name, []).append(sign)
    lines = [f"{'name':<8}{'also':<9}{'arguments':>9}{'cost':>6}  domain"]
    for operator in operators:
        also = " ".join(signs.get(operator.name, []))
        domain = DOMAINS.get(operator.name, "everywhere")
        lines.append(f"{operator.name:<8}{also:<9}{operator.arity:>9}{operator.cost:>6}  {domain}")
    return lines
