"""The command `spl bench knowledge`. Slow imports are inside functions."""

import click

from spl.bench.options import RunOptions, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--parts",
    default="units,depth,shapes",
    show_default=True,
    metavar="LIST",
    help="units: forty laws with and without their units. depth: what the bank holds for them. "
    "shapes: ten laws asked outside of the data, with and without statements about their shape.",
)
@click.option("--problems", metavar="LIST", help="Laws, for example vis_viva,nernst. [default: all]")
@click.option(
    "--noise",
    default="0,0.01,0.1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise in the part units: standard deviation over that of the exact values.",
)
@click.option("--units", default="with,without", show_default=True, metavar="LIST", help="Variants of the part units.")
@seeds_option("0")
@timeout_option(30.0)
@running_options(n_jobs=1, shown="1", cores="one core each")
def knowledge(
    parts: str, problems: str | None, noise: str, units: str, seeds: str, timeout: float, running: RunOptions
) -> None:
    """Find laws with what a scientist knows about them, and without, with the defaults.

    units: forty laws from handbooks of engineering, chemistry, earth science and astronomy, of two to nine columns, 1,000 rows each,
    exact and with 1 and 10 % noise. With units, the search knows those of the columns and the target, and the named constants of
    the law, such as g; without, it has the same numbers. Without noise, a law counts as recovered if it equals the truth to 1e-6 on
    data that the search never saw; with noise, if it is correct except for the exact values of its numbers. depth: the bank of
    formulas before the search of each law: how many it has, how costly they are, and whether the law is among them. shapes: ten laws
    in 10 to 15 rows with 5 to 10 % noise, with and without statements such as 'f > 0'; what counts is the error outside of the data.
    Its searches try 20,000 formulas each, whatever the time limit.

    \b
    Examples:
      spl bench knowledge --problems vis_viva,nernst
      spl bench knowledge --noise 0.1 --units with
      spl bench knowledge --seeds 0-2 --timeout 10
      spl bench knowledge --parts shapes --seeds 0,1
    """
    from spl.bench.knowledge import KNOWLEDGE, KnowledgePlan
    from spl.bench.selection import parse_noise, parse_seeds

    plan = KnowledgePlan(
        parts=tuple(split_words(parts)),
        problems=None if problems is None else tuple(split_words(problems)),
        noise_levels=tuple(parse_noise(noise)),
        variants=tuple(split_words(units)),
        seeds=tuple(parse_seeds(seeds)),
        timeout=finite(timeout),
    )
    run_and_show(KNOWLEDGE, plan.trials(), "knowledge", running)
