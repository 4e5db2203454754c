"""Runs the trials of an `spl bench` command with a progress display, then shows the results. Slow imports are inside functions."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from spl.bench.options import RunOptions
    from spl.bench.progress import TrialDisplay
    from spl.bench.runner import Finished
    from spl.bench.trials import Experiment, Trial

INTERRUPTED_STATUS = 130  # exit status, by convention of shells


def run_and_show(experiment: "Experiment", trials: Sequence["Trial"], name: str, running: "RunOptions") -> None:
    """Run trials with a progress display, then show the results; `name` is that of the default file of results."""
    from spl.bench.runner import run_trials
    from spl.display.compilation import compile_visibly

    if not running.is_json:
        compile_visibly(_console(is_error=True))
    path = running.results_file(name)
    console = _console(is_error=running.is_json)
    with _make_display(console, is_json=running.is_json) as display:
        finished = run_trials(experiment, trials, path, n_jobs=running.jobs, is_fresh=running.is_fresh, watch=display)
    if finished.is_interrupted:
        n_done = f"{len(finished.records)} of {finished.n_trials}"
        click.echo(f"Interrupted: {n_done} trials are done and saved in {path}. The same command continues.", err=True)
        sys.exit(INTERRUPTED_STATUS)
    if running.is_json:
        click.echo(json.dumps(_describe(experiment, finished, path), allow_nan=False))
    else:
        _print_results(console, experiment, finished, path)


def _console(*, is_error: bool = False) -> "Console":
    from rich.console import Console

    return Console(file=sys.stderr if is_error else sys.stdout)


def _make_display(console: "Console", *, is_json: bool) -> "TrialDisplay":
    from spl.bench.progress import TrialBar, TrialDisplay, TrialLines

    if console.is_terminal:
        return TrialBar(console)
    return TrialDisplay() if is_json else TrialLines(console)


def _describe(experiment: "Experiment", finished: "Finished", path: Path) -> dict[str, object]:
    from spl.bench.summaries import describe_rows

    return {"experiment": experiment.name, "results": str(path), "rows": describe_rows(finished.records)}


def _print_results(console: "Console", experiment: "Experiment", finished: "Finished", path: Path) -> None:
    from spl.bench.report import SECTIONS
    from spl.bench.section import print_section

    for section in SECTIONS[experiment.name](finished.records):
        print_section(console, section)
    click.echo(f"Results: {path}. For a document with figures: spl bench report {path} -o DIR")
