"""Options that several `spl bench` commands share."""

import functools
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import click

RESULTS_FOLDER = Path("bench-results")
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options that all experiments share: how their trials are run and shown."""

    jobs: int
    results: str | None
    is_fresh: bool
    is_json: bool

    def results_file(self, name: str) -> Path:
        """Return the file of results: the one the user names, or by default `name` in the folder of results."""
        return Path(self.results) if self.results else RESULTS_FOLDER / f"{name}.jsonl"


def check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Return a number of jobs or threads, at most the number of cores."""
    n_cores = os.cpu_count() or 1
    if value == -1:
        return n_cores
    if not 1 <= value <= n_cores:
        raise click.BadParameter(
            f"must be 1 to {n_cores} (the number of cores), or -1 for all cores; got {value}.", ctx, param
        )
    return value


def check_timeout(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return a time limit above 0."""
    if value is not None and not value > 0:
        raise click.BadParameter(f"must be more than 0, or inf for no limit; got {value}.", ctx, param)
    return value


def running_options(
    n_jobs: int = min(2, os.cpu_count() or 1), shown: str = "2, if there are two cores", cores: str = "one core each"
) -> Callable[[Command], Command]:
    """Add the options that all experiments share; the command gets them as `running`, a `RunOptions`.

    Must be the decorator nearest to the command.
    """
    options = (
        click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else."),
        click.option("--fresh", "is_fresh", is_flag=True, help="Set old results aside and start over."),
        click.option(
            "--results",
            metavar="FILE",
            help="File of results. Trials with a result in it are not run again, whichever version of the program it is from. "
            "[default: a file in bench-results]",
        ),
        click.option(
            "--jobs",
            default=n_jobs,
            show_default=shown,
            callback=check_jobs,
            metavar="N",
            help=f"Number of parallel trials, {cores}; -1 for as many as there are cores.",
        ),
    )

    def add(command: Command) -> Command:
        @functools.wraps(command)
        def run(*, jobs: int, results: str | None, is_fresh: bool, is_json: bool, **others: Any) -> Any:
            running = RunOptions(jobs=jobs, results=results, is_fresh=is_fresh, is_json=is_json)
            return command(running=running, **others)

        for option in options:
            run = option(run)
        return cast("Command", run)

    return add


def method_option(command: Command) -> Command:
    """Add the choice between our search and the paper's."""
    return click.option(
        "--method",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="default: our search. paper: the search of the paper, without completion.",
    )(command)


def seeds_option(default: str) -> Callable[[Command], Command]:
    """Add the list of seeds."""
    return click.option(
        "--seeds",
        default=default,
        show_default=True,
        metavar="LIST",
        help="Random seeds, for example 0-99, or 0,3,7-9.",
    )


def problems_option(command: Command) -> Command:
    """Add the list of Nguyen problems."""
    return click.option(
        "--problems",
        metavar="LIST",
        help="Nguyen problems, for example 1-12,1c,2c,5c,8c,9c,6-code,12-wide. [default: all of these]",
    )(command)


def timeout_option(
    default: float, note: str = "Time limit of each trial in seconds; inf for no limit."
) -> Callable[[Command], Command]:
    """Add the time limit of a trial."""
    return click.option(
        "--timeout", default=default, show_default=True, callback=check_timeout, metavar="SECONDS", help=note
    )


def threads_option(command: Command) -> Command:
    """Add the number of threads of a trial."""
    return click.option(
        "--threads",
        default=min(2, os.cpu_count() or 1),
        show_default="2, if there are two cores",
        callback=check_jobs,
        metavar="N",
        help="Threads per trial; -1 for all cores.",
    )(command)


def split_words(text: str) -> list[str]:
    """Return words separated by commas or spaces."""
    return [word for word in re.split(r"[,\s]+", text) if word]


def finite(timeout: float) -> float | None:
    """Return the time limit of a trial; None for no limit."""
    return None if timeout == math.inf else timeout
