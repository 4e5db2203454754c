"""What people see while the kernels are compiled, which happens once after an installation."""

import time
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from spl.display.progress import is_live
from spl.display.results import print_lines
from spl.errors import shorten
from spl.formulas.text import to_text
from spl.formulas.tidying.tidy import tidy
from spl.kernels.runtime.building import are_all_stored
from spl.regression.first_look import look_first
from spl.regression.request import RegressionRequest
from spl.regression.warm_up import N_KERNELS, compile_once, estimate_seconds

FIRST_DIGITS = 5  # of the numbers in the first formula
_BAR_WIDTH = 24
_LONGEST_FIRST_LINE = 200  # characters


def compile_visibly(console: Console, request: RegressionRequest | None = None) -> None:
    """Compile the kernels unless they are, with a message and, for a request, a first formula as soon as there is one."""
    if are_all_stored():
        return
    message = _LiveMessage(console) if is_live(console) else _Message(console)
    with message.frame:
        message.begin()
        compile_once(message.count, None if request is None else lambda: message.show_first(request))


class _Message:
    """Plain lines: one at the beginning, one with the first formula."""

    frame: AbstractContextManager[object] = nullcontext()

    def __init__(self, console: Console) -> None:
        self._console, self._began = console, time.monotonic()

    def begin(self) -> None:
        """Say what happens."""
        self._print(f"Compiling the kernels; this happens once and takes about {estimate_seconds()} s ...")

    def count(self, n_ready: int) -> None:
        """Take note of how many kernels are ready."""

    def show_first(self, request: RegressionRequest) -> None:
        """Show a first formula for what is asked, if there is one."""
        found = look_first(request)
        if found is not None:
            equation = f"{request.target} = {to_text(tidy(found.program), FIRST_DIGITS)}"
            clock = f"{time.monotonic() - self._began:6.1f} s  loss {found.loss:<9.3g}"
            self._print(shorten(f"{clock}  {equation}  (a first look, before the search)", _LONGEST_FIRST_LINE))

    def _print(self, line: str) -> None:
        print_lines(self._console, [line])


class _LiveMessage(_Message):
    """One line that updates in place, with a bar, above the first formula; it disappears at the end."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._spinner, self._n_ready, self._first = Spinner("dots"), 0, ""
        self.frame = Live(console=console, get_renderable=self._render, refresh_per_second=8, transient=True)

    def begin(self) -> None:
        """Say nothing more: the line that updates says it."""

    def count(self, n_ready: int) -> None:
        """Show how many kernels are ready."""
        self._n_ready = n_ready

    def _print(self, line: str) -> None:
        self._first = line

    def _render(self) -> RenderableType:
        seconds = time.monotonic() - self._began
        self._spinner.update(text=f"Compiling the kernels, once ... {seconds:.0f} of about {estimate_seconds()} s")
        bar = ProgressBar(total=N_KERNELS, completed=min(self._n_ready, N_KERNELS), width=_BAR_WIDTH)
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(self._spinner, bar, Text("later searches start at once", overflow="ellipsis", no_wrap=True))
        return Group(line, Text(self._first, overflow="ellipsis", no_wrap=True)) if self._first else line
