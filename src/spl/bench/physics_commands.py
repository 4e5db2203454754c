"""The commands `spl bench balls` and `spl bench pendulum`: read options, run trials, show tables. They hold no method.

As in the other commands, whatever is slow to import is imported when it is needed.
"""

from pathlib import Path

import click

from spl.bench.options import FOLDER, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--grammars",
    default="paper,drag",
    show_default=True,
    metavar="LIST",
    help="paper: the rules of its published code. drag: sums of what the theory of drag knows.",
)
@seeds_option("0-9")
@timeout_option(2.0, "Of the search on each drop; inf is none.")
@running_options(n_jobs=1, shown="1", cores="each with all cores")
def balls(
    grammars: str, seeds: str, timeout: float, jobs: int, results: str | None, is_fresh: bool, is_json: bool
) -> None:
    """Predict how balls fall from a bridge, from the first 2 seconds of the fall.

    Eleven balls, two drops each, beside the paper's results and the three models it compares with, which are fitted too. The
    law is one for all drops of a seed, which share its searches. The error is the mean squared one after the 2 seconds, in square
    metres.

    \b
    Examples:
      spl bench balls --seeds 0-1
      spl bench balls --grammars drag
    """
    from spl.bench.balls import BALLS, balls_trials
    from spl.bench.selection import parse_seeds
    from spl.datasets import fetch_ball_drop

    trials = balls_trials(fetch_ball_drop().balls, parse_seeds(seeds), split_words(grammars), finite(timeout))
    path = Path(results) if results else FOLDER / "balls.jsonl"
    run_and_show(BALLS, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)


@click.command()
@click.option(
    "--settings",
    default="prepared,raw",
    show_default=True,
    metavar="LIST",
    help="prepared: the paper's samples. raw: from the tracks of the camera.",
)
@seeds_option("0-4")
@timeout_option(60.0)
@running_options()
def pendulum(
    settings: str, seeds: str, timeout: float, jobs: int, results: str | None, is_fresh: bool, is_json: bool
) -> None:
    """Find the equations of a filmed double pendulum, with the grammar and the prior knowledge of the paper.

    An equation counts as recovered if it has the three terms of the ideal pendulum. Terms that do not help on the validation
    runs are left out.

    \b
    Examples:
      spl bench pendulum --settings prepared --seeds 0-1
      spl bench pendulum
    """
    from spl.bench.pendulum import PENDULUM, pendulum_trials
    from spl.bench.selection import parse_seeds

    trials = pendulum_trials(split_words(settings), parse_seeds(seeds), finite(timeout))
    path = Path(results) if results else FOLDER / "pendulum.jsonl"
    run_and_show(PENDULUM, trials, path, jobs=jobs, is_fresh=is_fresh, is_json=is_json)
