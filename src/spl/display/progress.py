"""What people see while a search runs, in the way that suits the place: a live table on a terminal, one cell of a notebook that
changes in place, few plain lines in logs. Nothing here decides anything.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from spl.display.results import FrontRow, equation_line, front_rows, front_table, print_lines, typeset_lines
from spl.formulas.text import write_tokens
from spl.regression.discover import Progress
from spl.regression.front import Front

if TYPE_CHECKING:
    from spl.dynamics.discover import SystemProgress

REFRESHES_PER_SECOND = 8
QUIET_SHARE = 0.25  # of the time so far passes at least between two lines: some twenty lines in an hour
_MAX_LINE = 200  # characters of a formula in a line of progress
_FRAME_LINES = 7  # of the live table that are neither rows of the front nor the equation
_BAR_WIDTH = 24
_NOTEBOOK_SECONDS = 0.5  # between two changes of the cell of a notebook

Choose = Callable[[Front], int]


def is_live(console: Console) -> bool:
    """Tell whether a console can show something that changes in place: a terminal with somebody before it, no log of CI."""
    has_signs = console.encoding.startswith("utf")  # for spinner, bar and typeset equations
    if not console.is_terminal or console.is_dumb_terminal or not has_signs or os.environ.get("CI"):
        return False
    is_forced = bool(os.environ.get("FORCE_COLOR"))  # says that it is a terminal where it may be a file
    return not is_forced or console.file.isatty()


def open_display(
    console: Console,
    target: str,
    choose: Choose,
    *,
    timeout: float | None = None,
    title: str = "Searching",
    began: float | None = None,
) -> "ProgressDisplay":
    """Return the display that suits a console.

    Args:
        console: where it is shown.
        target: the left-hand side of the equation.
        choose: says which formula of a front is shown as the best so far.
        timeout: the time limit in seconds, None if there is none.
        title: what is being done.
        began: when the clock started, by `time.monotonic`; now, if left out.
    """
    if console.is_jupyter:
        return NotebookDisplay(target, choose, timeout=timeout, title=title, began=began)
    if is_live(console):
        return LiveDisplay(console, target, choose, timeout=timeout, title=title, began=began)
    return LineDisplay(console, target, choose)


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Shows what a search has found so far. This one shows nothing."""

    def __call__(self, progress: Progress) -> None:
        """Take note of the state of the search."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; the result is printed by others."""


class LineDisplay(ProgressDisplay):
    """A plain line for a formula that is better than the one before; fewer and fewer as time goes by."""

    def __init__(self, console: Console, target: str, choose: Choose) -> None:
        self._console = console
        self._target = target
        self._choose = choose
        self._shown = ""  # the formula, whatever its constants
        self._shown_at = -1.0
        self._waiting = ""  # the line of the best formula, if it has not been printed

    def __call__(self, progress: Progress) -> None:
        """Print the best formula if it is another one and the last line is not too young."""
        if not len(progress.front):
            return
        chosen = self._choose(progress.front)
        candidate = progress.front[chosen]
        program = candidate.program
        shape = write_tokens(program.tokens, program.vocabulary)
        if shape != self._shown:
            self._shown = shape
            equation = _cut(equation_line(self._target, progress.front, chosen))
            self._waiting = f"{progress.seconds:6.1f} s  loss {candidate.loss:<9.3g}  {equation}"
        if self._waiting and progress.seconds - self._shown_at >= QUIET_SHARE * progress.seconds:
            self._print()
            self._shown_at = progress.seconds

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Print the last formula if it was held back."""
        if self._waiting:
            self._print()

    def _print(self) -> None:
        print_lines(self._console, [self._waiting])
        self._waiting = ""


class LiveDisplay(ProgressDisplay):
    """The front as a table that changes in place, with a clock, on a terminal; gone when it ends."""

    def __init__(
        self,
        console: Console,
        target: str,
        choose: Choose,
        *,
        timeout: float | None = None,
        title: str = "Searching",
        began: float | None = None,
    ) -> None:
        self._console = console
        self._target = target
        self._choose = choose
        self._timeout = timeout
        self._began = time.monotonic() if began is None else began
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
        progress = self._progress
        if progress is None or not len(progress.front):
            return self._render_clock(progress)
        chosen = self._choose(progress.front)
        height = self._console.height - _FRAME_LINES
        lines = typeset_lines(self._console, self._target, progress.front, chosen, height=max(1, height // 2))
        equation = Text("\n".join(lines), style="bold", overflow="ellipsis", no_wrap=True)
        rows = _nearest(front_rows(progress.front, chosen, 0.0), chosen, height - len(lines))
        last = Text()  # an empty line, so that the ^C a terminal echoes does not wrap and leave a line behind
        return Group(self._render_clock(progress), Text(), front_table(rows, is_cut=True), Text(), equation, last)

    def _render_clock(self, progress: Progress | None) -> RenderableType:
        """Return one line: how long it takes and may take, how much was tried, how to end it."""
        seconds = time.monotonic() - self._began
        self._spinner.update(text=f"{self._title} ... {describe_clock(seconds, self._timeout)}")
        parts: list[RenderableType] = [self._spinner]
        if self._timeout is not None:
            parts.append(ProgressBar(total=self._timeout, completed=min(seconds, self._timeout), width=_BAR_WIDTH))
        if progress is not None:
            parts.append(
                Text(f"{describe_work(progress)}, Ctrl-C ends with the best so far", overflow="ellipsis", no_wrap=True)
            )
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(*parts)
        return line


class NotebookDisplay(ProgressDisplay):
    """The front in one cell of a notebook that changes in place."""

    def __init__(
        self,
        target: str,
        choose: Choose,
        *,
        timeout: float | None = None,
        title: str = "Searching",
        began: float | None = None,
    ) -> None:
        self._target = target
        self._choose = choose
        self._timeout = timeout
        self._title = title
        self._began = time.monotonic() if began is None else began
        self._handle: Any = None
        self._shown_at = 0.0
        self._waiting: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Show the state of the search, if the last change is not too young."""
        self._waiting = progress
        if time.monotonic() - self._shown_at >= _NOTEBOOK_SECONDS:
            self._show(progress)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state in the cell."""
        if self._waiting is not None:
            self._show(self._waiting)

    def _show(self, progress: Progress) -> None:
        from IPython.display import HTML, display

        from spl.display.notebook import progress_html

        self._waiting = None
        self._shown_at = time.monotonic()
        clock = describe_clock(self._shown_at - self._began, self._timeout)
        text = f"{self._title} {self._target}: {clock}, {describe_work(progress)}"
        page = HTML(progress_html(text, progress.front, self._choose))
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)


class SystemDisplay(AbstractContextManager["SystemDisplay"]):
    """Shows the searches of a system one after the other, all by one clock."""

    def __init__(self, console: Console, left_sides: Mapping[str, str], *, timeout: float | None = None) -> None:
        self._console = console
        self._left_sides = left_sides  # of each state, in the order of the searches
        self._timeout = timeout
        self._began = time.monotonic()
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
        self._display = open_display(
            self._console, target, choose_knee, timeout=self._timeout, title=title, began=self._began
        ).__enter__()

    def _end_search(self) -> None:
        """Take a live table away, and leave the best formula as a line in its place."""
        self._display.__exit__(None, None, None)
        if is_live(self._console) and self._seen is not None and len(self._seen.front):
            front = self._seen.front
            equation = equation_line(self._left_sides[self._state], front, choose_knee(front))
            print_lines(self._console, [_cut(f"{self._seen.seconds:6.1f} s  {equation}")])
        self._display, self._seen = ProgressDisplay(), None


def choose_knee(front: Front) -> int:
    """Return the formula after which the loss levels off: the searches of a system say nothing yet about what is chosen."""
    return front.choose("knee", n_rows=1, floor=0.0)


def describe_clock(seconds: float, timeout: float | None) -> str:
    """Return the time that has passed, and the limit if there is one.

    Examples:
        >>> describe_clock(12.3, 60.0), describe_clock(12.3, None)
        ('12 of 60 s', '12 s')
    """
    return f"{seconds:.0f} s" if timeout is None else f"{min(seconds, timeout):.0f} of {timeout:g} s"


def describe_work(progress: Progress) -> str:
    """Return how many formulas were tried, and how fast.

    Examples:
        >>> describe_work(Progress(Front(()), 2.0, 10, 30_000))
        '30,000 evaluations (15,000/s)'
    """
    speed = progress.n_evaluations / max(progress.seconds, 1e-3)
    return f"{progress.n_evaluations:,} evaluations ({speed:,.0f}/s)"


def _nearest(rows: list[FrontRow], chosen: int, n_rows: int) -> list[FrontRow]:
    """Return at most so many rows around the chosen one."""
    n_rows = max(n_rows, 1)
    first = max(0, min(chosen - n_rows // 2, len(rows) - n_rows))
    return rows[first : first + n_rows]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else text[: _MAX_LINE - 3] + "..."
