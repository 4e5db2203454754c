"""The command `spl bench trust`. Slow imports are inside functions."""

import math

import click

from spl.bench.options import RunOptions, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--parts",
    default="chance,coverage",
    show_default=True,
    metavar="LIST",
    help="chance: are targets without a law called so? coverage: do 95 % intervals hold the truth?",
)
@seeds_option("0")
@timeout_option(math.inf, "Time limit of each search in seconds; inf for that of each part: 5 s in chance.")
@running_options()
def trust(parts: str, seeds: str, timeout: float, running: RunOptions) -> None:
    """Check what we say about how sure we are.

    chance: 100 tables whose columns have nothing to do with the target, and 100 tables of laws with noise, a quarter of the
    rows held out: the first must be called unexplained, the others not. coverage: 95 % intervals of ten laws with two levels
    of noise and two numbers of rows, 200 tables each, must hold the truth in 90 to 99 % of them; the true formula is fitted,
    without a search.

    \b
    Examples:
      spl bench trust --parts coverage
      spl bench trust --parts chance --timeout 10
    """
    from spl.bench.selection import parse_seeds
    from spl.bench.trust import TRUST, TrustPlan

    plan = TrustPlan(parts=tuple(split_words(parts)), seeds=tuple(parse_seeds(seeds)), timeout=finite(timeout))
    run_and_show(TRUST, plan.trials(), "trust", running)
