"""The commands `spl bench balls` and `spl bench pendulum`. Slow imports are inside functions."""

import click

from spl.bench.options import RunOptions, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--grammars",
    default="paper,drag,groups",
    show_default=True,
    metavar="LIST",
    help="paper: the rules of the published code. drag: sums of terms from the theory of drag. groups: those of drag, in one search "
    "on all drops as groups.",
)
@seeds_option("0-9")
@timeout_option(2.0, "Time limit of the search on each drop in seconds; inf for no limit.")
@running_options(n_jobs=1, shown="1", cores="each with all cores")
def balls(grammars: str, seeds: str, timeout: float, running: RunOptions) -> None:
    """Predict how balls fall from a bridge, from the first 2 seconds of the fall.

    Eleven balls, two drops each, compared with the paper's results and its three models, which are fitted to the same data. All
    drops of a seed share their searches and one law. The error is the mean squared error after the first 2 seconds, in square
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
    run_and_show(BALLS, trials, "balls", running)


@click.command()
@click.option(
    "--settings",
    default="prepared,raw",
    show_default=True,
    metavar="LIST",
    help="prepared: the samples of the paper. raw: the camera tracks.",
)
@seeds_option("0-4")
@timeout_option(60.0)
@running_options()
def pendulum(settings: str, seeds: str, timeout: float, running: RunOptions) -> None:
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
    run_and_show(PENDULUM, trials, "pendulum", running)
