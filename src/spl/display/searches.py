"""The progress of several searches that are counted: a bar on a terminal, a few lines elsewhere."""

import time
from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from spl.display.progress import is_live
from spl.display.results import print_lines

N_SEARCH_LINES = 5  # without a terminal


class SearchCount(AbstractContextManager["SearchCount"]):
    """Shows how many searches are done. This base class shows nothing."""

    def __call__(self, n_done: int, n_asked: int) -> None:
        """Show how many searches are done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display."""


class CountLines(SearchCount):
    """A plain line for each fifth of the searches."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._n_shown = 0

    def __call__(self, n_done: int, n_asked: int) -> None:
        """Print a line if another fifth is done."""
        part = N_SEARCH_LINES * n_done // max(n_asked, 1)
        if part > self._n_shown:
            self._n_shown = part
            seconds = time.monotonic() - self._began
            print_lines(self._console, [f"{seconds:6.1f} s  {n_done} of {n_asked} searches done"])


class CountBar(SearchCount):
    """A bar with the time left; it disappears at the end."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("Searching again"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(separator=" of "),
            TimeRemainingColumn(),
            TextColumn("Ctrl-C ends it with what is done"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> "CountBar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self._progress.stop()

    def __call__(self, n_done: int, n_asked: int) -> None:
        """Show how many searches are done."""
        self._progress.update(self._task, total=n_asked, completed=n_done)


def open_count(console: Console) -> SearchCount:
    """Return the display that suits a console."""
    return CountBar(console) if is_live(console) or console.is_jupyter else CountLines(console)
