"""The progress of a search: a live table on a terminal, a notebook cell that updates in place, a few plain lines in logs."""

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
from spl.errors import shorten
from spl.formulas.text import write_tokens
from spl.regression.discover import Progress
from spl.regression.front import Front

if TYPE_CHECKING:
    from spl.dynamics.state_searches import SystemProgress

REFRESHES_PER_SECOND = 8
QUIET_SHARE = 0.25  # least share of the elapsed time between two lines: about twenty lines in an hour
_LONGEST_PROGRESS_LINE = 200  # characters of a line of progress
_FRAME_LINES = 7  # of the live display, besides the rows of the front and the equation
_BAR_WIDTH = 24
_NOTEBOOK_SECONDS = 0.5  # between two updates of a notebook cell

Choose = Callable[[Front], int]


def is_live(console: Console) -> bool:
    """Return whether a console can update in place: an interactive terminal, not a CI log."""
    has_symbols = console.encoding.startswith("utf")  # for spinner, bar and typeset equations
    if not console.is_terminal or console.is_dumb_terminal or not has_symbols or os.environ.get("CI"):
        return False
    is_forced = bool(os.environ.get("FORCE_COLOR"))  # then rich reports a terminal even for a file
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
        console: where to show it.
        target: left-hand side of the equation.
        choose: returns the index of the formula to show as the best so far.
        timeout: time limit in seconds; None for no limit.
        title: what is being done.
        began: start of the clock, from `time.monotonic`; now by default.
    """
    if console.is_jupyter:
        return NotebookDisplay(target, choose, timeout=timeout, title=title, began=began)
    if is_live(console):
        return LiveDisplay(console, target, choose, timeout=timeout, title=title, began=began)
    return LineDisplay(console, target, choose)


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Shows what a search has found so far. This base class shows nothing."""

    def __call__(self, progress: Progress) -> None:
        """Show the state of the search."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; the caller prints the result."""


class LineDisplay(ProgressDisplay):
    """Prints a plain line when the best formula changes, less often as time passes."""

    def __init__(self, console: Console, target: str, choose: Choose) -> None:
        self._console = console
        self._target = target
        self._choose = choose
        self._shown = ""  # the formula without the values of its constants
        self._shown_at = -1.0
        self._waiting = ""  # the line of the best formula, if not printed yet

    def __call__(self, progress: Progress) -> None:
        """Print the best formula if it changed and the last line was printed long enough ago."""
        if not len(progress.front):
            return
        chosen = self._choose(progress.front)
        candidate = progress.front[chosen]
        program = candidate.program
        shape = write_tokens(program.tokens, program.vocabulary)
        if shape != self._shown:
            self._shown = shape
            equation = shorten(equation_line(self._target, progress.front, chosen), _LONGEST_PROGRESS_LINE)
            noise = "" if progress.noise == "normal" else f"  (noise: {progress.noise})"
            self._waiting = f"{progress.seconds:6.1f} s  loss {candidate.loss:<9.3g}  {equation}{noise}"
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
    """Shows the front on a terminal as a table with a clock that updates in place and disappears at the end."""

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
        """Remove the table."""
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
        """Return one line: elapsed time and limit, number of evaluations, how to stop."""
        seconds = time.monotonic() - self._began
        self._spinner.update(text=f"{self._title} ... {describe_clock(seconds, self._timeout)}")
        parts: list[RenderableType] = [self._spinner]
        if self._timeout is not None:
            parts.append(ProgressBar(total=self._timeout, completed=min(seconds, self._timeout), width=_BAR_WIDTH))
        if progress is not None:
            parts.append(
                Text(f"{describe_work(progress)}, Ctrl-C stops with the best so far", overflow="ellipsis", no_wrap=True)
            )
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(*parts)
        return line


class NotebookDisplay(ProgressDisplay):
    """Shows the front in a notebook cell that updates in place."""

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
        """Show the state of the search if the last update was long enough ago."""
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
    """Shows the searches of a system one after another, with a single clock."""

    def __init__(self, console: Console, left_sides: Mapping[str, str], *, timeout: float | None = None) -> None:
        self._console = console
        self._left_sides = left_sides  # of each state, in the order of the searches
        self._timeout = timeout
        self._began = time.monotonic()
        self._state = ""
        self._seen: Progress | None = None
        self._display = ProgressDisplay()

    def __call__(self, seen: "SystemProgress") -> None:
        """Show the state of a search; the first call for another state ends the previous search."""
        if seen.state != self._state:
            self._end_search()
            self._begin_search(seen.state)
        self._seen = seen.progress
        self._display(seen.progress)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display; the caller prints the result."""
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
        """Replace a live table by one line with the best formula."""
        self._display.__exit__(None, None, None)
        if is_live(self._console) and self._seen is not None and len(self._seen.front):
            front = self._seen.front
            equation = equation_line(self._left_sides[self._state], front, choose_knee(front))
            print_lines(self._console, [shorten(f"{self._seen.seconds:6.1f} s  {equation}", _LONGEST_PROGRESS_LINE)])
        self._display, self._seen = ProgressDisplay(), None


def choose_knee(front: Front) -> int:
    """Return the formula after which the loss levels off; the system's own choice is made after all searches."""
    return front.choose("knee", n_rows=1, floor=0.0)


def describe_clock(seconds: float, timeout: float | None) -> str:
    """Return the elapsed time, and the limit if there is one.

    Examples:
        >>> describe_clock(12.3, 60.0), describe_clock(12.3, None)
        ('12 of 60 s', '12 s')
    """
    return f"{seconds:.0f} s" if timeout is None else f"{min(seconds, timeout):.0f} of {timeout:g} s"


def describe_work(progress: Progress) -> str:
    """Return the number of formulas tried, and the speed; also the noise model, unless noise is normal.

    Examples:
        >>> describe_work(Progress(Front(()), 2.0, 10, 30_000))
        '30,000 evaluations (15,000/s)'
        >>> describe_work(Progress(Front(()), 2.0, 10, 30_000, noise="student"))
        '30,000 evaluations (15,000/s), noise: student'
    """
    speed = progress.n_evaluations / max(progress.seconds, 1e-3)
    noise = "" if progress.noise == "normal" else f", noise: {progress.noise}"
    return f"{progress.n_evaluations:,} evaluations ({speed:,.0f}/s){noise}"


def _nearest(rows: list[FrontRow], chosen: int, n_rows: int) -> list[FrontRow]:
    """Return at most `n_rows` rows around the chosen one."""
    n_rows = max(n_rows, 1)
    first = max(0, min(chosen - n_rows // 2, len(rows) - n_rows))
    return rows[first : first + n_rows]
