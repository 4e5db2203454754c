"""Options that several of the commands `spl bench ...` have."""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

FOLDER = Path("bench-results")  # where results go
Command = TypeVar("Command", bound=Callable[..., Any])


def check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Return a number of jobs or threads that the machine has cores for."""
    n_cores = os.cpu_count() or 1
    if value == -1:
        return n_cores
    if not 1 <= value <= n_cores:
        raise click.BadParameter(f"{value} is not from 1 to {n_cores}, the number of cores, nor -1.", ctx, param)
    return value


def check_timeout(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return a time limit that is above 0."""
    if value is not None and not value > 0:
        raise click.BadParameter(f"{value} is not above 0. inf is no limit.", ctx, param)
    return value


def running_options(
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
            callback=check_jobs,
            metavar="N",
            help=f"Trials at a time, {cores}; -1 is as many as there are cores.",
        ),
    )

    def add(command: Command) -> Command:
        for option in options:
            command = option(command)
        return command

    return add


def method_option(command: Command) -> Command:
    """Add the choice between our search and the paper's."""
    return click.option(
        "--method",
        type=click.Choice(["default", "paper"]),
        default="default",
        show_default=True,
        help="default: our search. paper: its own search, without completion.",
    )(command)


def seeds_option(default: str) -> Callable[[Command], Command]:
    """Add the list of seeds."""
    return click.option(
        "--seeds", default=default, show_default=True, metavar="LIST", help="For example 0-99, or 0,3,7-9."
    )


def problems_option(command: Command) -> Command:
    """Add the list of Nguyen problems."""
    return click.option(
        "--problems",
        metavar="LIST",
        help="For example 1-12,1c,2c,5c,8c,9c,6-code,12-wide. [default: all of these]",
    )(command)


def timeout_option(default: float, note: str = "Of each trial; inf is none.") -> Callable[[Command], Command]:
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
        help="Of each trial; -1 is all cores.",
    )(command)


def split_words(text: str) -> list[str]:
    """Return words that have commas or spaces between them."""
    return [word for word in re.split(r"[,\s]+", text) if word]


def finite(timeout: float) -> float | None:
    """Return a time limit as trials have it, where None is no limit."""
    return None if timeout == math.inf else timeout
