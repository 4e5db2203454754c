"""The progress of trials: a bar on a terminal, a few lines elsewhere."""

from contextlib import AbstractContextManager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn

from spl.bench.runner import Tally
from spl.bench.trials import Trial

N_LINES = 10  # per run, without a terminal


class TrialDisplay(AbstractContextManager["TrialDisplay"]):
    """Shows the progress of trials. This base class shows nothing."""

    def __call__(self, tally: Tally) -> None:
        """Show the progress."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display."""


class TrialLines(TrialDisplay):
    """One plain line for each tenth of the trials."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._n_tenths: int | None = None

    def __call__(self, tally: Tally) -> None:
        """Print a line if another tenth is done; none for earlier results."""
        tenths = N_LINES * tally.n_done // max(tally.n_trials, 1)
        if self._n_tenths is not None and tenths > self._n_tenths:
            line = f"{tally.n_done} of {tally.n_trials} trials done, {tally.n_recovered} recovered"
            if tally.n_done < tally.n_trials:
                line += f", {spell_seconds_left(tally.seconds_left)}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._n_tenths = tenths


class TrialBar(TrialDisplay):
    """A bar with count, percentage, time left and the current problem; it disappears at the end."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(separator=" of "),
            TaskProgressColumn(),
            TextColumn("{task.fields[recovered]} recovered, {task.fields[left]}"),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, recovered=0, left="starting")

    def __enter__(self) -> "TrialBar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self._progress.stop()

    def __call__(self, tally: Tally) -> None:
        """Show the progress."""
        self._progress.update(
            self._task,
            description="" if tally.next_trial is None else _name(tally.next_trial),
            total=tally.n_trials,
            completed=tally.n_done,
            recovered=tally.n_recovered,
            left=spell_seconds_left(tally.seconds_left),
        )


def _name(trial: Trial) -> str:
    """Return a name that distinguishes a trial from the others of its run."""
    kind = "" if trial.experiment == "nguyen" else f" {trial.setting}"
    return f"{trial.problem}{kind}, seed {trial.seed}"


def spell_seconds_left(seconds: float | None) -> str:
    """Return an estimate of the time left in words, rounded to its accuracy.

    Examples:
        >>> spell_seconds_left(42), spell_seconds_left(200), spell_seconds_left(8000), spell_seconds_left(None)
        ('about 40 s left', 'about 3 min left', 'about 2 h 13 min left', 'Ctrl-C pauses')
    """
    if seconds is None:
        return "Ctrl-C pauses"
    if seconds < 1:
        return "nearly done"
    if seconds < 90:
        return f"about {max(10 * round(seconds / 10), 5)} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 60 else f"about {minutes // 60} h {minutes % 60} min left"
