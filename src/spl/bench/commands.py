"""The commands `spl bench ...`: read options, run trials, show tables. They hold no method.

As in the other commands, whatever is slow to import is imported when it is needed.
"""

import importlib.util
import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spl.errors import DataError, SettingError

if TYPE_CHECKING:
    from rich.console import Console

    from spl.bench.progress import TrialDisplay
    from spl.bench.records import Record
    from spl.bench.runner import Finished
    from spl.bench.trials import Experiment, Trial

FOLDER = Path("bench-results")
INTERRUPTED = 130  # exit status, as shells have it

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group()
def bench() -> None:
    """Run the experiments of the paper, and print results beside its figures.

    Every result is on disk as soon as it is there. Ctrl-C ends a run at once; the same command continues it.

    \b
    Examples:
      spl bench nguyen --seeds 0-1            the Nguyen problems, two runs each
      spl bench ablation --seeds 0-1          the search without its adjustments
      spl bench noise --seeds 0-1             noise and few points
      spl bench random --formulas 0-19        random formulas
      spl bench report -o report              all of it as tables and figures
    """


# ---- what the experiments have in common ---------------------------------------------------------


def _check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    n_cores = os.cpu_count() or 1
    if value == -1:
        return n_cores
    if not 1 <= value <= n_cores:
        raise click.BadParameter(f"{value} is not from 1 to {n_cores}, the number of cores, nor -1.", ctx, param)
    return value


def _check_timeout(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not value > 0:
        raise click.BadParameter(f"{value} is not above 0. inf is no limit.", ctx, param)
    return value


def _running_options(
    n_jobs: int = min(2, os.cpu_count() or 1), shown: str = "2, if there are two cores", cores: str = "one core each"
) -> Callable[[Command], Command]:
    """Add the options that all experiments have; some run one trial at a time unless told otherwise."""
    options = (
        click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else."),
        click.option("--fresh", "is_fresh", is_flag=True, help="Set old results aside and begin anew."),
        click.option(
            "--results",
            metavar="FILE",
            help="Where results are. Trials that have one there are not run again, "
            "whichever version of the program it is from. [default: a file in bench-results]",
        ),
        click.option(
            "--jobs",
            default=n_jobs,
            show_default=shown,
            callback=_check_jobs,
            metavar="N",
            help=f"Trials at a time, {cores}; -1 is as many as there are cores.",
        ),
    )

    def add(command: Command) -> Command:
        for option in options:
            command = option(command)
        return command

    return add


def _method_option(command: Command) -> Command:
    return click.option(
        "--method",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="default: our search. paper: its own search, without completion.",
    )(command)


def _seeds_option(default: str) -> Callable[[Command], Command]:
    return click.option(
        "--seeds", default=default, show_default=True, metavar="LIST", help="For example 0-99, or 0,3,7-9."
    )


# ---- the experiments -----------------------------------------------------------------------------


@bench.command()
@click.option(
    "--problems",
    metavar="LIST",
    help="For example 1-12,1c,2c,5c,8c,9c,6-code,12-wide. [default: all of these]",
)
@_seeds_option("0-99")
@click.option(
    "--setting",
    type=click.Choice(["paper", "points20"]),
    default="paper",
    show_default=True,
    help="paper: its grammars, hyperparameters, points and ranges. points20: 20 points, one grammar for all problems.",
)
@click.option(
    "--timeout",
    type=float,
    callback=_check_timeout,
    metavar="SECONDS",
    help="Of each trial; inf is none. [default: inf for paper, 60 for points20]",
)
@_method_option
@_running_options()
def nguyen(
    problems: str | None,
    seeds: str,
    setting: str,
    method: str,
    timeout: float | None,
    jobs: int,
    results: str | None,
    is_fresh: bool,
    is_json: bool,
) -> None:
    """Recover the Nguyen problems.

    A law counts as recovered if it equals the truth to 1e-6 on data that the search never saw. 6-code is Nguyen-6 as
    the published code has it, 12-wide is Nguyen-12 on the range from 0 to 10.

    \b
    Examples:
      spl bench nguyen --seeds 0-9
      spl bench nguyen --seeds 0-9 --method paper
      spl bench nguyen --problems 1-4,9c --setting points20 --timeout 10
      spl bench nguyen --problems 12 --json | jq .rows
    """
    from spl.bench.nguyen import DEFAULT_TIMEOUTS, NGUYEN, nguyen_trials
    from spl.bench.selection import parse_problems, parse_seeds
    from spl.bench.trials import METHODS
    from spl.datasets import nguyen_problems

    known = nguyen_problems()
    chosen = known if problems is None else parse_problems(problems, known)
    limit = DEFAULT_TIMEOUTS[setting] if timeout is None else _finite(timeout)
    trials = nguyen_trials(chosen, parse_seeds(seeds), setting, limit, METHODS[method])
    path = Path(results) if results else FOLDER / f"nguyen-{setting}.jsonl"
    _run(NGUYEN, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)


@bench.command()
@click.option("--problems", metavar="LIST", help="For example 1-4,12. [default: 1-12]")
@_seeds_option("0-9")
@click.option(
    "--timeout",
    default=20.0,
    show_default=True,
    callback=_check_timeout,
    metavar="SECONDS",
    help="Of each trial; inf is none, as in the paper, and takes days.",
)
@_running_options()
def ablation(
    problems: str | None, seeds: str, timeout: float, jobs: int, results: str | None, is_fresh: bool, is_json: bool
) -> None:
    """Search Nguyen-1 to -12 without the adjustments of the paper.

    Model A is without adaptive scaling, B without the discount for long formulas, C without module transplantation, D
    without all three. Grammars, hyperparameters, points and ranges are those of the paper.

    \b
    Examples:
      spl bench ablation --seeds 0-1 --timeout 5
      spl bench ablation --problems 1-4
    """
    from spl.bench.ablation import ABLATION, ablation_problems, ablation_trials
    from spl.bench.selection import parse_problems, parse_seeds

    known = ablation_problems()
    chosen = known if problems is None else parse_problems(problems, known)
    trials = ablation_trials(chosen, parse_seeds(seeds), _finite(timeout))
    path = Path(results) if results else FOLDER / "ablation-paper.jsonl"
    _run(ABLATION, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)


@bench.command()
@click.option(
    "--tools",
    metavar="LIST",
    help="Of spl, spl-paper (the paper's own search) and gplearn. [default: spl, and gplearn if it is installed]",
)
@_seeds_option("0-9")
@click.option(
    "--timeout",
    default=math.inf,
    show_default=True,
    callback=_check_timeout,
    metavar="SECONDS",
    help="Of each trial; inf is none.",
)
@_running_options()
def noise(
    tools: str | None, seeds: str, timeout: float, jobs: int, results: str | None, is_fresh: bool, is_json: bool
) -> None:
    """Recover a cubic law from noisy and few points.

    Sixteen cells: noise of 0 to 30 percent, 20 to 1,000 points. Settings of both tools are those of the paper, as far as
    it states them.

    \b
    Examples:
      spl bench noise --seeds 0-1
      spl bench noise --tools spl,spl-paper --seeds 0-19
    """
    from spl.bench.noise import NOISE, noise_trials
    from spl.bench.selection import parse_seeds

    chosen = _installed_tools() if tools is None else [word for word in re.split(r"[,\s]+", tools) if word]
    trials = noise_trials(parse_seeds(seeds), chosen, _finite(timeout))
    path = Path(results) if results else FOLDER / "noise-paper.jsonl"
    _run(NOISE, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)


@bench.command()
@click.option("--formulas", default="0-199", show_default=True, metavar="LIST", help="For example 0-19, or 3,17.")
@click.option(
    "--noise",
    default="0,0.001,0.01,0.1",
    show_default=True,
    metavar="LIST",
    help="Standard deviations of the noise over the root mean square of the exact values.",
)
@_seeds_option("0")
@click.option(
    "--timeout",
    default=30.0,
    show_default=True,
    callback=_check_timeout,
    metavar="SECONDS",
    help="Of each trial; inf is none.",
)
@click.option(
    "--threads",
    default=min(2, os.cpu_count() or 1),
    show_default="2, if there are two cores",
    callback=_check_jobs,
    metavar="N",
    help="Of each trial; -1 is all cores.",
)
@_running_options(n_jobs=1, shown="1", cores="each with its threads")
def random(
    formulas: str,
    noise: str,
    seeds: str,
    timeout: float,
    threads: int,
    jobs: int,
    results: str | None,
    is_fresh: bool,
    is_json: bool,
) -> None:
    """Recover random formulas with the defaults, from exact and noisy data.

    Formulas of 5 to 15 tokens over 1 to 5 variables, half of them with constants; 200 rows each. Without noise, a formula
    counts as recovered if it equals the truth to 1e-6 on data that the search never saw; with noise, if only its numbers
    are not exact.

    \b
    Examples:
      spl bench random --formulas 0-19 --noise 0 --timeout 10
      spl bench random
    """
    from spl.bench.random import RANDOM, random_trials
    from spl.bench.selection import parse_formulas, parse_noise, parse_seeds

    trials = random_trials(
        parse_formulas(formulas),
        parse_noise(noise),
        parse_seeds(seeds),
        timeout=_finite(timeout),
        n_threads=threads,
    )
    path = Path(results) if results else FOLDER / "random.jsonl"
    _run(RANDOM, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)


def _installed_tools() -> list[str]:
    """Return all tools of the experiment, or our own alone, with a note, where the other is missing."""
    from spl.bench.gplearn import MISSING
    from spl.bench.noise import USUAL_TOOLS

    if importlib.util.find_spec("gplearn") is not None:
        return list(USUAL_TOOLS)
    click.echo(f"Note: {MISSING}", err=True)
    return ["spl"]


def _finite(timeout: float) -> float | None:
    return None if timeout == math.inf else timeout


def _run(
    experiment: "Experiment", trials: Sequence["Trial"], path: Path, *, jobs: int, is_fresh: bool, is_json: bool
) -> None:
    """Run trials with a display of the progress, then show what they gave."""
    from spl.bench.runner import run_trials
    from spl.warm_up import compile_once

    compile_once(lambda message: click.echo(message, err=True))
    console = _console(is_error=is_json)
    with _make_display(console, is_json=is_json) as display:
        finished = run_trials(experiment, trials, path, n_jobs=jobs, is_fresh=is_fresh, watch=display)
    if finished.is_interrupted:
        n_done = f"{len(finished.records)} of {finished.n_trials}"
        click.echo(f"Interrupted: {n_done} trials are done and kept in {path}. The same command continues.", err=True)
        sys.exit(INTERRUPTED)
    if is_json:
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
    from spl.bench.report import SECTIONS, print_section

    for section in SECTIONS[experiment.name](finished.records):
        print_section(console, section)
    click.echo(f"Results: {path}. As a document with figures: spl bench report {path} -o DIR")


# ---- report --------------------------------------------------------------------------------------


@bench.command()
@click.argument("files", nargs=-1)
@click.option("-o", "--output", metavar="DIR", help="Write report.md and its figures there. [default: print tables]")
def report(files: tuple[str, ...], output: str | None) -> None:
    """Turn results into Markdown tables and figures.

    FILES are files of results, by default all in bench-results. Of a trial that is in several of them, the last counts.

    \b
    Examples:
      spl bench report
      spl bench report bench-results/nguyen-paper.jsonl -o report
    """
    from spl.bench.report import write_report

    records = _read_all([Path(name) for name in files] or sorted(FOLDER.glob("*.jsonl")))
    directory = None if output is None else Path(output)
    text = write_report(records, directory)
    if directory is None:
        click.echo(text)
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingError(f"The report cannot be written to '{output}': {error.strerror or error}.") from None
    click.echo(f"Wrote {directory / 'report.md'}")


def _read_all(paths: Sequence[Path]) -> list["Record"]:
    from spl.bench.records import latest, read

    if not paths:
        raise DataError(f"There are no results in '{FOLDER}'. Run for example: spl bench nguyen --seeds 0-1")
    return latest(record for path in paths for record in read(path))
