"""The command `spl bench groups`. Slow imports are inside functions."""

import click

from spl.bench.options import RunOptions, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--parts",
    default="laws,pairs,sizes,systems,coverage,random-labels",
    show_default=True,
    metavar="LIST",
    help="laws: fifteen laws over 10 groups. pairs: laws with two groupings. sizes: 3 to 1,000 groups. systems: six systems in "
    "eight experiments. coverage: do 95 % intervals hold the truth? random-labels: groups that "
    "mean nothing.",
)
@click.option("--problems", metavar="LIST", help="Laws and tables, for example cooling,tide. [default: all]")
@seeds_option("0")
@timeout_option(30.0)
@running_options()
def groups(parts: str, problems: str | None, seeds: str, timeout: float, running: RunOptions) -> None:
    """Find laws with numbers that each group of rows has for itself, with the defaults.

    laws: fifteen laws with one or two own numbers over 10 groups of 30 rows, exact and with 1 and 10 % noise, and the rows of one
    group alone. pairs: three laws whose numbers belong to two groupings. sizes: five of the laws with 3, 100 and 1,000 groups.
    systems: six systems, each in eight experiments with one or two parameters that differ, exact and with 2 % noise.
    coverage: 95 % intervals of own and shared numbers, where the true formula is fitted to 200 tables of each of seven laws.
    random-labels: 100 tables whose labels mean nothing, where no number must be own. A law counts as recovered if it is correct
    except for the exact values of its numbers, and the right numbers are shared.

    \b
    Examples:
      spl bench groups --parts laws --problems cooling,tide
      spl bench groups --parts sizes --seeds 0-2
      spl bench groups --parts random-labels --timeout 10
    """
    from spl.bench.groups import GROUPS, GroupsPlan
    from spl.bench.selection import parse_seeds

    plan = GroupsPlan(
        parts=tuple(split_words(parts)),
        problems=None if problems is None else tuple(split_words(problems)),
        seeds=tuple(parse_seeds(seeds)),
        timeout=finite(timeout),
    )
    run_and_show(GROUPS, plan.trials(), "groups", running)
