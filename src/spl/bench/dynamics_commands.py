"""The commands `spl bench lorenz`, `spl bench systems` and `spl bench sampling`. Slow imports are inside functions."""

import importlib.util
from collections.abc import Sequence

import click

from spl.bench.options import (
    RunOptions,
    finite,
    running_options,
    seeds_option,
    split_words,
    threads_option,
    timeout_option,
)
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--data",
    default="paper,paper-states,simulated",
    show_default=True,
    metavar="LIST",
    help="paper: the paper's states and derivatives. paper-states: only its states. simulated: our own simulation.",
)
@click.option(
    "--noise",
    default="0.05,0.1,0.2,0.5,1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise of simulated data: standard deviation over the root mean square of each state.",
)
@seeds_option("0-9")
@timeout_option(60.0)
@threads_option
@running_options(n_jobs=1, shown="1", cores="each with its threads")
def lorenz(
    data: str,
    noise: str,
    seeds: str,
    timeout: float,
    threads: int,
    running: RunOptions,
) -> None:
    """Recover the Lorenz system from the paper's data and from simulated data with noise.

    Equations may contain + - * / and numbers, as in the paper. The system counts as recovered if all three equations have
    exactly the true terms.

    \b
    Examples:
      spl bench lorenz --seeds 0-1
      spl bench lorenz --data simulated --noise 0.05,0.1
    """
    from spl.bench.lorenz import LORENZ, lorenz_trials
    from spl.bench.selection import parse_noise, parse_seeds

    trials = lorenz_trials(
        split_words(data), parse_noise(noise), parse_seeds(seeds), timeout=finite(timeout), n_threads=threads
    )
    run_and_show(LORENZ, trials, "lorenz", running)


@click.command()
@click.option(
    "--systems", metavar="LIST", help="Systems, for example duffing,sir. [default: all of spl.datasets.SYSTEMS]"
)
@click.option(
    "--noise",
    default="0,0.01,0.05,0.1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise: standard deviation over the root mean square of each state.",
)
@click.option(
    "--tools",
    metavar="LIST",
    help="Any of spl, pysindy and pysindy-weak, its weak form. [default: spl, and the others if pysindy is installed]",
)
@seeds_option("0")
@timeout_option(60.0)
@threads_option
@running_options(n_jobs=1, shown="1", cores="each with its threads")
def systems(
    systems: str | None,
    noise: str,
    tools: str | None,
    seeds: str,
    timeout: float,
    threads: int,
    running: RunOptions,
) -> None:
    """Recover twelve well-known systems at several levels of noise, and compare with pysindy on the same data.

    All systems use the same settings: our defaults; for pysindy, monomials up to degree 3. An equation counts as right if it is
    correct except for the exact values of its numbers, a system if all of its equations are right.

    \b
    Examples:
      spl bench systems --systems van_der_pol,duffing --noise 0.01 --tools spl
      spl bench systems
    """
    from spl.bench.selection import parse_noise, parse_seeds
    from spl.bench.systems import SYSTEMS_EXPERIMENT, SYSTEMS_TOOLS, systems_trials
    from spl.datasets import SYSTEMS

    trials = systems_trials(
        list(SYSTEMS) if systems is None else split_words(systems),
        parse_noise(noise),
        parse_seeds(seeds),
        tools=_installed_tools(SYSTEMS_TOOLS) if tools is None else split_words(tools),
        timeout=finite(timeout),
        n_threads=threads,
    )
    run_and_show(SYSTEMS_EXPERIMENT, trials, "systems", running)


@click.command()
@click.option(
    "--systems",
    metavar="LIST",
    help="Systems, for example lorenz,thomas. [default: all of spl.datasets.SAMPLED_SYSTEMS]",
)
@click.option(
    "--samples-per-turn", default="40,20,10,7,5", show_default=True, metavar="LIST", help="Numbers of samples per turn."
)
@click.option(
    "--noise",
    default="0,0.01",
    show_default=True,
    metavar="LIST",
    help="Levels of noise: standard deviation over the root mean square of each state.",
)
@click.option("--tools", metavar="LIST", help="spl, pysindy or both. [default: spl, and pysindy if it is installed]")
@seeds_option("0")
@timeout_option(60.0)
@running_options()
def sampling(
    systems: str | None,
    samples_per_turn: str,
    noise: str,
    tools: str | None,
    seeds: str,
    timeout: float,
    running: RunOptions,
) -> None:
    """Recover ten systems that oscillate from coarse samples, and compare with pysindy on the same data.

    Every trajectory has 40 turns, with fewer and fewer samples per turn. All systems use the same settings, and every trial one
    core. An equation counts as right if it is correct except for the exact values of its numbers, a system if all of its
    equations are right.

    \b
    Examples:
      spl bench sampling --systems lorenz --samples-per-turn 10,5 --noise 0 --tools spl
      spl bench sampling --seeds 0-2
    """
    from spl.bench.sampling import SAMPLING, SAMPLING_TOOLS, sampling_trials
    from spl.bench.selection import parse_noise, parse_rates, parse_seeds
    from spl.datasets import SAMPLED_SYSTEMS

    trials = sampling_trials(
        list(SAMPLED_SYSTEMS) if systems is None else split_words(systems),
        parse_rates(samples_per_turn),
        parse_noise(noise),
        parse_seeds(seeds),
        tools=_installed_tools(SAMPLING_TOOLS) if tools is None else split_words(tools),
        timeout=finite(timeout),
    )
    run_and_show(SAMPLING, trials, "sampling", running)


def _installed_tools(tools: Sequence[str]) -> list[str]:
    """Return all tools; only ours, with a note, if pysindy is missing."""
    from spl.bench.sindy import NO_PYSINDY
    from spl.bench.trials import OURS

    if importlib.util.find_spec("pysindy") is not None:
        return list(tools)
    click.echo(f"Note: {NO_PYSINDY}", err=True)
    return [OURS]
