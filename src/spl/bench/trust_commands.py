"""The command `spl bench trust`. Slow imports are inside functions."""

import math

import click

from spl.bench.options import RunOptions, finite, running_options, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--parts",
    default="chance,coverage,rivals,suggest,identifiability",
    show_default=True,
    metavar="LIST",
    help="chance: are targets without a law called so? coverage: do 95 % intervals hold the truth? rivals: is the law among the "
    "rivals of a wrong formula? suggest: do suggested points help to find the law? identifiability: are systems flagged that one "
    "trajectory does not determine?",
)
@click.option(
    "--seeds",
    metavar="LIST",
    help="Random seeds, for example 0-99, or 0,3,7-9. [default: 0-1 in rivals and suggest, 0 in the others]",
)
@timeout_option(
    math.inf,
    "Time limit of each search in seconds; inf for that of each part: 5 s in chance, 60 s in identifiability, else none.",
)
@running_options()
def trust(parts: str, seeds: str | None, timeout: float, running: RunOptions) -> None:
    """Check what we say about how sure we are.

    chance: 100 tables whose columns have nothing to do with the target, and 100 tables of laws with noise, a quarter of the
    rows held out: the first must be called unexplained, the others not. coverage: 95 % intervals of ten laws with two levels
    of noise and two numbers of rows, 200 tables each, must hold the truth in 90 to 99 % of them; the true formula is fitted,
    without a search. rivals: tables of 15 rows of twenty simple laws with 10 % noise, one per law and seed; where the chosen
    formula is wrong, the law should be among its rivals. suggest: where it is wrong, five more rows at suggested or at random
    points. identifiability: twenty systems, each measured along one trajectory; of ten, another simple system fits as well: these
    should be flagged, the others not.

    \b
    Examples:
      spl bench trust --parts coverage
      spl bench trust --parts chance --timeout 10
      spl bench trust --parts rivals,suggest --seeds 0-4
    """
    from spl.bench.selection import parse_seeds
    from spl.bench.trust import TRUST, TrustPlan

    plan = TrustPlan(
        parts=tuple(split_words(parts)),
        seeds=None if seeds is None else tuple(parse_seeds(seeds)),
        timeout=finite(timeout),
    )
    run_and_show(TRUST, plan.trials(), "trust", running)
