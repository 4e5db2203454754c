"""The command `spl stability`: search the run in a file again with redrawn targets. It contains no method.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

import json
from typing import TYPE_CHECKING

import click

from spl.cli.options import check_jobs, check_seed, cluster_option, compile_with_message, open_console
from spl.errors import RunFileError, SettingError

if TYPE_CHECKING:
    from spl.display.searches import SearchCount


@click.command()
@click.argument("file")
@click.option("-n", "n", type=click.IntRange(min=1), default=20, show_default=True, help="Number of searches.")
@click.option(
    "--max-evaluations",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Formulas that each search may try.",
)
@click.option("--index", type=int, metavar="N", help="Row of the front, from 0. [default: the chosen formula]")
@click.option(
    "--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Searches at once; -1 for all cores."
)
@cluster_option
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Random seed.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
def stability(
    file: str,
    n: int,
    max_evaluations: int,
    index: int | None,
    jobs: int,
    cluster: int | None,
    seed: int,
    is_json: bool,
) -> None:
    """Say how stable the formula of the run in FILE is.

    New targets are drawn for the same rows, from the formula and its noise, and searched again with a small budget. The
    formulas of the front compete with what is found. The answer is how often the formula, each of its terms and each column
    come back. FILE is that of `spl fit --run`; it holds the data. Ctrl-C ends it with the searches that are done.

    \b
    Examples:
      spl stability period.spl
      spl stability period.spl -n 100 --jobs -1 --json | jq .structure
    """
    from spl.data.dataset import Dataset
    from spl.estimators.fitted_uncertainty import NOT_WITH_GROUPS
    from spl.estimators.parameters import count_jobs
    from spl.regression.stability import StabilityPlan, measure_stability
    from spl.runs.reader import read_run
    from spl.runs.regression import stored_request
    from spl.settings import Limits

    run = read_run(file)
    [search, *_] = run.searches
    if not isinstance(run.data, Dataset):
        raise RunFileError(f"'{file}' holds the run of a system. The stability of formulas is that of tables.")
    if run.groupings:
        raise SettingError(NOT_WITH_GROUPS.format(what="`stability`"))
    if search.discovery is None or not len(search.front):
        raise RunFileError(f"The run in '{file}' has found no formula yet. Continue it: spl resume {file}")
    selection = run.facts.get("selection") or "mdl"
    plan = StabilityPlan.make(
        stored_request(run, limits=Limits()),
        search.discovery,
        _check_index(index, len(search.front)) if index is not None else search.discovery.choose(selection),
        selection=selection,
        max_evaluations=max_evaluations,
        seed=seed,
    )
    compile_with_message(is_silent=is_json)
    with _open_count(is_json=is_json) as watch:
        found = measure_stability(plan, n, n_jobs=cluster or count_jobs(jobs), watch=watch)
    if is_json:
        click.echo(json.dumps(found.to_dict(), allow_nan=False))
    else:
        click.echo(str(found))


def _check_index(index: int, n_formulas: int) -> int:
    if not -n_formulas <= index < n_formulas:
        raise click.BadParameter(
            f"must be a row of the front, 0 to {n_formulas - 1}; got {index}.", param_hint="--index"
        )
    return index % n_formulas


def _open_count(*, is_json: bool) -> "SearchCount":
    from spl.display.searches import SearchCount, open_count

    return SearchCount() if is_json else open_count(open_console(is_error=True))
